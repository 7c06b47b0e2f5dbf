"""A URDF as a spec, without the importer, which a scene of MJCF files does not need."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.wheels import NO_WHEELS, Wheels
from mujoco_ros.model.sensors.cameras import CameraConfig
from mujoco_ros.model.sensors.lidars import LidarConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedUrdf:
    """A URDF as a spec, with what a spec cannot express."""

    spec: mujoco.MjSpec  # the spec, which compiles
    # The compiled spec; None in a repeated reading, which does not compile it again
    model: mujoco.MjModel | None = None
    cameras: tuple[CameraConfig, ...] = ()
    lidars: tuple[LidarConfig, ...] = ()
    start: Mapping[str, float] = field(default_factory=dict)  # start positions of joints [rad or m]
    # Whether its base is to be free, and why, by the content of the URDF; None for an MJCF
    base: tuple[bool, str] | None = None
    # Its actuators that integrate velocities, whose gains are to be derived
    velocity_servos: tuple[str, ...] = ()
    wheels: Wheels = NO_WHEELS
    is_holonomic: bool = False  # whether a plugin moves it in every direction


def free_base(spec: mujoco.MjSpec) -> None:
    """Give the only root body, if it has no joint, a free joint named ``<body>_free_joint``."""
    roots = spec.worldbody.bodies
    if len(roots) != 1:
        listing = ", ".join(body.name for body in roots) or "none"
        raise UserInputError(f"a free base needs one root body; '{spec.modelname}' has: {listing}")
    (root,) = roots
    if root.joints:
        joint = root.joints[0].name
        raise UserInputError(f"the base '{root.name}' cannot be freed: it moves on '{joint}'")
    joint = root.add_freejoint(name=f"{root.name}_free_joint")
    try:
        spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        spec.delete(joint)
        text = engine_message(error)
        raise UserInputError(f"the base '{root.name}' cannot be freed: {text}") from error


def engine_message(error: Exception) -> str:
    """Return an error message of the engine in one line."""
    return " ".join(str(error).removeprefix("Error: ").split())
