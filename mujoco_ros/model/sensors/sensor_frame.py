"""The TF frames of sensors."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.robot.frame_names import site_frame
from mujoco_ros.model.robot.scope import Scope, body_of

_OBJECT = mujoco.mjtObj
_IDENTITY = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class SensorFrame:
    """A TF frame in which a sensor reports.

    Attributes:
        name: Its name, without the prefix of the robot's frames.
        body: Body that it is fixed to; -1 for the frame of a body or of another robot, and for
            ``world``.
        position: Its origin in the frame of that body [m].
        quat_wxyz: Its orientation in the frame of that body.
        is_global: Whether the name is complete, without the prefix of the robot's frames.
    """

    name: str
    body: int = -1
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    quat_wxyz: tuple[float, float, float, float] = _IDENTITY
    is_global: bool = False


WORLD_FRAME = SensorFrame("world", is_global=True)


def reference_frame(scope: Scope, kind: int, element: int) -> SensorFrame:
    """Return the frame of the reference of a MuJoCo sensor; the world if it has none.

    Args:
        scope: The elements of the robot.
        kind: Type of the reference, one of `mujoco.mjtObj`.
        element: Its MuJoCo id; -1 for none.
    """
    return WORLD_FRAME if element < 0 else object_frame(scope, kind, element)


def object_frame(
    scope: Scope,
    kind: int,
    element: int,
    suffix: str = "",
    turn_wxyz: tuple[float, float, float, float] | None = None,
) -> SensorFrame:
    """Return the frame of a body, site, geom or camera as MuJoCo defines it.

    Bodies and sites have frames with their names. The inertial frame of a body, MuJoCo's object
    type ``body``, has the suffix ``_inertial``; geoms and cameras have ``_geom`` and ``_camera``.

    Args:
        scope: The elements of the robot.
        kind: Type of the element, one of `mujoco.mjtObj`.
        element: Its MuJoCo id.
        suffix: Distinguishes the frame from that of the element.
        turn_wxyz: Orientation of the frame in that of the element.
    """
    model, body = scope.model, body_of(scope.model, kind, element)
    if body == 0 and kind in (_OBJECT.mjOBJ_BODY, _OBJECT.mjOBJ_XBODY):
        return WORLD_FRAME
    type_name = _OBJECT(kind).name.removeprefix("mjOBJ_").removeprefix("X").lower()
    name = scope.name(kind, element) or f"{type_name}{element}"
    if kind == _OBJECT.mjOBJ_SITE:
        name = site_frame(name, scope.body_names)
        position, quat = model.site_pos[element], model.site_quat[element]
    elif kind == _OBJECT.mjOBJ_GEOM:
        name, position, quat = f"{name}_geom", model.geom_pos[element], model.geom_quat[element]
    elif kind == _OBJECT.mjOBJ_CAMERA:
        name, position, quat = f"{name}_camera", model.cam_pos[element], model.cam_quat[element]
        if model.cam_mode[element] != mujoco.mjtCamLight.mjCAMLIGHT_FIXED:
            return SensorFrame(name)  # it turns in the frame of its body, and is not in TF
    elif kind == _OBJECT.mjOBJ_BODY and not _is_at_body(model, body):
        name, position, quat = f"{name}_inertial", model.body_ipos[body], model.body_iquat[body]
    else:
        return SensorFrame(name, is_global=body not in scope.bodies)
    if body and body not in scope.bodies:
        return SensorFrame(name, is_global=True)
    turned = quat.copy()
    if turn_wxyz is not None:
        mujoco.mju_mulQuat(turned, quat, np.array(turn_wxyz))
    return SensorFrame(name + suffix, body, tuple(position.tolist()), tuple(turned.tolist()))


def _is_at_body(model: mujoco.MjModel, body: int) -> bool:
    """Whether the inertial frame of a body is its frame."""
    return not model.body_ipos[body].any() and model.body_iquat[body].tolist() == list(_IDENTITY)
