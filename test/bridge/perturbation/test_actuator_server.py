"""actuator_controller/commands: actuators of tendons and sites, which have no joint reference."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from perturbed_simulation import PerturbedSimulation
from std_msgs.msg import Float64MultiArray

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


def _order(perturbed: PerturbedSimulation, namespace: str = "") -> Sequence[str]:
    (message,) = perturbed.endpoints.published[f"{namespace}actuator_controller/actuators"]
    return list(message.name)


def test_the_topic_exists_only_for_actuators_without_a_joint(perturb: Act, hand: Path) -> None:
    assert _order(perturb(hand)) == ["pull", "hold"]
    assert not [topic for topic in perturb().topics if "actuator_controller" in topic]


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
        ((1.0,), "1 values, but there are 2 actuators: pull, hold"),
        ((1.0, 2.0, 3.0), "3 values, but there are 2 actuators: pull, hold"),
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
