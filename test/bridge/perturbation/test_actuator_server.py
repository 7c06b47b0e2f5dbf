"""Commands of actuators without a joint reference, by name and by arrays."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from control_msgs.msg import DynamicJointState, InterfaceValue
from perturbed_simulation import PerturbedSimulation
from std_msgs.msg import Float64MultiArray

from mujoco_ros.bridge.node import startup_summary
from mujoco_ros.control.events import GoalEnded
from mujoco_ros.control.gripper import GripperCommand
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.parts import part_from_text

Act = Callable[..., PerturbedSimulation]
_NAN = float("nan")
_HAND = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0"/>
  <worldbody>
    <body name="palm">
      <geom size="0.01"/>
      <body name="finger"><joint name="flex" axis="0 1 0" damping="1"/><geom size="0.1"/></body>
      <body name="thumb"><joint name="bend" axis="0 1 0" damping="1"/><geom size="0.1"/></body>
      <body name="wrist"><joint name="turn" axis="0 0 1"/><geom size="0.1"/></body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="both"><joint joint="flex" coef="1"/><joint joint="bend" coef="1"/></fixed>
    <fixed name="one"><joint joint="bend" coef="1"/></fixed>
  </tendon>
  <actuator>
    <motor name="wrist_motor" joint="turn"/>
    <motor name="pull" tendon="both"/>
    <position name="hold" tendon="one" kp="10"/>
  </actuator>
</mujoco>
"""


@pytest.fixture
def hand(tmp_path: Path) -> Path:
    path = tmp_path / "hand.xml"
    path.write_text(_HAND)
    return path


def _command(perturbed: PerturbedSimulation, *values: float, namespace: str = "") -> None:
    topic = f"{namespace}actuator_controller/commands"
    perturbed.endpoints.callbacks[topic](Float64MultiArray(data=list(values)))
    perturbed.simulation.commands.drain()


def _named(*commands: tuple[str, float]) -> DynamicJointState:
    return DynamicJointState(
        joint_names=[name for name, _ in commands],
        interface_values=[
            InterfaceValue(interface_names=["ctrl"], values=[value]) for _, value in commands
        ],
    )


def _send(perturbed: PerturbedSimulation, message: DynamicJointState, namespace: str = "") -> None:
    perturbed.endpoints.callbacks[f"{namespace}actuator_commands"](message)
    perturbed.simulation.commands.drain()


def _order(perturbed: PerturbedSimulation, namespace: str = "") -> Sequence[str]:
    (message,) = perturbed.endpoints.published[f"{namespace}actuator_controller/actuators"]
    return list(message.name)


def test_the_topic_exists_only_for_actuators_without_a_joint(perturb: Act, hand: Path) -> None:
    assert _order(perturb(hand)) == ["pull", "hold"]
    assert not [topic for topic in perturb().topics if "actuator" in topic]


def test_an_actuator_of_a_tendon_is_commanded(perturb: Act, hand: Path) -> None:
    perturbed = perturb(hand)
    _command(perturbed, 2.0, 0.0)
    perturbed.step(50)
    data = perturbed.simulation.data
    assert data.joint("flex").qfrc_actuator[0] == pytest.approx(2.0)
    assert data.joint("flex").qvel[0] > 0.0


def test_the_controls_of_joints_follow_their_references(perturb: Act, hand: Path) -> None:
    perturbed = perturb(hand)
    perturbed.simulation.references.tau[2] = 3.0
    _command(perturbed, 2.0, 0.5)
    perturbed.step()
    assert perturbed.simulation.data.actuator("wrist_motor").ctrl[0] == pytest.approx(3.0)


