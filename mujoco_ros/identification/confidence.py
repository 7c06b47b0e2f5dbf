"""Which parameters a recording determines, and the intervals of their estimates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mujoco_ros.identification.parameters import DELAY, Parameter, ParameterSet
from mujoco_ros.identification.windows import LARGEST_DELAY_S
from mujoco_ros.model.errors import UserInputError

CONFIDENCE = 1.96
"""Half width of an interval of 95 % over the standard deviation."""
LARGEST_SHARE = 0.2
"""Half width over the value, beyond which an interval is wide."""
LARGEST_DELAY_ERROR_S = 0.001
"""The same for a delay, which may be zero."""
_NEAR_ZERO = 0.1
"""Value in units of the scale, below which the half width is compared with this one."""
_CORRELATED = 0.9
_ALMOST = 1.0 - 1e-6


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The estimate of a parameter from a recording.

    Attributes:
        parameter: The parameter.
        before: Its value in the scene.
        value: Its fitted value; that of the scene if it is not determined.
        half_width: Half width of the interval of 95 % of the value; inf if nothing determines it.
        reason: Why it is not determined; empty if it is.
    """

    parameter: Parameter
    before: float
    value: float
    half_width: float
    reason: str = ""

    @property
    def determined(self) -> bool:
        """Whether the recording determines it."""
        return not self.reason


def judge(
    found: ParameterSet, jacobian: np.ndarray, scale: float, start: ParameterSet, effort: bool
) -> list[Estimate]:
    """Return the estimates of unknowns, and which of them the recording does not determine.

    An unknown is not determined if its interval is wide and contains the value of the scene, which
    it then keeps. The least determined one is removed until the others are determined: two that
    only act together are not both removed. Intervals of the others then hold for that value.

    Args:
        found: The unknowns, with the least sum of squares.
        jacobian: Derivatives of the residuals there, by the vector of the unknowns.  # (r, p)
        scale: Mean square of the residuals.
        start: Unknowns with the values of the scene.
        effort: Whether efforts are measured.
    """
    information = jacobian.T @ jacobian / max(scale, np.finfo(float).tiny)
    numbers = found.vector
    before = np.array([start.value(it) / it.scale for it in found.unknowns])
    left, reasons = list(range(len(numbers))), {}
    widths = dict(zip(left, _half_widths(information, left), strict=True))
    while left:
        widths.update(zip(left, _half_widths(information, left), strict=True))
        excess = [_excess(found.unknowns[i], numbers[i], before[i], widths[i]) for i in left]
        worst = int(np.argmax(excess))
        if excess[worst] <= 1.0:
            break
        index = left[worst]
        reasons[index] = _reason(found, information, left, index, widths[index], effort)
        left.remove(index)
        # Where the others are best, with the value of the scene for this one.
        change = before[index] - numbers[index]
        numbers[left] -= _covariance(information, left) @ information[left, index] * change
    return [
        Estimate(
            parameter=parameter,
            before=start.value(parameter),
            value=start.value(parameter) if index in reasons else found.value(parameter),
            half_width=float(widths[index]) * parameter.scale,
            reason=reasons.get(index, ""),
        )
        for index, parameter in enumerate(found.unknowns)
    ]


def check_bounds(found: ParameterSet, estimates: Mapping[Parameter, Estimate]) -> None:
    """Check that estimates are possible ones.

    Args:
        found: The unknowns that are determined.
        estimates: Estimates by unknown.

    Raises:
        UserInputError: A delay is below zero, or an estimate at the largest value.
    """
    for parameter, number, high in zip(found.unknowns, found.vector, found.bounds[1], strict=True):
        value, half = estimates[parameter].value, estimates[parameter].half_width
        if parameter.kind == DELAY and (value + half < 0.0 or number >= _ALMOST * high):
            raise UserInputError(
                f"the delay of the commands is {1e3 * value:.3g} ms ± {1e3 * half:.2g} ms; from 0 "
                f"to {1e3 * LARGEST_DELAY_S:g} ms are possible: the stamps of states and commands "
                "are not of one clock, or the references are not those of the drives"
            )
        if number >= _ALMOST * high:
            raise UserInputError(
                f"the {parameter.name} grows beyond {value:.3g}: the references are not those of "
                "the drives, or positions or efforts have other units"
            )


def _covariance(information: np.ndarray, left: Sequence[int]) -> np.ndarray:
    """Return the covariance of some unknowns, the others being known."""
    part = information[np.ix_(left, left)]
    size = np.sqrt(np.maximum(np.diag(part), np.finfo(float).tiny))
    inverse = np.linalg.pinv(part / np.outer(size, size), rcond=1e-14, hermitian=True)
    # Of an unknown alone; a direction without information is not in the pseudoinverse.
    np.fill_diagonal(inverse, np.maximum(np.diag(inverse), 1.0))
    covariance: np.ndarray = inverse / np.outer(size, size)
    return covariance


def _half_widths(information: np.ndarray, left: Sequence[int]) -> np.ndarray:
    """Return the half widths of the intervals of some unknowns, the others being known."""
    widths: np.ndarray = CONFIDENCE * np.sqrt(np.diag(_covariance(information, left)))
    return widths


def _excess(parameter: Parameter, number: float, before: float, width: float) -> float:
    """Return the half width of an interval over the largest one of a determined parameter."""
    if abs(number - before) > width:
        return 0.0  # the recording excludes the value of the scene
    if parameter.kind == DELAY:
        return width * parameter.scale / LARGEST_DELAY_ERROR_S
    return float(width / (LARGEST_SHARE * max(number, _NEAR_ZERO)))


def _reason(
    found: ParameterSet,
    information: np.ndarray,
    left: Sequence[int],
    index: int,
    width: float,
    effort: bool,
) -> str:
    """Return why an unknown is not determined."""
    parameter = found.unknowns[index]
    if parameter.kind == DELAY:
        return f"its interval of 95 % is ±{1e3 * width * parameter.scale:.2g} ms"
    covariance = _covariance(information, left)
    own = list(left).index(index)
    deviation = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    correlation = covariance[own] / (deviation[own] * deviation)
    correlation[own] = 0.0
    other = int(np.argmax(np.abs(correlation)))
    if abs(correlation[other]) > _CORRELATED:
        text = f"the motion shows it only together with {found.unknowns[left[other]].name}"
        return text if effort else f"{text}; measured efforts would separate them"
    most = found.value(parameter) + width * parameter.scale
    return f"its effect is too small to measure; it is at most {most:.2g}"
