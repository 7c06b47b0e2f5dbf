"""What the joints are told on a way, tick by tick, and where they brake."""

from types import SimpleNamespace

import numpy as np
import pytest

from mujoco_ros.control.references import References
from mujoco_ros.controllers.library.pick_place.trajectory_execution import (
    ReversedPath,
    TrajectoryExecution,
    move_gripper,
)
from mujoco_ros.controllers.planning.curves.timed_curve import TimedCurve

PERIOD, INERTIA = 0.008, 2.0
ARM = SimpleNamespace(
    joints=np.array([0]),
    gripper=1,
    dynamics=SimpleNamespace(torques=lambda q, dq, ddq: INERTIA * ddq),
)


@pytest.fixture
def way() -> TimedCurve:
    """From 1 to 3 rad, faster and slower evenly, in 1 s."""
    cubic = np.zeros((4, 1, 1))
    cubic[2:, 0, 0] = 2.0, 1.0
    ends = np.array([0.0, 1.0])
    return TimedCurve.passing(ends, cubic, np.array([0.0, 0.5, 1.0]), np.array([0.0, 2.0, 0.0]))


@pytest.fixture
def context() -> SimpleNamespace:
    return SimpleNamespace(period=PERIOD, references=References.holding(np.zeros(2)))


def followed(follower: TrajectoryExecution, context: SimpleNamespace, ticks: int) -> np.ndarray:
    """Position, velocity and effort of the joint at each of the next ticks (ticks, 3)."""
    rows = []
    for _ in range(ticks):
        follower.step(context)
        rows.append(context.references.values[:, 0].copy())
    return np.array(rows)


def test_each_tick_tells_where_the_way_is_at_the_next_one(way, context):
    for there, sign in ((way, 1.0), (ReversedPath(way), -1.0)):
        follower = TrajectoryExecution(ARM, there)
        rows = followed(follower, context, 124)
        assert not follower.is_finished
        times = PERIOD * np.arange(1, 125)
        at = times if sign > 0 else there.duration - times
        q, dq, ddq = way.samples(at)[:, :, 0]
        np.testing.assert_allclose(rows, np.transpose([q, sign * dq, INERTIA * ddq]), atol=1e-12)
        rows = followed(follower, context, 3)  # who asks for more is told to rest at the end
        assert follower.is_finished
        end = 3.0 if sign > 0 else 1.0
        np.testing.assert_allclose(rows[1:], [[end, 0.0, 0.0]] * 2, atol=1e-12)


def test_braking_stays_on_the_way_and_tells_velocities_that_positions_have(way, context):
    follower = TrajectoryExecution(ARM, way, brake_s=0.2)
    before = followed(follower, context, 60)
    follower.brake()
    rows = np.concatenate([before[-1:], followed(follower, context, 25)])
    assert follower.is_stopped
    assert not follower.is_finished
    assert rows[-1, 1] == 0.0
    assert rows[-1, 0] < 2.4, "the way goes on to 3 rad"
    moved, mean = np.diff(rows[:, 0]) / PERIOD, 0.5 * (rows[1:, 1] + rows[:-1, 1])
    assert moved == pytest.approx(mean, abs=2e-2)


def test_the_gripper_goes_no_faster_than_it_may_and_says_when_it_is_there(context):
    context.references.q[1] = 0.02
    there = [move_gripper(context, ARM, 0.018, 0.1) for _ in range(3)]
    assert there == [False, False, True]
    assert context.references.q[1] == pytest.approx(0.018)