def test_nan_leaves_a_control_unchanged(perturb: Act, hand: Path) -> None:
    perturbed = perturb(hand)
    _command(perturbed, 2.0, 0.5)
    _command(perturbed, _NAN, 0.25)
    data = perturbed.simulation.data
    assert (data.actuator("pull").ctrl[0], data.actuator("hold").ctrl[0]) == (2.0, 0.25)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ((1.0,), "1 value for 2 actuators: pull, hold"),
        ((1.0, 2.0, 3.0), "3 values for 2 actuators: pull, hold"),
        ((1.0, 1e10), "1e+10 for actuator 'hold' is beyond 1e+09"),
        ((float("-inf"), 1.0), "-inf for actuator 'pull' is beyond 1e+09"),
    ],
)
def test_invalid_commands_are_refused_and_change_nothing(
    perturb: Act, hand: Path, values: tuple[float, ...], why: str
) -> None:
    perturbed = perturb(hand)
    before = perturbed.simulation.data.ctrl.copy()
    _command(perturbed, *values)
    assert why in perturbed.warnings[0]
    assert perturbed.simulation.data.ctrl == pytest.approx(before)


def test_a_reset_restores_controls(perturb: Act, hand: Path) -> None:
    perturbed = perturb(hand)
    before = perturbed.simulation.data.ctrl.copy()
    _command(perturbed, 2.0, 0.5)
    perturbed.reset()
    assert perturbed.simulation.data.ctrl == pytest.approx(before)


def test_spawned_robots_have_their_own_topic(perturb: Act, hand: Path) -> None:
    perturbed = perturb(hand)
    _command(perturbed, 2.0, 0.5)
    other = part_from_text(_HAND, name="other")
    perturbed.change(lambda assembly: rebuild(assembly, add=[other]))
    assert _order(perturbed, "other/") == ["pull", "hold"]
    _command(perturbed, 3.0, 0.75, namespace="other/")
    data = perturbed.simulation.data
    assert data.actuator("pull").ctrl[0] == 2.0
    assert data.actuator("other/pull").ctrl[0] == 3.0
    perturbed.change(lambda assembly: rebuild(assembly, remove=["hand"]))
    assert "actuator_controller/commands" not in perturbed.topics
    _command(perturbed, 4.0, 0.75, namespace="other/")
    assert perturbed.simulation.data.actuator("other/pull").ctrl[0] == 4.0


# --- by name


def test_a_command_by_name_sets_only_the_actuators_that_it_names(perturb: Act, hand: Path) -> None:
    perturbed = perturb(hand)
    _send(perturbed, _named(("hold", 0.5), ("pull", 2.0)))
    _send(perturbed, _named(("hold", 0.25)))
    data = perturbed.simulation.data
    assert (data.actuator("pull").ctrl[0], data.actuator("hold").ctrl[0]) == (2.0, 0.25)
    _send(perturbed, _named(("pull", 3.0), ("hold", _NAN)))
    assert (data.actuator("pull").ctrl[0], data.actuator("hold").ctrl[0]) == (3.0, 0.25)
    perturbed.step(50)
    assert data.joint("flex").qfrc_actuator[0] == pytest.approx(3.0)
    assert perturbed.warnings == []


def _message(names: Sequence[str], *values: tuple[list[str], list[float]]) -> DynamicJointState:
    return DynamicJointState(
        joint_names=names,
        interface_values=[InterfaceValue(interface_names=it, values=of) for it, of in values],
    )


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (_named(("pul", 1.0)), "actuator 'pul' not found (did you mean 'pull'?); there are: pull,"),
        (
            _named(("hold", 1.0), ("wrist_motor", 1.0)),
            "actuator 'wrist_motor' follows joint 'turn', which joint_commands commands; actuators "
            "here are: pull, hold",
        ),
        (_named(("pull", 1.0), ("pull", 2.0)), "actuator 'pull' is named twice"),
        (_named(("pull", 1.0), ("hold", 1e10)), "1e+10 for actuator 'hold' is beyond 1e+09"),
        (_named(("pull", float("inf"))), "inf for actuator 'pull' is beyond 1e+09"),
        (_named(), "the command names no actuators"),
        (_message(["pull"]), "1 joint_names, but 0 interface_values; give one for each"),
        (
            _message(["pull"], (["position"], [1.0])),
            "actuator 'pull' takes 1 value of the interface 'ctrl', got 1 value of 'position'",
        ),
        (
            _message(["pull"], (["ctrl"], [])),
            "actuator 'pull' takes 1 value of the interface 'ctrl', got 0 values of 'ctrl'",
        ),
    ],
)
def test_an_invalid_command_by_name_is_refused_and_changes_nothing(
    perturb: Act, hand: Path, message: DynamicJointState, why: str
) -> None:
    perturbed = perturb(hand)
    before = perturbed.simulation.data.ctrl.copy()
    _send(perturbed, message)
    (warning,) = perturbed.warnings
    assert warning.startswith(f"actuator_commands: {why}")
    np.testing.assert_array_equal(perturbed.simulation.data.ctrl, before)


