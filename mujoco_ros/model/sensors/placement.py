"""Checks that cameras and lidars of a scene share."""

import mujoco

from mujoco_ros.model.errors import UserInputError, unknown

_MIN_RATE_HZ = 0.001
_MAX_RATE_HZ = 1000.0


def check_rate(where: str, rate: float) -> None:
    """Reject a rate that is neither 0 (off) nor from `_MIN_RATE_HZ` to `_MAX_RATE_HZ`."""
    if not (rate == 0 or _MIN_RATE_HZ <= rate <= _MAX_RATE_HZ):
        raise UserInputError(
            f"{where}: 'rate' must be 0 (off), or from {_MIN_RATE_HZ:g} to {_MAX_RATE_HZ:g} Hz, "
            f"got {rate:g}"
        )


def find_body(spec: mujoco.MjSpec, name: str, where: str) -> mujoco.MjsBody:
    """Return the body with a name; an error if there is none."""
    body = spec.body(name)
    if body is None:
        raise unknown("body", name, [body.name for body in spec.bodies], where=where)
    return body
