"""Setting the state of joints, bases and bodies of a simulation."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.events import CommandSource, GoalEnded, SimulationReset
from mujoco_ros.control.gripper import GripperCommand
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.control.trajectory.trajectory import PointArrays, trajectory
from mujoco_ros.model.robot.body_frames import BodyFrame
from mujoco_ros.model.scene.entities import entities
from mujoco_ros.sim.observer import Placement
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.set_state import REASON, StateRequest, set_state, settable_joints
from mujoco_ros.sim.wrenches import AppliedWrench

POSE = np.array([0.3, -0.2, 0.9, *(np.array([1.0, 0.1, -0.2, 0.3]) / np.sqrt(1.14))])
TWIST = np.array([0.1, 0.2, -0.3, 0.4, -0.5, 0.6])
PENDULUM = """<mujoco><compiler angle="radian"/><option timestep="0.001"/><worldbody><body>
  <joint name="a" axis="0 1 0"/><geom size=".05" pos="0 0 -.5" mass="1"/><body pos="0 0 -1">
  <joint name="b" axis="0 1 0" limited="true" range="-2 2"/>
  <geom size=".05" pos="0 0 -.5" mass="1"/></body></body></worldbody></mujoco>"""


def set_values(
    simulation: Simulation,
    positions: dict[str, float] | None = None,
    velocities: dict[str, float] | None = None,
    **placements: Placement,
) -> str:
    """Set joints and entities by name."""
    table = settable_joints(simulation.model, simulation.layout)
    found = entities(simulation.assembly, simulation.layout)
    request = StateRequest(
        positions={table[name].joint: value for name, value in (positions or {}).items()},
        velocities={table[name].joint: value for name, value in (velocities or {}).items()},
        placements=tuple((found[name], placement) for name, placement in placements.items()),
    )
    return set_state(simulation, {it.joint: it for it in table.values()}, request)


def run(simulation: Simulation, steps: int) -> None:
    for _ in range(steps):
        assert simulation.step()


def goal_to(simulation: Simulation, position: float) -> object:
    """Send the first robot's elbow to a position in one second; return the goal."""
    control, goal = simulation.controls[0], object()
    points = PointArrays(
        times=np.array([1.0]),
        values=np.array([[[position]], [[0.0]], [[0.0]], [[0.0]]]),
        given=np.array([[True], [False], [False], [False]]),
    )
    name = control.joints.names[2]
    wanted = trajectory(control.joints, control.trajectory.settings, "clamp", [name], None, points)
    control.follow(replace(wanted, goal=goal), float(simulation.data.time))
    return goal


def stream(simulation: Simulation, joint: str, position: float, robot: int = 0) -> None:
    control = simulation.controls[robot]
    command = joint_command(control.joints, "clamp", [joint], ([position], [], []))
    control.command(CommandSource.JOINT_COMMANDS, command, float(simulation.data.time))


def test_joints_have_exactly_the_positions_and_velocities_that_were_set(shipped):
    arm = shipped("arm")
    run(arm, 50)
    before = arm.data.qpos.copy(), arm.data.qvel.copy(), float(arm.data.time), arm.time
    assert set_values(arm, {"elbow_joint": 1.1}, {"elbow_joint": 0.25, "wrist_1_joint": -0.5}) == ""
    qpos, qvel, *times = before
    qpos[2], qvel[2], qvel[3] = 1.1, 0.25, -0.5
    np.testing.assert_array_equal(arm.data.qpos, qpos)
    np.testing.assert_array_equal(arm.data.qvel, qvel)
    assert [float(arm.data.time), arm.time] == times, "the clock is not touched"


def test_a_free_pendulum_swings_from_the_set_state_as_in_plain_mujoco(simulate):
    simulation = simulate(PENDULUM)
    run(simulation, 100)
    set_values(simulation, {"a": 0.7, "b": -1.1}, {"a": 0.3, "b": 0.9})
    model = mujoco.MjModel.from_xml_string(PENDULUM)
    model.opt.integrator = simulation.model.opt.integrator
    oracle = mujoco.MjData(model)
    oracle.qpos[:], oracle.qvel[:] = (0.7, -1.1), (0.3, 0.9)
    mujoco.mj_step(model, oracle, 500)
    run(simulation, 500)
    np.testing.assert_array_equal(simulation.data.qpos, oracle.qpos)
    np.testing.assert_array_equal(simulation.data.qvel, oracle.qvel)


