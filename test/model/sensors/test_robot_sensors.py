import mujoco
import numpy as np
import pytest

from mujoco_ros.model.robot.layout import RobotLayout, lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.sensors.robot_sensors import Distances

CUTOFF_M = 0.5
RANGEFINDERS = f"""
<mujoco>
  <worldbody>
    <geom type="box" size="0.1 1 1" pos="1.1 0 0"/>
    <body name="cart">
      <joint name="rail" type="slide" axis="1 0 0"/>
      <geom size="0.05"/>
      <site name="front" zaxis="1 0 0"/>
      <site name="back" zaxis="-1 0 0"/>
      <camera name="eye" resolution="2 2"/>
    </body>
  </worldbody>
  <sensor>
    <rangefinder name="ahead" site="front"/>
    <rangefinder name="astern" site="back"/>
    <rangefinder name="near" site="front" cutoff="{CUTOFF_M}"/>
    <rangefinder name="nearer" site="back" cutoff="{CUTOFF_M}"/>
    <rangefinder name="detailed" site="front" data="dist normal"/>
    <rangefinder name="pixels" camera="eye"/>
    <rangefinder name="spot" site="front" data="point"/>
  </sensor>
</mujoco>"""


@pytest.fixture
def cart(tmp_path) -> tuple[mujoco.MjModel, RobotLayout]:
    (tmp_path / "cart.xml").write_text(RANGEFINDERS)
    assembly = assemble(load_scene(str(tmp_path / "cart.xml")))
    (robot,) = lay_out(assembly).robots
    return assembly.model, robot


def test_each_rangefinder_at_a_site_is_a_sensor_with_its_cutoff(cart):
    model, robot = cart
    found = {sensor.name: sensor for sensor in robot.sensors["range"]}
    assert list(found) == ["ahead", "astern", "near", "nearer", "detailed"]
    assert {name: it.constants["max_range"] for name, it in found.items()} == {
        "ahead": np.inf,
        "astern": np.inf,
        "near": CUTOFF_M,
        "nearer": CUTOFF_M,
        "detailed": np.inf,
    }
    assert found["detailed"].addresses == {"range": model.sensor("detailed").adr[0]}
    assert found["near"].frame.name == "front_beam"


def test_rangefinders_of_cameras_and_of_more_than_a_distance_are_arrays(cart):
    assert [it.name for it in cart[1].arrays] == ["detailed", "pixels", "spot"]
    assert cart[1].unused_sensors == ()


def test_distances_out_of_range_are_marked(cart):
    model, robot = cart
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    before = data.sensordata.copy()
    Distances(model).mark(data.sensordata)
    found = {
        sensor.name: data.sensordata[sensor.addresses["range"]] for sensor in robot.sensors["range"]
    }
    assert found == pytest.approx(
        {"ahead": 1.0, "astern": np.inf, "near": np.inf, "nearer": np.inf, "detailed": 1.0}
    )
    pixels = model.sensor("pixels")
    assert np.isinf(data.sensordata[pixels.adr[0] :][: pixels.dim[0]]).sum() == 4
    others = ~np.isinf(data.sensordata)
    np.testing.assert_array_equal(data.sensordata[others], before[others])


def test_the_names_of_an_imu_may_have_dashes(tmp_path) -> None:
    (tmp_path / "r.xml").write_text(
        "<mujoco><worldbody><body><freejoint/><geom size='0.1'/><site name='imu'/></body>"
        "</worldbody><sensor><gyro name='torso-angular-velocity' site='imu'/>"
        "<accelerometer name='torso-linear-acceleration' site='imu'/></sensor></mujoco>"
    )
    (robot,) = lay_out(assemble(load_scene(str(tmp_path / "r.xml")))).robots
    (imu,) = robot.sensors["imu"]
    assert imu.stem == "torso"
