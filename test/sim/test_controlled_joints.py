"""Grippers that an actuator closes by a tendon over both fingers."""

import re
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.events import CommandError, CommandPreempted, GoalEnded, Outcome
from mujoco_ros.control.gripper import gripper_command
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.control.settings import GripperSettings
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig, load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.controlled_joints import DrivenModel
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.element_properties import Property
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.snapshots import restore, take_snapshot
from mujoco_ros.sim.tracking import PositionCommands

KP, KV, OPEN, FULL = 100.0, 10.0, 0.04, 255.0
PALM = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0" integrator="implicitfast"/>
  <worldbody>
    <body name="palm">
      <geom size="0.02" pos="0 0 -0.1"/>
      <body name="left"><joint name="left" type="{type}" axis="{axis}" range="0 {range}"
        damping="1"/><geom type="box" size="0.01 0.005 0.02" pos="0 0.005 {at}" mass="0.05"/></body>
      <body name="right"><joint name="right" type="{type}" axis="{other}" range="0 {range}"
        damping="1"/><geom type="box" size="0.01 0.005 0.02" pos="0 -0.005 {at}" mass="0.05"/>
      </body>
    </body>
    {box}
  </worldbody>
  <tendon>
    <fixed name="split"><joint joint="left" coef="0.5"/><joint joint="right" coef="0.5"/></fixed>
  </tendon>
  <equality><joint joint1="left" joint2="right"/></equality>
  <actuator>{actuator}</actuator>
