"""The unknown parameters of a fit, which of them a recording determines, and their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mujoco_ros.identification.replay import LARGEST_DELAY_S
from mujoco_ros.identification.robot_model import KINDS, IdentifiedRobot
from mujoco_ros.model.errors import UserInputError

DELAY = "delay"
LEAST_DELAY_S = -0.005
"""Below zero, so that the interval of a delay of zero is symmetric."""
_DELAY_SCALE_S = 0.005
_LARGEST = 1e4  # largest value of a parameter in units of its scale
_TINY = np.finfo(float).tiny


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """An unknown: a row and a column of the parameters of joints, or the delay."""

    kind: str  # one of `KINDS`, or `DELAY`
    joint: str = ""
    row: int = -1
    column: int = -1
    scale: float = 1.0
    """Size of a typical value, in which the optimiser counts."""

    @property
    def name(self) -> str:
        """Kind and joint."""
        return f"{self.kind} of {self.joint}" if self.joint else self.kind

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest value, in units of the scale."""
        if self.kind == DELAY:
            return LEAST_DELAY_S / self.scale, LARGEST_DELAY_S / self.scale
        return 0.0, _LARGEST


@dataclass(frozen=True)
class ParameterSet:
    """Unknowns as one vector, and the values of all parameters."""

    unknowns: Sequence[Parameter]  # p
    values: np.ndarray  # (5, n) of joints, rows as in `KINDS`
    delay: float  # of the commands [s]

    @property
    def vector(self) -> np.ndarray:
        """The values of the unknowns in units of their scales.  # (p,)"""
        return np.array([self.value(unknown) / unknown.scale for unknown in self.unknowns])

    def value(self, parameter: Parameter) -> float:
        """Return the value of a parameter, whether it is an unknown or not."""
        if parameter.kind == DELAY:
            return float(self.delay)
        return float(self.values[parameter.row, parameter.column])

    def at(self, vector: Sequence[float] | np.ndarray) -> tuple[np.ndarray, float]:
        """Return the parameters of joints (5, n) and the delay [s] for a vector (p,)."""
        values, delay = self.values.copy(), self.delay
        for unknown, number in zip(self.unknowns, vector, strict=True):
            if unknown.kind == DELAY:
                delay = float(number * unknown.scale)
            else:
                values[unknown.row, unknown.column] = number * unknown.scale
        return values, delay

    def with_vector(self, vector: np.ndarray) -> "ParameterSet":
        """Return the set with other values of the unknowns."""
        return ParameterSet(self.unknowns, *self.at(vector))

    def without(self, fixed: Sequence[Parameter], start: "ParameterSet") -> "ParameterSet":
        """Return the set in which some parameters are known: they have their value in `start`."""
        sources = [start if unknown in fixed else self for unknown in self.unknowns]
        pairs = zip(sources, self.unknowns, strict=True)
        values = self.at([source.value(unknown) / unknown.scale for source, unknown in pairs])
        return ParameterSet([one for one in self.unknowns if one not in fixed], *values)


def unknowns_of(robot: IdentifiedRobot, columns: np.ndarray, velocity: np.ndarray) -> ParameterSet:
    """Return the unknowns of `columns` of joints, at the parameters of the scene.

    `velocity` has the deviations of their velocities [rad/s or m/s].  # (k,)
    """
    delay = robot.realism.delay([robot.joints[column] for column in columns])
    if delay > LARGEST_DELAY_S:
        raise UserInputError(
            f"the scene delays the commands of robot '{robot.name}' by {delay:g} s; at most "
            f"{LARGEST_DELAY_S:g} s are possible"
        )
    found = [Parameter(kind=DELAY, scale=_DELAY_SCALE_S)]
    for column, speed in zip(columns.tolist(), velocity, strict=True):
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
        for row, kind in enumerate(KINDS if robot.driven[column] else KINDS[:3]):
            scale = max(typical[kind], float(robot.values[row, column]))
            joint = robot.joints[column]
            found.append(Parameter(kind=kind, joint=joint, row=row, column=column, scale=scale))
    return ParameterSet(found, robot.values, delay)


