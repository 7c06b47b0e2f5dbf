import mujoco
import numpy as np
import pytest

from benchmark.processes.arm_motion import (
    JOINTS,
    LARGEST_ACCELERATION,
    LARGEST_VELOCITY,
    PATH,
    ArmModel,
    Motion,
    motion,
)
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


@pytest.fixture(scope="module", params=[0.1, 1.0])
def moves(request: pytest.FixtureRequest) -> Motion:
    return motion(PATH, request.param)


def test_the_path_reaches_the_cube_and_its_goal_with_the_tool_pointing_down():
    arm = ArmModel()
    for q, place in (
        (PATH[1], (0.35, 0.2, 0.485)),
        (PATH[2], (0.35, 0.2, 0.335)),
        (PATH[4], (0.35, -0.2, 0.485)),
        (PATH[5], (0.35, -0.2, 0.335)),
    ):
        position, rotation = arm.tool(q)
        np.testing.assert_allclose(position, place, atol=1e-4)
        np.testing.assert_allclose(rotation[:, 2], [0, 0, -1], atol=1e-4)
    home = Simulation(load_scene("arm")).references.q[: len(JOINTS)]
    np.testing.assert_allclose(PATH[0], home, atol=1e-8)


def test_motions_use_the_limits_and_do_not_exceed_them(moves: Motion):
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


def test_torques_cause_the_accelerations():
    rng = np.random.default_rng(3)
    arm = ArmModel()
    simulation = Simulation(load_scene("arm"))
    model, data, robot = simulation.model, simulation.data, simulation.layout.robots[0]
    qpos, dof = robot.joints.qpos[:6], robot.joints.dof[:6]
    simulation.drives.set_gains(*np.zeros((2, len(simulation.joints.names))))
    simulation.drives.write(simulation.references, data.ctrl)
    for q in PATH:
        dq, ddq = rng.uniform(-1, 1, (2, 6))
        data.qpos[qpos], data.qvel[dof] = q, dq
        data.qfrc_applied[dof] = arm.torques(q, dq, ddq)
        mujoco.mj_forward(model, data)
        # The fingers, 60 g in all, are not held quite still by their servo.
        np.testing.assert_allclose(data.qacc[dof], ddq, atol=1e-3)
