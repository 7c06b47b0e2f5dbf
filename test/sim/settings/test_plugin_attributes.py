"""Attributes of MuJoCo's own plugins, changed while their state stays."""

from pathlib import Path

import mujoco
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.settings.plugin_attributes import PluginAttribute
from mujoco_ros.sim.simulation import Simulation

MODEL = Path(__file__).parents[1] / "data" / "plugins.xml"
PID, GRID = "mujoco.pid", "mujoco.sensor.touch_grid"
KP, KI = PluginAttribute("pid", "kp", PID), PluginAttribute("pid", "ki", PID)
GAMMA = PluginAttribute("skin", "gamma", GRID)
SERVO = """<mujoco model="servo"><extension><plugin plugin="mujoco.pid"/></extension>
<worldbody><body><joint name="j" axis="0 0 1"/><geom size=".1"/></body></worldbody>
<actuator><plugin name="m" joint="j" plugin="mujoco.pid"><config key="kp" value="{kp}"/></plugin>
</actuator></mujoco>"""


@pytest.fixture
def simulation() -> Simulation:
    return Simulation(load_scene(str(MODEL)))


def test_numbers_are_found_by_instance_or_else_by_element(simulation: Simulation) -> None:
    assert simulation.plant.plugin_attributes.values() == {
        KP: 60.0,
        KI: 40.0,
        PluginAttribute("pid", "kd", PID): 6.0,
        PluginAttribute("pid", "slewmax", PID): 2.0,
        PluginAttribute("skin", "nchannel", GRID): 3.0,
        GAMMA: 0.0,
    }


def test_a_gain_acts_from_the_next_step_on_and_the_integral_stays(simulation: Simulation) -> None:
    for _ in range(300):
        simulation.step()
    before, data = simulation.data.act.copy(), simulation.data
    assert before[0] != 0.0
    changes = {KP: 1.2345678901234567e-5, KI: 0.1}
    simulation.plant.plugin_attributes.check(changes)
    simulation.plant.set_plugin_attributes(changes)
    assert simulation.data.act.tolist() == before.tolist()
    assert simulation.plant.plugin_attributes.values() | changes == (
        simulation.plant.plugin_attributes.values()
    )
    mujoco.mj_forward(simulation.model, data)
    damping = -6.0 * data.qvel[0] + 6.0 * data.act_dot[1]
    proportional = changes[KP] * (data.act[1] - data.qpos[0])
    expected = proportional + data.act[0] * changes[KI] + damping
    assert data.actuator_force[0] == pytest.approx(expected, abs=0.05)
    assert simulation.step()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({KP: 1.0, KI: 0.0}, "kp of 'pid', ki of 'pid': the plugin mujoco.pid rejects the values"),
        (
            {PluginAttribute("skin", "nchannel", GRID): 6.0},
            "nchannel of 'skin': the plugin needs another number of states or of sensor data",
        ),
    ],
)
def test_what_a_plugin_cannot_take_is_rejected_and_changes_nothing(
    simulation: Simulation, changes: dict[PluginAttribute, float], message: str
) -> None:
    attributes = simulation.plant.plugin_attributes
    before, text = attributes.values(), simulation.model.plugin_attr.tobytes()
    with pytest.raises(UserInputError, match=message):
        attributes.check(changes)
    assert simulation.model.plugin_attr.tobytes() == text
    if KI in changes:
        with pytest.raises(UserInputError, match="a plugin rejects its attributes kp, ki"):
            simulation.plant.set_plugin_attributes(changes)
        assert attributes.values() == before
    assert simulation.step()


def test_the_copy_on_which_sensors_are_evaluated_follows(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(SERVO.format(kp=2))
    (tmp_path / "s.yaml").write_text(
        "robots: [{name: a, model: a.xml}]\nphysics: {integrator: RK4}"
    )
    simulation = Simulation(load_scene(str(tmp_path / "s.yaml")))
    simulation.step()
    twin, (kp,) = simulation.plant.twin, simulation.plant.plugin_attributes.values()
    assert twin is not None
    simulation.plant.set_plugin_attributes({kp: 9.0})
    simulation.data.ctrl[:], simulation.data.qpos[:] = 1.0, 0.25
    simulation.step()
    assert twin.actuator_force[0] == pytest.approx(9.0 * 0.75)


def test_a_change_of_the_model_keeps_the_numbers_of_shared_instances(
    simulation: Simulation, tmp_path: Path
) -> None:
    (tmp_path / "a.xml").write_text(SERVO.format(kp=2))
    (tmp_path / "s.yaml").write_text("robots: [{name: a, model: a.xml}, {name: b, model: a.xml}]")
    simulation = Simulation(load_scene(str(tmp_path / "s.yaml")))
    of = {it.instance: it for it in simulation.plant.plugin_attributes.values()}
    assert sorted(of) == ["a/m", "b/m"]
    simulation.plant.set_plugin_attributes({of["b/m"]: 9.0})
    new = part_from_text(SERVO.format(kp=3), name="c")
    assembly = rebuild(simulation.assembly, add=[new], remove=["a"])
    simulation.switch_model(simulation.build_plant(assembly))
    present = {it.instance: n for it, n in simulation.plant.plugin_attributes.values().items()}
    assert present == {"b/m": 9.0, "c/m": 3.0}
    simulation.data.ctrl[:] = 1.0
    mujoco.mj_forward(simulation.model, simulation.data)
    assert sorted(simulation.data.actuator_force) == pytest.approx([3.0, 9.0])


def test_a_compiled_model_has_no_space_for_longer_numbers(tmp_path: Path) -> None:
    mujoco.mj_saveModel(
        mujoco.MjModel.from_xml_string(SERVO.format(kp=20)), str(tmp_path / "m.mjb")
    )
    simulation = Simulation(assemble(load_scene(str(tmp_path / "m.mjb"))))
    attributes = simulation.plant.plugin_attributes
    (kp,) = attributes.values()
    attributes.check({kp: 7.0})
    with pytest.raises(UserInputError, match=r"has 2 characters in this compiled .*'7\.5' has 3"):
        attributes.check({kp: 7.5})


def test_shapes_and_texts_are_no_such_attributes() -> None:
    scene = load_scene(str(Path(__file__).parents[3] / "examples/plugins/ring_and_bowl.xml"))
    assert Simulation(scene).plant.plugin_attributes.values() == {}
