from dataclasses import replace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from benchmark.durations import QUICK
from benchmark.measurements import controllers, lockstep
from benchmark.report import Row

SHORT = replace(QUICK, lockstep=1.0, held_resets=2, controllers=1.0)


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    return {row.quantity: row for row in lockstep.lockstep(SHORT)}


@pytest.mark.parametrize(
    "source",
    ["stand-in of a controller_manager, two components", "node that answers joint_commands"],
)
def test_every_tick_of_both_kinds_of_sources_is_answered_and_has_its_cost(
    rows: dict[str, Row], source: str
) -> None:
    found = {name.partition(": ")[2]: row for name, row in rows.items() if name.startswith(source)}
    assert found["ticks without an answer"].good
    speed, factor = found["ticks per second of wall time"], found["real-time factor"]
    assert speed.value > 0
    assert factor.value == pytest.approx(speed.value / 250)
    cost = found["processor time of the simulator per tick of 4 steps"]
    assert 0.05 < cost.value < 100
    assert cost.limit


def test_a_stream_that_continues_after_a_reset_adds_no_motion(rows: dict[str, Row]) -> None:
    assert rows["more after 2 resets while a stream continues"].good


def test_the_cost_of_hosted_controllers_is_measured_for_each_number_of_them() -> None:
    found = controllers.hosted(SHORT)
    assert [row.quantity.partition("factor 1 ")[2] for row in found] == [
        "with 0 hosted",
        "with 1 hosted: stand",
        "with 2 hosted: stand, left",
        "with 3 hosted: stand, left, right",
    ]
    assert all(0.1 < row.value < 10_000 for row in found)