def test_what_follows_does_not_depend_on_what_was_before(shipped):
    """All joints of the arm and the box are set in a fresh and in a used simulation."""
    fresh, used = shipped("arm"), shipped("arm")
    goal_to(used, 1.4)
    stream(used, "wrist_1_joint", 0.4)
    used.controls[0].command_gripper(
        GripperCommand(position=0.0, velocity=0.0, effort=5.0, goal=object()), 0.0
    )
    run(used, 700)
    names = list(settable_joints(used.model, used.layout))
    q = dict(zip(names, fresh.data.qpos[:8] + 0.05, strict=True)) | {
        "left_finger_joint": 0.02,
        "right_finger_joint": 0.02,
    }
    dq = dict.fromkeys(names, 0.1)
    box = Placement(pose=np.array([0.5, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0]), twist=TWIST)
    for simulation in (fresh, used):
        set_values(simulation, q, dq, box=box)
        run(simulation, 400)
    np.testing.assert_array_equal(used.data.qpos, fresh.data.qpos)
    np.testing.assert_array_equal(used.data.qvel, fresh.data.qvel)
    np.testing.assert_array_equal(used.references.values, fresh.references.values)


def test_a_set_joint_is_held_where_it_was_set(shipped):
    arm = shipped("arm")
    goal_to(arm, 2.0)
    stream(arm, "wrist_1_joint", -0.5)
    run(arm, 300)
    held = arm.references.q.copy()
    set_values(arm, {"elbow_joint": 1.0}, {"elbow_joint": 0.0})
    held[2] = 1.0
    np.testing.assert_array_equal(arm.references.q, held)
    assert not arm.references.dq.any()
    run(arm, 1000)
    assert arm.data.qpos[2] == pytest.approx(1.0, abs=0.02), "it sags under gravity alone"
    np.testing.assert_array_equal(arm.references.q, held)


def test_no_effort_reference_of_a_set_joint_remains(shipped):
    arm = shipped("arm")
    arm.references.tau[:3] = 2.0, 3.0, 4.0
    set_values(arm, {"shoulder_lift_joint": -1.0}, {"elbow_joint": 0.0})
    assert list(arm.references.tau[:3]) == [2.0, 0.0, 0.0]


def test_the_goals_of_the_robot_end_with_the_reason_and_no_other_does(shipped):
    arm = shipped("arm")
    goal = goal_to(arm, 2.0)
    run(arm, 100)
    set_values(arm, box=Placement(twist=TWIST))
    assert arm.controls[0].trajectory.busy, "the box is no part of the robot"
    set_values(arm, {"wrist_1_joint": 0.0})
    (ended,) = [event for event in arm.events if isinstance(event, GoalEnded)]
    assert ended.goal is goal
    assert ended.message == REASON
    assert not arm.controls[0].active
    assert sum(isinstance(event, SimulationReset) for event in arm.events) == 1, "at the start"


def test_another_robot_continues_undisturbed(shipped):
    plain, changed = shipped("zoo"), shipped("zoo")
    names = [robot.name for robot in plain.layout.robots]
    one, other = range(len(names))[:2]
    joint = plain.layout.robots[other].joints.names[0]
    for simulation in (plain, changed):
        stream(simulation, joint, 0.1, other)
        run(simulation, 20)
    first = f"{names[one]}.{plain.layout.robots[one].joints.names[0]}"
    set_values(changed, {first: 0.05})
    columns = changed.layout.columns[other]
    np.testing.assert_array_equal(
        changed.references.values[:, columns], plain.references.values[:, columns]
    )
    assert changed.controls[one].owners().keys() <= {CommandSource.UNCLAIMED}
    assert changed.controls[other].owners() == plain.controls[other].owners()
    for simulation in (plain, changed):
        run(simulation, 20)
    qpos = plain.layout.robots[other].joints.qpos
    np.testing.assert_allclose(changed.data.qpos[qpos], plain.data.qpos[qpos], atol=1e-9)


def test_streams_are_released_and_the_gripper_has_its_own_force_again(shipped):
    arm = shipped("arm")
    stream(arm, "elbow_joint", 1.0)
    limits = arm.model.actuator_forcerange.copy()
    arm.controls[0].command_gripper(
        GripperCommand(position=0.0, velocity=0.0, effort=3.0, goal=object()), 0.0
    )
    run(arm, 10)
    assert not np.array_equal(arm.model.actuator_forcerange, limits)
    set_values(arm, {"left_finger_joint": 0.01})
    np.testing.assert_array_equal(arm.model.actuator_forcerange, limits)
    assert set(arm.controls[0].owners()) <= {CommandSource.UNCLAIMED}


