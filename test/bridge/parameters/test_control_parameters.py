"""Parameters of gains and controller settings."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from contexts import make_context
from model_switch_node import adding, arm, removing
from perturbed_simulation import set_atomically
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from sensor_msgs.msg import JointState
from simulators import DATA, Listener, Simulator, SimulatorLauncher

from mujoco_ros.bridge.node import PARAMETERS
from mujoco_ros.bridge.parameters.control_parameters import ControlParameters
from mujoco_ros.bridge.parameters.parameters import ParameterListener, Parameters
from mujoco_ros.bridge.parameters.robot_parameters import Settings
from mujoco_ros.control.cartesian import CartesianSettings
from mujoco_ros.control.settings import GripperSettings, StreamSettings, TrajectorySettings
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly, assemble, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.wire.parameter_spec import ParameterSpec

ROOT = Path(__file__).resolve().parents[3]
ARM = (
    *("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint"),
    *("wrist_1_joint", "wrist_2_joint", "wrist_3_joint"),
)
FINGER = "left_finger_joint"
ARM_GAINS = yaml.safe_load((ROOT / "urdf_mjcf" / "arm" / "gains.yaml").read_text())


@dataclass
class Tuned:
    """A simulation in this process with its parameters, stepped by the test."""

    node: Node
    parameters: Parameters
    simulation: Simulation
    control: ControlParameters
    commands: int = 0

    def __getitem__(self, name: str) -> Any:
        value = self.node.get_parameter(name).value
        assert self.parameters.values[name] == (tuple(value) if isinstance(value, list) else value)
        return value

    def set(self, **values: Any) -> str:
        """Set parameters atomically; return the reason of a refusal, empty for none."""
        return self.set_all({_dotted(name): value for name, value in values.items()})

    def set_all(self, values: dict[str, Any]) -> str:
        return set_atomically(self.node, self.simulation, values)

    def settings(self) -> Settings:
        """Return the settings of the first robot."""
        robot, *_ = self.control._robots.values()
        return robot.settings(self.parameters.values)

    def show_gains(self, gain_changes: int) -> None:
        """Show the gains in force, which include a number of changes by parameters."""
        self.control.show_gains(gain_changes, self.simulation.plant.gains.by_robot())

    def submit(self, command: Callable[[], object]) -> None:
        self.commands += 1
        self.simulation.commands.submit(command)

    def gains(self, prefix: str = "") -> dict[str, float]:
        start = f"{prefix}gains."
        return {n: v for n, v in self.parameters.values.items() if n.startswith(start)}

    def kp(self, joint: str) -> float:
        """Return the stiffness that the engine has."""
        return float(self.simulation.drives.kp[self.simulation.joints.names.index(joint)])


class _Applied(ParameterListener):
    """Records the names of the applied parameters."""

    def __init__(self, applied: list[set[str]]) -> None:
        self._applied = applied

    def apply_parameters(self, values: Mapping[str, Any]) -> None:
        self._applied.append(set(values))


def _dotted(name: str) -> str:
    return name.replace("__", ".")


@pytest.fixture
def tune(ros_node: Node) -> Iterator[Callable[..., Tuned]]:
    """A function that simulates a scene with parameters given at start."""
    nodes = []

    def make(scene: str | Path, **overrides: Any) -> Tuned:
        given = [Parameter(_dotted(name), value=value) for name, value in overrides.items()]
        node = Node("fresh", context=ros_node.context, parameter_overrides=given)
        nodes.append(node)
        parameters = Parameters(node, lambda command: tuned.submit(command))
        parameters.declare(PARAMETERS)
        simulation = Simulation(load_scene(str(scene)))
        context = make_context(node, simulation, parameters=parameters)
        tuned = Tuned(node, parameters, simulation, ControlParameters(context))
        parameters.reject_unknown()
        parameters.listeners.append(tuned.control)
        return tuned

    yield make
    for node in nodes:
        node.destroy_node()


@pytest.fixture
def gains_file(tmp_path: Path) -> Callable[..., str]:
    """A function that writes a gains file for the arm, in one of both forms."""

    def write(kind: str, kp: float = 100.0, kd: float = 10.0) -> str:
        if kind == "yaml":
            path = tmp_path / "gains.yaml"
            path.write_text(
                yaml.safe_dump({j: {"kp": kp + i, "kd": kd} for i, j in enumerate(ARM)})
            )
        else:
            path = tmp_path / "PDgains_sim.dat"
            path.write_text("".join(f"{kp + i} {kd}\n" for i, _ in enumerate(ARM)))
        return str(path)

    return write


# --- declared parameters


def test_every_joint_of_a_torque_motor_has_its_gains(tune: Callable[..., Tuned]) -> None:
    arm = tune("arm")
    assert arm.gains() == {
        f"gains.{joint}.{gain}": value
        for joint, pair in ARM_GAINS.items()
        for gain, value in pair.items()
    }


@pytest.mark.parametrize(
    ("scene", "joint", "units"),
    [("arm", "elbow_joint", ("Nm/rad", "Nms/rad")), (DATA / "probe.xml", "rail", ("N/m", "Ns/m"))],
)
def test_gains_are_described_with_their_unit_and_bounded(
    tune: Callable[..., Tuned], scene: str | Path, joint: str, units: tuple[str, str]
) -> None:
    node = tune(scene).node
    for gain, unit in zip(("kp", "kd"), units, strict=True):
        descriptor = node.describe_parameter(f"gains.{joint}.{gain}")
        assert f"[{unit}]" in descriptor.description
        (bounds,) = descriptor.floating_point_range
        assert (bounds.from_value, bounds.to_value) == (0.0, 1e6)
        assert not descriptor.read_only


def test_every_robot_has_its_parameters_under_its_namespace(
    tune: Callable[..., Tuned], tmp_path: Path
) -> None:
    scene = tmp_path / "pair.yaml"
    arm = "model: package://mujoco_ros/urdf_mjcf/arm/arm.xml"
    gains = "gains: package://mujoco_ros/urdf_mjcf/arm/gains.yaml"
    scene.write_text(
        f"robots: [{{name: a, {arm}, {gains}, namespace: cell_1/left, gripper: {FINGER}}}, "
        f"{{name: b, {arm}, {gains}}}]"
    )
    pair = tune(scene)
    single = set(tune("arm").parameters.values) - {s.name for s in PARAMETERS}
    assert len(single) > 40
    assert {f"cell_1.left.{name}" for name in single} <= set(pair.parameters.values)
    mine = {name.removeprefix("b.") for name in pair.parameters.values if name.startswith("b.")}
    # Without a gripper, its joint is one like the others.
    assert {name for name in single - mine if "gripper_controller." not in name} == set()
    assert pair["b.joint_trajectory_controller.joints"] == [*ARM, FINGER]


def test_controllers_name_their_joints_in_model_order(tune: Callable[..., Tuned]) -> None:
    arm, probe = tune("arm"), tune(DATA / "probe.xml")
    for controller in ("joint_trajectory", "position", "velocity", "effort"):
        assert arm[f"{controller}_controller.joints"] == list(ARM)
        assert probe[f"{controller}_controller.joints"] == ["rail"]  # the rest is passive
    assert arm["gripper_controller.joint"] == FINGER
    assert "gripper_controller.joint" not in probe.parameters.values


_HAND = """
<mujoco>
  <worldbody><body>
    <joint name="knuckle" type="{}" range="0 1"/><geom size="0.1"/>
  </body></worldbody>
  <tendon><fixed name="cable"><joint joint="knuckle" coef="1"/></fixed></tendon>
  <actuator><position name="pull" {} kp="10"/></actuator>
