from benchmark.durations import Durations
from benchmark.measurements.recording import state_log


def test_the_cost_of_logging_a_step_is_measured():
    rows = {row.quantity: row.value for row in state_log(Durations(recording=0.2))}
    assert 0.1 < rows["logging a step, p50"] < 500
    assert rows["log"] > 0.1
