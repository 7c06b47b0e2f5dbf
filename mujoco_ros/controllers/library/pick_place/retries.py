"""What an attempt changes after a failed one."""

from dataclasses import dataclass

_LOWER = 0.003
"""Distance by which each attempt after a slip grasps lower [m]."""
_SPEED = 0.5
"""Factor on speed and acceleration of each attempt after a failed motion."""
_GRIP = ("slip", "no_contact", "contact_oscillation", "no_force_closure")
_MOTION = ("collision", "tracking", "saturated", "stuck")
_PATH = ("no_path", "planner_timeout", "ik_failed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Variation:
    """Changes of an attempt.

    Attributes:
        quarters: Quarter turns of the grasp about the vertical.
        lower: Distance by which the grasp is lower [m].
        speed: Factor on speeds and accelerations.
        iterations: Factor on the iterations of the planner.
        measuring: Factor on the duration of measurements.
        full_force: Whether the fingers close with all of their force.
    """

    quarters: int = 0
    lower: float = 0.0
    speed: float = 1.0
    iterations: int = 1
    measuring: float = 1.0
    full_force: bool = False

    @property
    def text(self) -> str:
        """The changes as text."""
        changes = {
            f"grasp turned by {90 * (self.quarters % 4)}°": self.quarters % 4 != 0,
            f"grasp {self.lower * 1e3:.0f} mm lower": self.lower > 0.0,
            f"{self.speed:.0%} of the speed": self.speed < 1.0,
            f"{self.iterations} times the planner's iterations": self.iterations > 1,
            f"pose measured for {self.measuring:g} times as long": self.measuring > 1.0,
            "full grip force": self.full_force,
        }
        return ", ".join(text for text, is_made in changes.items() if is_made)


def variation(cause: str, attempt: int) -> Variation:
    """Return the changes of an attempt after a failure.

    Args:
        cause: The failure.
        attempt: Number of the retry, from 1.
    """
    if cause in _GRIP:
        return Variation(
            quarters=attempt, lower=attempt * _LOWER, measuring=1.0 + attempt, full_force=True
        )
    if cause in _PATH:
        return Variation(quarters=attempt, iterations=1 << attempt, measuring=1.0 + attempt)
    speed = _SPEED**attempt if cause in _MOTION or not cause else 1.0
    quarters = attempt if cause == "collision" else 0
    return Variation(quarters=quarters, speed=speed, measuring=1.0 + attempt)
