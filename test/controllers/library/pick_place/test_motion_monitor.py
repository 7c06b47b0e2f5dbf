"""What a motion may look like from far away, and what is noticed all the same."""

from types import SimpleNamespace

import numpy as np
import pytest

from mujoco_ros.control.pose import Pose
from mujoco_ros.control.references import References
from mujoco_ros.controllers.library.pick_place.motion_monitor import MonitoredMotion, MotionMonitor

PERIOD, MOST, SPEED, REACH = 0.01, 100.0, 2.5, 0.2
LATENCY_TICKS = 3


def place(x: float) -> Pose:
    return Pose(position=np.array([x, 0.0, 0.0]), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]))


ARM = SimpleNamespace(
    joints=np.array([0]), gripper=1, payload=None, tool=lambda q: place(REACH * float(q[0]))
)


def told(tick: int) -> tuple[float, float, float]:
    """Return a motion to and fro: position, velocity, and an effort that leaps at its ends."""
    way, back = tick % 40, tick // 40 % 2
    speed = -SPEED if back else SPEED
    return SPEED * PERIOD * (40 - way if back else way), speed, 0.5 * MOST * np.sign(speed)


def watched(
    late: int,
    *,
    push: float = 0.0,
    pushed: int = 60,
    gap: int = 0,
    blind: int = 1000,
    ticks: int = 120,
    **limits,
) -> tuple[str, int]:
    """Watch a robot that does everything some ticks late; return what was noticed, and when.

    From tick 61 on it is pushed, for so many ticks; of those before it, so many are missing. From
    tick `blind` on its positions are no numbers.
    """
    context = SimpleNamespace(
        robot=SimpleNamespace(effort=np.full(2, MOST), joints=("elbow", "finger")),
        references=References.holding(np.zeros(2)),
        period=PERIOD,
        time=0.0,
        observation=None,
    )

    def sense(tick: int) -> None:
        q, dq, tau = told(max(tick - late, 0))
        q = np.nan if tick >= blind else q
        pushing = push if 60 < tick <= 60 + pushed else 0.0
        context.time = tick * PERIOD
        context.references.values[:, 0] = told(tick)
        context.observation = SimpleNamespace(
            q=np.array([q, 0.02]),
            dq=np.array([dq, 0.0]),
            effort=np.array([tau + pushing, -5.0]),
            wrenches={},
            objects={"box": place(REACH * told(max(tick - 2 * late, 0))[0])},
        )

    sense(0)
    task = SimpleNamespace(object="box", seen=True, held=place(0.0), opening=0.02, tare=0.0)
    watch = MotionMonitor(context, ARM, task, MonitoredMotion(**limits))
    for tick in (*range(1, 61 - gap), *range(61, ticks)):
        sense(tick)
        if trouble := watch.check_motion(context) or watch.check_grip(context):
            return trouble, tick
    return "", ticks


def test_what_is_late_by_no_more_than_the_latency_is_no_fault():
    assert watched(LATENCY_TICKS) == ("", 120)
    assert watched(0, latency=0.0) == ("", 120)


@pytest.mark.parametrize(
    ("without", "noticed"),
    [
        ({"drift": 1.0, "push": 9.0}, "tracking"),
        ({"drift": 1.0, "tracking": 9.0}, "collision"),
        ({"tracking": 9.0, "push": 9.0}, "slip"),
    ],
)
def test_the_same_is_one_where_nothing_may_be_late_and_so_is_what_is_later(without, noticed):
    assert watched(LATENCY_TICKS, latency=0.0, **without)[0] == noticed
    assert watched(3 * LATENCY_TICKS, **without)[0] == noticed


def test_a_push_is_noticed_within_the_latency_and_three_ticks_however_late_the_robot_is():
    for late in (0, LATENCY_TICKS):
        what, when = watched(late, push=0.4 * MOST)
        assert what == "collision"
        assert when <= 61 + LATENCY_TICKS + 3
    with pytest.raises(Exception, match="latency must not be negative"):
        MonitoredMotion(latency=-0.01)


def test_a_jerk_after_a_moment_without_ticks_is_none_but_what_lasts_is():
    jerk = {"push": 0.9 * MOST, "latency": 0.02}
    assert watched(0, gap=8, pushed=8, **jerk) == ("", 120)
    assert watched(0, gap=1, pushed=8, **jerk)[0] == "collision", "that was no moment"
    what, when = watched(0, gap=8, **jerk)
    assert what == "collision"
    assert when <= 61 + 8 + 3 + 2


def test_a_position_that_is_no_number_is_not_where_it_should_be():
    assert watched(0, blind=70) == ("tracking", 72)