</mujoco>"""
# As in published models of grippers: the control of 0 to 255 is scaled to the tendon's length.
SERVO = (
    f'<general name="fingers" tendon="split" ctrlrange="0 {FULL}" biastype="affine" '
    f'gainprm="{KP * OPEN / FULL}" biasprm="0 {-KP} {-KV}"/>'
)
BOX = (
    '<body name="box"><joint type="free"/><geom type="box" size="0.01 0.015 0.01" mass="0.1"/>'
    "</body>"
)
SLIDES = {"type": "slide", "axis": "0 1 0", "other": "0 -1 0", "range": OPEN, "at": 0}
HINGES = {"type": "hinge", "axis": "1 0 0", "other": "-1 0 0", "range": 46, "at": 0.1}


def hand(actuator: str = SERVO, box: str = "", **joints) -> str:
    return PALM.format(actuator=actuator, box=box, **(joints or SLIDES))


@pytest.fixture
def grippers(tmp_path: Path):
    """A function that simulates a hand whose gripper has a name."""

    def build(text: str, gripper: str = "fingers", **settings) -> Simulation:
        (tmp_path / "hand.xml").write_text(text)
        robot = RobotConfig(name="hand", model="hand.xml", gripper=gripper)
        scene = SceneConfig(name="hand", folder=tmp_path, robots=(robot,), merged=False)
        simulation = Simulation(scene)
        simulation.controls[0].gripper.settings = GripperSettings(**settings)
        return simulation

    return build


def grip(
    simulation: Simulation, position: float, *, effort: float = 0.0, seconds: float = 4.0
) -> GoalEnded:
    """Send a goal, and return its end."""
    start_grip(simulation, position, effort)
    run(simulation, seconds)
    *_, ended = [event for event in simulation.events if isinstance(event, GoalEnded)]
    return ended


def start_grip(simulation: Simulation, position: float, effort: float = 0.0) -> None:
    control, limits = simulation.controls[0], [effort] if effort else []
    command = gripper_command(control.joints, "clamp", [], [position], [], limits)
    control.command_gripper(replace(command, goal="goal"), float(simulation.data.time))


def run(simulation: Simulation, seconds: float) -> None:
    for _ in range(round(seconds / simulation.model.opt.timestep)):
        assert simulation.step()


def gap(simulation: Simulation) -> float:
    """Return the distance between the fingers [m]."""
    return float(simulation.data.body("left").xpos[1] - simulation.data.body("right").xpos[1])


# --- motion and force


@pytest.mark.parametrize("name", ["fingers", "split"])
def test_the_gripper_opens_and_closes_to_a_width_in_metres(grippers, name):
    simulation = grippers(hand(), name)
    for position in (OPEN, 0.01, 0.0, 0.025):
        ended = grip(simulation, position)
        assert (ended.outcome, ended.stalled) == (Outcome.SUCCESSFUL, False)
        assert ended.position == pytest.approx(position, abs=0.0005)
        assert gap(simulation) == pytest.approx(2 * position, abs=1e-4)
        assert simulation.data.ctrl[0] == pytest.approx(position / OPEN * FULL, abs=1e-9)


def test_the_gripper_respects_a_range_that_is_set_while_it_runs(grippers):
    simulation = grippers(hand())
    grip(simulation, OPEN)
    simulation.properties.set({Property("tendon", "split", "range"): (0.0, 0.03)})
    ended = grip(simulation, OPEN)
    assert ended.position == pytest.approx(0.03, abs=0.001)
    assert simulation.data.ctrl[0] == pytest.approx(0.03 / OPEN * FULL)


def test_the_position_command_in_force_is_that_of_the_tendon(grippers):
    simulation = grippers(hand(box=BOX))
    commands = PositionCommands(simulation.plant)
    (addresses,) = commands.addresses
    assert list(addresses) == ["split"]
    for position in (OPEN, 0.01):
        grip(simulation, position)
        commands.update()
        assert commands.values[addresses["split"]] == pytest.approx(position, abs=1e-9)


def test_on_a_box_the_gripper_stalls_and_squeezes_with_the_force_of_the_servo(grippers):
    simulation = grippers(hand(box=BOX), stall_timeout=0.3)
    assert simulation.data.ctrl[0] == 0.0
    start_grip(simulation, OPEN)
    run(simulation, 2.0)
    simulation.data.joint(2).qpos[:] = [0, 0, 0, 1, 0, 0, 0]
    simulation.data.joint(2).qvel[:] = 0.0
    ended = grip(simulation, 0.0)
    assert (ended.outcome, ended.stalled, ended.message) == (Outcome.INVALID_GOAL, True, "stalled")
    assert ended.position == pytest.approx(0.015, abs=5e-4), "half the width of the box"
    assert ended.effort == pytest.approx(-KP * 0.015, rel=0.05)
    run(simulation, 1.0)
    assert gap(simulation) == pytest.approx(0.03, abs=1e-3), "it continues to squeeze"


@pytest.mark.parametrize("effort", [0.4, 0.8])
def test_the_effort_limit_of_a_goal_limits_the_force_on_the_tendon(grippers, effort):
    simulation = grippers(hand(box=BOX), stall_timeout=0.3)
    start_grip(simulation, OPEN)
    run(simulation, 2.0)
    simulation.data.joint(2).qpos[:] = [0, 0, 0, 1, 0, 0, 0]
    ended = grip(simulation, 0.0, effort=effort)
    assert ended.stalled
    assert ended.effort == pytest.approx(-effort, rel=1e-3)
    simulation.reset()
    assert not simulation.model.actuator_forcelimited[0], "its own limit again"


def test_the_position_of_hinge_fingers_is_an_angle(grippers):
    simulation = grippers(hand(SERVO.replace(f"{FULL}", "2000"), **HINGES), max_velocity=0.0)
    tendon = simulation.controls[0].joints.tendon
    assert tendon.is_angle
    assert tuple(tendon.limits) == pytest.approx((0.0, 2000 / FULL * OPEN))
    ended = grip(simulation, 0.2)
    assert ended.outcome is Outcome.SUCCESSFUL
    assert simulation.data.joint("left").qpos[0] == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize("gear", [1, -2, 5])
@pytest.mark.parametrize("bias", [0.0, 3.0])
def test_positions_become_controls_by_gain_bias_and_gear(grippers, gear, bias):
    servo = (
        f'<general name="fingers" tendon="split" gear="{gear}" biastype="affine" gainprm="20" '
        f'biasprm="{bias} -40 -4"/>'
    )
    simulation = grippers(hand(servo))
    start_grip(simulation, 0.03)
    run(simulation, 3.0)
    data = simulation.data
    force = 20 * data.ctrl[0] + bias - 40 * gear * 0.03
    assert force == pytest.approx(0.0, abs=1e-9), "no force at the goal"
    assert data.ten_length[0] == pytest.approx(0.03, abs=5e-4)


def test_position_actuators_and_dampers_may_share_a_tendon(grippers):
    text = (
        '<position name="fingers" tendon="split" kp="100"/>'
        '<damper name="brake" tendon="split" kv="3" ctrlrange="0 1"/>'
    )
    simulation = grippers(hand(text))
    assert simulation.controls[0].joints.tendon.actuators == ("fingers",)
    assert grip(simulation, 0.02).outcome is Outcome.SUCCESSFUL


SPATIAL = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0" integrator="implicitfast"/>
  <worldbody>
    <site name="anchor"/>
    <body pos="0 0 -0.2"><joint name="slide" type="slide" axis="0 0 1" damping="2"/>
      <geom size="0.02"/><site name="end"/></body>
  </worldbody>
  <tendon><spatial name="cable"><site site="anchor"/><site site="end"/></spatial></tendon>
  <actuator><position name="winch" tendon="cable" kp="200" kv="20"/></actuator>
</mujoco>"""


