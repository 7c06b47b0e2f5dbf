"""Joint states by name, in whatever order they come, as arrays in the robot's order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sensor_msgs.msg import JointState

from mujoco_ros.model.errors import UserInputError


class JointArrays(NamedTuple):
    """Joint states in the robot's order; NaN where the robot does not tell.

    Attributes:
        q: Positions [rad or m].  # (n,)
        dq: Velocities.  # (n,)
        effort: Efforts [Nm or N].  # (n,)
    """

    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray


class JointReader:
    """Reads joint states of a robot; the order of their names is looked at when it changes."""

    def __init__(self, joints: Sequence[str]) -> None:
        """Read the states of these joints."""
        self._joints = tuple(joints)
        self._names: tuple[str, ...] = ()
        self._order = np.empty(0, dtype=np.intp)

    def read(self, message: JointState) -> JointArrays:
        """Return what a message tells.

        Raises:
            ModelError: It lacks a joint, or has another number of values than of names.
        """
        names = tuple(message.name)
        if names != self._names:
            self._order = self._found(names)
            self._names = names
        return JointArrays(
            *(
                self._column(what, values)
                for what, values in (
                    ("positions", message.position),
                    ("velocities", message.velocity),
                    ("efforts", message.effort),
                )
            )
        )

    def _found(self, names: tuple[str, ...]) -> np.ndarray:
        missing = [joint for joint in self._joints if joint not in names]
        if missing:
            raise UserInputError(
                f"joint_states lack {', '.join(missing)}; they have: {', '.join(names) or 'none'}"
            )
        return np.array([names.index(joint) for joint in self._joints], dtype=np.intp)

    def _column(self, what: str, values: Sequence[float]) -> np.ndarray:
        if not len(values):
            if what == "positions":
                raise UserInputError("joint_states tell no positions")
            return np.full(len(self._joints), np.nan)
        if len(values) != len(self._names):
            raise UserInputError(
                f"joint_states tell {len(values)} {what} of {len(self._names)} joints"
            )
        return np.array(values)[self._order]
