"""PID laws of several joints, with the parameters of control_toolbox."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import Literal

import numpy as np

from mujoco_ros.control.settings import setting


@dataclass(frozen=True, kw_only=True, slots=True)
class PidGains:
    """The gains of one PID law, named as in ros2_controllers."""

    p: float = setting("Proportional gain", 0.0)
    i: float = setting("Integral gain", 0.0)
    d: float = setting("Derivative gain", 0.0)
    u_clamp_max: float = setting("Largest output", inf)
    u_clamp_min: float = setting("Smallest output", -inf)
    i_clamp_max: float = setting("Largest integral term", inf)
    i_clamp_min: float = setting("Smallest integral term", -inf)
    antiwindup_strategy: Literal["none", "back_calculation", "conditional_integration"] = setting(
        "How the integral term is kept from growing while the output is clamped", "none"
    )
    tracking_time_constant: float = setting(
        "Time constant of back_calculation [s]; 0 is chosen from the gains", 0.0
    )
    error_deadband: float = setting("Error that is not integrated", 1e-16)
    i_clamp: float = setting(
        "Largest integral term of both signs, as in former files", inf, high=inf
    )
    antiwindup: bool = setting("Without effect, as in former files", False)


_OTHERS = ("antiwindup_strategy", "antiwindup")
_NUMBERS = tuple(field.name for field in fields(PidGains) if field.name not in _OTHERS)


class PidLaws:
    """PID laws that are computed together."""

    def __init__(self, gains: Sequence[PidGains]) -> None:
        rows = np.array([[getattr(each, name) for each in gains] for name in _NUMBERS])
        self._p, self._i, self._d, self._u_max, self._u_min = rows[:5]
        self._i_max, self._i_min, constant, self._deadband, both = rows[5:]
        self._i_max, self._i_min = np.minimum(self._i_max, both), np.maximum(self._i_min, -both)
        strategies = np.array([each.antiwindup_strategy for each in gains])
        self._conditional = strategies == "conditional_integration"
        # The usual choices: the geometric mean of both time constants, or that of the integral.
        with np.errstate(divide="ignore", invalid="ignore"):
            default = np.where(self._d > 0, np.sqrt(self._d / self._i), self._p / self._i)
            constant = np.where(constant > 0, constant, default)
            back = np.where(strategies == "back_calculation", 1.0 / constant, 0.0)
        self._back = np.where(np.isfinite(back) & (self._i != 0), back, 0.0)
        self.integral = np.zeros(len(gains))  # the integral terms (k,)

    def reset(self) -> None:
        """Set the integral terms to zero."""
        self.integral[:] = 0.0

    def output(self, error: np.ndarray, rate: np.ndarray, period: float) -> np.ndarray:
        """Return the outputs for errors and their rates of change.  # (k,) each

        The errors are integrated for `period` [s], for the next output.
        """
        wanted = self._p * error + self.integral + self._d * rate
        output: np.ndarray = np.clip(wanted, self._u_min, self._u_max)
        growth = self._i * error + self._back * (output - wanted)
        stops = self._conditional & (output != wanted) & (error * wanted > 0)
        growth[stops | (np.abs(error) <= self._deadband)] = 0.0
        np.clip(self.integral + period * growth, self._i_min, self._i_max, out=self.integral)
        return output