def test_a_spatial_tendon_has_its_length_at_once_after_a_reset(grippers):
    simulation = grippers(SPATIAL, "winch", goal_tolerance=0.001, max_velocity=0.05)
    simulation.reset()
    start_grip(simulation, 0.0005)
    run(simulation, 0.05)
    assert not [event for event in simulation.events if isinstance(event, GoalEnded)]
    ended = grip(simulation, 0.15)
    assert ended.outcome is Outcome.SUCCESSFUL
    assert simulation.data.joint("slide").qpos[0] == pytest.approx(0.05, abs=1e-3)
    assert not simulation.controls[0].joints.tendon.is_angle


# --- arbitration


def test_the_gripper_owns_the_joints_of_its_tendon(grippers):
    simulation = grippers(hand())
    (control,) = simulation.controls
    start_grip(simulation, 0.02)
    assert control.owners() == {"gripper_controller": ("left", "right")}
    for names in (("left",), ("right", "left")):
        with pytest.raises(CommandError, match=r"'(left|right)' takes no position: it belongs to "):
            joint_command(control.joints, "clamp", names, ([0.1] * len(names), [], []))


def test_a_passive_joint_names_the_actuator_that_moves_it(simulate):
    (control,) = simulate(hand()).controls
    with pytest.raises(CommandError, match="takes no commands; 'fingers' on the topic actuator_"):
        joint_command(control.joints, "clamp", ("left",), ([0.1], [], []))


def test_goals_may_name_the_tendon_or_the_actuator(grippers):
    joints = grippers(hand()).controls[0].joints
    for name in ("split", "fingers"):
        assert gripper_command(joints, "clamp", [name], [0.02], [], []).position == 0.02
    with pytest.raises(CommandError, match="the gripper's tendon is 'split', not 'left'"):
        gripper_command(joints, "clamp", ["left"], [0.02], [], [])


def test_positions_beyond_the_range_of_the_control_are_clamped_or_refused(grippers):
    joints = grippers(hand()).controls[0].joints
    command = gripper_command(joints, "clamp", [], [0.3], [], [])
    assert command.position == pytest.approx(OPEN)
    assert command.clamped.text == (
        "position 0.3 of tendon 'split' was clamped to its limits [0, 0.04]"
    )
    with pytest.raises(CommandError, match=r"position 0\.3 of tendon 'split' is outside"):
        gripper_command(joints, "refuse", [], [0.3], [], [])
    with pytest.raises(CommandError, match="position of tendon 'split' is nan"):
        gripper_command(joints, "clamp", [], [np.nan], [], [])


def test_a_direct_command_of_the_actuator_ends_the_goal(grippers):
    simulation = grippers(hand())
    (control,) = simulation.controls
    start_grip(simulation, OPEN, effort=0.3)
    run(simulation, 0.1)
    control.preempt_gripper(float(simulation.data.time))
    control.preempt_gripper(float(simulation.data.time))
    simulation.data.ctrl[0] = 0.25 * FULL
    run(simulation, 1.0)
    assert simulation.data.ctrl[0] == 0.25 * FULL
    assert simulation.data.ten_length[0] == pytest.approx(0.25 * OPEN, abs=1e-4)
    (lost,) = [event for event in simulation.events if isinstance(event, CommandPreempted)]
    assert (lost.source, lost.new_owner) == ("gripper_controller", "actuator_commands")
    (ended,) = [event for event in simulation.events if isinstance(event, GoalEnded)]
    assert ended.message == "preempted by actuator_commands"
    assert not simulation.model.actuator_forcelimited[0]
    assert control.owners() == {"unclaimed": ("left", "right")}
    assert grip(simulation, 0.03).outcome is Outcome.SUCCESSFUL


def test_a_gripper_continues_when_the_model_changes(grippers):
    simulation = grippers(hand(), max_velocity=0.02)
    start_grip(simulation, OPEN)
    run(simulation, 0.5)
    other = part_from_text(hand(), name="other")
    simulation.switch_model(simulation.build_plant(rebuild(simulation.assembly, add=[other])))
    run(simulation, 2.5)
    (ended,) = [event for event in simulation.events if isinstance(event, GoalEnded)]
    assert ended.outcome is Outcome.SUCCESSFUL
    assert simulation.data.joint("left").qpos[0] == pytest.approx(OPEN, abs=5e-4)
    assert simulation.data.joint("other/left").qpos[0] == pytest.approx(0.0, abs=1e-6)


