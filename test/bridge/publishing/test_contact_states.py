"""The contacts of a robot as data, compared with the laws of statics."""

import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from ros_gz_interfaces.msg import Contacts, Entity

from mujoco_ros.bridge.publishing.contact_states import ContactStates
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

MASS_KG, GRAVITY = 3.0, 9.81
HALF_M = 0.1
CRATE = f"""
<mujoco>
  <option gravity="0 0 -{GRAVITY}"/>
  <worldbody>
    <body name="crate" pos="0 0 {HALF_M}">
      <freejoint/>
      <geom name="hull" type="box" size="{HALF_M} {HALF_M} {HALF_M}" mass="{MASS_KG}"/>
    </body>
  </worldbody>
</mujoco>"""
FLOOR = """
<mujoco>
  <worldbody><geom name="floor" type="plane" size="5 5 0.1" pos="0 0 0"/></worldbody>
</mujoco>"""


def xyz(vector) -> np.ndarray:
    return np.array([vector.x, vector.y, vector.z])


class Contacting:
    """A simulation, and the messages of its robots."""

    def __init__(self, scene: str) -> None:
        self.simulation = Simulation(load_scene(scene))
        self.states = [
            ContactStates(self.simulation.plant, robot, TopicPublisher("contact_states"))
            for robot in self.simulation.layout.robots
        ]

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / self.simulation.model.opt.timestep)):
            self.simulation.step()

    def message(self, robot: int = 0) -> Contacts:
        return deserialize_message(self.states[robot].serialized(7, 8), Contacts)


@pytest.fixture
def scene(tmp_path):
    (tmp_path / "crate.xml").write_text(CRATE)
    (tmp_path / "floor.xml").write_text(FLOOR)

    def build(text: str) -> Contacting:
        (tmp_path / "scene.yaml").write_text(text)
        return Contacting(str(tmp_path / "scene.yaml"))

    return build


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicitfast", "discrete"])
def test_the_forces_on_a_resting_box_carry_its_weight(scene, integrator):
    crate = scene(
        "world: floor.xml\nrobots: [{name: crate, model: crate.xml}]\n"
        f"physics: {{integrator: {integrator}}}\n"
    )
    assert crate.message().contacts == []
    crate.run(1.0)
    message = crate.message()
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (7, 8)
    assert message.header.frame_id == "world"
    (contact,) = message.contacts
    assert [contact.collision1.name, contact.collision2.name] == ["hull", "floor"]
    assert contact.collision1.type == contact.collision2.type == Entity.COLLISION
    assert len(contact.positions) == len(contact.normals) == len(contact.depths) == 4
    wrenches = contact.wrenches
    assert {wrench.body_1_name.data for wrench in wrenches} == {"crate"}
    assert {wrench.body_2_name.data for wrench in wrenches} == {"world"}
    on_crate = np.sum([xyz(wrench.body_1_wrench.force) for wrench in wrenches], axis=0)
    np.testing.assert_allclose(on_crate, [0, 0, MASS_KG * GRAVITY], atol=1e-3)
    for wrench in wrenches:
        np.testing.assert_array_equal(
            xyz(wrench.body_2_wrench.force), -xyz(wrench.body_1_wrench.force)
        )
    for normal, depth in zip(contact.normals, contact.depths, strict=True):
        np.testing.assert_allclose(xyz(normal), [0, 0, 1], atol=1e-9)
        assert 0 < depth < 0.01
    points = np.array([xyz(point) for point in contact.positions])
    np.testing.assert_allclose(np.abs(points[:, :2]), HALF_M, atol=1e-3)


def test_each_robot_comes_first_in_the_contact_of_two(scene):
    stack = scene(
        "world: floor.xml\n"
        "robots:\n"
        "- {name: under, model: crate.xml}\n"
        f"- {{name: upper, model: crate.xml, pose: {{xyz: [0, 0, {2 * HALF_M}]}}}}\n"
    )
    stack.run(1.0)
    under, upper = (
        {it.collision2.name: it for it in stack.message(robot).contacts} for robot in (0, 1)
    )
    assert under.keys() == {"floor", "upper/hull"}
    assert upper.keys() == {"under/hull"}
    assert upper["under/hull"].collision1.name == "upper/hull"
    assert upper["under/hull"].wrenches[0].body_1_name.data == "upper/crate"

    def load(contact):
        return np.sum([xyz(it.body_1_wrench.force) for it in contact.wrenches], axis=0)

    weight = np.array([0, 0, MASS_KG * GRAVITY])
    np.testing.assert_allclose(load(upper["under/hull"]), weight, atol=0.01)
    np.testing.assert_allclose(load(under["upper/hull"]), -weight, atol=0.01)
    np.testing.assert_allclose(load(under["floor"]), 2 * weight, atol=0.01)
    assert xyz(upper["under/hull"].normals[0])[2] == pytest.approx(1, abs=1e-6)
    assert xyz(under["upper/hull"].normals[0])[2] == pytest.approx(-1, abs=1e-6)


def test_nothing_is_computed_without_a_subscription(scene, monkeypatch):
    crate = scene("world: floor.xml\nrobots: [{name: crate, model: crate.xml}]\n")
    crate.run(0.1)
    (states,) = crate.states
    sent = []
    states._publisher.publish = sent.append
    monkeypatch.setattr(states, "serialized", lambda *_: pytest.fail("it was computed"))
    states.publish(1, 2)
    monkeypatch.undo()
    states._publisher.subscriptions = 1
    states.publish(1, 2)
    assert len(sent) == 1


def test_a_geom_without_a_name_is_named_by_its_body(tmp_path):
    model = tmp_path / "two.xml"
    model.write_text(
        """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
          <body name="ball" pos="0 0 0.1"><freejoint/>
            <geom size="0.01" mass="1"/><geom size="0.1" mass="1"/></body>
        </worldbody></mujoco>"""
    )
    ball = Contacting(str(model))
    ball.run(0.5)
    (contact,) = ball.message().contacts
    assert (contact.collision1.name, contact.collision2.name) == ("ball_geom1", "world_geom0")


def test_a_contact_of_a_flex_has_its_name(tmp_path):
    model = tmp_path / "cloth.xml"
    model.write_text(
        """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
          <flexcomp name="cloth" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" mass="1"
            radius="0.01" pos="0 0 0.02"><contact selfcollide="none"/></flexcomp>
        </worldbody></mujoco>"""
    )
    cloth = Contacting(str(model))
    cloth.run(0.3)
    names = {each.collision1.name for each in cloth.message().contacts}
    assert "cloth" in names
