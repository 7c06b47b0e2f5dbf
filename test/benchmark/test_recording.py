from benchmark.plan import Plan
from benchmark.recording import state_log


def test_logging_a_step_is_measured_over_so_many_steps():
    rows = {row.quantity: row.value for row in state_log(Plan(recording=0.2))}
    assert 0.1 < rows["logging a step, p50"] < 500
    assert rows["log"] > 0.1