</mujoco>"""


@pytest.mark.parametrize(
    ("kind", "on", "name"),
    [
        ("slide", 'tendon="cable"', "cable"),
        ("hinge", 'tendon="cable"', "cable"),
        ("slide", 'joint="knuckle"', "knuckle"),
        ("hinge", 'joint="knuckle"', "knuckle"),
    ],
)
def test_the_defaults_of_a_gripper_depend_on_its_unit(tune, tmp_path, kind, on, name):
    (tmp_path / "hand.xml").write_text(_HAND.format(kind, on))
    scene = tmp_path / "scene.yaml"
    scene.write_text("robots: [{name: hand, model: hand.xml, gripper: pull}]")
    hand = tune(scene)
    assert hand["gripper_controller.joint"] == name
    of_unit = (0.01, 1.0) if kind == "hinge" else (0.0005, 0.1)
    names = ("goal_tolerance", "max_velocity")
    assert tuple(hand[f"gripper_controller.{it}"] for it in names) == of_unit
    described = hand.node.describe_parameter("gripper_controller.max_effort").description
    assert f"[{'Nm' if kind == 'hinge' else 'N'}]" in described


def test_a_controller_without_joints_has_no_parameters(
    tune: Callable[..., Tuned], tmp_path: Path
) -> None:
    model = tmp_path / "fan.xml"
    model.write_text(
        '<mujoco><worldbody><body><joint name="fan"/><geom size="0.1"/></body></worldbody>'
        '<actuator><velocity joint="fan"/></actuator></mujoco>'
    )
    names = set(tune(model).parameters.values) - {spec.name for spec in PARAMETERS}
    assert {name.partition(".")[0] for name in names if "." in name} == {"velocity_controller"}
    assert "gains_file" not in names
    assert "interpolation" in names


def test_with_ros2_control_there_are_parameters_of_gains_and_streams_only(
    tune: Callable[..., Tuned],
) -> None:
    arm = tune("arm", ros2_control=True)
    names = set(arm.parameters.values)
    assert not [name for name in names if "_controller." in name]
    assert {"gains.elbow_joint.kp", "gains_file", "interpolation", "command_timeout"} <= names
    stream, trajectory, gripper, cartesian = arm.settings()
    assert stream == StreamSettings()
    assert not trajectory.goal.any()
    assert (gripper, cartesian) == (None, None)


# --- effects of a set

JTC = "joint_trajectory_controller"


def test_settings_have_their_defaults(tune: Callable[..., Tuned]) -> None:
    arm = tune("arm")
    stream, trajectory, gripper, cartesian = arm.settings()
    default = TrajectorySettings(trajectory=np.zeros(8), goal=np.zeros(8))
    assert (stream, gripper) == (StreamSettings(), GripperSettings())
    assert cartesian == CartesianSettings()
    for field in fields(default):
        np.testing.assert_array_equal(
            getattr(trajectory, field.name), getattr(default, field.name), field.name
        )


@pytest.mark.parametrize("at_start", [True, False])
def test_settings_reach_the_control_of_the_robot(
    tune: Callable[..., Tuned], at_start: bool
) -> None:
    values = {
        "interpolation": "hold",
        "command_period": 0.01,
        "command_timeout": 1,
        "on_command_timeout": "damp",
        "joint_limits": "refuse",
        f"{JTC}.allow_partial_joints_goal": False,
        f"{JTC}.allow_nonzero_velocity_at_trajectory_end": True,
        f"{JTC}.action_monitor_rate": 50,
        f"{JTC}.constraints.goal_time": 2,
        f"{JTC}.constraints.stopped_velocity_tolerance": 0.25,
        f"{JTC}.constraints.elbow_joint.trajectory": 0.5,
        f"{JTC}.constraints.wrist_3_joint.goal": 0.125,
        "gripper_controller.goal_tolerance": 0.001,
        "gripper_controller.stall_velocity_threshold": 0.002,
        "gripper_controller.stall_timeout": 0.5,
        "gripper_controller.allow_stalling": True,
        "gripper_controller.max_velocity": 0.2,
        "gripper_controller.max_effort": 10,
    }
    if at_start:
        arm = tune("arm", **values)
    else:
        arm = tune("arm")
        assert arm.set_all(values) == ""
        assert arm.commands == 1
    (control,) = arm.simulation.controls
    assert control.stream == StreamSettings(
        interpolation="hold", period=0.01, timeout=1.0, on_timeout="damp", out_of_limits="refuse"
    )
    trajectory = control.trajectory.settings
    assert not trajectory.allow_partial_joints_goal
    assert trajectory.allow_nonzero_velocity_at_trajectory_end
    assert trajectory.action_monitor_rate == 50.0
    assert (trajectory.goal_time, trajectory.stopped_velocity_tolerance) == (2.0, 0.25)
    np.testing.assert_array_equal(trajectory.trajectory, [0, 0, 0.5, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(trajectory.goal, [0, 0, 0, 0, 0, 0.125, 0, 0])
    assert control.gripper is not None
    assert control.gripper.settings == GripperSettings(
        goal_tolerance=0.001,
        stall_velocity_threshold=0.002,
        stall_timeout=0.5,
        allow_stalling=True,
        max_velocity=0.2,
        max_effort=10.0,
    )


def test_settings_of_one_robot_do_not_affect_the_others(tune: Callable[..., Tuned]) -> None:
    zoo = tune("zoo")
    before = [control.stream for control in zoo.simulation.controls]
    assert zoo.set(right_arm__interpolation="hold", quadruped__command_timeout=0.5) == ""
    after = [control.stream for control in zoo.simulation.controls]
    names = [robot.name for robot in zoo.simulation.layout.robots]
    changed = {n for n, a, b in zip(names, before, after, strict=True) if a != b}
    assert changed == {"right_arm", "quadruped"}


def test_a_change_of_all_gains_is_one_command_that_takes_effect_with_the_next_step(
    tune: Callable[..., Tuned],
) -> None:
    zoo = tune("zoo")
    simulation, rng = zoo.simulation, np.random.default_rng(5)
    new = {
        name: float(rng.uniform(1.0, 50.0)) for name in zoo.parameters.values if ".gains." in name
    }
    assert len(new) == 2 * (33 + 12 + 6 + 6)
    assert zoo.set_all(new) == ""
    assert zoo.commands == 1
    q, dq = (
        simulation.data.qpos[simulation.joints.qpos],
        simulation.data.qvel[simulation.joints.dof],
    )
    references = simulation.references
    error, speed = references.q - q.copy(), references.dq - dq.copy()
    assert simulation.step()
    checked = 0
    for robot in simulation.layout.robots:
        for index, joint in enumerate(robot.joints.names):
            if f"{robot.name}.gains.{joint}.kp" not in new:
                continue
            place = simulation.joints.names.index(robot.prefix + joint)
            kp, kd = (new[f"{robot.name}.gains.{joint}.{gain}"] for gain in ("kp", "kd"))
            torque = kp * error[place] + kd * speed[place]
            dof = robot.joints.dof[index]
            assert simulation.sample.qfrc_actuator[dof] == pytest.approx(torque, abs=1e-9)
            checked += 1
    assert checked == len(new) // 2


@pytest.mark.parametrize(
    "value", [-1e-9, 1e6 + 0.1, math.nan, math.inf, -3.0, "stiff", True, [1.0], None]
)
def test_an_invalid_gain_is_refused_with_its_name_and_range_and_changes_nothing(
    tune: Callable[..., Tuned], value: Any
) -> None:
    arm = tune("arm")
    before = arm.gains()
    new = {name: 2 * gain for name, gain in before.items()} | {"gains.wrist_2_joint.kd": value}
    reason = arm.set_all(new)
    assert reason == (
        f"parameter 'gains.wrist_2_joint.kd' cannot be {value!r}: it is a number from 0 to 1000000"
    )
    assert arm.commands == 0
    assert arm.gains() == before == {name: arm[name] for name in before}
    assert arm.kp("arm/elbow_joint") == 16000.0


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("gains.elbow.kp", 1.0, "(did you mean 'gains.elbow_joint.kp'?); there are: gains.should"),
        ("gains.elbow_joint.ki", 1.0, "there are: gains.elbow_joint.kp, gains.elbow_joint.kd"),
        (f"gains.{FINGER}.kp", 1.0, f"parameter 'gains.{FINGER}.kp' not found"),
        ("interpolation", "cubic", "cannot be 'cubic': it is one of linear, hold"),
        ("on_command_timeout", "fall", "cannot be 'fall': it is one of hold, damp"),
        ("joint_limits", "ignore", "cannot be 'ignore': it is one of clamp, refuse"),
        ("command_timeout", -1.0, "cannot be -1.0: it is a number from 0 to 3600"),
        (f"{JTC}.action_monitor_rate", 0.0, "cannot be 0.0: it is a number from 0.1 to 1000"),
        (f"{JTC}.constraints.goal_time", math.nan, "cannot be nan: it is a number from 0 to 3600"),
        (f"{JTC}.allow_partial_joints_goal", 1, "cannot be 1: it is true or false"),
        (f"{JTC}.joints", ["elbow_joint"], "read-only"),
        ("gripper_controller.joint", "elbow_joint", "read-only"),
        ("gains_file", 3, "parameter 'gains_file' cannot be 3: it is a text"),
    ],
)
def test_unknown_parameters_and_values_of_another_type_are_refused_with_the_reason(
    tune: Callable[..., Tuned], name: str, value: Any, reason: str
) -> None:
    arm = tune("arm")
    before = dict(arm.parameters.values)
    assert reason in arm.set_all({name: value, "gains.elbow_joint.kp": 1.0})
    assert (arm.parameters.values, arm.commands) == (before, 0)


# --- gains at startup and after a reset


def test_a_reset_restores_the_gains_given_at_startup(tune: Callable[..., Tuned]) -> None:
    arm = tune("arm", gains__elbow_joint__kp=300, gains__elbow_joint__kd=7.5)
    assert (arm["gains.elbow_joint.kp"], arm["gains.elbow_joint.kd"]) == (300.0, 7.5)
    assert arm["gains.wrist_1_joint.kp"] == 2000.0
    assert arm.kp("arm/elbow_joint") == 300.0
    assert arm.set(gains__elbow_joint__kp=1) == ""
    assert arm.kp("arm/elbow_joint") == 1.0
    arm.simulation.reset()
    arm.show_gains(1000)
    arm.simulation.commands.drain()
    assert arm["gains.elbow_joint.kp"] == arm.kp("arm/elbow_joint") == 300.0


def test_a_reset_sets_only_the_parameters_of_changed_gains(tune: Callable[..., Tuned]) -> None:
    zoo = tune("zoo")
    before = dict(zoo.parameters.values)
    changed = {"left_arm.gains.elbow_joint.kp": 5.0, "humanoid.gains.left_knee.kd": 6.0}
    assert zoo.set_all(changed | {"humanoid.interpolation": "hold"}) == ""
    applied: list[set[str]] = []
    written: list[set[str]] = []
    zoo.parameters.listeners = [_Applied(applied)]

    def record(parameters: list[Parameter]) -> SetParametersResult:
        written.append({parameter.name for parameter in parameters})
        return SetParametersResult(successful=True)

    zoo.node.add_on_set_parameters_callback(record)
    zoo.simulation.reset()
    for _ in range(2):
        zoo.show_gains(1000)
        assert written == [set(changed)]
    assert applied == [], "they are in force already"
    assert zoo.parameters.values == before | {"humanoid.interpolation": "hold"}


def test_gains_set_by_another_client_are_shown_and_kept(
    tune: Callable[..., Tuned],
) -> None:
    arm = tune("arm")
    simulation = arm.simulation
    kd = simulation.drives.kd.copy()
    simulation.drives.set_gains(np.full(len(kd), 9.0), kd)
    assert arm.set(gains__elbow_joint__kp=1) == ""
    assert (arm.kp("arm/elbow_joint"), arm.kp("arm/wrist_1_joint")) == (1.0, 9.0)
    read = simulation.plant.gains.changes, simulation.plant.gains.by_robot()
    assert arm.set(gains__elbow_joint__kp=2) == ""
    simulation.drives.set_gains(np.full(len(kd), 8.0), kd)  # meanwhile
    arm.control.show_gains(*read)
    simulation.commands.drain()
    assert (arm["gains.elbow_joint.kp"], arm["gains.wrist_1_joint.kp"]) == (2.0, 9.0)
    assert arm.kp("arm/wrist_1_joint") == 8.0, "what is shown is not set"


def test_gains_set_after_a_reset_are_kept(tune: Callable[..., Tuned]) -> None:
    arm = tune("arm")
    before, gains = arm["gains.elbow_joint.kp"], arm.simulation.plant.gains.by_robot()
    assert arm.set(gains__elbow_joint__kp=1) == ""
    arm.control.show_gains(0, gains)
    assert arm["gains.elbow_joint.kp"] == 1.0
    arm.control.show_gains(1, gains)
    assert arm["gains.elbow_joint.kp"] == before


@pytest.mark.parametrize("kind", ["yaml", "text"])
def test_a_gains_file_at_startup_replaces_the_gains_of_the_scene(
    tune: Callable[..., Tuned],
    gains_file: Callable[..., str],
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = Path(gains_file(kind))
    monkeypatch.chdir(path.parent)
    arm = tune("arm", gains_file=path.name, gains__wrist_3_joint__kd=1)
    assert [arm[f"gains.{joint}.kp"] for joint in ARM] == [100, 101, 102, 103, 104, 105]
    assert [arm[f"gains.{joint}.kd"] for joint in ARM] == [10, 10, 10, 10, 10, 1]
    arm.simulation.reset()
    assert arm.kp("arm/elbow_joint") == 102.0
    assert arm.set(gains_file="") == ""
    assert arm["gains.wrist_3_joint.kd"] == ARM_GAINS["wrist_3_joint"]["kd"]


@pytest.mark.parametrize("kind", ["yaml", "text"])
def test_a_gains_file_sets_all_gains_and_a_reset_restores_them(
    tune: Callable[..., Tuned], gains_file: Callable[..., str], kind: str
) -> None:
    zoo = tune("zoo")
    others = zoo.gains("right_arm.") | zoo.gains("humanoid.")
    assert zoo.set(left_arm__gains_file=gains_file(kind)) == ""
    assert zoo.commands == 1
    assert [zoo[f"left_arm.gains.{joint}.kp"] for joint in ARM] == [100, 101, 102, 103, 104, 105]
    assert zoo.kp("left_arm/elbow_joint") == 102.0
    assert zoo.gains("right_arm.") | zoo.gains("humanoid.") == others
    assert zoo.kp("right_arm/elbow_joint") == 16000.0

    assert zoo.set(left_arm__gains__elbow_joint__kp=1.0) == ""
    zoo.simulation.reset()
    zoo.show_gains(1000)
    assert zoo.kp("left_arm/elbow_joint") == zoo["left_arm.gains.elbow_joint.kp"] == 102.0

    # The file may have been edited, and empty are the scene's.
    assert zoo.set(left_arm__gains_file=gains_file(kind, kp=500.0)) == ""
    assert zoo.kp("left_arm/elbow_joint") == 502.0
    assert zoo.set(left_arm__gains_file="") == ""
    assert zoo.kp("left_arm/elbow_joint") == zoo["left_arm.gains.elbow_joint.kp"] == 16000.0


def test_gains_set_together_with_a_file_take_precedence(
    tune: Callable[..., Tuned], gains_file: Callable[..., str]
) -> None:
    arm = tune("arm")
    assert arm.set(gains_file=gains_file("yaml"), gains__elbow_joint__kp=7) == ""
    assert arm["gains.elbow_joint.kp"] == arm.kp("arm/elbow_joint") == 7.0
    assert arm["gains.elbow_joint.kd"] == 10.0
    arm.simulation.reset()
    assert arm.kp("arm/elbow_joint") == 102.0


def test_a_gains_file_of_a_package_is_found(tune: Callable[..., Tuned]) -> None:
    arm = tune("arm", gains__elbow_joint__kp=1)
    assert arm.set(gains_file="package://mujoco_ros/urdf_mjcf/arm/gains.yaml") == ""
    assert arm["gains.elbow_joint.kp"] == 16000.0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "/gains.yaml' does not exist"),
        ("elbow_joint: {kp: 1, kd: 1}", "no gains for the motor-driven joints shoulder_pan_joint"),
        ("elbow: {kp: 1, kd: 1}", "joint 'elbow' not found (did you mean 'elbow_joint'?)"),
        ("elbow_joint: {kp: -1, kd: 1}", "elbow_joint.kp: a gain must be from 0 to 1e+06, got -1"),
        ("elbow_joint: {kp: 2.0e+6, kd: 1}", "a gain must be from 0 to 1e+06"),
        ("elbow_joint: {", "not valid YAML"),
    ],
)
def test_a_set_with_an_invalid_gains_file_is_refused_with_the_reason(
    tune: Callable[..., Tuned], tmp_path: Path, content: str | None, reason: str
) -> None:
    path = tmp_path / "gains.yaml"
    if content is not None:
        path.write_text(content)
    arm = tune("arm")
    before = dict(arm.parameters.values)
    answer = arm.set(gains__elbow_joint__kp=7.0, gains_file=str(path), interpolation="hold")
    assert answer.startswith(f"parameter 'gains_file' cannot be '{path}': ")
    assert reason in answer
    assert (arm.parameters.values, arm.commands) == (before, 0)
    arm.simulation.reset()
    assert arm.kp("arm/elbow_joint") == 16000.0
    with pytest.raises(UserInputError, match="parameter 'gains_file' cannot be"):
        tune("arm", gains_file=str(path))


@pytest.mark.parametrize(
    ("overrides", "error"),
    [
        ({"gains__elbow_joint__kp": -1.0}, "'gains.elbow_joint.kp' cannot be -1.0: it is a number"),
        ({"gains__elbow__kp": 1.0}, r"did you mean 'gains.elbow_joint.kp'\?"),
        ({"arm__gains__elbow_joint__kp": 1.0}, r"did you mean 'gains.elbow_joint.kp'\?"),
        ({"joint_limits": "ignore"}, "it is one of clamp, refuse"),
        ({f"{JTC}.joints": ["elbow_joint"]}, r"the model determines it: \['shoulder_pan_joint'"),
        ({"gripper_controller__joint": "elbow_joint"}, f"the model determines it: '{FINGER}'"),
    ],
)
def test_an_invalid_value_at_startup_is_an_error(
    tune: Callable[..., Tuned], overrides: dict[str, Any], error: str
) -> None:
    with pytest.raises(UserInputError, match=error):
        tune("arm", **overrides)


# --- over ROS


@pytest.fixture(scope="module")
def humanoid(start_shared: SimulatorLauncher) -> Simulator:
    """A humanoid whose parameters these tests set."""
    return start_shared.simulator(scene="humanoid", real_time_factor=0.2)


@pytest.fixture(scope="module")
def listener(start_shared: SimulatorLauncher, humanoid: Simulator) -> Listener:
    """A listener in the domain of the simulator."""
    return start_shared.listener(humanoid)


def _values(listener: Listener, names: list[str]) -> dict[str, Any]:
    answer = listener.result(listener.parameters().get_parameters(names))
    assert len(answer.values) == len(names)
    return dict(zip(names, map(parameter_value_to_python, answer.values), strict=True))


def _names(listener: Listener) -> list[str]:
    return list(listener.result(listener.parameters().list_parameters([], 0)).result.names)


def test_all_gains_can_be_listed_described_read_and_set_in_one_request(listener: Listener) -> None:
    client = listener.parameters()
    names = list(listener.result(client.list_parameters(["gains"], 3)).result.names)
    assert len(names) == 66
    descriptors = listener.result(client.describe_parameters(names)).descriptors
    assert [d.name for d in descriptors] == names
    assert all(d.floating_point_range[0].to_value == 1e6 for d in descriptors)
    before = _values(listener, names)
    new = {name: 0.9 * value for name, value in before.items()}
    (result,) = listener.set_parameters(new, atomic=True)
    assert result.successful, result.reason
    assert _values(listener, names) == new
    (result,) = listener.set_parameters(before | {names[40]: -1.0}, atomic=True)
    assert not result.successful
    assert result.reason == (
        f"parameter '{names[40]}' cannot be -1.0: it is a number from 0 to 1000000"
    )
    assert _values(listener, names) == new
    assert listener.set_parameters(before, atomic=True)[0].successful


def test_a_change_of_gains_affects_the_torque_at_once(listener: Listener) -> None:
    states = listener.record(JointState, "/joint_states", reliable=True)
    assert listener.spin_until(lambda: len(states) > 0)
    joint = "right_wrist_pitch"
    index = states.messages[0].name.index(joint)
    assert states.latest.effort[index] != 0.0
    names = [f"gains.{joint}.kp", f"gains.{joint}.kd"]
    before = _values(listener, names)
    (result,) = listener.set_parameters(dict.fromkeys(names, 0), atomic=True)
    assert result.successful, result.reason
    # Messages in flight at the response may be from before.
    states.raw.clear()
    assert listener.spin_until(lambda: len(states) > 20)
    assert all(state.effort[index] == 0.0 for state in states.messages[5:])
    assert listener.set_parameters(before, atomic=True)[0].successful
    listener.forget_subscriptions()


def test_a_parameter_dump_restores_its_values_in_any_order(
    listener: Listener, tmp_path: Path
) -> None:
    # As `ros2 param dump` and `load` do it: in alphabetical order, `gains_file` after the gains.
    gains = tmp_path / "gains.dat"
    gains.write_text("50 5\n" * 33)
    listener.set_parameters({"gains_file": str(gains)})
    listener.set_parameters({"gains.left_knee.kp": 60, "command_period": "1e-05"})
    names = sorted(_names(listener))
    dumped = _values(listener, names)
    assert (dumped["gains.left_knee.kp"], dumped["gains.right_knee.kp"]) == (60.0, 50.0)
    nested: dict[str, Any] = {}
    for name, value in dumped.items():
        *groups, last = name.split(".")
        group = nested
        for part in groups:
            group = group.setdefault(part, {})
        group[last] = value
    path = tmp_path / "dump.yaml"
    path.write_text(yaml.dump({"/mujoco": {"ros__parameters": nested}}, default_flow_style=False))

    changes = {"gains_file": "", "interpolation": "hold", "gains.left_hip_pitch.kp": 1, "tf": "all"}
    listener.set_parameters(changes)
    assert listener.get_parameter("gains.right_knee.kp") != 50.0
    client = listener.parameters()
    results = listener.result(client.load_parameter_file(str(path), True)).results
    refused = {result.reason for result in results if not result.successful}
    assert refused
    assert all("read-only" in reason for reason in refused)
    assert _values(listener, names) == dumped
    listener.set_parameters(changes)
    result = listener.result(client.load_parameter_file_atomically(str(path), True)).result
    assert result.successful, result.reason
    assert _values(listener, names) == dumped
    listener.set_parameters({"gains_file": "", "command_period": 0})


def test_every_robot_of_the_zoo_can_be_tuned(tune: Callable[..., Tuned]) -> None:
    zoo = tune("zoo")
    names = list(zoo.parameters.values)
    for robot, joints in (("humanoid", 33), ("quadruped", 12), ("left_arm", 6), ("right_arm", 6)):
        gains = [name for name in names if name.startswith(f"{robot}.gains.")]
        assert len(gains) == 2 * joints
        assert f"{robot}.joint_trajectory_controller.joints" in names
    assert zoo["left_arm.gripper_controller.joint"] == FINGER
    assert zoo["right_arm.gains.elbow_joint.kp"] == 16000.0


# --- spawned and deleted robots


_ELBOW = 16000.0
"""Stiffness of the shipped arm's elbow, as its gains file has it."""


