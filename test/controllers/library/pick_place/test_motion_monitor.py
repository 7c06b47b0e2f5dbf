"""Detection of failures with and without latency."""

from types import SimpleNamespace

import numpy as np
import pytest

from mujoco_ros.control.references import References
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.library.pick_place.motion_monitor import MonitoredMotion, MotionMonitor
from mujoco_ros.model.pose import Pose

PERIOD, MOST, SPEED, REACH = 0.01, 100.0, 2.5, 0.2
LATENCY_TICKS = 3


def place(x: float) -> Pose:
    return Pose(position=np.array([x, 0.0, 0.0]), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]))


ARM = SimpleNamespace(
    joints=np.array([0]),
    gripper=1,
    payload=None,
    sensor="wrist_ft",
    tool=lambda q: place(REACH * float(q[0])),
)


def reference(tick: int) -> tuple[float, float, float]:
    """Return a motion back and forth: position, velocity, and an effort that steps at its ends."""
    way, back = tick % 40, tick // 40 % 2
    speed = -SPEED if back else SPEED
    return SPEED * PERIOD * (40 - way if back else way), speed, 0.5 * MOST * np.sign(speed)


def monitored(
    late: int,
    *,
    push: float = 0.0,
    pushed: int = 60,
    gap: int = 0,
    blind: int = 1000,
    ticks: int = 120,
    **limits,
) -> tuple[str, int]:
    """Monitor a robot with latency in ticks; return the failure and its tick.

    It is pushed for `pushed` ticks from tick 61 on; `gap` ticks are missing before. From
    tick `blind` on its positions are NaN.
    """
    context = SimpleNamespace(
        robot=SimpleNamespace(effort=np.full(2, MOST), joints=("elbow", "finger")),
        references=References.holding(np.zeros(2)),
        period=PERIOD,
        time=0.0,
        observation=None,
    )

    def sense(tick: int) -> None:
        q, dq, tau = reference(max(tick - late, 0))
        q = np.nan if tick >= blind else q
        pushing = push if 60 < tick <= 60 + pushed else 0.0
        context.time = tick * PERIOD
        context.references.values[:, 0] = reference(tick)
        context.observation = Observation(
            time=context.time,
            q=np.array([q, 0.02]),
            dq=np.array([dq, 0.0]),
            effort=np.array([tau + pushing, -5.0]),
            objects={"box": place(REACH * reference(max(tick - 2 * late, 0))[0])},
        )

    sense(0)
    task = SimpleNamespace(object="box", follows_pose=True, held=place(0.0), opening=0.02)
    monitor = MotionMonitor(context, ARM, task, MonitoredMotion(**limits))
    for tick in (*range(1, 61 - gap), *range(61, ticks)):
        sense(tick)
        if failure := monitor.check_motion(context) or monitor.grip.check(context):
            return failure, tick
    return "", ticks


def test_a_delay_within_the_latency_is_not_a_failure():
    assert monitored(LATENCY_TICKS) == ("", 120)
    assert monitored(0, latency=0.0) == ("", 120)


@pytest.mark.parametrize(
    ("without", "noticed", "very_late"),
    [
        ({"drift": 1.0, "push": 9.0}, "tracking", "tracking"),
        ({"drift": 1.0, "tracking": 9.0}, "collision", "collision"),
        ({"tracking": 9.0, "push": 9.0}, "slip", "pose_stale"),
    ],
)
def test_a_delay_beyond_the_latency_is_a_failure(without, noticed, very_late):
    assert monitored(LATENCY_TICKS, latency=0.0, pose_latency=0.0, **without)[0] == noticed
    assert monitored(5 * LATENCY_TICKS, **without)[0] == very_late


def test_a_push_is_detected_within_the_latency_and_three_ticks_for_any_delay():
    for late in (0, LATENCY_TICKS):
        what, when = monitored(late, push=0.4 * MOST)
        assert what == "collision"
        assert when <= 61 + LATENCY_TICKS + 3
    with pytest.raises(Exception, match="latency must not be negative"):
        MonitoredMotion(latency=-0.01)


def test_a_jerk_after_missing_ticks_is_not_a_failure_unless_it_lasts():
    jerk = {"push": 0.9 * MOST, "latency": 0.02}
    assert monitored(0, gap=8, pushed=8, **jerk) == ("", 120)
    assert monitored(0, gap=1, pushed=8, **jerk)[0] == "collision", "the gap was too short"
    what, when = monitored(0, gap=8, **jerk)
    assert what == "collision"
    assert when <= 61 + 8 + 3 + 2


def test_a_nan_position_is_a_tracking_failure():
    assert monitored(0, blind=70) == ("tracking", 72)