def test_a_loaded_state_continues_the_motion_bit_by_bit(grippers):
    simulation = grippers(hand(), max_velocity=0.02)
    start_grip(simulation, OPEN, effort=0.5)
    run(simulation, 0.5)
    saved = take_snapshot(simulation)
    run(simulation, 1.0)
    expected = simulation.data.qpos.tobytes(), simulation.data.ctrl.tobytes()
    for change in (lambda: start_grip(simulation, 0.0), simulation.reset):
        change()
        run(simulation, 0.2)
        restore(simulation, saved)
        run(simulation, 1.0)
        assert (simulation.data.qpos.tobytes(), simulation.data.ctrl.tobytes()) == expected


# --- names


def test_of_a_joint_its_actuator_may_be_named(grippers):
    text = hand('<position name="one" joint="left" kp="50" kv="5"/>')
    joints = grippers(text, "one").controls[0].joints
    assert (joints.gripper_name, joints.tendon) == ("left", None)


def test_a_joint_without_actuator_yields_to_an_actuator_of_the_same_name(grippers):
    text = hand(SERVO.replace("fingers", "left"))
    assert grippers(text, "left").controls[0].joints.gripper_name == "split"


@pytest.mark.parametrize(
    ("gripper", "message"),
    [
        (
            "finger",
            "joint, actuator or tendon 'finger' not found (did you mean 'fingers'?); there ",
        ),
        ("jet", "actuator 'jet' (site) moves neither a tendon nor a joint with one axis; name a"),
        ("left", "joint 'left' takes no positions; these do: tendon 'split'"),
        ("pull", "tendon 'loose' takes no positions; these do: tendon 'split'"),
        ("loose", "tendon 'loose' takes no positions; these do: tendon 'split'"),
    ],
)
def test_a_gripper_that_takes_no_positions_is_refused_with_those_that_do(
    grippers, gripper, message
):
    text = hand(
        SERVO + '<motor name="pull" tendon="loose"/>'
        '<general name="jet" site="tip" gear="1 0 0 0 0 0"/>'
    )
    text = text.replace(
        "<tendon>", '<tendon><fixed name="loose"><joint joint="left" coef="1"/></fixed>'
    )
    text = text.replace("<geom size", '<site name="tip"/><geom size')
    with pytest.raises(UserInputError, match=re.escape(f"gripper of robot 'hand': {message}")):
        grippers(text, gripper)


_WITHOUT_GAINS = """<mujoco>
  <worldbody>
    <body pos="0 0 1">
      <joint name="lift" axis="0 1 0" range="-1 1"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.5 0 0" mass="2"/>
    </body>
  </worldbody>
  <actuator><motor joint="lift" ctrlrange="-3 3" ctrllimited="true"/></actuator>
  <keyframe><key qpos="0.4"/></keyframe>
</mujoco>"""


def _arrays(model: mujoco.MjModel) -> dict[str, np.ndarray]:
    named = ((name, getattr(model, name)) for name in dir(model) if not name.startswith("_"))
    return {name: value for name, value in named if isinstance(value, np.ndarray)}


@pytest.fixture(params=["arm", "handover", "walk_grasp", "a motor without a gains file"])
def scene(request, tmp_path) -> str:
    if request.param.startswith("a "):
        file = tmp_path / "lift.xml"
        file.write_text(_WITHOUT_GAINS)
        return str(file)
    return request.param


def _logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return found


def test_a_driven_model_equals_the_model_of_a_plant(scene, caplog) -> None:
    plant, of_plant = Plant(assemble(load_scene(scene)), lambda _event: None), _logged(caplog)
    driven, of_driven = DrivenModel(assemble(load_scene(scene))), _logged(caplog)
    expected, found = _arrays(plant.model), _arrays(driven.model)
    assert len(expected) > 100
    different = [name for name in expected if expected[name].tobytes() != found[name].tobytes()]
    assert different == []
    assert of_driven == of_plant
    assert len(driven.layout.robots) == len(plant.layout.robots) > 0
    for index in range(len(plant.layout.robots)):
        robot, same = robot_model(driven, index), robot_model(plant, index)
        for name in ("joints", "lower", "upper", "velocity", "effort", "home", "gripper"):
            np.testing.assert_array_equal(getattr(robot, name), getattr(same, name), name)
        assert driven.controlled[index].interfaces == plant.controlled[index].interfaces


def test_the_motors_of_a_driven_model_have_gains(tmp_path) -> None:
    file = tmp_path / "lift.xml"
    file.write_text(_WITHOUT_GAINS)
    driven = DrivenModel(assemble(load_scene(str(file))))
    assert driven.drives.kp[0] > 0.0
    assert driven.model.actuator_biasprm[0, 1] == -driven.drives.kp[0]
    assert driven.start.qpos[0] == 0.4
