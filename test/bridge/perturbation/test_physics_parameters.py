"""physics.*: options of the engine, changed at run time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from perturbed_simulation import PerturbedSimulation

from mujoco_ros.bridge.perturbation.physics_parameters import physics_parameters
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.model.scene.physics_options import FLAGS, PhysicsConfig, read_options
from mujoco_ros.sim.state.snapshots import Keyframes

Act = Callable[..., PerturbedSimulation]
_OTHER: dict[str, Any] = {
    "timestep": 0.002,
    "integrator": "Euler",
    "cone": "elliptic",
    "solver": "CG",
    "jacobian": "sparse",
    "iterations": 7,
    "tolerance": 1e-3,
    "impratio": 2.0,
    "gravity": (1.0, 2.0, -3.0),
    "wind": (4.0, 5.0, 6.0),
    "density": 7.0,
    "o_solref": (-100.0, -1.0),
    "noslip_iterations": 3,
    "actuatorgroupdisable": "2 5",
    "flag.contact": False,
    "flag.energy": True,
    "flag.sleep": True,
    "flag.island": False,
}
_FLEX = """
<mujoco>
  <option integrator="discrete"/>
  <worldbody>
    <body><joint name="hinge"/><geom size="0.1"/></body>
    <flexcomp name="soft" type="grid" dim="3" count="3 3 3" spacing=".1 .1 .1" mass="1"
      radius="0.01" pos="0 0 1">
      <elasticity young="1e4" poisson="0.1"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""


def _options(perturbed: PerturbedSimulation) -> PhysicsConfig:
    return read_options(perturbed.simulation.model.opt)


def test_every_option_of_a_scene_has_a_parameter(perturb: Act) -> None:
    perturbed = perturb()
    values = _options(perturbed).values()
    assert len(values) > 50
    assert {name: perturbed[f"physics.{name}"] for name in values} == values


def test_the_engine_itself_describes_every_option() -> None:
    for spec in physics_parameters(read_options(mujoco.MjSpec().option)):
        assert " " in spec.description, spec.name


@pytest.mark.parametrize("name", [f"flag.{name}" for name in FLAGS])
def test_a_flag_can_be_switched_while_the_simulation_runs(perturb: Act, name: str) -> None:
    perturbed = perturb(physics__integrator="discrete")
    before = perturbed[f"physics.{name}"]
    for value in (not before, before):
        perturbed.step(20)
        assert not perturbed.set({f"physics.{name}": value})
        assert _options(perturbed).values()[name] is value
    perturbed.step(20)
    assert np.isfinite(perturbed.simulation.data.qpos).all()


@pytest.mark.parametrize("name", _OTHER)
def test_an_option_is_set_in_the_engine_and_read_back(perturb: Act, name: str) -> None:
    perturbed = perturb()
    assert not perturbed.set({f"physics.{name}": _OTHER[name]})
    assert _options(perturbed).values()[name] == _OTHER[name]
    assert perturbed[f"physics.{name}"] == _OTHER[name]
    perturbed.step(10)


@pytest.mark.parametrize("name", _OTHER)
def test_an_option_can_be_given_at_startup(perturb: Act, name: str) -> None:
    perturbed = perturb(**{f"physics.{name}".replace(".", "__"): _OTHER[name]})
    assert _options(perturbed).values()[name] == _OTHER[name]
    assert perturbed[f"physics.{name}"] == _OTHER[name]
    perturbed.step(10)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("gravity", (0.0, 0.0), "it is a list of 3 numbers from -1000000000 to 1000000000"),
        ("gravity", (0.0, 0.0, float("nan")), "it is a list of 3 numbers"),
        ("gravity", (0.0, 0.0, float("inf")), "it is a list of 3 numbers"),
        ("gravity", 9.81, "it is a list of 3 numbers"),
        ("gravity", "down", "it is a list of 3 numbers"),
        ("gravity", "[0, 0, down]", "it is a list of 3 numbers"),
        ("wind", ["a", "b", "c"], "it is a list of 3 numbers"),
        ("timestep", 0.0, "it is a number from 1e-05 to 0.1"),
        ("timestep", 0.2, "it is a number from 1e-05 to 0.1"),
        ("integrator", "Heun", "it is one of Euler, RK4, implicit, implicitfast, discrete"),
        ("iterations", -1, "it is an integer from 0"),
        ("impratio", 0.0, "it is a number from 1e-09"),
        ("flag.contact", "off", "it is true or false"),
        ("o_friction", (1.0,), "it is a list of 5 numbers"),
    ],
)
def test_an_invalid_value_is_refused_with_the_reason_and_changes_nothing(
    perturb: Act, name: str, value: Any, why: str
) -> None:
    perturbed = perturb()
    before = _options(perturbed)
    reason = perturbed.set({f"physics.{name}": value})
    assert f"parameter 'physics.{name}' cannot be" in reason
    assert why in reason
    assert _options(perturbed) == before
    assert perturbed[f"physics.{name}"] == before.values()[name]