def _change(tuned: Tuned, build: Callable[[Assembly], Assembly], *, fresh: bool = False) -> None:
    """Change the model as a world does."""
    simulation, control = tuned.simulation, tuned.control
    plant = simulation.build_plant(build(simulation.assembly))
    control.build(plant)
    try:
        control.prepare(plant)
    except UserInputError:
        control.rollback()
        raise
    simulation.switch_model(plant, fresh=fresh)
    control.commit()
    control.finish()


def test_parameters_of_a_robot_appear_and_disappear_with_it(
    tune: Callable[..., Tuned],
) -> None:
    tuned = tune("arm")
    before = dict(tuned.parameters.values)
    _change(tuned, adding(arm("second")))
    new = tuned.parameters.values.keys() - before.keys()
    own = before.keys() - {spec.name for spec in PARAMETERS}
    # Without a gripper in the scene, trajectories have one more joint.
    assert own - {name.removeprefix("second.") for name in new} == {
        name for name in own if name.startswith("gripper_controller")
    }
    assert tuned["second.gains.elbow_joint.kp"] == before["gains.elbow_joint.kp"]
    assert tuned.set_all({"second.gains.elbow_joint.kp": 77.0}) == ""
    assert tuned.kp("second/elbow_joint") == 77.0
    assert tuned.kp("arm/elbow_joint") == before["gains.elbow_joint.kp"]
    assert tuned.set_all({"second.command_timeout": 0.3}) == ""
    assert tuned.simulation.controls[1].stream.timeout == 0.3
    _change(tuned, removing("second"))
    assert tuned.parameters.values == before
    assert not [name for name in tuned.node._parameters if name.startswith("second")]
    assert "not found" in tuned.set_all({"second.gains.elbow_joint.kp": 77.0})


