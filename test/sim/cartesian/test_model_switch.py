"""Commands in frames of objects that are deleted, and saved states of other frames."""

import numpy as np
import pytest
from frame_robot import FrameRobot

from mujoco_ros.control.cartesian import cartesian_command
from mujoco_ros.control.events import CommandRejected
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.sim.state.snapshots import restore, take_snapshot

UP = (0.0, 0.0, 0.1)


def delete(robot: FrameRobot, name: str) -> None:
    simulation = robot.simulation
    simulation.switch_model(simulation.build_plant(rebuild(simulation.assembly, remove=[name])))


def step(robot: FrameRobot, seconds: float) -> None:
    for _ in range(round(seconds / robot.timestep)):
        assert robot.simulation.step()


def comes_to_rest(robot: FrameRobot) -> bool:
    step(robot, 0.5)
    before = robot.q
    step(robot, 0.1)
    return bool(np.abs(robot.q - before).max() < 1e-4)


def test_a_twist_ends_when_its_frame_is_deleted(arm: FrameRobot) -> None:
    arm.configure(twist_timeout=0.0)
    arm.turn_and_move(UP, frame="box")
    step(arm, 0.1)
    delete(arm, "box")
    assert comes_to_rest(arm)
    assert arm.controller.busy, "it holds the frame"


def test_a_twist_in_a_remaining_frame_keeps_its_direction(arm: FrameRobot) -> None:
    arm.configure(twist_timeout=0.0)
    arm.turn_and_move(UP, frame="box")
    step(arm, 0.1)
    before = arm.controller.reference.twist.copy()
    delete(arm, "table")  # the index of the box changes
    step(arm, 0.1)
    np.testing.assert_allclose(arm.controller.reference.twist, before, atol=1e-3)


def test_a_wrench_ends_when_its_frame_is_deleted(arm: FrameRobot) -> None:
    arm.configure(mode="impedance", twist_timeout=0.0)
    start = arm.q
    arm.push((0.0, 0.0, 5.0), frame="box")
    step(arm, 0.5)
    assert np.abs(arm.q - start).max() > 5e-3
    delete(arm, "box")
    step(arm, 1.0)
    np.testing.assert_allclose(arm.q, start, atol=1e-3)


@pytest.mark.parametrize(("frame", "problems"), [("box", ["frame 'box' is gone"]), ("grasp", [])])
def test_a_queued_pose_is_found_by_the_name_of_its_frame(
    arm: FrameRobot, frame: str, problems: list[str]
) -> None:
    there = arm.controller.chains.resolve(frame, arm.chain.base)
    queued = cartesian_command("pose", there, (0.0, 0.0, 0.05), (1.0, 0.0, 0.0, 0.0))
    delete(arm, "box")
    arm.simulation.events.clear()
    arm.control.command_cartesian(queued, arm.time)
    events = arm.simulation.events
    assert [it.message for it in events if isinstance(it, CommandRejected)] == problems
    assert arm.controller.busy is not bool(problems)
    if not problems:
        step(arm, 1.0)
        moved = FrameRobot(arm.simulation).home - arm.home
        assert np.linalg.norm(moved) == pytest.approx(0.05, abs=1e-3)


def test_a_keyframe_of_a_twist_in_a_deleted_frame_holds(arm: FrameRobot) -> None:
    arm.turn_and_move(UP, frame="box")
    step(arm, 0.05)
    saved = take_snapshot(arm.simulation)
    step(arm, 0.5)
    delete(arm, "box")
    restore(arm.simulation, saved)
    assert comes_to_rest(arm)


def test_a_keyframe_of_other_joints_ends_their_motion(arm: FrameRobot) -> None:
    names, references = arm.chain.joints.names, arm.control.references
    arm.configure(joints=names[:3])
    arm.turn_and_move(UP)
    step(arm, 0.05)
    saved, held = take_snapshot(arm.simulation), references.q.copy()
    assert references.dq.any()
    arm.configure(joints=names[3:])
    restore(arm.simulation, saved)
    assert not arm.owns()
    step(arm, 0.02)
    np.testing.assert_array_equal(references.q, held)
    np.testing.assert_array_equal(references.dq, 0.0)


def test_a_keyframe_without_a_wrench_ends_the_present_one(arm: FrameRobot) -> None:
    arm.configure(mode="impedance", twist_timeout=0.0)
    arm.go(arm.home)
    step(arm, 0.1)
    saved, start = take_snapshot(arm.simulation), arm.q
    arm.push((0.0, 0.0, 20.0))
    step(arm, 0.3)
    restore(arm.simulation, saved)
    step(arm, 0.3)
    np.testing.assert_allclose(arm.q, start, atol=1e-3)
