"""Whether the base of a URDF is fixed or free, which the format does not say.

The rules were tried on 327 public robots; docs/reference/scenes.md has their results.
"""

import re
from collections.abc import Mapping

import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.model.urdf.importing.urdf_file import Urdf, UrdfJoint, UrdfLink

_FIXED = re.compile(r"world|map\Z|odom\Z")
"""Root links that are no part of a robot."""
_FOOTPRINT = "base_footprint"
"""Root link of mobile robots on the ground (REP 120)."""
_WHEELED = re.compile(r"diff_?drive|skid_?steer|planar_?move|ackermann|mecanum|omni_?drive", re.I)
"""Plugins of Gazebo that move a base."""
_WHEEL = re.compile(r"wheel|caster|castor", re.I)
_ROTOR = re.compile(r"rotor|propeller", re.I)
_FOOT = re.compile(r"foot|ankle|sole", re.I)
_NO_LEG = re.compile(r"arm|hand|palm|finger|thumb|gripper|jaw|wrist|elbow|shoulder|world", re.I)
_LOW = 0.15
"""Share of the height of a robot within which feet are as low as the lowest one."""
_LOW_WHEEL = 0.5
"""Likewise of wheels; axles are above the lowest point."""
_HIGH = 0.3
"""Share of the height of a robot that the origin of its root link is above its feet."""

_MANY = 4
"""Number of legs of one joint, which grippers do not have."""


def decide_base(urdf: Urdf) -> tuple[bool, str]:
    """Return whether the base of a URDF is free, and the reason."""
    if any(joint.type == "floating" for joint in urdf.joints.values()):
        return True, "it has a floating joint"
    root = urdf.root.rpartition("/")[2]
    if _FIXED.match(root):
        return False, f"its root link is '{urdf.root}'"
    if root == _FOOTPRINT:
        return True, f"its root link is '{urdf.root}'"
    for element in urdf.hardware:
        for plugin in element.iter("plugin"):
            name = plugin.get("filename", "") + plugin.get("name", "")
            if _WHEELED.search(name):
                return True, f"it has the plugin '{name}'"
    poses = _link_poses(urdf)
    wheels = _wheels(urdf, poses)
    named = [n for n in wheels if _WHEEL.search(n) or _WHEEL.search(urdf.joints[n].child)]
    for kind, found in (
        ("wheels", named),
        ("feet", _feet(urdf, poses)),
        ("wheels", wheels),
        ("rotors", _rotors(urdf)),
    ):
        if len(found) > 1:
            return True, f"it has {kind} ({', '.join(found[:4])})"
    return False, "it has no wheels, rotors or feet"


def _link_poses(urdf: Urdf) -> dict[str, Pose]:
    """Return the pose of each link in the root link, with all joints at zero."""
    poses: dict[str, Pose] = {}
    for joint, link in urdf.depth_first():
        poses[link.name] = Pose() if joint is None else poses[joint.parent] @ joint.origin
    return poses


def _rigid(urdf: Urdf, link: str) -> list[str]:
    """Return a link and the links below that are fixed to it."""
    links = [link]
    for name in links:
        links += [joint.child for joint in urdf.child_joints[name] if joint.type == "fixed"]
    return links


def _moving(urdf: Urdf, link: str) -> list[UrdfJoint]:
    """Return the joints that move on a link and on the links fixed to it."""
    below = (joint for name in _rigid(urdf, link) for joint in urdf.child_joints[name])
    return [joint for joint in below if joint.type != "fixed"]


def _wheels(urdf: Urdf, poses: Mapping[str, Pose]) -> list[str]:
    """Return the joints with the name of a wheel or without limits that turn about a level axis.

    They carry no other joint; without the name, they are low or reach down to the lowest link, and
    mimic none.
    """
    heights = [float(pose.position[2]) for pose in poses.values()]
    lowest = min(heights)
    highest = lowest + _LOW_WHEEL * (max(heights) - lowest)

    def is_wheel(joint: UrdfJoint) -> bool:
        pose = poses[joint.child]
        is_level = abs((pose.matrix @ joint.axis)[2]) < 0.5 * np.linalg.norm(joint.axis)
        is_free = joint.type == "continuous" and joint.mimic is None
        is_low = pose.position[2] <= max(highest, lowest + _radius(urdf.links[joint.child]))
        return bool(is_level and (_WHEEL.search(joint.name) or (is_free and is_low)))

    turning = (joint for joint in urdf.joints.values() if joint.type in ("continuous", "revolute"))
    return [each.name for each in turning if is_wheel(each) and not _moving(urdf, each.child)]


def _radius(link: UrdfLink) -> float:
    """Return the radius of the largest round shape of a link [m]; 0 without one."""
    shapes = (*link.collisions, *link.visuals)
    return max((s.size[0] for s in shapes if s.shape in ("cylinder", "sphere")), default=0.0)


def _rotors(urdf: Urdf) -> list[str]:
    return [
        name
        for name, link in urdf.links.items()
        if _ROTOR.search(name) and not _moving(urdf, link.name)
    ]


def _feet(urdf: Urdf, poses: Mapping[str, Pose]) -> list[str]:
    """Return the last links of legs, which end at the lowest place, well below the root link.

    Legs have two joints or more, unless there are four legs. Names decide in other poses.
    """
    heights = {name: _lowest(link, poses[name]) for name, link in urdf.links.items()}
    low, high = min(heights.values()), max(heights.values())
    is_above = heights[urdf.root] - low > _HIGH * (high - low)
    feet: list[tuple[str, int]] = []
    stack = [(joint, 1, joint.name) for joint in _moving(urdf, urdf.root)]
    while stack:
        joint, count, names = stack.pop()
        below = _moving(urdf, joint.child)
        stack += [(each, count + 1, names + each.name) for each in below]
        is_wheel = count == 1 and joint.type == "continuous"
        if below or is_wheel or _NO_LEG.search(names):
            continue
        end = min(heights[link] for link in _rigid(urdf, joint.child))
        if _FOOT.search(joint.child) or (is_above and end - low < _LOW * (high - low)):
            feet.append((joint.child, count))
    return [foot for foot, count in feet if count > 1 or len(feet) >= _MANY]


def _lowest(link: UrdfLink, pose: Pose) -> float:
    """Return the height of the lowest point of a link: its origin, or the centre of a shape."""
    centres = [(pose @ shape.origin).position for shape in (*link.collisions, *link.visuals)]
    return min(float(point[2]) for point in (pose.position, *centres))
