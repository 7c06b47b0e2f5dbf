"""Commands to the robots of a model, and the motion of their joints."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mujoco_ros.control.events import (
    CommandError,
    CommandSource,
    GoalEnded,
    Outcome,
    SimulationReset,
)
from mujoco_ros.control.gripper import GripperCommand
from mujoco_ros.control.joint_command import forward_command, joint_command
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import GripperSettings, TrajectorySettings
from mujoco_ros.control.trajectory.trajectory import PointArrays, trajectory
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig
from mujoco_ros.model.scene.physics_options import PhysicsConfig
from mujoco_ros.sim.simulation import Simulation

HAND = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.001"/>
  <default><geom contype="0" conaffinity="0" mass="0.5"/></default>
  <worldbody>
    <body name="arm">
      <joint name="shoulder" axis="0 0 1" range="-2 2" limited="true"/>
      <geom size="0.05"/>
      <body name="wrist" pos="0.3 0 0">
        <joint name="wrist" axis="0 0 1"/>
        <geom size="0.05" pos="0.1 0 0"/>
        <body name="finger" pos="0.1 0 0">
          <joint name="finger" type="slide" axis="0 1 0" range="0 0.08" limited="true"/>
          <geom size="0.02"/>
        </body>
        <body name="fan">
          <joint name="fan" axis="1 0 0"/>
          <geom size="0.04"/>
        </body>
        <body name="flap">
          <joint name="flap" type="slide" axis="0 0 1"/>
          <geom size="0.04" pos="0 0 0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="shoulder" gear="40" ctrlrange="-1 1"/>
    <motor joint="wrist"/>
    <position joint="finger" kp="400" kv="30" ctrlrange="-0.1 0.06"/>
    <velocity joint="fan" kv="0.5"/>
  </actuator>
</mujoco>"""
GAINS = "shoulder: {kp: 200, kd: 15}\nwrist: {kp: 80, kd: 4}\n"
NAMES = ("shoulder", "wrist", "finger", "fan", "flap")


@pytest.fixture
def hands(tmp_path: Path):
    """A function that simulates robots that are all the same hand."""

    def build(*names: str, gripper: str | None = "finger") -> Simulation:
        (tmp_path / "hand.xml").write_text(HAND)
        (tmp_path / "gains.yaml").write_text(GAINS)
        robots = tuple(
            RobotConfig(name=name, model="hand.xml", gains="gains.yaml", gripper=gripper)
            for name in names
        )
        config = SceneConfig(
            name="hands",
            folder=tmp_path,
            robots=robots,
            merged=len(robots) > 1,
            physics=PhysicsConfig(gravity=(0.0, 0.0, 0.0)),
        )
        return Simulation(config)

    return build


def run(simulation: Simulation, seconds: float) -> np.ndarray:
    """Step, and return all positions."""
    rows = []
    for _ in range(round(seconds / simulation.model.opt.timestep)):
        assert simulation.step()
        rows.append(simulation.sample.qpos.copy())
    return np.array(rows)


def follow(simulation: Simulation, control: RobotControl, *, goal="goal") -> None:
    """Move shoulder and wrist along a quintic trajectory."""
    joints = control.joints
    settings = TrajectorySettings(
        trajectory=np.zeros(len(joints.names)), goal=np.zeros(len(joints.names))
    )
    values = np.zeros((4, 2, 2))
    values[0] = [[0.4, -1.0], [1.0, 0.5]]
    values[1, 0] = [0.8, 0.3]
    points = PointArrays(
        times=np.array([0.5, 1.2]),
        values=values,
        given=np.array([[True, True]] * 3 + [[False, False]]),
    )
    names = ("shoulder", "wrist")
    moves = trajectory(joints, settings, "clamp", names, None, points)
    control.follow(replace(moves, goal=goal), float(simulation.data.time))


# --- interfaces of joints


def test_interfaces_and_limits_of_joints_are_those_of_the_model(hands):
    joints = hands("hand").controls[0].joints
    everything = {"position", "velocity", "effort"}
    assert joints.names == NAMES
    assert joints.interfaces == (everything, everything, {"position"}, {"velocity"}, set())
    assert joints.lower.tolist() == [-2, -np.inf, 0, -np.inf, -np.inf]
    assert joints.upper.tolist() == [2, np.inf, 0.06, np.inf, np.inf]
    assert joints.continuous.tolist() == [False, True, False, True, False]
    assert joints.gripper == 2


