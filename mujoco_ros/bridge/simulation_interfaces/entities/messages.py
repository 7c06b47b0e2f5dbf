"""Conversions between the messages about entities and arrays, resources and errors."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from geometry_msgs.msg import Accel, Pose, Twist, Vector3
from simulation_interfaces.msg import Bounds, EntityState

from mujoco_ros.bridge.simulation_interfaces.entities.entity_models import ResourceSource
from mujoco_ros.model import errors
from mujoco_ros.rclpy_ext.service import RequestRejectedError
from mujoco_ros.sim.observer import BoundingBox, Motion
from mujoco_ros.wire.conversions import pose_message, stamp, xyz
from mujoco_ros.wire.names import WORLD

_FARTHEST_M = 1e6
_FASTEST = 1e6


def state_message(motion: Motion, time: float) -> EntityState:
    """Return a motion at a simulated time [s], in the world frame, as a message."""
    state = EntityState()
    state.header.frame_id, state.header.stamp = WORLD, stamp(time)
    state.pose = pose_message(motion.position, motion.quat_wxyz)
    state.twist = Twist(linear=_vector(motion.linear), angular=_vector(motion.angular))
    state.acceleration = Accel(
        linear=_vector(motion.linear_acceleration), angular=_vector(motion.angular_acceleration)
    )
    return state


def bounds_message(box: BoundingBox | None) -> Bounds:
    """Return a box as bounds: first the corner with the largest coordinates; None is empty."""
    if box is None:
        return Bounds(type=Bounds.TYPE_EMPTY)
    return Bounds(type=Bounds.TYPE_BOX, points=[_vector(box.high), _vector(box.low)])


def read_pose(pose: Pose) -> np.ndarray:
    """Return a pose as position and unit quaternion wxyz, or raise `ValueError`.  # (7,)."""
    p, q = pose.position, pose.orientation
    return checked_pose(np.array([p.x, p.y, p.z, q.w, q.x, q.y, q.z]))


def checked_pose(found: np.ndarray) -> np.ndarray:
    """Return a pose, position and quaternion wxyz, with a unit quaternion.  # (7,)."""
    _check(found, ("x", "y", "z"), "position", _FARTHEST_M)
    _check(found[3:], ("w", "x", "y", "z"), "orientation", 2.0)
    length = float(np.linalg.norm(found[3:]))
    if abs(length - 1.0) > 0.01:
        raise ValueError(f"the orientation is not a unit quaternion: its length is {length:g}")
    mujoco.mju_normalize4(found[3:])
    return found


def read_twist(twist: Twist) -> np.ndarray:
    """Return linear [m/s] and angular velocity [rad/s], or raise `ValueError`.  # (6,)."""
    return checked_twist(np.array([*xyz(twist.linear), *xyz(twist.angular)]))


def checked_twist(found: np.ndarray) -> np.ndarray:
    """Return linear [m/s] and angular velocity [rad/s], if they are finite.  # (6,)."""
    _check(found, ("x", "y", "z"), "linear velocity", _FASTEST)
    _check(found[3:], ("x", "y", "z"), "angular velocity", _FASTEST)
    return found


def read_points(bounds: Bounds) -> np.ndarray:
    """Return the points of bounds, or raise `ValueError`.  # (n, 3)."""
    for point in bounds.points:
        _check(np.array(xyz(point)), ("x", "y", "z"), "bounds", _FARTHEST_M)
    return np.array([xyz(point) for point in bounds.points]).reshape(-1, 3)


def _vector(values: np.ndarray) -> Vector3:
    x, y, z = (float(value) for value in values)
    return Vector3(x=x, y=y, z=z)


def _check(values: np.ndarray, names: Sequence[str], what: str, most: float) -> None:
    for name, value in zip(names, values, strict=False):
        if not abs(value) <= most:  # true for NaN
            raise ValueError(f"{name} of the {what} must be within ±{most:g}, got {value:g}")


_CODES: tuple[tuple[type[errors.UserInputError], str], ...] = (
    (errors.NameTakenError, "NAME_NOT_UNIQUE"),
    (errors.NameInvalidError, "NAME_INVALID"),
    (errors.NamespaceError, "NAMESPACE_INVALID"),
    (errors.UnsupportedFormatError, "UNSUPPORTED_FORMAT"),
    (errors.MissingFileError, "NO_RESOURCE"),
    (errors.MissingAssetError, "MISSING_ASSETS"),
    (errors.NativeCodeError, "UNSUPPORTED_ELEMENTS"),
    (errors.ParseError, "RESOURCE_PARSE_ERROR"),
)
"""The standard's codes for the errors of a resource."""


def read_resource(message: Any, field: str, codes: Any) -> ResourceSource:
    """Return the resource in a field of a message; the URI takes precedence over a text.

    Older versions of the message contain both themselves. The response `codes` has result codes.
    """
    resource = getattr(message, field, message)
    if not resource.uri and not resource.resource_string.strip():
        raise RequestRejectedError(
            "there is neither a uri nor a resource_string", codes.NO_RESOURCE
        )
    return ResourceSource(uri=resource.uri, text=resource.resource_string)


def rejection(error: Exception, codes: Any, *, otherwise: str = "") -> RequestRejectedError:
    """Return the rejection for an error, with the code of the standard if `codes` has one.

    `otherwise` is the name of the code for other kinds of `UserInputError`.
    """
    if isinstance(error, RequestRejectedError):
        return error
    names = [name for kind, name in _CODES if isinstance(error, kind) and hasattr(codes, name)]
    if otherwise and isinstance(error, errors.UserInputError):
        names.append(otherwise)
    code = getattr(codes, names[0]) if names else None
    return RequestRejectedError(str(error) or repr(error), code)
