"""The scalar joints whose state can be set, by name."""

from dataclasses import dataclass

import mujoco

from mujoco_ros.model.naming import joint_name
from mujoco_ros.model.robot.layout import ModelLayout

_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


@dataclass(frozen=True, kw_only=True, slots=True)
class SettableJoint:
    """A hinge or slide joint.

    Attributes:
        name: Its name in requests and messages.
        joint: Its index in the model.
        robot: Index of its robot; None for a joint of an object or of the world.
        column: Its index among the joints of its robot.
    """

    name: str
    joint: int
    robot: int | None = None
    column: int = 0


def settable_joints(model: mujoco.MjModel, layout: ModelLayout) -> dict[str, SettableJoint]:
    """Return all scalar joints by name, those of robots first.

    The name of a robot's joint has the robot's namespace before it, if it has one, as in the names
    of parameters. Others have their name in the model, with dots instead of slashes.
    """
    found: dict[str, SettableJoint] = {}
    for index, robot in enumerate(layout.robots):
        pairs = zip(robot.joints.names, robot.joints.ids, strict=True)
        for column, (own_name, joint) in enumerate(pairs):
            name = joint_name(robot.namespace, own_name)
            found[name] = SettableJoint(name=name, joint=int(joint), robot=index, column=column)
    taken = {it.joint for it in found.values()}
    for joint in range(model.njnt):
        if joint in taken or model.jnt_type[joint] not in _SCALAR:
            continue
        name = model.joint(joint).name.replace("/", ".") or f"joint{joint}"
        while name in found:
            name += "_joint"
        found[name] = SettableJoint(name=name, joint=joint)
    return found
