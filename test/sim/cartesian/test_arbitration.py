"""Ownership of joints, resets, saved states and repeatability."""

from collections.abc import Callable

import numpy as np
import pytest
from frame_robot import SERVO_ARM, FrameRobot

from mujoco_ros.control.events import CommandPreempted, CommandSource
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.snapshots import restore, take_snapshot


def take(robot: FrameRobot, joint: str, position: float) -> None:
    """Command a joint by another source."""
    joints = robot.control.joints
    command = joint_command(joints, "clamp", [joint], ([position], [], []))
    robot.control.command(CommandSource.JOINT_COMMANDS, command, robot.time)


def test_the_controller_owns_its_joints_and_not_the_gripper(arm: FrameRobot) -> None:
    arm.go(arm.home)
    assert arm.control.owners()[CommandSource.CARTESIAN] == arm.chain.joints.names


def test_nothing_moves_when_it_takes_the_joints(robot: FrameRobot) -> None:
    start = robot.q
    robot.go(robot.home)
    q, _ = robot.run_joints(0.5)
    np.testing.assert_allclose(q, np.broadcast_to(start, q.shape), atol=2e-5)


def test_another_source_takes_one_joint_and_the_others_hold(arm: FrameRobot) -> None:
    arm.go(arm.home + np.array([0.0, 0.1, 0.0]))
    arm.run(0.1)
    arm.simulation.events.clear()
    held = arm.control.references.q[:6].copy()
    take(arm, "wrist_3_joint", -1.0)
    (event,) = [it for it in arm.simulation.events if isinstance(it, CommandPreempted)]
    assert (event.source, event.new_owner) == (
        CommandSource.CARTESIAN,
        CommandSource.JOINT_COMMANDS,
    )
    assert not event.was_idle
    arm.run(0.5)
    assert not arm.controller.busy
    np.testing.assert_array_equal(arm.control.references.q[:5], held[:5])
    np.testing.assert_array_equal(arm.control.references.dq[:5], 0.0)


def test_a_preemption_long_after_the_last_command_is_no_warning(arm: FrameRobot) -> None:
    arm.go(arm.home)
    arm.run(1.0)
    arm.simulation.events.clear()
    take(arm, "elbow_joint", 1.3)
    (event,) = [it for it in arm.simulation.events if isinstance(it, CommandPreempted)]
    assert event.was_idle


@pytest.mark.parametrize("mode", ["pose", "impedance"])
def test_disabling_holds_the_joints_and_refuses_commands(arm: FrameRobot, mode: str) -> None:
    arm.configure(mode=mode)
    arm.go(arm.home + np.array([0.0, 0.0, 0.05]))
    arm.run(0.5)
    arm.configure(enabled=False)
    assert not arm.owns()
    before = arm.q
    arm.run(0.5)
    np.testing.assert_allclose(arm.q, before, atol=2e-3)
    arm.simulation.events.clear()
    arm.go(arm.home)
    (event,) = arm.simulation.events
    assert "enabled is false" in event.message
    assert not arm.controller.busy


def lift_and_disable(robot: FrameRobot) -> np.ndarray:
    """End a motion while it accelerates; return the efforts that carry the joints there."""
    robot.turn_and_move((0.0, 0.0, 0.4))
    robot.run(0.012)
    robot.configure(enabled=False)
    robot.chain.locate(robot.q)
    return robot.chain.bias(np.zeros(len(robot.q)))


def test_joints_rest_at_their_references_when_a_motion_ends(arm: FrameRobot) -> None:
    drives, references = arm.simulation.drives, arm.control.references
    drives.set_gains(0.02 * drives.kp, 0.14 * drives.kd)  # a wrong effort is seen
    arm.turn_and_move((0.0, 0.0, 0.0))
    arm.run(1.0)
    effort = lift_and_disable(arm)
    np.testing.assert_allclose(references.tau[:6], effort, atol=0.2)
    arm.run(3.0)
    np.testing.assert_allclose(arm.q, references.q[:6], atol=2e-3)


def test_servos_hold_their_load_when_a_motion_ends(
    simulate: Callable[[str], Simulation],
) -> None:
    robot = FrameRobot(simulate(SERVO_ARM))
    effort = lift_and_disable(robot)
    target, references = robot.q, robot.control.references
    np.testing.assert_allclose(references.q - target, effort / 2000.0, atol=1e-3)
    assert not references.tau.any()


def test_a_change_of_frame_and_mode_does_not_jump(arm: FrameRobot) -> None:
    arm.go(arm.home + np.array([0.0, 0.1, 0.0]))
    arm.run(1.0)
    before = arm.control.references.q.copy()
    arm.configure(frame="wrist_2_link", mode="impedance")
    np.testing.assert_allclose(arm.control.references.q, before, atol=1e-4)


def test_a_keyframe_whose_motion_is_not_continued_holds_the_saved_position(
    arm: FrameRobot,
) -> None:
    arm.configure(mode="impedance")
    arm.go(arm.home)
    arm.run(0.3)
    start, saved = arm.q, take_snapshot(arm.simulation)
    arm.go(arm.home + np.array([0.0, 0.1, 0.0]))
    arm.run(0.5)
    restore(arm.simulation, saved, rewind=False)
    np.testing.assert_allclose(arm.control.references.q[:6], start, atol=1e-9)
    arm.run(0.5)
    np.testing.assert_allclose(arm.q, start, atol=2e-3)


def test_a_reset_ends_the_motion(arm: FrameRobot) -> None:
    arm.turn_and_move((0.0, 0.0, 0.2))
    arm.run(0.1)
    arm.simulation.reset()
    start = arm.q
    assert not arm.owns()
    arm.run(0.5)
    np.testing.assert_allclose(arm.q, start, atol=5e-3)  # it sags by 1 mm, as it does at the start
    assert not arm.controller.busy


def test_the_first_command_after_a_reset_does_not_jump(arm: FrameRobot) -> None:
    arm.go(arm.home + np.array([0.0, 0.2, 0.0]))
    arm.run(0.2)
    arm.simulation.reset()
    start = arm.q
    arm.go(*arm.pose())
    q, _ = arm.run_joints(0.3)
    assert np.abs(q - start).max() < 1e-3


def test_a_saved_state_continues_bit_identically(arm: FrameRobot) -> None:
    arm.turn_and_move((0.0, 0.1, 0.1), (0.0, 0.2, 0.0))
    arm.run(0.1)
    state = arm.control.save_state()
    references = arm.simulation.references.values.copy()
    qpos, qvel = arm.simulation.data.qpos.copy(), arm.simulation.data.qvel.copy()
    warm, time = arm.simulation.data.qacc_warmstart.copy(), arm.time
    expected = arm.run_joints(0.3)[0]
    arm.control.reset()
    data = arm.simulation.data
    data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = qpos, qvel, warm
    arm.simulation.set_time(time)
    arm.simulation.references.values[:] = references
    arm.control.restore_state(state)
    np.testing.assert_array_equal(arm.run_joints(0.3)[0], expected)


def test_two_runs_give_the_same_bits() -> None:
    def run() -> np.ndarray:
        robot = FrameRobot(Simulation(load_scene("arm")))
        positions = []
        for step in range(40):
            robot.go(robot.home + np.array([0.0, 0.002 * step, 0.001 * step]))
            positions.append(robot.run_joints(0.01)[0])
        robot.configure(mode="impedance")
        robot.turn_and_move((0.05, 0.0, 0.0))
        positions.append(robot.run_joints(0.2)[0])
        return np.concatenate(positions)

    np.testing.assert_array_equal(run(), run())
