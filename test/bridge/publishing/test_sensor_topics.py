"""Sensors that are published together or as arrays: layouts, and values with physical oracles."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stepped_node import named_values, published

from mujoco_ros.bridge.publishing.template_publisher import SerializedTopic
from mujoco_ros.bridge.publishing.topic_plan import TopicPlan
from mujoco_ros.bridge.publishing.topics import CONTACTS
from mujoco_ros.bridge.tf.robot_frames import FramePlan
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

WEIGHT_N = 2 * 9.81
RANGE_M = 0.9
MODEL = """
<mujoco>
  <option gravity="0 0 -9.81"><flag energy="enable"/></option>
  <worldbody>
    <geom name="wall" type="box" size="0.1 1 1" pos="2 0 0.5"/>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="slider" pos="1 0 0.5">
      <joint name="rail" type="slide" axis="1 0 0" range="-1 1"/>
      <geom name="block" type="box" size="0.05 0.05 0.05" mass="1"/>
      <site name="ray" zaxis="1 0 0"/>
      <camera name="eye" xyaxes="0 -1 0 0 0 1" resolution="3 2" fovy="40"/>
      <body name="bob" pos="0 0 -0.1">
        <joint name="swivel" type="ball"/>
        <geom name="bob" size="0.02" mass="0.1"/>
      </body>
    </body>
    <body name="crate" pos="0 0 0.1">
      <joint type="slide" axis="0 0 1"/>
      <geom name="crate" type="box" size="0.1 0.1 0.1" mass="2"/>
      <site name="zone" type="box" size="0.3 0.3 0.3"/>
    </body>
  </worldbody>
  <tendon><fixed name="cable"><joint joint="rail" coef="2"/></fixed></tendon>
  <actuator><motor name="drive" joint="rail" gear="5"/></actuator>
  <sensor>
    <jointpos name="rail_pos" joint="rail"/>
    <jointvel name="rail_vel" joint="rail"/>
    <jointactuatorfrc name="rail_effort" joint="rail"/>
    <actuatorfrc name="drive_effort" actuator="drive"/>
    <tendonpos name="cable_length" tendon="cable"/>
    <ballquat name="swivel_quat" joint="swivel"/>
    <distance name="gap" geom1="block" geom2="wall" cutoff="10"/>
    <normal name="towards" geom1="block" geom2="wall" cutoff="10"/>
    <insidesite name="inside" site="zone" objtype="xbody" objname="crate"/>
    <e_kinetic name="energy"/>
    <clock name="clock"/>
    <user name="mine" dim="3"/>
    <rangefinder name="eye_ranges" camera="eye"/>
    <rangefinder name="ray_details" site="ray" data="dist normal"/>
    <contact name="load" geom1="floor" geom2="crate" num="4" data="found force pos"/>
    <contact name="net" geom1="floor" geom2="crate" num="1" reduce="netforce" data="force"/>
  </sensor>
