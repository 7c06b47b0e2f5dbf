"""Limits of commands of a drive: velocity, acceleration and jerk of a robot, wheel or steering."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import copysign, inf, isnan, nan

from mujoco_ros.model.errors import UserInputError


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeedLimits:
    """Limits of one component of a velocity, as the parameters ``linear.x.*`` [m or rad, s].

    NaN is no limit. Names and signs are as in ros2_controllers (control_toolbox::RateLimiter):
    without a limit of the opposite direction, the limits are symmetric.
    """

    max_velocity: float = nan
    min_velocity: float = nan
    max_acceleration: float = nan  # of a velocity that is not negative
    max_deceleration: float = nan  # of a positive velocity; not positive
    max_acceleration_reverse: float = nan  # of a velocity that is not positive; not positive
    max_deceleration_reverse: float = nan  # of a negative velocity
    max_jerk: float = nan
    min_jerk: float = nan

    def __post_init__(self) -> None:
        """Reject limits of which one has the wrong sign."""
        for field in fields(self):
            value, is_negative = getattr(self, field.name), field.name in _NOT_POSITIVE
            if value > 0.0 if is_negative else value < 0.0:
                sign = "positive" if is_negative else "negative"
                raise UserInputError(f"{field.name} is {value:g}, but it must not be {sign}")


_NOT_POSITIVE = ("min_velocity", "max_deceleration", "max_acceleration_reverse", "min_jerk")


LIMITS_BY_KIND = {
    kind: [f.name for f in fields(SpeedLimits) if any(word in f.name for word in words)]
    for kind, words in (
        ("velocity", ["velocity"]),
        ("acceleration", ["acceleration", "deceleration"]),
        ("jerk", ["jerk"]),
    )
}
"""Names of the limits of a velocity, its acceleration and its jerk."""


class SpeedLimiter:
    """Limits one component of a velocity, step by step.

    Jerk counts only while the acceleration grows, so that a robot can always stop at its largest
    deceleration.
    """

    def __init__(self, limits: SpeedLimits) -> None:
        speed = limits.max_velocity
        self._fastest = inf if isnan(speed) else speed
        self._slowest = _opposite(limits.min_velocity, self._fastest)
        up = inf if isnan(limits.max_acceleration) else limits.max_acceleration
        down = _opposite(limits.max_acceleration_reverse, up)
        # Largest and smallest acceleration at a velocity above zero, below zero, and at zero
        self._forwards = up, down if isnan(limits.max_deceleration) else limits.max_deceleration
        back = limits.max_deceleration_reverse
        self._backwards = up if isnan(back) else back, down
        self._from_rest = up, down
        if up == inf:
            self._forwards = self._backwards = self._from_rest = inf, -inf
        self._most = inf if isnan(limits.max_jerk) else limits.max_jerk
        self._least = _opposite(limits.min_jerk, self._most)
        self.is_limiting = any(each < inf for each in (self._fastest, up, self._most))
        self.reset()

    def reset(self) -> None:
        """Begin at rest."""
        self._last = self._before = 0.0

    def limit(self, velocity: float, dt: float) -> float:
        """Return the velocity to command now, `dt` after the last one [s]."""
        last, before = self._last, self._before
        if self.is_limiting:
            change, last_change = velocity - last, last - before
            if self._most < inf and (change - last_change) * change > 0.0:
                square = dt * dt
                more = min(max(change - last_change, self._least * square), self._most * square)
                change = last_change + more
            most, least = (
                self._forwards if last > 0.0 else self._backwards if last < 0.0 else self._from_rest
            )
            change = min(max(change, least * dt), most * dt)
            velocity = min(max(last + change, self._slowest), self._fastest)
        self._last, self._before = velocity, last
        return velocity


def _opposite(least: float, most: float) -> float:
    return -most if isnan(least) or most == inf else least


Bounds = tuple[float, float]
"""Smallest and largest value."""
_UNBOUNDED: Bounds = (0.0, inf)


def magnitude_bounds(values: Mapping[str, float], quantity: str) -> Bounds:
    """Return the parameters ``min_<quantity>`` and ``max_<quantity>``, bounds of a magnitude.

    NaN is no bound. As in tricycle_controller, they hold for both directions.
    """
    low, high = (values.get(f"{end}_{quantity}", nan) for end in ("min", "max"))
    low, high = 0.0 if isnan(low) else low, inf if isnan(high) else high
    if not 0.0 <= low <= high:
        raise UserInputError(
            f"min_{quantity} is {low:g} and max_{quantity} {high:g}; they hold for both "
            "directions, so 0 <= min <= max"
        )
    return low, high


class MagnitudeLimiter:
    """Limits the magnitude of a value, of its rate and of the change of its rate, step by step."""

    def __init__(
        self,
        *,
        value: Bounds = (-inf, inf),
        rising: Bounds = _UNBOUNDED,
        falling: Bounds = _UNBOUNDED,
        change: Bounds = _UNBOUNDED,
        is_signed: bool = False,
    ) -> None:
        """Limit with bounds of magnitudes per second; `falling` is of a value towards zero.

        The bounds of a signed `value` are positions, otherwise a magnitude.
        """
        self._value, self._rising, self._falling = value, rising, falling
        self._change, self._is_signed = change, is_signed
        self.reset()

    def reset(self, value: float = 0.0) -> None:
        """Begin at rest at a value."""
        self._last = self._before = value

    def limit(self, value: float, dt: float) -> float:
        """Return the value to command now, `dt` after the last one [s]."""
        last, last_step = self._last, self._last - self._before
        if self._change != _UNBOUNDED:
            # Twice the square, as in tricycle_controller.
            value = last + last_step + _bounded(value - last - last_step, self._change, 2 * dt * dt)
        rates = self._rising if abs(value) >= abs(last) else self._falling
        if rates != _UNBOUNDED:
            value = last + _bounded(value - last, rates, dt)
        if self._is_signed:
            value = min(max(value, self._value[0]), self._value[1])
        else:
            value = _bounded(value, self._value, 1.0)
        self._last, self._before = value, last
        return value


def _bounded(value: float, bounds: Bounds, factor: float) -> float:
    """Return a value whose magnitude is within `factor` times bounds."""
    magnitude = min(max(abs(value), bounds[0] * factor), bounds[1] * factor)
    return copysign(magnitude, value) if value else magnitude
