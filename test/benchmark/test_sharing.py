from benchmark.plan import Plan
from benchmark.sharing import sharing


def test_sharing_the_state_is_measured_over_so_many_steps():
    rows = {row.quantity: row.value for row in sharing(Plan(sharing=0.2))}
    assert 0.1 < rows["sharing the state, per step, p50"] < 500