_KINDS = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0"/>
  <worldbody>
    <body><joint name="spin" axis="0 0 1"/><geom size="0.1"/><site name="tip"/></body>
    <body pos="1 0 0"><joint name="lift" type="slide" axis="0 0 1"/><geom size="0.1"/></body>
    <body name="cup" pos="3 0 0"><freejoint/><geom size="0.1"/></body>
  </worldbody>
  <tendon><fixed name="cable"><joint joint="lift" coef="1"/></fixed></tendon>
  <actuator>
    <motor name="jet" site="tip" gear="0 0 0 0 0 2"/>
    <motor name="winch" tendon="cable" ctrlrange="-1 1"/>
    <muscle name="biceps" tendon="cable" range="0.75 1.05" lengthrange="0 1"/>
    <adhesion name="suction" body="cup" ctrlrange="0 1"/>
    <general name="winding" joint="spin" dyntype="integrator"/>
  </actuator>
</mujoco>
"""


def test_actuators_of_every_kind_are_commanded_by_name(perturb: Act, tmp_path: Path) -> None:
    (tmp_path / "kinds.xml").write_text(_KINDS)
    perturbed = perturb(tmp_path / "kinds.xml")
    summary = "\n".join(startup_summary(perturbed.simulation, 1.0))
    listing = "tendon winch; muscle biceps; adhesion suction; general winding"
    assert f"kinds: actuators on actuator_commands: site jet; {listing}\n" in summary
    data = perturbed.simulation.data
    for name in ("jet", "winch", "biceps", "suction", "winding"):
        _send(perturbed, _named((name, 0.5)))
        assert data.actuator(name).ctrl[0] == 0.5
    perturbed.step()
    assert data.joint("spin").qfrc_actuator[0] == pytest.approx(1.0, abs=1e-2), "gear 2 about z"
    assert data.act[perturbed.simulation.model.actuator("biceps").actadr[0]] > 0.0
    _send(perturbed, _named(("winch", 3.0)))
    perturbed.step()
    assert data.actuator("winch").force[0] == 1.0, "the engine clamps controls to their range"


# --- with a gripper on a tendon


@pytest.fixture
def gripping(perturb: Act, tmp_path: Path) -> PerturbedSimulation:
    (tmp_path / "hand.xml").write_text(_HAND)
    scene = tmp_path / "scene.yaml"
    scene.write_text("robots: [{name: hand, model: hand.xml, gripper: hold}]")
    return perturb(scene)


def test_the_array_is_without_the_actuators_of_the_gripper(gripping: PerturbedSimulation) -> None:
    assert _order(gripping) == ["pull"]
    before = float(gripping.simulation.data.actuator("hand/hold").ctrl[0])
    _command(gripping, 2.0)
    data = gripping.simulation.data
    assert (data.actuator("hand/pull").ctrl[0], data.actuator("hand/hold").ctrl[0]) == (2.0, before)


def test_a_command_by_name_of_the_grippers_actuator_ends_its_goal(
    gripping: PerturbedSimulation,
) -> None:
    (control,) = gripping.simulation.controls
    control.command_gripper(GripperCommand(position=1.0, goal="goal"), 0.0)
    gripping.step(10)
    _send(gripping, _named(("pull", 1.0)))
    assert control.owners()["gripper_controller"] == ("bend",)
    _send(gripping, _named(("hold", 0.125)))
    assert "gripper_controller" not in control.owners()
    ended = [event for event in gripping.simulation.events if isinstance(event, GoalEnded)]
    assert [event.message for event in ended] == ["preempted by actuator_commands"]
    gripping.step(10)
    assert gripping.simulation.data.actuator("hand/hold").ctrl[0] == 0.125
