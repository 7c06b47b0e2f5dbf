"""plugin.<instance>.<attribute>: attributes of engine plugins."""

from collections.abc import Callable
from pathlib import Path

import mujoco
import pytest
from perturbed_simulation import PerturbedSimulation

from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text

Act = Callable[..., PerturbedSimulation]
_SERVO = """<mujoco model="servo"><extension><plugin plugin="mujoco.pid"><instance name="pid">
<config key="kp" value="{kp}"/><config key="ki" value="1e-9"/></instance></plugin></extension>
<worldbody><body><joint name="j" axis="0 0 1"/><geom size=".1"/></body></worldbody>
<actuator><plugin joint="j" plugin="mujoco.pid" instance="pid" actdim="1"/></actuator></mujoco>"""
_A, _B = "a.plugin.pid.kp", "b.plugin.pid.kp"


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    (tmp_path / "servo.xml").write_text(_SERVO.format(kp=2))
    path = tmp_path / "pair.yaml"
    path.write_text("robots: [{name: a, model: servo.xml}, {name: b, model: servo.xml}]")
    return path


def forces(perturbed: PerturbedSimulation) -> list[float]:
    """Return the forces for a control of one, without the integral."""
    data = perturbed.simulation.data
    data.ctrl[:], data.act[:] = 1.0, 0.0
    mujoco.mj_forward(perturbed.simulation.model, data)
    return [float(it) for it in data.actuator_force.round(6)]


def test_each_number_has_a_parameter_that_acts_and_survives_a_reset(
    perturb: Act, pair: Path
) -> None:
    perturbed = perturb(pair)
    assert (perturbed[_A], perturbed[_B]) == (2.0, 2.0)
    assert not perturbed.set({_B: 5.5})
    assert forces(perturbed) == [2.0, 5.5]
    perturbed.reset()
    assert forces(perturbed) == [2.0, 5.5]
    assert perturbed[_B] == 5.5


def test_a_value_at_the_start_acts(perturb: Act, pair: Path) -> None:
    assert forces(perturb(pair, a__plugin__pid__kp=7.0)) == [7.0, 2.0]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({_A: 9.0, _B: float("nan")}, "'b.plugin.pid.kp' cannot be nan: it is a number from 0 to"),
        ({_A: 9.0, _B: -1.0}, "'b.plugin.pid.kp' cannot be -1.0: it is a number from 0 to 1000000"),
        ({_A: 9.0, "b.plugin.pid.ki": 0.0}, "ki of 'b/pid': the plugin mujoco.pid rejects the val"),
        ({_A: 9.0, "b.plugin.pid.k": 0.0}, "did you mean 'b.plugin.pid.kp'?"),
    ],
)
def test_a_set_with_an_invalid_value_changes_nothing(
    perturb: Act, pair: Path, values: dict[str, float], reason: str
) -> None:
    perturbed = perturb(pair)
    assert reason in perturbed.set(values)
    assert perturbed[_A] == 2.0
    assert forces(perturbed) == [2.0, 2.0]


def test_parameters_come_and_go_with_robots_and_the_others_keep_theirs(
    perturb: Act, pair: Path
) -> None:
    perturbed = perturb(pair, a__plugin__pid__kp=4.0)
    perturbed.set({_A: 5.0, _B: 6.0})
    new = part_from_text(_SERVO.format(kp=3), name="c")
    perturbed.change(lambda assembly: rebuild(assembly, add=[new], remove=["a"]))
    assert (perturbed[_B], perturbed["c.plugin.pid.kp"]) == (6.0, 3.0)
    assert forces(perturbed) == [6.0, 3.0]
    assert "not found" in perturbed.set({_A: 1.0})
    again = part_from_text(_SERVO.format(kp=3), name="a")
    perturbed.change(lambda assembly: rebuild(assembly, add=[again]))
    assert perturbed[_A] == 4.0, "as the user set it at the start"
    assert forces(perturbed) == [6.0, 3.0, 4.0]


def test_another_world_has_the_numbers_of_its_file(perturb: Act, pair: Path) -> None:
    perturbed = perturb(pair)
    perturbed.set({_A: 5.0})
    perturbed.change(lambda _: assemble(load_scene(str(pair))), fresh=True)
    assert perturbed[_A] == 2.0
    assert forces(perturbed) == [2.0, 2.0]


def test_a_change_that_is_rolled_back_leaves_no_parameter(perturb: Act, pair: Path) -> None:
    perturbed = perturb(pair)
    new = part_from_text(_SERVO.format(kp=3), name="c")
    plant = perturbed.simulation.build_plant(rebuild(perturbed.simulation.assembly, add=[new]))
    for component in perturbed.components:
        component.prepare(plant)
    for component in perturbed.components:
        component.rollback()
    assert "not found" in perturbed.set({"c.plugin.pid.kp": 1.0})
    assert not perturbed.set({_A: 3.0})
    assert forces(perturbed) == [3.0, 2.0]