def test_values_of_other_robots_are_kept(tune: Callable[..., Tuned]) -> None:
    tuned = tune("arm")
    tuned.set(gains__elbow_joint__kp=123.0, command_timeout=0.4)
    _change(tuned, adding(arm("second")))
    assert (tuned["gains.elbow_joint.kp"], tuned["command_timeout"]) == (123.0, 0.4)
    assert tuned.kp("arm/elbow_joint") == 123.0
    assert tuned.simulation.controls[0].stream.timeout == 0.4
    tuned.simulation.reset()
    assert tuned.kp("arm/elbow_joint") == _ELBOW
    tuned.show_gains(tuned.simulation.plant.gains.changes)
    assert tuned["gains.elbow_joint.kp"] == _ELBOW


def test_gains_set_while_a_robot_is_spawned_reach_the_right_joints(
    tune: Callable[..., Tuned],
) -> None:
    tuned = tune("arm")
    command = tuned.control.apply_parameters({"gains.elbow_joint.kp": 50.0})
    _change(tuned, adding(arm("second")))
    _change(tuned, lambda assembly: rebuild(assembly, add=[arm("third")], remove=["arm"]))
    command()
    assert tuned.kp("second/elbow_joint") == _ELBOW
    assert tuned.kp("third/elbow_joint") == _ELBOW