def test_an_invalid_value_at_startup_is_refused(perturb: Act) -> None:
    with pytest.raises(UserInputError, match=r"parameter 'physics\.gravity' cannot be \[1\.0\]"):
        perturb(physics__gravity=[1.0])


@pytest.mark.parametrize("value", [[0, 0, -2], "[0, 0.0, -2]", "[0, 0., -2e0]"])
def test_numbers_in_a_list_can_be_written_as_on_a_command_line(perturb: Act, value: Any) -> None:
    perturbed = perturb()
    assert not perturbed.set({"physics.gravity": value})
    assert perturbed["physics.gravity"] == (0.0, 0.0, -2.0)
    assert _options(perturbed).gravity == (0.0, 0.0, -2.0)


def test_a_set_of_several_options_is_atomic(perturb: Act) -> None:
    perturbed = perturb()
    before = _options(perturbed)
    assert perturbed.set({"physics.density": 3.0, "physics.solver": "Gauss"})
    assert _options(perturbed) == before
    assert not perturbed.set({"physics.density": 3.0, "physics.solver": "CG"})
    assert (_options(perturbed).density, _options(perturbed).solver) == (3.0, "CG")


def test_gravity_takes_effect_with_the_next_step(perturb: Act) -> None:
    perturbed = perturb()
    dof = perturbed.simulation.model.body("lamp").dofadr[0]
    perturbed.step(10)
    perturbed.set({"physics.gravity": (0.0, 0.0, -1.62)})
    perturbed.step(100)
    assert perturbed.simulation.data.qvel[dof + 2] == pytest.approx(-1.62 * 0.1)


def test_time_continues_in_steps_of_the_new_timestep(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.step(3)
    perturbed.set({"physics.timestep": 0.002})
    times = []
    for _ in range(4):
        perturbed.step()
        times.append(perturbed.simulation.time)
    assert times == pytest.approx([0.003, 0.005, 0.007, 0.009], abs=1e-12)


def test_sensors_and_state_are_consistent_after_a_change_to_runge_kutta(perturb: Act) -> None:
    perturbed = perturb()
    arrays = {name: id(value) for name, value in vars(perturbed.simulation.sample).items()}
    perturbed.push("left/finger", (5.0, 0.0, 3.0))
    perturbed.set({"physics.integrator": "RK4"})
    perturbed.step(50)
    sample, data = perturbed.simulation.sample, perturbed.simulation.data
    assert {name: id(value) for name, value in vars(sample).items()} == arrays
    body = perturbed.simulation.model.body("lamp").id
    address = perturbed.simulation.model.body("lamp").jntadr[0]
    qpos = perturbed.simulation.model.jnt_qposadr[address]
    assert sample.xpos[body] == pytest.approx(sample.qpos[qpos : qpos + 3], abs=1e-15)
    perturbed.set({"physics.integrator": "implicitfast"})
    perturbed.step(50)
    assert np.isfinite(data.qpos).all()


def test_a_reset_does_not_change_options(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.set({"physics.gravity": (0.0, 0.0, -1.62)})
    perturbed.reset()
    assert _options(perturbed).gravity == (0.0, 0.0, -1.62)
    assert perturbed["physics.gravity"] == (0.0, 0.0, -1.62)


def test_options_that_the_engine_rejects_are_refused(perturb: Act, tmp_path: Path) -> None:
    path = tmp_path / "soft.xml"
    path.write_text(_FLEX)
    perturbed = perturb(path)
    reason = perturbed.set({"physics.solver": "PGS"})
    assert reason.startswith("physics.solver = PGS: the engine rejects these options: ")
    assert _options(perturbed).solver == "Newton"
    assert perturbed["physics.solver"] == "Newton"
    perturbed.step(5)
    assert not perturbed.set({"physics.solver": "CG"})
    perturbed.step(5)


def test_options_are_kept_when_an_entity_is_spawned(perturb: Act) -> None:
    perturbed = perturb()
    values = {f"physics.{name}": value for name, value in _OTHER.items()}
    assert not perturbed.set(values)
    options = _options(perturbed)
    assert options.values().items() >= _OTHER.items()
    text = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    ball = part_from_text(text, name="ball")
    perturbed.change(lambda assembly: rebuild(assembly, add=[ball]))
    assert _options(perturbed) == options
    perturbed.step(10)


def test_an_entity_that_the_options_do_not_allow_is_refused(perturb: Act, tmp_path: Path) -> None:
    path = tmp_path / "hard.xml"
    body = "<body><joint name='hinge'/><geom size='.1'/></body>"
    path.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    perturbed = perturb(path, physics__integrator="discrete", physics__solver="PGS")
    soft = part_from_text(_FLEX.replace('<option integrator="discrete"/>', ""), name="soft")
    with pytest.raises(UserInputError, match="the engine rejects"):
        perturbed.change(lambda assembly: rebuild(assembly, add=[soft]))


def test_a_loaded_world_has_its_own_options(perturb: Act, scene: Path) -> None:
    perturbed = perturb()
    perturbed.set({"physics.gravity": (0.0, 0.0, -1.62), "physics.timestep": 0.002})
    perturbed.change(lambda _assembly: assemble(load_scene(str(scene))), fresh=True)
    assert perturbed["physics.gravity"] == _options(perturbed).gravity == (0.0, 0.0, 0.0)
    assert perturbed["physics.timestep"] == _options(perturbed).timestep == 0.001


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("timestep='0.5'", r"'timestep' must be from 1e-05 to 0\.1 \[s\], got 0\.5"),
        ("timestep='1e-6'", "'timestep' must be"),
        ("impratio='0'", "'impratio' must be from 1e-09"),
        ("tolerance='-1'", "'tolerance' must be from 0"),
        ("iterations='-3'", "'iterations' must be from 0 to 10000"),
        ("gravity='0 0 1e12'", r"'gravity' must be from -1e\+09 to 1e\+09 \[m/s²\], got \[0\.0,"),
    ],
)
def test_a_world_with_options_out_of_range_of_the_parameters_is_not_loaded(
    perturb: Act, tmp_path: Path, option: str, why: str
) -> None:
    path = tmp_path / "odd.xml"
    body = "<body><joint name='hinge'/><geom size='.1'/></body>"
    path.write_text(f"<mujoco><option {option}/><worldbody>{body}</worldbody></mujoco>")
    perturbed = perturb()
    model, before = perturbed.simulation.model, _options(perturbed)
    with pytest.raises(UserInputError, match=why):
        perturbed.change(lambda _assembly: assemble(load_scene(str(path))), fresh=True)
    assert perturbed.simulation.model is model
    assert _options(perturbed) == before


