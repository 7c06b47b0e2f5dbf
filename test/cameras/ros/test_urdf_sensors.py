"""The topics of the sensors that a URDF declares for Gazebo."""

import math
from pathlib import Path

import pytest
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import CameraInfo, Image, Imu, LaserScan
from simulators import SimulatorLauncher

from mujoco_ros.rendering.gl import RenderingError, open_context

try:
    open_context().close()
except RenderingError as error:
    pytest.skip(f"no EGL or OSMesa here: {error}", allow_module_level=True)

STANDARD_GRAVITY = 9.81
INERTIAL = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
ROBOT = f"""
<robot name="cart">
  <link name="base">{INERTIAL}</link>
  <link name="mast">{INERTIAL}</link>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="mast"/><axis xyz="0 0 1"/><origin xyz="0 0 0.5"/>
    <limit lower="-1" upper="1" effort="100" velocity="1"/>
  </joint>
  <ros2_control name="system" type="system"><joint name="turn">
    <command_interface name="position"/>
    <state_interface name="position"/>
  </joint></ros2_control>
  <gazebo reference="mast">
    <sensor name="front" type="camera"><update_rate>20</update_rate>
      <camera><horizontal_fov>1.2</horizontal_fov>
        <image><width>64</width><height>48</height></image></camera></sensor>
    <sensor name="scanner" type="gpu_lidar"><update_rate>20</update_rate>
      <lidar><scan><horizontal><samples>3</samples><min_angle>-1</min_angle>
        <max_angle>1</max_angle></horizontal></scan>
        <range><min>0.1</min><max>10</max></range></lidar></sensor>
    <sensor name="body" type="imu"/>
  </gazebo>
  <gazebo reference="turn"><sensor name="neck" type="force_torque"/></gazebo>
</robot>
"""
WALL = '<mujoco><worldbody><geom type="box" size="0.5 9 9" pos="3.5 0 0"/></worldbody></mujoco>'


def test_the_sensors_of_a_urdf_are_published(
    start_shared: SimulatorLauncher, tmp_path: Path
) -> None:
    (tmp_path / "cart.urdf").write_text(ROBOT)
    (tmp_path / "wall.xml").write_text(WALL)
    scene = tmp_path / "cart.yaml"
    scene.write_text("world: wall.xml\nrobots: [{name: cart, model: cart.urdf}]\n")
    simulator = start_shared.simulator(scene=scene, cameras="true")
    listener = start_shared.listener(simulator)
    kinds = {
        "/camera/front/image_raw": Image,
        "/camera/front/camera_info": CameraInfo,
        "/lidar/scanner/scan": LaserScan,
        "/imu/body": Imu,
        "/wrench/neck": WrenchStamped,
    }
    seen = {topic: listener.record(kind, topic) for topic, kind in kinds.items()}
    assert listener.spin_until(lambda: all(len(it) > 2 for it in seen.values()))
    image, info, scan, imu, wrench = (seen[topic].latest for topic in kinds)

    focal = 32 / math.tan(0.6)
    assert (image.width, image.height) == (info.width, info.height) == (64, 48)
    assert info.k.tolist() == pytest.approx([focal, 0, 31.5, 0, focal, 23.5, 0, 0, 1])
    assert list(scan.ranges) == pytest.approx([3 / math.cos(1), 3, 3 / math.cos(1)], rel=1e-3)
    acceleration = imu.linear_acceleration
    assert (acceleration.x, acceleration.y) == pytest.approx((0, 0), abs=1e-3)
    assert acceleration.z == pytest.approx(STANDARD_GRAVITY, rel=1e-3)
    assert wrench.wrench.force.z == pytest.approx(-2 * STANDARD_GRAVITY, rel=1e-3)
