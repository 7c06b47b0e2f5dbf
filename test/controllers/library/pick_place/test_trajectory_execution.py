"""References along a path, and braking on it."""

from types import SimpleNamespace

import numpy as np
import pytest

from mujoco_ros.control.references import References
from mujoco_ros.controllers.library.pick_place.arm import Arm
from mujoco_ros.controllers.library.pick_place.moving import ReversedPath, TrajectoryExecution
from mujoco_ros.controllers.planning.curve import TimedCurve

PERIOD, INERTIA = 0.008, 2.0
ARM = object.__new__(Arm)
ARM.joints, ARM.gripper = np.array([0]), 1
ARM.dynamics = SimpleNamespace(torques=lambda q, dq, ddq: INERTIA * ddq)


@pytest.fixture
def path() -> TimedCurve:
    """From 1 to 3 rad in 1 s, with constant acceleration and deceleration."""
    cubic = np.zeros((4, 1, 1))
    cubic[2:, 0, 0] = 2.0, 1.0
    ends = np.array([0.0, 1.0])
    return TimedCurve.from_rates(ends, cubic, np.array([0.0, 0.5, 1.0]), np.array([0.0, 2.0, 0.0]))


@pytest.fixture
def context() -> SimpleNamespace:
    return SimpleNamespace(period=PERIOD, references=References.holding(np.zeros(2)))


def followed(execution: TrajectoryExecution, context: SimpleNamespace, ticks: int) -> np.ndarray:
    """Position, velocity and effort of the joint at each of the next ticks (ticks, 3)."""
    rows = []
    for _ in range(ticks):
        execution.step(context)
        rows.append(context.references.values[:, 0].copy())
    return np.array(rows)


def test_the_references_of_a_tick_are_the_path_at_the_next_tick(path, context):
    for there, sign in ((path, 1.0), (ReversedPath(path), -1.0)):
        execution = TrajectoryExecution(ARM, there)
        rows = followed(execution, context, 124)
        assert not execution.is_finished
        times = PERIOD * np.arange(1, 125)
        at = times if sign > 0 else there.duration - times
        q, dq, ddq = path.samples(at)[:, :, 0]
        np.testing.assert_allclose(rows, np.transpose([q, sign * dq, INERTIA * ddq]), atol=1e-12)
        rows = followed(execution, context, 3)  # after the end, the references rest
        assert execution.is_finished
        end = 3.0 if sign > 0 else 1.0
        np.testing.assert_allclose(rows[1:], [[end, 0.0, 0.0]] * 2, atol=1e-12)


def test_braking_stays_on_the_path_with_consistent_velocities(path, context):
    execution = TrajectoryExecution(ARM, path, brake_s=0.2)
    before = followed(execution, context, 60)
    execution.brake()
    rows = np.concatenate([before[-1:], followed(execution, context, 25)])
    assert execution.is_stopped
    assert not execution.is_finished
    assert rows[-1, 1] == 0.0
    assert rows[-1, 0] < 2.4, "the path continues to 3 rad"
    moved, mean = np.diff(rows[:, 0]) / PERIOD, 0.5 * (rows[1:, 1] + rows[:-1, 1])
    assert moved == pytest.approx(mean, abs=2e-2)


def test_the_gripper_moves_with_limited_speed_until_it_is_there(context):
    context.references.q[1] = 0.02
    there = [ARM.move_gripper(context, 0.018, 0.1) for _ in range(3)]
    assert there == [False, False, True]
    assert context.references.q[1] == pytest.approx(0.018)