CONFIDENCE = 1.96
"""Half width of an interval of 95 % over the standard deviation."""
LARGEST_SHARE = 0.2
"""Half width over the value, beyond which an interval is wide."""
LARGEST_DELAY_ERROR_S = 0.001
"""Half width beyond which the interval of a delay is wide; the delay may be zero."""
_NEAR_ZERO = 0.1
"""Value in units of the scale, below which the half width is compared with this one."""
_CORRELATED = 0.9
_ALMOST = 1.0 - 1e-6


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The estimate of a parameter from a recording."""

    parameter: Parameter
    before: float  # in the scene
    value: float  # as in the scene if it is not determined
    half_width: float  # of the interval of 95 %; inf if nothing determines it
    reason: str = ""  # why it is not determined

    @property
    def determined(self) -> bool:
        """Whether the recording determines the parameter."""
        return not self.reason


def judge(
    found: ParameterSet, jacobian: np.ndarray, scale: float, start: ParameterSet, effort: bool
) -> list[Estimate]:
    """Return the estimates of unknowns, and which of them the recording does not determine.

    An unknown is not determined if its interval is wide and contains the value of the scene, which
    it then keeps. The least determined one is removed until the others are determined: of two that
    only act together, one stays. `jacobian` has the derivatives of the residuals (r, p), `scale` is
    their mean square.
    """
    information = jacobian.T @ jacobian / max(scale, _TINY)
    numbers, unknowns = found.vector, found.unknowns
    before = np.array([start.value(unknown) / unknown.scale for unknown in unknowns])
    left, reasons, widths = list(range(len(numbers))), {}, np.zeros(len(numbers))
    while left:
        covariance = _covariance(information, left)
        widths[left] = CONFIDENCE * np.sqrt(np.diag(covariance))
        excess = [_excess(unknowns[i], numbers[i], before[i], widths[i]) for i in left]
        worst = int(np.argmax(excess))
        if excess[worst] <= 1.0:
            break
        index = left[worst]
        reasons[index] = _reason(found, covariance, left, worst, effort)
        left.remove(index)
        # Where the others are best if this unknown has the value of the scene.
        change = before[index] - numbers[index]
        numbers[left] -= _covariance(information, left) @ information[left, index] * change
    return [
        Estimate(
            parameter=parameter,
            before=start.value(parameter),
            value=(start if index in reasons else found).value(parameter),
            half_width=float(widths[index]) * parameter.scale,
            reason=reasons.get(index, ""),
        )
        for index, parameter in enumerate(unknowns)
    ]


def check_bounds(found: ParameterSet, estimates: Mapping[Parameter, Estimate]) -> None:
    """Check that a robot can have the estimated parameters; `found` has the determined ones."""
    for parameter, number in zip(found.unknowns, found.vector, strict=True):
        value, half = estimates[parameter].value, estimates[parameter].half_width
        is_largest = number >= _ALMOST * parameter.bounds[1]
        if parameter.kind == DELAY and (value + half < 0.0 or is_largest):
            raise UserInputError(
                f"the delay of the commands is {1e3 * value:.3g} ms ± {1e3 * half:.2g} ms; from 0 "
                f"to {1e3 * LARGEST_DELAY_S:g} ms are possible: the stamps of states and commands "
                "are not of one clock, or the drives have other references"
            )
        if is_largest:
            raise UserInputError(
                f"the {parameter.name} grows beyond {value:.3g}: the drives have other references, "
                "or positions or efforts have other units"
            )


def _covariance(information: np.ndarray, left: Sequence[int]) -> np.ndarray:
    """Return the covariance of some unknowns if all others are known."""
    own = information[np.ix_(left, left)]
    size = np.sqrt(np.maximum(np.diag(own), _TINY))
    inverse = np.linalg.pinv(own / np.outer(size, size), rcond=1e-14, hermitian=True)
    # Of an unknown alone; a direction without information is not in the pseudoinverse.
    np.fill_diagonal(inverse, np.maximum(np.diag(inverse), 1.0))
    return np.asarray(inverse / np.outer(size, size))


def _excess(parameter: Parameter, number: float, before: float, width: float) -> float:
    """Return the half width of an interval over the largest one of a determined parameter."""
    if abs(number - before) > width:
        return 0.0  # the recording excludes the value of the scene
    if parameter.kind == DELAY:
        return width * parameter.scale / LARGEST_DELAY_ERROR_S
    return float(width / (LARGEST_SHARE * max(number, _NEAR_ZERO)))


def _reason(
    found: ParameterSet, covariance: np.ndarray, left: list[int], row: int, effort: bool
) -> str:
    """Return why the unknown of a row of the covariance is not determined."""
    parameter = found.unknowns[left[row]]
    deviation = np.sqrt(np.maximum(np.diag(covariance), _TINY))
    width = CONFIDENCE * deviation[row] * parameter.scale
    if parameter.kind == DELAY:
        return f"its interval of 95 % is ±{1e3 * width:.2g} ms"
    correlation = np.abs(covariance[row] / (deviation[row] * deviation))
    correlation[row] = 0.0
    closest = int(np.argmax(correlation))
    if correlation[closest] > _CORRELATED:
        text = f"the motion shows it only together with {found.unknowns[left[closest]].name}"
        return text if effort else f"{text}; measured efforts would separate them"
    return f"its effect is too small to measure; it is at most {found.value(parameter) + width:.2g}"