def test_robots_without_a_gripper_have_no_gripper_controller(hands):
    (control,) = hands("hand", gripper=None).controls
    assert control.gripper is None
    assert control.joints.with_interface("position") == (0, 1, 2)


@pytest.mark.parametrize("joint", ["fan", "flap"])
def test_a_gripper_without_a_position_interface_is_refused_with_the_valid_joints(hands, joint):
    message = (
        f"gripper of robot 'hand': joint '{joint}' takes no positions; these do: shoulder, wrist"
    )
    with pytest.raises(UserInputError, match=message):
        hands("hand", gripper=joint)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"position": ["fan"]}, "joint 'fan' takes no position: it takes velocity only"),
        ({"effort": ["finger"]}, "joint 'finger' takes no effort: it takes position only"),
        ({"velocity": ["flap"]}, "joint 'flap' takes no velocity: it is passive"),
    ],
)
def test_the_error_for_a_missing_interface_lists_those_of_the_joint(hands, fields, message):
    joints = hands("hand").controls[0].joints
    (names,) = fields.values()
    rows = [[0.0] if what in fields else [] for what in ("position", "velocity", "effort")]
    with pytest.raises(CommandError, match=message):
        joint_command(joints, "clamp", names, rows)


# --- commands that reach the joints


def test_each_joint_follows_commands_of_its_own_interfaces(hands):
    simulation = hands("hand", gripper=None)
    (control,) = simulation.controls
    fields = ([1.0, 0.05, np.nan], [np.nan, np.nan, 3.0], [])
    command = joint_command(control.joints, "clamp", ("shoulder", "finger", "fan"), fields)
    control.command(CommandSource.JOINT_COMMANDS, command, 0.0)
    last = run(simulation, 3.0)[-1]
    assert last[0] == pytest.approx(1.0, abs=1e-3)
    assert last[2] == pytest.approx(0.05, abs=1e-3)
    assert simulation.sample.qvel[3] == pytest.approx(3.0, abs=1e-2)


def test_a_command_affects_only_its_own_robot(hands):
    simulation = hands("left", "middle", "right")
    control = simulation.controls[1]
    command = forward_command(control.joints, "clamp", "effort", [2.5, -1.5])
    control.command(CommandSource.EFFORT, command, 0.0)
    assert simulation.step()
    forces = simulation.sample.qfrc_actuator.reshape(3, 5)
    assert forces[1, :2].tolist() == [2.5, -1.5]
    assert not np.delete(forces, 1, axis=0).any()
    assert simulation.controls[0].references.values.base is simulation.references.values


def test_joints_follow_a_trajectory_and_its_goal_succeeds(hands):
    simulation = hands("left", "right")
    follow(simulation, simulation.controls[1])
    rows = run(simulation, 2.0).reshape(-1, 2, 5)
    assert rows[-1, 1, :2] == pytest.approx([1.0, 0.5], abs=2e-3)
    assert not rows[:, 0].any(), "the other robot does not move"
    (ended,) = [event for event in simulation.events if isinstance(event, GoalEnded)]
    assert (ended.goal, ended.outcome) == ("goal", Outcome.SUCCESSFUL)


def test_a_trajectory_gives_bitwise_equal_joint_paths_in_every_run(hands):
    paths = []
    simulation = hands("hand")
    for fresh in (simulation, hands("hand"), simulation):
        follow(fresh, fresh.controls[0])
        paths.append(run(fresh, 1.5))
        fresh.reset()
    assert np.ptp(paths[0][:, 0]) > 0.5
    for other in paths[1:]:
        np.testing.assert_array_equal(paths[0], other)


