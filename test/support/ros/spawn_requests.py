"""Requests to spawn entities, and their resources."""

from typing import Any

from geometry_msgs.msg import PoseStamped
from simulation_interfaces.msg import Resource
from simulation_interfaces.srv import SetEntityState, SpawnEntity
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
    return remote.call("SpawnEntity", **named_resource(SpawnEntity.Request, uri, text), **fields)


def named_resource(kind: type, uri: str = "", text: str = "") -> dict[str, Any]:
    """Return the fields of a message that name a resource, which depend on the version."""
    for field in ("entity_resource", "world_resource"):
        if hasattr(kind, field):
            return {field: Resource(uri=uri, resource_string=text)}
    return {"uri": uri, "resource_string": text}


def resource_of(message: Any) -> Any:
    """Return the part of a message that names a resource: before version 2 the message."""
    fields = ("entity_resource", "world_resource")
    return next((getattr(message, field) for field in fields if hasattr(message, field)), message)


HAS_FLAGS = hasattr(SetEntityState.Request, "set_pose")
"""Whether requests name the parts of a state that are set: version 2.1 and newer."""


def flags(*parts: str) -> dict[str, bool]:
    """Return the flags that name parts of a state; none in versions that set the whole state."""
    return {f"set_{part}": True for part in parts} if HAS_FLAGS else {}
