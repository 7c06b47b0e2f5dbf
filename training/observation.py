"""The input of the policy: the terms of the table, computed with NumPy or JAX.

`xp` is the module of arrays, ``numpy`` or ``jax.numpy``; arrays are of that module.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Array = Any


def gravity(quat_wxyz: Array, xp: Any) -> Array:
    """Return the direction of gravity in the frame of a base.  # (4,) → (3,)"""
    w, x, y, z = quat_wxyz
    return xp.stack([2.0 * (w * y - x * z), -2.0 * (y * z + w * x), 2.0 * (x * x + y * y) - 1.0])


def to_base(quat_wxyz: Array, vector: Array, xp: Any) -> Array:
    """Return a vector of the world in the frame of a base.  # (4,), (3,) → (3,)"""
    w, axis = quat_wxyz[0], -quat_wxyz[1:]
    turned = 2.0 * xp.cross(axis, vector)
    return vector + w * turned + xp.cross(axis, turned)


def term_values(
    *,
    qpos: Array,
    qvel: Array,
    default_pose: Array,
    command: Array,
    action: Array,
    phase: Array,
    xp: Any,
) -> Mapping[str, Array]:
    """Return the values of all terms by name.

    Args:
        qpos: Pose of the base and positions of the joints.  # (19,)
        qvel: Velocities; the IMU has the frame of the base.  # (18,)
        default_pose: [rad]  # (12,)
        command: Velocity forwards, to the left, turning [m/s, rad/s].  # (3,)
        action: The previous one.  # (12,)
        phase: Part of the cycle of the gait, from 0 to 1.
        xp: Module of arrays.
    """
    angle = 2.0 * xp.pi * phase
    return {
        "base_angular_velocity": qvel[3:6],
        "projected_gravity": gravity(qpos[3:7], xp),
        "command": command,
        "joint_position": qpos[7:] - default_pose,
        "joint_velocity": qvel[6:],
        "previous_action": action,
        "gait_phase": xp.stack([xp.sin(angle), xp.cos(angle)]),
    }


def observation(terms: Sequence[Mapping[str, Any]], values: Mapping[str, Array], xp: Any) -> Array:
    """Return the terms of a table one after the other, scaled.  # (n,)"""
    return xp.concatenate([values[term["term"]] * term.get("scale", 1.0) for term in terms])
