"""What the states of several shipped controllers share."""

from math import acos

import numpy as np

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.inputs import VELOCITY_INPUT, BodyVelocity


class ExtendedState(State):
    """State whose class line adds outcomes and failures to the outcomes of its base class."""

    def __init_subclass__(
        cls, outcomes: tuple[str, ...] = (), failures: tuple[str, ...] = ()
    ) -> None:
        cls.outcomes = (*outcomes, *cls.outcomes, *failures)
        cls.failures = (*cls.failures, *failures)


def tilt_of(quat_wxyz: np.ndarray) -> float:
    """Return the angle between a body's z axis and the vertical [rad]; NaN if unknown."""
    _, x, y, _ = quat_wxyz.tolist()
    return acos(min(max(1.0 - 2.0 * (x * x + y * y), -1.0), 1.0))


def commanded_velocity(context: StateContext, timeout: float) -> BodyVelocity | None:
    """Return the velocity that a client has commanded in the last time [s]; None without one."""
    if VELOCITY_INPUT not in context.store:
        return None
    return context.store.get(VELOCITY_INPUT).read(context.time, timeout)


def quintic(s: float) -> tuple[float, float, float]:
    """Return a rise from 0 to 1 at rest at both ends, and its two derivatives."""
    return (
        s * s * s * (10.0 + s * (6.0 * s - 15.0)),
        30.0 * s * s * (1.0 - s) ** 2,
        60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
    )
