"""Values that the benchmark reads from /diagnostics."""

from collections.abc import Callable

import pytest

from benchmark.processes.trial import TRIALS


class SimulatorClient:
    """Receives another report of the camera process at each wait."""

    def __init__(self) -> None:
        self.report: dict[str, dict[str, str]] = {"drawing": {}}
        self.received = 0

    def until(self, condition: Callable[[], object]) -> None:
        assert not condition(), "an old report is taken for a new one"
        self.received += 1
        took = {
            "due to published, mean [ms]": "99" if self.received == 1 else "20",
            "due to published, longest [ms]": str(100 - self.received),
        }
        self.report |= {"camera/eye": took, "drawing": {}, "contacts": took}
        assert condition()


def test_delays_are_those_of_all_reports_but_the_first():
    delays = TRIALS["delays"](SimulatorClient())
    assert {name: times.tolist() for name, times in delays.items()} == {
        "camera:eye": pytest.approx([20.0, 98.0])
    }
