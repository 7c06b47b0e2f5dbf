"""Joint state messages as arrays in the robot's order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sensor_msgs.msg import JointState

from mujoco_ros.model.errors import UserInputError


class JointArrays(NamedTuple):
    """Joint states in the robot's order; NaN where the message has no value.

    Attributes:
        q: Positions [rad or m].  # (n,)
        dq: Velocities [rad/s or m/s].  # (n,)
        effort: Efforts [Nm or N].  # (n,)
    """

    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray


class JointReader:
    """Reads joint states of a robot; the order of names is cached."""

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints = tuple(joints)
        self._names: tuple[str, ...] = ()
        self._order = np.empty(0, dtype=np.intp)

    def read(self, message: JointState) -> JointArrays:
        """Return the values of a message.

        Raises:
            UserInputError: A joint is missing, or there are not as many values as names.
        """
        names = tuple(message.name)
        if names != self._names:
            self._order = self._order_of(names)
            self._names = names
        return JointArrays(
            q=self._column("positions", message.position),
            dq=self._column("velocities", message.velocity),
            effort=self._column("efforts", message.effort),
        )

    def _order_of(self, names: tuple[str, ...]) -> np.ndarray:
        missing = [joint for joint in self._joints if joint not in names]
        if missing:
            raise UserInputError(
                f"joint_states lack {', '.join(missing)}; they have: {', '.join(names) or 'none'}"
            )
        return np.array([names.index(joint) for joint in self._joints], dtype=np.intp)

    def _column(self, what: str, values: Sequence[float]) -> np.ndarray:
        if not len(values):
            if what == "positions":
                raise UserInputError("joint_states have no positions")
            return np.full(len(self._joints), np.nan)
        if len(values) != len(self._names):
            raise UserInputError(
                f"joint_states have {len(values)} {what} for {len(self._names)} joints"
            )
        return np.array(values)[self._order]
