"""Impedance: displacement under a force, commanded wrenches, and what a contact feels."""

from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from frame_robot import SERVO_ARM, FrameRobot, settling_time

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.sim.simulation import Simulation

STIFFNESS = (500.0, 1000.0, 2000.0)


def pull(robot: FrameRobot, force: np.ndarray) -> None:
    """Apply a force at the origin of the frame, along the axes of the world, from now on."""
    data, body, frame = robot.simulation.data, robot.chain.frame.body, robot.chain.frame
    at, turn = np.zeros(3), np.zeros(4)
    mujoco.mju_mulPose(at, turn, data.xpos[body], data.xquat[body], frame.position, frame.quat_wxyz)
    data.xfrc_applied[body, :3] = force
    data.xfrc_applied[body, 3:] = np.cross(at - data.xipos[body], force)


def run_pulled(robot: FrameRobot, force: np.ndarray, duration: float) -> np.ndarray:
    """Return the displacement of the frame under a constant force.  # (3,)"""
    for _ in range(round(duration / robot.timestep)):
        pull(robot, force)
        robot.simulation.step()
    return robot.pose()[0] - robot.home


def test_a_force_displaces_the_frame_by_force_over_stiffness(robot: FrameRobot) -> None:
    robot.configure(mode="impedance", stiffness_translation=STIFFNESS)
    robot.go(robot.home)
    robot.run(0.4)
    np.testing.assert_allclose(robot.pose()[0], robot.home, atol=1e-5)  # it carries its weight
    force = np.array([8.0, 10.0, 12.0])
    expected = force / STIFFNESS
    displaced = run_pulled(robot, force, 2.0)
    assert (np.abs(displaced - expected) <= 1e-3 * expected).all()


def test_a_step_of_10_mm_settles_in_300_ms(each_robot: FrameRobot) -> None:
    robot = each_robot
    robot.configure(mode="impedance")  # 1000 N/m
    robot.go(robot.home)
    robot.run(0.3)  # afterwards, a pose begins no stream with this one
    goal = robot.home + 0.01  # along each axis
    robot.go(goal)
    positions = robot.run(0.5)
    assert settling_time(positions, goal, robot.timestep, within=5e-4) <= 0.3
    assert (positions - goal).max() <= 2e-4  # no overshoot
    np.testing.assert_allclose(positions[-1], goal, atol=2e-5)


@pytest.mark.parametrize("rate", [50])
def test_a_streamed_line_at_quarter_metre_per_second_is_followed_within_1_mm(
    robot: FrameRobot, rate: int
) -> None:
    robot.configure(mode="impedance")
    direction, length, speed = np.array([0.0, 0.0, 1.0]), 0.15, 0.25
    every, begin, errors = round(1 / rate / robot.timestep), robot.time, []
    for step in range(round(0.9 / robot.timestep)):
        if step % every == 0:
            robot.go(robot.home + direction * min(speed * (robot.time - begin), length))
        moved, time = robot.run(robot.timestep)[0] - robot.home, robot.time - begin
        # A pose is reached when the next one is due: the delay of a period.
        along = speed * (time - every * robot.timestep)
        if 0.1 < time < length / speed:
            errors.append(np.linalg.norm(moved - along * direction))
    assert np.sqrt(np.mean(np.square(errors))) <= 1e-3
    np.testing.assert_allclose(moved, length * direction, atol=5e-4)


@pytest.mark.parametrize("stiffness", [(1000.0, 50.0), (20000.0, 1000.0)])
def test_a_sudden_force_stretches_the_spring_without_overshoot(
    robot: FrameRobot, stiffness: tuple[float, float]
) -> None:
    translation, rotation = stiffness
    robot.configure(
        mode="impedance",
        stiffness_translation=(translation,) * 3,
        stiffness_rotation=(rotation,) * 3,
    )
    robot.go(robot.home)
    robot.run(0.2)
    force, moved, expected = np.array([0.0, 10.0, 0.0]), [], 10.0 / translation
    for _ in range(round(0.8 / robot.timestep)):
        moved.append(run_pulled(robot, force, robot.timestep)[1])
    # Critical damping of at most 12 kg, which is what these arms present.
    rate = np.sqrt(translation / 12.0)
    slowest = expected * (1.0 - (1.0 + 0.8 * rate) * np.exp(-0.8 * rate))
    assert slowest * 0.99 <= moved[-1] <= max(moved) <= expected * 1.01


def test_damping_that_is_set_acts_on_its_axes_alone(arm: FrameRobot) -> None:
    """A constant velocity against a damper takes the force D·v; the spring is off."""
    arm.configure(
        mode="impedance",
        stiffness_translation=(0.0, 1000.0, 1000.0),
        damping_translation=(200.0, 0.0, 0.0),
    )
    arm.go(arm.home)
    arm.run(0.1)
    before = run_pulled(arm, np.array([4.0, 0.0, 0.0]), 1.0)
    after = run_pulled(arm, np.array([4.0, 0.0, 0.0]), 0.5)
    assert after[0] - before[0] == pytest.approx(0.5 * 4.0 / 200.0, rel=0.02)
    np.testing.assert_allclose(after[1:], 0.0, atol=2e-4)


