import mujoco
import numpy as np
import pytest

from benchmark.moves import (
    JOINTS,
    LARGEST_ACCELERATION,
    LARGEST_VELOCITY,
    WAY,
    ArmModel,
    Motion,
    motion,
)
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


@pytest.fixture(scope="module", params=[0.1, 1.0])
def moves(request: pytest.FixtureRequest) -> Motion:
    return motion(WAY, request.param)


def test_the_arm_reaches_for_the_cube_and_for_its_goal_with_the_tool_pointing_down():
    arm = ArmModel()
    for q, place in (
        (WAY[1], (0.35, 0.2, 0.485)),
        (WAY[2], (0.35, 0.2, 0.335)),
        (WAY[4], (0.35, -0.2, 0.485)),
        (WAY[5], (0.35, -0.2, 0.335)),
    ):
        position, rotation = arm.tool(q)
        np.testing.assert_allclose(position, place, atol=1e-4)
        np.testing.assert_allclose(rotation[:, 2], [0, 0, -1], atol=1e-4)
    home = Simulation(load_scene("arm")).references.q[: len(JOINTS)]
    np.testing.assert_allclose(WAY[0], home, atol=1e-8)


def test_moves_take_what_they_may_and_no_more(moves: Motion):
    slow = moves.times[-1] > 10
    share = 0.1 if slow else 1.0
    velocity = (np.abs(moves.dq) / LARGEST_VELOCITY).max()
    acceleration = (np.abs(moves.ddq) / (share * LARGEST_ACCELERATION)).max()
    assert velocity <= 1
    assert 0.95 < max(acceleration, velocity) <= 1


def test_velocities_and_accelerations_are_derivatives(moves: Motion):
    np.testing.assert_allclose(np.diff(moves.times), 0.01, atol=1e-12)
    middle = (moves.q[2:] - moves.q[:-2]) / 0.02
    np.testing.assert_allclose(moves.dq[1:-1], middle, atol=0.01 * np.abs(moves.dq).max())
    change = (moves.dq[2:] - moves.dq[:-2]) / 0.02
    # At the begin and the end of a move the jerk steps.
    np.testing.assert_allclose(moves.ddq[1:-1], change, atol=0.1 * np.abs(moves.ddq).max())
    assert not moves.dq[[0, -1]].any()
    assert not moves.ddq[[0, -1]].any()


def test_torques_are_those_that_cause_the_accelerations():
    rng = np.random.default_rng(3)
    arm = ArmModel()
    simulation = Simulation(load_scene("arm"))
    model, data, robot = simulation.model, simulation.data, simulation.layout.robots[0]
    qpos, dof = robot.joints.qpos[:6], robot.joints.dof[:6]
    simulation.drives.set_gains(*np.zeros((2, len(simulation.joints.names))))
    simulation.drives.write(simulation.references, data.ctrl)
    for q in WAY:
        dq, ddq = rng.uniform(-1, 1, (2, 6))
        data.qpos[qpos], data.qvel[dof] = q, dq
        data.qfrc_applied[dof] = arm.torques(q, dq, ddq)
        mujoco.mj_forward(model, data)
        # The fingers, 60 g in all, are not held quite still by their servo.
        np.testing.assert_allclose(data.qacc[dof], ddq, atol=1e-3)
