"""physics.*: the engine's options, changed while it runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from acted import Acted

from mujoco_ros.bridge.perturbation.physics_parameters import PHYSICS_PARAMETERS
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import PhysicsConfig, load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.model.scene.physics_options import read_options

Act = Callable[..., Acted]
_OTHER: dict[str, Any] = {
    "timestep": 0.002,
    "integrator": "Euler",
    "cone": "elliptic",
    "solver": "CG",
    "jacobian": "sparse",
    "iterations": 7,
    "ls_iterations": 8,
    "tolerance": 1e-3,
    "impratio": 2.0,
    "gravity": (1.0, 2.0, -3.0),
    "wind": (4.0, 5.0, 6.0),
    "density": 7.0,
    "viscosity": 8.0,
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


def _options(acted: Acted) -> PhysicsConfig:
    return read_options(acted.simulation.model.opt)


def test_there_is_a_parameter_for_every_option_a_scene_has(act: Act) -> None:
    names = [spec.name for spec in PHYSICS_PARAMETERS]
    assert names == [f"physics.{name}" for name in PhysicsConfig.__slots__]
    acted = act()
    assert {name: acted[f"physics.{name}"] for name in _OTHER} == {
        name: getattr(_options(acted), name) for name in _OTHER
    }


@pytest.mark.parametrize("name", _OTHER)
def test_an_option_is_set_in_the_engine_and_read_back(act: Act, name: str) -> None:
    acted = act()
    assert not acted.set({f"physics.{name}": _OTHER[name]})
    assert getattr(_options(acted), name) == _OTHER[name]
    assert acted[f"physics.{name}"] == _OTHER[name]
    acted.step(10)


@pytest.mark.parametrize("name", _OTHER)
def test_an_option_can_be_given_at_start(act: Act, name: str) -> None:
    acted = act(**{f"physics__{name}": _OTHER[name]})
    assert getattr(_options(acted), name) == _OTHER[name]
    assert acted[f"physics.{name}"] == _OTHER[name]
    acted.step(10)


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
        ("impratio", 0.0, "it is a number from 1e-06"),
    ],
)
def test_a_wrong_value_is_refused_with_the_reason_and_changes_nothing(
    act: Act, name: str, value: Any, why: str
) -> None:
    acted = act()
    before = _options(acted)
    reason = acted.set({f"physics.{name}": value})
    assert f"parameter 'physics.{name}' cannot be" in reason
    assert why in reason
    assert _options(acted) == before
    assert acted[f"physics.{name}"] == getattr(before, name)


def test_a_wrong_value_at_start_is_refused(act: Act) -> None:
    with pytest.raises(UserInputError, match=r"parameter 'physics\.gravity' cannot be \[1\.0\]"):
        act(physics__gravity=[1.0])


@pytest.mark.parametrize("value", [[0, 0, -2], "[0, 0.0, -2]", "[0, 0., -2e0]"])
def test_numbers_in_a_list_may_be_written_as_command_lines_do(act: Act, value: Any) -> None:
    acted = act()
    assert not acted.set({"physics.gravity": value})
    assert acted["physics.gravity"] == (0.0, 0.0, -2.0)
    assert _options(acted).gravity == (0.0, 0.0, -2.0)


def test_a_set_of_several_is_all_or_nothing(act: Act) -> None:
    acted = act()
    before = _options(acted)
    assert acted.set({"physics.density": 3.0, "physics.solver": "Gauss"})
    assert _options(acted) == before
    assert not acted.set({"physics.density": 3.0, "physics.solver": "CG"})
    assert (_options(acted).density, _options(acted).solver) == (3.0, "CG")


def test_gravity_acts_from_the_next_step_on(act: Act) -> None:
    acted = act()
    dof = acted.simulation.model.body("lamp").dofadr[0]
    acted.step(10)
    acted.set({"physics.gravity": (0.0, 0.0, -1.62)})
    acted.step(100)
    assert acted.simulation.data.qvel[dof + 2] == pytest.approx(-1.62 * 0.1)


def test_time_goes_on_in_steps_of_the_new_timestep(act: Act) -> None:
    acted = act()
    acted.step(3)
    acted.set({"physics.timestep": 0.002})
    times = []
    for _ in range(4):
        acted.step()
        times.append(acted.simulation.time)
    assert times == pytest.approx([0.003, 0.005, 0.007, 0.009], abs=1e-12)


def test_sensors_and_state_belong_together_after_a_change_to_runge_kutta(act: Act) -> None:
    acted = act()
    arrays = {name: id(value) for name, value in vars(acted.simulation.sample).items()}
    acted.push("left/finger", (5.0, 0.0, 3.0))
    acted.set({"physics.integrator": "RK4"})
    acted.step(50)
    sample, data = acted.simulation.sample, acted.simulation.data
    assert {name: id(value) for name, value in vars(sample).items()} == arrays
    body = acted.simulation.model.body("lamp").id
    address = acted.simulation.model.body("lamp").jntadr[0]
    qpos = acted.simulation.model.jnt_qposadr[address]
    assert sample.xpos[body] == pytest.approx(sample.qpos[qpos : qpos + 3], abs=1e-15)
    acted.set({"physics.integrator": "implicitfast"})
    acted.step(50)
    assert np.isfinite(data.qpos).all()


def test_a_reset_leaves_options_as_they_are(act: Act) -> None:
    acted = act()
    acted.set({"physics.gravity": (0.0, 0.0, -1.62)})
    acted.reset()
    assert _options(acted).gravity == (0.0, 0.0, -1.62)
    assert acted["physics.gravity"] == (0.0, 0.0, -1.62)


def test_options_that_the_engine_would_fail_on_are_refused(act: Act, tmp_path: Path) -> None:
    path = tmp_path / "soft.xml"
    path.write_text(_FLEX)
    acted = act(path)
    reason = acted.set({"physics.solver": "PGS"})
    assert reason.startswith("physics.solver = PGS: the engine rejects these options: ")
    assert _options(acted).solver == "Newton"
    assert acted["physics.solver"] == "Newton"
    acted.step(5)
    assert not acted.set({"physics.solver": "CG"})
    acted.step(5)


def test_options_stay_when_something_is_spawned(act: Act) -> None:
    acted = act()
    values = {f"physics.{name}": value for name, value in _OTHER.items()}
    assert not acted.set(values)
    text = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    ball = part_from_text(text, name="ball")
    acted.change(lambda assembly: rebuild(assembly, add=[ball]))
    assert _options(acted) == PhysicsConfig(**_OTHER)
    acted.step(10)


def test_what_is_spawned_into_options_the_engine_would_fail_on_is_refused(
    act: Act, tmp_path: Path
) -> None:
    path = tmp_path / "hard.xml"
    body = "<body><joint name='hinge'/><geom size='.1'/></body>"
    path.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    acted = act(path, physics__integrator="discrete", physics__solver="PGS")
    soft = part_from_text(_FLEX.replace('<option integrator="discrete"/>', ""), name="soft")
    with pytest.raises(UserInputError, match="the engine rejects"):
        acted.change(lambda assembly: rebuild(assembly, add=[soft]))


def test_a_world_that_is_loaded_brings_its_own_options(act: Act, scene: Path) -> None:
    acted = act()
    acted.set({"physics.gravity": (0.0, 0.0, -1.62), "physics.timestep": 0.002})
    acted.change(lambda _assembly: assemble(load_scene(str(scene))), fresh=True)
    assert acted["physics.gravity"] == _options(acted).gravity == (0.0, 0.0, 0.0)
    assert acted["physics.timestep"] == _options(acted).timestep == 0.001


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("timestep='0.5'", "'timestep' must be within 1e-5 and 0.1 s, got 0.5"),
        ("timestep='1e-6'", "'timestep' must be"),
        ("impratio='0'", "'impratio' must be positive"),
        ("impratio='1e-8'", r"'physics\.impratio' cannot be 1e-08: it is a number from 1e-06"),
        ("tolerance='-1'", "'tolerance' must not be negative"),
        ("iterations='-3'", "'iterations' must not be negative"),
        ("gravity='0 0 1e12'", r"'physics\.gravity' cannot be \[0\.0, 0\.0, 1000000000000\.0\]"),
    ],
)
def test_a_world_with_options_that_parameters_cannot_take_is_not_loaded(
    act: Act, tmp_path: Path, option: str, why: str
) -> None:
    path = tmp_path / "odd.xml"
    body = "<body><joint name='hinge'/><geom size='.1'/></body>"
    path.write_text(f"<mujoco><option {option}/><worldbody>{body}</worldbody></mujoco>")
    acted = act()
    model, before = acted.simulation.model, _options(acted)
    with pytest.raises(UserInputError, match=why):
        acted.change(lambda _assembly: assemble(load_scene(str(path))), fresh=True)
    assert acted.simulation.model is model
    assert _options(acted) == before


def test_the_world_that_was_started_with_can_be_loaded_again(act: Act, tmp_path: Path) -> None:
    path = tmp_path / "odd.xml"
    body = "<body><joint name='hinge'/><geom size='.1'/></body>"
    path.write_text(f"<mujoco><option impratio='1e-8'/><worldbody>{body}</worldbody></mujoco>")
    acted = act(path)
    acted.set({"physics.impratio": 1.0})
    acted.change(lambda _assembly: assemble(load_scene(str(path))), fresh=True)
    assert acted["physics.impratio"] == _options(acted).impratio == 1e-8


def test_an_option_that_is_set_leaves_the_others_of_the_engine_as_they_are(act: Act) -> None:
    acted = act()
    acted.simulation.model.opt.density = 3.0  # as a world may have it that has just come
    assert not acted.set({"physics.gravity": (0.0, 0.0, -1.62)})
    assert (_options(acted).density, _options(acted).gravity) == (3.0, (0.0, 0.0, -1.62))
