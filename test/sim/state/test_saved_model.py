"""The present model, saved as a file and loaded again."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.settings.element_properties import Property, get_property, properties
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.saved_model import PresentModel
from mujoco_ros.sim.state.snapshots import Keyframes

_CHANGED = ("mass", "friction", "damping", "range", "margin", "gravcomp", "kp", "forcerange")


def _edited(scene: str) -> Simulation:
    simulation = Simulation(load_scene(scene))
    values = {
        which: (0.5,)
        if which.attribute == "gravcomp"
        else tuple(1.1 * number for number in get_property(simulation.model, which))
        for which in properties(simulation.model)
        if which.attribute in _CHANGED
    }
    simulation.properties.set({which: value for which, value in values.items() if any(value)})
    return simulation


@pytest.mark.parametrize("scene", ["arm", "quadruped", "humanoid"])
def test_a_saved_model_has_changed_numbers_options_and_motors(scene: str) -> None:
    simulation = _edited(scene)
    options = replace(simulation.options, timestep=0.0005, gravity=(0.0, 0.0, -1.62))
    simulation.set_options(options)
    present = PresentModel.of(simulation, {})
    model = mujoco.MjModel.from_xml_string(present.content(".xml").decode())
    assert model.opt.timestep == 0.0005
    assert not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_AUTORESET
    assert model.opt.gravity[2] == -1.62
    changed = simulation.properties.present
    assert len(changed) > 50
    found = {which: get_property(model, which) for which in changed}
    assert {which: pytest.approx(value, rel=1e-5) for which, value in changed.items()} == found
    scene_model = assemble(load_scene(scene)).model
    assert np.array_equal(model.actuator_biastype, scene_model.actuator_biastype), "no servos"
    assert not np.array_equal(model.actuator_biastype, simulation.model.actuator_biastype)


def test_a_saved_model_has_the_numbers_that_were_set_at_the_start() -> None:
    simulation = Simulation(load_scene("arm"))
    which = next(w for w in properties(simulation.model) if w.attribute == "damping")
    simulation.properties.configure({which: (7.0,)})
    simulation.properties.set(simulation.properties.restored({}))
    model = mujoco.MjModel.from_xml_string(PresentModel.of(simulation, {}).content(".xml").decode())
    assert get_property(model, which) == (7.0,)


def test_data_in_a_model_is_in_the_saved_model(tmp_path: Path) -> None:
    mesh = "data:model/obj,v 0 0 0%0Av 1 0 0%0Av 0 1 0%0Av 0 0 1%0Af 1 3 2%0Af 1 2 4%0Af 2 3 4%0A"
    (tmp_path / "robot.xml").write_text(
        f"<mujoco><asset><mesh name='a' file='{mesh}f 3 1 4'/></asset><worldbody><body>"
        "<joint/><geom type='mesh' mesh='a'/></body></worldbody></mujoco>"
    )
    (tmp_path / "scene.yaml").write_text("robots: [{name: r, model: robot.xml}]")
    simulation = Simulation(load_scene(str(tmp_path / "scene.yaml")))
    path = tmp_path / "saved.xml"
    path.write_bytes(PresentModel.of(simulation, {}).content(".xml"))
    assert mesh in path.read_text()
    saved = Simulation(load_scene(str(path))).model
    assert saved.body_mass[1] == pytest.approx(simulation.model.body_mass[1], rel=1e-5)


def test_saved_keyframes_are_keyframes_of_the_saved_model(tmp_path: Path) -> None:
    simulation = Simulation(load_scene("arm"))
    keyframes = Keyframes(simulation)
    for _ in range(200):
        simulation.step()
    keyframes.save("arm/home")
    qpos = simulation.data.qpos.copy()
    text = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    assembly = rebuild(simulation.assembly, add=[part_from_text(text, name="ball")])
    simulation.switch_model(simulation.build_plant(assembly))
    path = tmp_path / "saved.xml"
    path.write_bytes(PresentModel.of(simulation, keyframes.saved).content(".xml"))
    again = Simulation(load_scene(str(path)))
    assert [again.model.key(key).name for key in range(again.model.nkey)] == ["arm/home"]
    assert again.model.key("arm/home").time[0] == pytest.approx(0.2)
    assert again.data.qpos[: len(qpos)] == pytest.approx(qpos, rel=1e-5)
    motors = simulation.drives.slots[simulation.drives.servo_joints]
    assert simulation.data.ctrl[motors].any()
    assert not again.model.key("arm/home").ctrl[motors].any(), "no torques"
    assert again.step()


def test_the_text_has_the_state_of_the_instant() -> None:
    simulation = Simulation(load_scene("arm"))
    for _ in range(10):
        simulation.step()
    text = PresentModel.of(simulation, {}).content(".txt").decode()
    printed = text[text.index("QPOS") :].split()[1 : 1 + simulation.model.nq]
    assert np.array(printed, float) == pytest.approx(simulation.data.qpos, rel=1e-8)


def test_a_compiled_model_has_no_mjcf(tmp_path: Path) -> None:
    path = tmp_path / "model.mjb"
    path.write_bytes(PresentModel.of(Simulation(load_scene("arm")), {}).content(".mjb"))
    simulation = Simulation(load_scene(str(path)))
    with pytest.raises(UserInputError, match="compiled model"):
        PresentModel.of(simulation, {}).content(".xml")
    assert PresentModel.of(simulation, {}).content(".txt")


def test_a_urdf_has_the_changed_numbers_of_the_robot() -> None:
    simulation = Simulation(load_scene("arm"))
    model, (robot,) = simulation.model, simulation.layout.robots
    body = next(b for b in robot.bodies if model.body_mass[b] and model.body_weldid[b])
    which = Property("body", model.body(body).name, "mass")
    simulation.properties.set({which: (7.25,)})
    urdf = ElementTree.fromstring(PresentModel.of(simulation, {}).content(".urdf", "any_name"))
    assert urdf.get("name") == robot.name
    link = which.name.removeprefix(robot.prefix)
    mass = urdf.find(f"link[@name='{link}']/inertial/mass")
    assert mass is not None
    assert float(mass.get("value", "")) == 7.25


def test_the_robot_of_a_urdf_is_named_if_there_are_several() -> None:
    simulation = Simulation(load_scene("handover"))
    first, second = (robot.name for robot in simulation.layout.robots)
    present = PresentModel.of(simulation, {})
    with pytest.raises(UserInputError, match=rf"<robot>.urdf: robot 'x' not.*{first}, {second}"):
        present.content(".urdf", "x")
    urdf = ElementTree.fromstring(present.content(".urdf", second))
    assert urdf.get("name") == second