</mujoco>"""


class Sensing:
    """A simulation, and the messages of its topics."""

    def __init__(self, path: Path, text: str) -> None:
        path.write_text(text)
        self.simulation = Simulation(load_scene(str(path)))
        self.robot = self.simulation.layout.robots[0]
        frames = FramePlan(moving=[], linked_bodies=[], following=[], static=[])
        self._plan = TopicPlan(
            self.simulation.plant, lambda: 0.0, frames, "child_on_parent", controllers=False
        )

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / self.simulation.model.opt.timestep)):
            self.simulation.step()

    @property
    def topics(self) -> dict[str, SerializedTopic]:
        return {it.topic.name: it for it in self._plan.contents}

    def message(self, name: str) -> Any:
        """Return the message of a topic, as it is published."""
        return published(self._plan, name)

    def states(self) -> dict[str, dict[str, float]]:
        return named_values(self.message("sensor_states"))

    def array(self, name: str) -> tuple[list[tuple[str, int]], np.ndarray]:
        """Return labels and sizes of an array, and its numbers in that shape."""
        message = self.message(f"sensor_array/{name}")
        dimensions = [(it.label, it.size) for it in message.layout.dim]
        sizes = [size for _, size in dimensions]
        strides = [int(np.prod(sizes[i:])) for i in range(len(sizes))]
        assert [it.stride for it in message.layout.dim] == strides
        return dimensions, np.array(message.data).reshape(sizes)


@pytest.fixture
def sensing(tmp_path: Path) -> Callable[[str], Sensing]:
    return lambda text: Sensing(tmp_path / "model.xml", text)


def test_named_values_have_the_interfaces_of_their_type(sensing):
    cart = sensing(MODEL)
    cart.simulation.data.qpos[0] = 0.25
    cart.simulation.data.ctrl[0] = 3.0
    cart.simulation.data.qvel[0] = -0.5
    cart.run(0.002)
    states = cart.states()
    sample = cart.simulation.sample
    assert states["rail_pos"] == {"position": sample.qpos[0]}
    assert states["rail_vel"] == {"velocity": sample.qvel[0]}
    effort = float(sample.qfrc_actuator[0])
    assert states["rail_effort"] == {"effort": pytest.approx(effort)}
    assert states["drive_effort"]["effort"] * 5 == pytest.approx(effort)
    assert states["cable_length"] == {"position": pytest.approx(2 * sample.qpos[0])}
    assert states["swivel_quat"] == dict(
        zip((f"orientation.{axis}" for axis in "wxyz"), sample.qpos[1:5].tolist(), strict=True)
    )
    # The wall begins at 1.9 m, the block ends at 1.05 m plus the position of the joint.
    assert states["gap"]["distance"] == pytest.approx(1.9 - 1.05 - sample.qpos[0], abs=1e-6)
    assert list(states["towards"].values()) == pytest.approx([1, 0, 0], abs=1e-6)
    assert states["inside"] == {"inside": 1.0}
    assert states["clock"] == {"time": 0.0}
    assert states["energy"]["kinetic_energy"] == pytest.approx(0.5 * 1.1 * 0.25)
    assert "mine" not in states
    message = cart.message("sensor_states")
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (3, 4)


def test_the_rays_of_a_camera_are_an_image_with_inf_where_they_hit_nothing(sensing):
    cart = sensing(MODEL.replace('pos="2 0 0.5"', 'pos="2 0 1.5"'))
    cart.run(0.002)
    dimensions, rays = cart.array("eye_ranges")
    assert dimensions == [("height", 2), ("width", 3), ("dist", 1)]
    assert ((rays[0] >= RANGE_M) & np.isfinite(rays[0])).all()
    assert rays[0, 1, 0] < rays[0, 0, 0]
    # The rays below the wall: they hit the floor, 0.5 m below.
    assert np.isfinite(rays[1]).all()


def test_a_ray_with_several_fields_is_a_range_and_an_array(sensing):
    cart = sensing(MODEL)
    cart.run(0.002)
    assert cart.message("range/ray_details").range == pytest.approx(RANGE_M)
    dimensions, ray = cart.array("ray_details")
    assert dimensions == [("dist,normal.x,normal.y,normal.z", 4)]
    np.testing.assert_allclose(ray, [RANGE_M, -1, 0, 0], atol=1e-9)


def test_a_ray_that_hits_nothing_is_inf_in_an_array(sensing):
    cart = sensing(MODEL.replace('zaxis="1 0 0"', 'zaxis="-1 0 0.1"'))
    cart.run(0.002)
    _, ray = cart.array("ray_details")
    assert ray[0] == np.inf


def test_the_forces_of_a_contact_sensor_carry_the_weight(sensing):
    cart = sensing(MODEL)
    cart.run(1.0)
    dimensions, contacts = cart.array("load")
    labels = "found,force.x,force.y,force.z,pos.x,pos.y,pos.z"
    assert dimensions == [("contact", 4), (labels, 7)]
    assert (contacts[:, 0] > 0).all()
    # In the frame of a contact, x is the normal.
    assert contacts[:, 1].sum() == pytest.approx(WEIGHT_N, abs=0.01)
    np.testing.assert_allclose(np.abs(contacts[:, 4:6]), 0.1, atol=1e-3)
    dimensions, force = cart.array("net")
    assert dimensions == [("contact", 1), ("force.x,force.y,force.z", 3)]
    np.testing.assert_allclose(force[0], [0, 0, WEIGHT_N], atol=0.01)


def test_a_user_sensor_is_an_array_without_a_meaning(sensing):
    cart = sensing(MODEL)
    start = cart.simulation.model.sensor("mine").adr[0]
    cart.run(0.002)
    cart.simulation.sample.sensordata[start : start + 3] = 1, 2, 3
    dimensions, values = cart.array("mine")
    assert dimensions == [("value", 3)]
    assert values.tolist() == [1, 2, 3]


def test_a_touch_grid_is_a_stack_of_images(sensing):
    grid = sensing(
        """<mujoco>
          <extension><plugin plugin="mujoco.sensor.touch_grid"/></extension>
          <worldbody>
            <body name="pad"><geom type="box" size=".5 .5 .1" pos="0 0 -.1"/>
              <site name="pad" pos="0 0 -1" euler="180 0 0"/></body>
            <body pos="0.45 0 .1"><joint type="slide" axis="0 0 1"/>
              <geom name="ball" size=".1" mass="2"/></body>
          </worldbody>
          <sensor><plugin name="skin" plugin="mujoco.sensor.touch_grid" objtype="site"
              objname="pad">
            <config key="nchannel" value="3"/><config key="size" value="5 2"/>
            <config key="fov" value="60 60"/><config key="gamma" value="0"/>
          </plugin></sensor>
        </mujoco>"""
    )
    grid.run(1.0)
    dimensions, images = grid.array("skin")
    assert dimensions == [("force.z,force.x,force.y", 3), ("height", 2), ("width", 5)]
    assert abs(images[0].sum()) == pytest.approx(WEIGHT_N, rel=1e-3)
    # The ball is beside the axis: all of the load is in columns of one side.
    (columns,) = np.nonzero(images[0].any(axis=0))
    assert set(columns) <= {0, 1} or set(columns) <= {3, 4}


def test_a_tactile_sensor_has_its_channels_first(sensing):
    skin = sensing(
        """<mujoco>
          <asset><mesh name="pad" builtin="plate" params="4 4" scale="1 1 1"/></asset>
          <worldbody>
            <geom name="floor" type="plane" size="1 1 1"/>
            <body name="b" pos="0 0 .1"><freejoint/><geom name="ball" size=".1" mass="2"/></body>
          </worldbody>
          <sensor><tactile name="skin" mesh="pad" geom="ball"/></sensor>
        </mujoco>"""
    )
    skin.run(0.1)
    dimensions, _ = skin.array("skin")
    assert dimensions == [("pressure,slip.x,slip.y", 3), ("taxel", 16)]


def test_every_sensor_and_the_contacts_have_a_topic_of_their_own(sensing):
    cart = sensing(MODEL)
    assert cart.robot.unused_sensors == ()
    names = set(cart.topics)
    arrays = {"mine", "eye_ranges", "ray_details", "load", "net"}
    assert {name for name in names if name.startswith("sensor_array/")} == {
        f"sensor_array/{name}" for name in arrays
    }
    assert CONTACTS in names