def test_a_reset_ends_goals_restores_the_references_and_emits_an_event(hands):
    simulation = hands("hand")
    simulation.events.clear()
    event_counts = []
    simulation.on_event = lambda: event_counts.append(len(simulation.events))
    follow(simulation, simulation.controls[0])
    run(simulation, 0.3)
    simulation.reset(time=7.0)
    *_, ended, was_reset = simulation.events
    assert isinstance(ended, GoalEnded)
    assert ended.message == "the simulation was reset"
    assert was_reset == SimulationReset(time=7.0, before=pytest.approx(0.3), gain_changes=0)
    assert event_counts == list(range(1, len(simulation.events) + 1)), "each event is announced"
    assert not simulation.references.values.any()
    assert not np.abs(run(simulation, 0.2)).max() > 1e-12


# --- the gripper


def grip(simulation: Simulation, position: float, **limits: float) -> None:
    """Command the gripper of the last robot."""
    control = simulation.controls[-1]
    control.command_gripper(
        GripperCommand(position=position, goal="grip", **limits), float(simulation.data.time)
    )


def test_a_gripper_reaches_its_goal_or_stalls_at_an_obstacle(hands):
    simulation = hands("hand")
    simulation.controls[0].gripper.settings = GripperSettings(goal_tolerance=0.002)
    grip(simulation, 0.03)
    run(simulation, 2.0)
    grip(simulation, 0.06)
    simulation.model.jnt_range[2] = [0.0, 0.045]  # an obstacle
    run(simulation, 3.0)
    reached, stalled = [event for event in simulation.events if isinstance(event, GoalEnded)]
    assert (reached.outcome, reached.stalled) == (Outcome.SUCCESSFUL, False)
    assert reached.position == pytest.approx(0.03, abs=0.003)
    assert (stalled.outcome, stalled.stalled) == (Outcome.INVALID_GOAL, True)
    assert stalled.position == pytest.approx(0.045, abs=0.002)
    assert stalled.effort == pytest.approx(400 * 0.015, rel=0.2), "it presses against it"


def test_the_effort_limit_of_a_gripper_acts_at_its_joint_until_its_end(hands):
    simulation = hands("left", "right")
    left, right = 2, 7
    forces = simulation.sample.qfrc_actuator
    for control in simulation.controls:
        control.gripper.settings = GripperSettings(max_velocity=0.0)
    simulation.references.q[left] = 0.06
    grip(simulation, 0.06, effort=2.0)
    assert simulation.step()
    assert forces[right] == pytest.approx(2.0)
    assert forces[left] == pytest.approx(400 * 0.06), "only of the commanded robot"
    grip(simulation, 0.06)
    assert simulation.step()
    assert forces[right] > 20
    grip(simulation, 0.0, effort=1.0)
    assert simulation.step()
    assert forces[right] == pytest.approx(-1.0)
    simulation.reset()
    simulation.references.q[right] = 0.06
    assert simulation.step()
    assert forces[right] == pytest.approx(400 * 0.06)


LIMITED = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0"/>
  <worldbody><body><joint name="j" axis="0 0 1"/><geom size="0.1"/></body></worldbody>
  <actuator><general joint="j" {}/></actuator>
</mujoco>"""


@pytest.mark.parametrize(
    ("actuator", "own"),
    [
        ('gear="10" ctrlrange="-3 2"', (-30.0, 20.0)),
        ('gear="-10" ctrlrange="-3 2"', (-20.0, 30.0)),
        ('gear="10" forcerange="-0.5 0.8"', (-5.0, 8.0)),
        ('gear="2"', (-1e4, 1e4)),
    ],
)
@pytest.mark.parametrize("effort", [1.0, 7.0, 25.0])
def test_an_effort_limit_only_narrows_that_of_the_actuator(simulate, actuator, own, effort):
    simulation = simulate(LIMITED.format(actuator), gains={"j": (0.0, 0.0)})
    low, high = own
    for limit in (effort, 0.0, effort, 2 * effort, 0.0):
        simulation.drives.limit_effort(0, limit)
        for asked in (-1e4, 0.5, 1e4):
            simulation.references.tau[0] = asked
            simulation.data.qvel[0] = 0.0
            assert simulation.step()
            allowed = np.clip(asked, low, high)
            expected = np.clip(allowed, -limit, limit) if limit else allowed
            assert simulation.sample.qfrc_actuator[0] == pytest.approx(expected)
