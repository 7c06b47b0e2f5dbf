"""What is read from /diagnostics for the benchmark."""

from collections.abc import Callable

import pytest

from benchmark.trial import TRIALS


class Caller:
    """Hears another report of the camera process whenever somebody waits for one."""

    def __init__(self) -> None:
        self.reports: dict[str, dict[str, dict[str, str]]] = {"mujoco_cameras": {"drawing": {}}}
        self.heard = 0

    def until(self, condition: Callable[[], object]) -> None:
        assert not condition(), "an old report is taken for a new one"
        self.heard += 1
        took = {
            "due to published, mean [ms]": "99" if self.heard == 1 else "20",
            "due to published, longest [ms]": str(100 - self.heard),
        }
        self.reports["mujoco_cameras"] = {"camera/eye": took, "drawing": {}, "contacts": took}
        assert condition()


def test_how_long_pictures_take_is_told_without_the_first_report():
    told = TRIALS["due"](Caller())
    assert {name: times.tolist() for name, times in told.items()} == {
        "camera:eye": pytest.approx([20.0, 98.0])
    }
