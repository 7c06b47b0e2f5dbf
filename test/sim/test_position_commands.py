"""Position commands in force, by the source that commands a joint."""

import numpy as np
import pytest
from frame_robot import FrameRobot

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.settings.gains import KP, GainChange
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.tracking import PositionCommands

ELBOW = "elbow_joint"


@pytest.fixture
def arm() -> FrameRobot:
    return FrameRobot(Simulation(load_scene("arm")))


def commands(arm: FrameRobot) -> dict[str, float]:
    """Return the position commands by joint."""
    found = PositionCommands(arm.simulation.plant)
    found.update()
    return dict(zip(arm.control.joints.names, found.values.tolist(), strict=True))


def missing(arm: FrameRobot) -> set[str]:
    return {name for name, value in commands(arm).items() if np.isnan(value)}


def send(arm: FrameRobot, source: CommandSource, joint: str, *fields: list[float]) -> None:
    command = joint_command(arm.control.joints, "clamp", [joint], fields)
    arm.control.command(source, command, arm.time, StreamSettings(interpolation="hold"))
    arm.run(0.01)


def test_all_driven_joints_have_one_and_the_mimic_joint_none(arm: FrameRobot) -> None:
    passive = {it for it, has in zip(*_interfaces(arm), strict=True) if not has}
    assert len(passive) == 1
    assert missing(arm) == passive
    expected = arm.control.references.q
    found = np.array([*commands(arm).values()])
    np.testing.assert_array_equal(found[~np.isnan(found)], expected[~np.isnan(found)])


def _interfaces(arm: FrameRobot) -> tuple[tuple[str, ...], tuple[frozenset[str], ...]]:
    return arm.control.joints.names, arm.control.joints.interfaces


def test_a_joint_that_follows_an_effort_alone_has_none_until_it_gets_a_position(
    arm: FrameRobot,
) -> None:
    before = missing(arm)
    for source in (CommandSource.JOINT_COMMANDS, CommandSource.EFFORT):
        send(arm, source, ELBOW, [], [], [1.0])
        assert missing(arm) - before == {ELBOW}
    send(arm, CommandSource.JOINT_COMMANDS, ELBOW, [1.2], [], [1.0])
    assert missing(arm) == before
    assert commands(arm)[ELBOW] == pytest.approx(1.2, abs=1e-12)


def test_velocities_are_integrated_to_positions_by_their_controller_alone(arm: FrameRobot) -> None:
    before = missing(arm)
    start = commands(arm)[ELBOW]
    send(arm, CommandSource.VELOCITY, ELBOW, [], [0.5], [])
    assert missing(arm) == before
    assert commands(arm)[ELBOW] > start
    send(arm, CommandSource.JOINT_COMMANDS, ELBOW, [], [0.5], [])
    assert missing(arm) - before == {ELBOW}


def test_a_joint_without_stiffness_has_none(arm: FrameRobot) -> None:
    before = missing(arm)
    robot, index = arm.simulation.assembly.robots[0], arm.control.joints.names.index(ELBOW)
    arm.simulation.plant.gains.change([GainChange(robot, KP, index, 0.0)])
    assert missing(arm) - before == {ELBOW}


@pytest.mark.parametrize(("mode", "is_missing"), [("pose", False), ("impedance", True)])
def test_the_cartesian_controller_commands_positions_in_pose_mode_alone(
    arm: FrameRobot, mode: str, is_missing: bool
) -> None:
    before = missing(arm)
    arm.configure(mode=mode)
    arm.go(arm.home)
    arm.run(0.02)
    assert missing(arm) - before == (set(arm.chain.joints.names) if is_missing else set())