def test_wrenches_on_the_robot_end_and_others_stay(shipped):
    arm = shipped("arm")
    box, hand = arm.model.body("box/box").id, arm.layout.robots[0].bodies[-1]
    for body, name in ((box, "box"), (hand, "hand")):
        frame = BodyFrame(
            frame=name, body=body, position=np.zeros(3), quat_wxyz=np.array([1.0, 0, 0, 0])
        )
        arm.wrenches.put(frame, AppliedWrench(force=(0.0, 0.0, 1.0), torque=(0.0, 0.0, 0.0)))
    run(arm, 5)
    set_values(arm, {"elbow_joint": 1.0})
    assert list(arm.wrenches.listing) == ["box"]
    assert not arm.data.xfrc_applied[hand].any()


def test_the_base_and_the_joints_of_a_floating_robot_are_set_together(shipped):
    robot = shipped("quadruped")
    run(robot, 30)
    name, joint = robot.layout.robots[0].name, robot.layout.robots[0].joints.names[0]
    set_values(robot, {joint: 0.2}, **{name: Placement(pose=POSE, twist=TWIST)})
    base = robot.layout.robots[0].bases[0]
    np.testing.assert_array_equal(robot.data.qpos[base.qpos : base.qpos + 7], POSE)
    turned = np.zeros(3)
    mujoco.mju_rotVecQuat(turned, robot.data.qvel[base.dof + 3 : base.dof + 6], POSE[3:])
    np.testing.assert_allclose(turned, TWIST[3:], atol=1e-12)
    assert robot.data.qpos[robot.layout.robots[0].joints.qpos[0]] == 0.2


def test_a_request_with_one_impossible_part_sets_nothing(shipped):
    arm = shipped("arm")
    goal_to(arm, 2.0)
    run(arm, 30)
    before = arm.data.qpos.copy(), arm.references.values.copy()
    with pytest.raises(ValueError, match="robot 'arm' cannot be moved: it is fixed to the world"):
        set_values(arm, {"elbow_joint": 1.0}, arm=Placement(pose=POSE))
    np.testing.assert_array_equal(arm.data.qpos, before[0])
    np.testing.assert_array_equal(arm.references.values, before[1])
    assert arm.controls[0].trajectory.busy


def test_positions_beyond_the_limits_are_clamped_or_refused(shipped):
    arm = shipped("arm")
    high = float(arm.model.jnt_range[2, 1])
    remark = set_values(arm, {"elbow_joint": high + 1.0})
    assert remark.startswith(f"position {high + 1:g} of joint 'elbow_joint' was clamped to its")
    assert arm.data.qpos[2] == high
    assert set_values(arm, {"elbow_joint": high + 5e-4}) == "", "limits are soft"
    assert arm.data.qpos[2] == high + 5e-4
    assert arm.references.q[2] == high
    arm.controls[0].stream = replace(StreamSettings(), out_of_limits="refuse")
    with pytest.raises(ValueError, match="of joint 'elbow_joint' is outside its limits"):
        set_values(arm, {"wrist_1_joint": 0.1, "elbow_joint": high + 1.0})
    assert arm.data.qpos[3] != 0.1


def test_a_violated_constraint_between_bodies_is_reported(simulate):
    simulation = simulate(
        """<mujoco><worldbody><body name="x"><joint name="x"/><geom size=".1"/></body>
        <body name="y" pos="1 0 0"><freejoint/><geom size=".1"/></body></worldbody><equality>
        <connect name="rod" body1="x" body2="y" anchor="1 0 0"/></equality></mujoco>"""
    )
    remark = set_values(simulation, {"x": 0.5})
    assert remark.startswith("the equality 'rod' is violated by ")


def test_a_divergence_in_the_next_step_returns_to_the_set_state(shipped):
    arm = shipped("arm", on_divergence="pause")
    run(arm, 20)
    set_values(arm, {"elbow_joint": 1.0})
    arm.data.qvel[0] = np.nan
    assert not arm.step()
    assert arm.data.qpos[2] == 1.0
