"""Requests to spawn entities, and their resources."""

from typing import Any

from geometry_msgs.msg import PoseStamped
from simulation_interfaces.msg import Resource
from simulator_client import SimulatorClient

BALL = """
<mujoco model="ball">
  <worldbody><body name="ball"><freejoint/><geom size=".1" mass="1"/></body></worldbody>
</mujoco>
"""
BLOCK = """
<mujoco model="block"><worldbody><geom name="g" type="box" size=".1 .2 .3"/></worldbody></mujoco>
"""
BOX = "package://mujoco_ros/urdf_mjcf/objects/box.xml"
ARM = "package://mujoco_ros/urdf_mjcf/arm/arm.xml"


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0, frame: str = "") -> PoseStamped:
    """Return an upright pose."""
    pose = PoseStamped()
    pose.header.frame_id = frame
    pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = x, y, z
    return pose


def spawn(remote: SimulatorClient, *, uri: str = "", text: str = "", **fields: Any) -> Any:
    """Spawn an entity and return the response."""
    resource = Resource(uri=uri, resource_string=text)
    return remote.call("SpawnEntity", entity_resource=resource, **fields)
