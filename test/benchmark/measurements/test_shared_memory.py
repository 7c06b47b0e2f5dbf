from benchmark.durations import Durations
from benchmark.measurements.shared_memory import shared_memory


def test_the_cost_of_sharing_the_state_is_measured():
    rows = {row.quantity: row.value for row in shared_memory(Durations(shared_memory=0.2))}
    assert 0.1 < rows["sharing the state, per step, p50"] < 500