def test_setting_an_option_does_not_change_the_others(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.simulation.model.opt.density = 3.0  # as in a newly loaded world
    assert not perturbed.set({"physics.gravity": (0.0, 0.0, -1.62)})
    assert (_options(perturbed).density, _options(perturbed).gravity) == (3.0, (0.0, 0.0, -1.62))


_SLEEPER = """
<mujoco>
  <option timestep="0.002"><flag sleep="enable"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="box" pos="9 0 .1"><freejoint/><geom name="cube" type="box" size=".1 .1 .1"/></body>
  </worldbody>
  <equality>
    <weld name="lift" body1="box" body2="world" relpose="0 0 -1 1 0 0 0" active="false"/>
  </equality>
</mujoco>
"""


@pytest.fixture
def sleeper(tmp_path: Path) -> Path:
    (tmp_path / "sleeper.xml").write_text(_SLEEPER)
    scene = tmp_path / "sleeper.yaml"
    scene.write_text("{world: sleeper.xml, robots: [{name: arm, model: robot.xml}]}")
    return scene


def _until_the_box_sleeps(perturbed: PerturbedSimulation) -> mujoco.MjData:
    data = perturbed.simulation.data
    while not (data.tree_asleep >= 0).any():
        perturbed.step()
    return data


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("physics.gravity", (0.0, 0.0, 5.0)),
        ("physics.flag.contact", False),
        ("body.box.gravcomp", 2.0),
        ("geom.cube.size", (0.2, 0.2, 0.2)),
        ("equality.lift", True),
    ],
)
def test_a_body_that_sleeps_feels_a_change(
    perturb: Act, sleeper: Path, parameter: str, value: Any
) -> None:
    perturbed = perturb(sleeper)
    box = _until_the_box_sleeps(perturbed).body("box")
    height = box.xpos[2]
    assert not perturbed.set({parameter: value})
    perturbed.step(100)
    assert abs(box.xpos[2] - height) > 0.01


def test_a_body_that_slept_in_a_keyframe_feels_a_change_since(perturb: Act, sleeper: Path) -> None:
    perturbed = perturb(sleeper)
    data = _until_the_box_sleeps(perturbed)
    keyframes = Keyframes(perturbed.simulation)
    keyframes.save("asleep")
    keyframes.load("asleep")
    assert (data.tree_asleep >= 0).any()
    perturbed.set({"physics.gravity": (0.0, 0.0, 5.0)})
    keyframes.load("asleep")
    perturbed.step(100)
    assert data.body("box").xpos[2] > 0.11
