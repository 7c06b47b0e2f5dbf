"""The unknown parameters of a fit: of single joints, and the delay of the commands."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mujoco_ros.identification.robot_model import KINDS, IdentifiedRobot
from mujoco_ros.identification.windows import LARGEST_DELAY_S
from mujoco_ros.model.errors import UserInputError

DELAY = "delay"
LEAST_DELAY_S = -0.005
"""Below zero, so that the interval of a delay of zero is symmetric."""
_DELAY_SCALE_S = 0.005
_LARGEST = 1e4
"""Largest value of a parameter in units of its scale."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """An unknown.

    Attributes:
        kind: One of `KINDS`, or `DELAY`.
        joint: Name of the joint; empty for the delay.
        row: Row in the parameters of joints.
        column: Index of the joint.
        scale: Size of a typical value, in which the optimiser counts.
    """

    kind: str
    joint: str = ""
    row: int = -1
    column: int = -1
    scale: float = 1.0

    @property
    def name(self) -> str:
        """Return kind and joint."""
        return f"{self.kind} of {self.joint}" if self.joint else self.kind


class ParameterSet:
    """Unknowns as one vector, and the values that are not among them.

    Attributes:
        unknowns: The unknowns.  # p
    """

    def __init__(self, unknowns: Sequence[Parameter], values: np.ndarray, delay: float) -> None:
        """Take the values of all parameters: of joints (5, n), and the delay [s]."""
        self.unknowns = list(unknowns)
        self._values, self._delay = values.copy(), delay

    @property
    def vector(self) -> np.ndarray:
        """Return the values of the unknowns in units of their scales.  # (p,)"""
        return np.array([self.value(it) / it.scale for it in self.unknowns])

    @property
    def bounds(self) -> list[np.ndarray]:
        """Return the least and largest vector."""
        low = [LEAST_DELAY_S / it.scale if it.kind == DELAY else 0.0 for it in self.unknowns]
        high = [
            LARGEST_DELAY_S / it.scale if it.kind == DELAY else _LARGEST for it in self.unknowns
        ]
        return [np.array(low), np.array(high)]

    def value(self, parameter: Parameter) -> float:
        """Return the value of a parameter, whether it is an unknown or not."""
        if parameter.kind == DELAY:
            return self._delay
        return float(self._values[parameter.row, parameter.column])

    def at(self, vector: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the parameters of joints (5, n) and the delay [s] for a vector (p,)."""
        values, delay = self._values.copy(), self._delay
        for parameter, number in zip(self.unknowns, vector, strict=True):
            if parameter.kind == DELAY:
                delay = float(number) * parameter.scale
            else:
                values[parameter.row, parameter.column] = number * parameter.scale
        return values, delay

    def with_vector(self, vector: np.ndarray) -> "ParameterSet":
        """Return the set with other values of the unknowns."""
        return ParameterSet(self.unknowns, *self.at(vector))

    def without(self, fixed: Sequence[Parameter], start: "ParameterSet") -> "ParameterSet":
        """Return the set in which some parameters are no unknowns, with their values of `start`."""
        values, delay = self._values.copy(), self._delay
        for parameter in fixed:
            if parameter.kind == DELAY:
                delay = start.value(parameter)
            else:
                values[parameter.row, parameter.column] = start.value(parameter)
        left = [it for it in self.unknowns if it not in fixed]
        return ParameterSet(left, values, delay)


def unknowns_of(robot: IdentifiedRobot, columns: np.ndarray, velocity: np.ndarray) -> ParameterSet:
    """Return the unknowns of joints, beginning with the parameters of the scene.

    Args:
        robot: The robot.
        columns: Indices of the joints to fit.
        velocity: Deviation of the velocity of each of them [rad/s or m/s].  # (k,)

    Raises:
        UserInputError: The scene delays the commands by more than `LARGEST_DELAY_S`.
    """
    delay = robot.realism.delay([robot.joints[column] for column in columns])
    if delay > LARGEST_DELAY_S:
        raise UserInputError(
            f"the scene delays the commands of robot '{robot.name}' by {delay:g} s; at most "
            f"{LARGEST_DELAY_S:g} s are possible"
        )
    found = [Parameter(kind=DELAY, scale=_DELAY_SCALE_S)]
    for column, speed in zip(columns, velocity, strict=True):
        inertia = max(float(robot.inertia[column]), 1e-6)
        kp, kd = robot.values[3:, column]
        # What damps the joint critically, for joints without gains.
        rate = max(float(speed), 1e-3)
        typical = {
            "armature": inertia,
            "friction": 0.1 * max(kd, inertia) * rate,
            "damping": 0.1 * max(kd, inertia),
            "kp": max(kp, 10.0 * inertia),
            "kd": max(kd, inertia),
        }
        for row, kind in enumerate(KINDS):
            if kind in ("kp", "kd") and not robot.driven[column]:
                continue
            scale = max(typical[kind], float(robot.values[row, column]))
            found.append(
                Parameter(
                    kind=kind,
                    joint=robot.joints[column],
                    row=row,
                    column=int(column),
                    scale=scale,
                )
            )
    return ParameterSet(found, robot.values, delay)
