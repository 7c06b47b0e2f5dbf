"""Terms of the reward, computed with NumPy or JAX (`xp`).

Their kinds follow Rudin et al., Learning to walk in minutes using massively parallel deep
reinforcement learning (2021), and Zakka et al., MuJoCo Playground (2025). The gait is from a
trot: diagonal feet swing together, by the phase that the policy observes.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

Array = Any

_VELOCITY_ERROR = 0.1
"""Squared error at which the reward of a velocity is 1/e."""
_HEIGHT_ERROR = 0.005
"""Sum of the squared errors of the feet's heights at which the reward of the gait is 1/e [m²]."""
_STANCE = 0.15
"""Part of the amplitude of a sine by which the swing is shorter than half a cycle."""
_CONTACT = 0.002
"""Height below which a foot is in contact [m]."""
_OFFSETS = (0.0, 0.5, 0.5, 0.0)
"""Phases of the feet of `FEET`."""


class Motion(NamedTuple):
    """Motion of the robot during a period of the policy.

    Attributes:
        linear: Velocity of the base in its frame [m/s].  # (3,)
        angular: Angular velocity of the base in its frame [rad/s].  # (3,)
        gravity: Direction of gravity in the frame of the base.  # (3,)
        height: Height of the base [m].
        q: Joint positions relative to the default pose [rad].  # (12,)
        dq: Joint velocities [rad/s].  # (12,)
        effort: Efforts of the joints [Nm].  # (12,)
        action: The action.  # (12,)
        previous_action: The one before.  # (12,)
        foot_heights: Of the lowest points of the feet [m].  # (4,)
        foot_velocities: Horizontal ones [m/s].  # (4, 2)
        command: The commanded velocity [m/s, rad/s].  # (3,)
        is_standing: Whether the robot shall stand.
        phase: Part of the cycle of the gait, from 0 to 1.
    """

    linear: Array
    angular: Array
    gravity: Array
    height: Array
    q: Array
    dq: Array
    effort: Array
    action: Array
    previous_action: Array
    foot_heights: Array
    foot_velocities: Array
    command: Array
    is_standing: Array
    phase: Array


def wanted_foot_heights(phase: Array, swing_height: float, xp: Any) -> Array:
    """Return the heights of the feet of a trot [m].  # (4,)"""
    wave = xp.sin(2.0 * xp.pi * (phase + xp.array(_OFFSETS)))
    return swing_height * xp.maximum(wave - _STANCE, 0.0) / (1.0 - _STANCE)


def reward_terms(
    motion: Motion, *, height: float, swing_height: float, xp: Any
) -> Mapping[str, Array]:
    """Return the terms by the names of `Weights`.

    Args:
        height: Wanted height of the base [m].
        swing_height: Height of the feet in the middle of a swing [m].
        xp: Module of arrays.
    """
    moving = 1.0 - motion.is_standing
    wanted = moving * wanted_foot_heights(motion.phase, swing_height, xp)
    in_contact = motion.foot_heights < _CONTACT
    slip = xp.sum(xp.square(motion.foot_velocities), axis=-1)
    return {
        "velocity": _near(motion.command[:2] - motion.linear[:2], _VELOCITY_ERROR, xp),
        "yaw_rate": _near(motion.command[2:] - motion.angular[2:], _VELOCITY_ERROR, xp),
        "gait": _near(motion.foot_heights - wanted, _HEIGHT_ERROR, xp),
        "upright": xp.maximum(-motion.gravity[2], 0.0),
        "vertical_velocity": xp.square(motion.linear[2]),
        "tilt_rate": xp.sum(xp.square(motion.angular[:2])),
        "tilt": xp.sum(xp.square(motion.gravity[:2])),
        "height": xp.square(motion.height - height),
        "effort": xp.sum(xp.square(motion.effort)),
        "power": xp.sum(xp.abs(motion.effort * motion.dq)),
        "action_rate": xp.sum(xp.square(motion.action - motion.previous_action)),
        "hips": xp.sum(xp.square(motion.q[::3])),
        "slip": xp.sum(in_contact * slip),
        "standing": motion.is_standing * xp.sum(xp.abs(motion.q)),
    }


def _near(error: Array, width: float, xp: Any) -> Array:
    return xp.exp(-xp.sum(xp.square(error)) / width)
