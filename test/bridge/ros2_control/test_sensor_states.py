"""Sensors of a model under the names that a URDF declares for mujoco_ros2_control."""

import re
from math import inf, nan
from pathlib import Path

import pytest
from geometry_msgs.msg import PoseStamped, WrenchStamped
from simulators import SimulatorLauncher

from mujoco_ros.bridge.ros2_control.sensor_states import SensorStates
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.ros2_control.hardware_blocks import DeclaredHardware, HardwareBlock
from mujoco_ros.sim.simulation import Simulation

MJCF = """
<mujoco>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="turn" axis="0 0 1"/>
      <geom type="box" size="0.1 0.1 0.1" mass="2"/>
      <site name="mount" pos="0.3 0 0"/>
    </body>
  </worldbody>
  <actuator><position joint="turn" kp="10"/></actuator>
  <sensor>
    <force name="load_force" site="mount"/>
    <torque name="load_torque" site="mount"/>
    <framepos name="tool_pos" objtype="site" objname="mount"/>
    <framequat name="tool_quat" objtype="site" objname="mount"/>
  </sensor>
</mujoco>
"""
URDF = """
<robot name="robot">
  <link name="world"/>
  <ros2_control name="robot" type="system">
    <sensor name="wrist">
      <param name="mujoco_type">fts</param>
      <param name="mujoco_sensor_name">load</param>
      <state_interface name="force.z"/>
    </sensor>
    <sensor name="tool">
      <param name="mujoco_type">pose</param>
      <state_interface name="position.x"/>
    </sensor>
    <sensor name="absent">
      <param name="mujoco_type">imu</param>
      <state_interface name="orientation.x"/>
    </sensor>
  </ros2_control>
</robot>
"""
CONTROLLERS = """
wrist_broadcaster:
  ros__parameters:
    type: force_torque_sensor_broadcaster/ForceTorqueSensorBroadcaster
    sensor_name: wrist
    frame_id: mount
    sensor_filter_chain:
      filter1:
        name: weight
        type: control_filters/GravityCompensationWrench
        params:
          world_frame: world
          sensor_frame: mount
          CoG: {pos: [0.0, 0.0, 0.0], force: [0.0, 0.0, -9.81]}
pose_broadcaster:
  ros__parameters: {type: pose_broadcaster/PoseBroadcaster, pose_name: tool, frame_id: world}
"""
SCENE = "robots: [{name: robot, model: robot.xml, urdf: robot.urdf}]"


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    for name, text in {"robot.xml": MJCF, "robot.urdf": URDF, "scene.yaml": SCENE}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "controllers.yaml").write_text(CONTROLLERS)
    return tmp_path / "scene.yaml"


@pytest.mark.parametrize(
    ("kind", "given", "most"),
    [("latitude", nan, "89.9"), ("latitude", -90.0, "89.9"), ("altitude", inf, "1e+09")],
)
def test_a_gps_receiver_needs_an_origin(kind: str, given: float, most: str) -> None:
    simulation = Simulation(load_scene("rover"))
    states = SensorStates(simulation.layout.robots[0], simulation.sample, 1.0, {})
    block = HardwareBlock(name="gps", states=("gps/latitude", "gps/longitude", "gps/altitude"))
    declared = DeclaredHardware(blocks=(block,), initial={f"gps/{kind}": given})
    message = f"initial_value of 'gps/{kind}' is {given:g}; it must be from -{most} to {most}"
    with pytest.raises(UserInputError, match=re.escape(message)):
        states.readers(declared)


def test_broadcasters_read_sensors_by_the_names_of_the_urdf(
    start: SimulatorLauncher, scene: Path
) -> None:
    controllers = scene.with_name("controllers.yaml")
    simulator = start.simulator(scene=scene, controllers_file=controllers, viewer="none")
    listener = start.listener(simulator)
    wrenches = listener.record(WrenchStamped, "/wrist_broadcaster/wrench")
    filtered = listener.record(WrenchStamped, "/wrist_broadcaster/wrench_filtered")
    poses = listener.record(PoseStamped, "/pose_broadcaster/pose")
    assert listener.spin_until(lambda: min(map(len, (wrenches, filtered, poses))) > 2)
    assert wrenches.latest.wrench.force.z == pytest.approx(-2 * 9.81, abs=0.1)  # on the parent
    assert filtered.latest.wrench.force.z == pytest.approx(-9.81, abs=0.1)  # half of it is left
    position = poses.latest.pose.position
    assert (position.x, position.z) == pytest.approx((0.3, 1.0), abs=0.01)
    simulator.wait_for_log(
        "sensor 'absent' of its <ros2_control> measures nothing: the model has no sensors 'absent'"
    )