def test_names_that_collide_are_refused_and_nothing_is_declared(
    tune: Callable[..., Tuned],
) -> None:
    tuned = tune("arm")
    tuned.parameters.declare(
        [ParameterSpec(name="second.gains_file", default="", description="taken")]
    )
    before = dict(tuned.parameters.values)
    with pytest.raises(UserInputError, match=r"two parameters would be named 'second\.gains_file'"):
        _change(tuned, adding(arm("second")))
    assert tuned.parameters.values == before
    assert len(tuned.simulation.controls) == 1


def test_values_given_at_startup_apply_to_a_robot_that_is_spawned_again(
    tune: Callable[..., Tuned],
) -> None:
    tuned = tune("arm", gains__elbow_joint__kp=99.0)

    def reload(_assembly: Assembly) -> Assembly:
        return assemble(load_scene("arm"))

    _change(tuned, reload, fresh=True)
    assert tuned["gains.elbow_joint.kp"] == 99.0
    assert tuned.kp("arm/elbow_joint") == 99.0


def test_an_invalid_startup_value_of_a_robot_spawned_later_is_ignored(
    tune: Callable[..., Tuned], capfd: pytest.CaptureFixture[str]
) -> None:
    joints = ["slider_joint"]
    tuned = tune("arm")
    tuned.parameters._overrides["second.joint_trajectory_controller.joints"] = Parameter(
        "second.joint_trajectory_controller.joints", value=joints
    )
    _change(tuned, adding(arm("second")))
    assert "elbow_joint" in tuned["second.joint_trajectory_controller.joints"]
    assert "cannot be ['slider_joint']" in capfd.readouterr().err