def test_the_pd_law_is_off_while_the_joints_are_an_impedance_and_gains_stay(
    arm: FrameRobot,
) -> None:
    model, drives = arm.simulation.model, arm.simulation.drives
    law, kp = model.actuator_biasprm.copy(), drives.kp.copy()

    def is_off() -> bool:
        off = (model.actuator_biasprm[:6, 1:3] == 0.0).all()
        assert off or np.array_equal(model.actuator_biasprm, law)
        np.testing.assert_array_equal(model.actuator_biasprm[6:], law[6:])
        np.testing.assert_array_equal(drives.kp, kp)
        return bool(off)

    arm.configure(mode="impedance")
    assert not is_off()  # not yet commanded
    ends: tuple[Callable[[], object], ...] = (
        lambda: arm.configure(mode="pose"),
        lambda: arm.configure(enabled=False),
        lambda: arm.configure(frame="tool0"),
        lambda: arm.control.hold_all(),
        arm.simulation.reset,
    )
    for end in ends:
        arm.configure(mode="impedance", enabled=True, frame="")
        arm.go(arm.home)
        arm.run(0.01)
        assert is_off()
        arm.simulation.drives.set_gains(kp, drives.kd.copy())  # as a parameter does
        assert is_off()
        end()
        assert not is_off()


def test_an_impedance_continues_in_the_next_model(arm: FrameRobot) -> None:
    simulation = arm.simulation
    arm.configure(mode="impedance")
    arm.go(arm.home)
    arm.run(0.1)
    simulation.switch_model(simulation.build_plant(rebuild(simulation.assembly)))
    assert (simulation.model.actuator_biasprm[:6, 1:3] == 0.0).all()
    arm = FrameRobot(simulation)  # reads from the next model
    assert arm.controller.busy
    np.testing.assert_allclose(run_pulled(arm, np.array([0, 0, -5.0]), 1.2)[2], -5e-3, rtol=0.01)


def test_a_commanded_wrench_displaces_the_frame_against_the_spring(arm: FrameRobot) -> None:
    arm.configure(mode="impedance", twist_timeout=0.0)
    arm.go(arm.home)
    arm.push((0.0, 0.0, 5.0))
    arm.run(1.5)
    np.testing.assert_allclose(arm.pose()[0] - arm.home, (0, 0, 5e-3), atol=5e-5)


def test_a_wrench_ends_with_its_timeout(arm: FrameRobot) -> None:
    arm.configure(mode="impedance", twist_timeout=0.5)
    arm.push((5.0, 0.0, 0.0))
    assert np.linalg.norm(arm.run(0.4)[-1] - arm.home) > 1e-3
    np.testing.assert_allclose(arm.run(1.5)[-1], arm.home, atol=2e-5)


def test_stiffness_along_the_axes_of_the_tool(arm: FrameRobot) -> None:
    arm.configure(mode="impedance", axes="tool", stiffness_translation=STIFFNESS)
    arm.go(arm.home)
    arm.run(0.5)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, arm.turn)
    tool = turn.reshape(3, 3)
    force = tool @ np.array([8.0, 0.0, 0.0])
    expected = tool @ (np.array([8.0, 0.0, 0.0]) / STIFFNESS)
    np.testing.assert_allclose(run_pulled(arm, force, 2.0), expected, atol=2e-4)


def test_the_force_of_the_spring_is_bounded_by_the_largest_error(arm: FrameRobot) -> None:
    arm.configure(mode="impedance", max_translation_error=0.01)
    arm.go(arm.home)
    arm.run(0.3)
    limit = 0.01 * 1000.0
    stays = run_pulled(arm, np.array([0.0, 0.8 * limit, 0.0]), 1.2)
    assert np.linalg.norm(stays) < 0.01
    gives = run_pulled(arm, np.array([0.0, 1.5 * limit, 0.0]), 1.0)
    assert np.linalg.norm(gives) > 0.02


def test_the_frame_moves_to_a_pose_without_overshoot(robot: FrameRobot) -> None:
    robot.configure(mode="impedance")
    goal = robot.home + np.array([0.0, 0.05, 0.0])
    robot.go(goal)
    positions = robot.run(1.5)
    assert (positions[:, 1] - goal[1]).max() < 5e-4
    assert np.linalg.norm(positions[-1] - goal) < 1e-4


def test_the_mode_changes_in_motion_without_a_jump(arm: FrameRobot) -> None:
    arm.turn_and_move((0.0, 0.0, 0.1))
    arm.run(0.1)
    arm.configure(mode="impedance")
    arm.turn_and_move((0.0, 0.0, 0.1))
    q, _ = arm.run_joints(0.2)
    arm.configure(mode="pose")
    arm.turn_and_move((0.0, 0.0, 0.1))
    more, _ = arm.run_joints(0.2)
    assert np.abs(np.diff(np.concatenate([q, more]), axis=0)).max() < 2e-3


def test_impedance_is_refused_for_joints_without_efforts(
    simulate: Callable[..., Simulation],
) -> None:
    robot = FrameRobot(simulate(SERVO_ARM))
    with pytest.raises(UserInputError, match="mode 'impedance': joint 'one' takes no efforts"):
        robot.configure(mode="impedance")


def test_a_wrench_is_refused_in_pose_mode(arm: FrameRobot) -> None:
    arm.simulation.events.clear()
    arm.push((1.0, 0.0, 0.0))
    (event,) = arm.simulation.events
    assert "mode impedance" in event.message
    assert not arm.owns()
