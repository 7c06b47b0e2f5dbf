"""The velocity that a drive follows, and its time-out."""

from math import inf

from mujoco_ros.control.joints import LARGEST
from mujoco_ros.ros2_control.drive.kinematics import Twist


class VelocityCommand:
    """The last commanded velocity, which counts until it is older than a time-out."""

    def __init__(self, timeout_s: float, *, is_kept_without_timeout: bool = True) -> None:
        """Begin without a command.

        Without a time-out, a command counts until the next one, or, unless
        `is_kept_without_timeout`, for one step, as references of the chainable controllers do.
        """
        self.timeout_s = timeout_s
        self._is_kept = is_kept_without_timeout
        self.clear()

    def clear(self) -> None:
        """Forget the command."""
        self._twist: Twist | None = None
        self._stamp = 0.0

    @property
    def is_set(self) -> bool:
        """Whether there is a command."""
        return self._twist is not None

    def refusal(self, twist: Twist, stamp: float, now: float) -> str:
        """Return why a command with a `stamp` [s] is not followed at a time; empty if it is."""
        if not all(abs(value) <= LARGEST for value in twist):
            return f"the velocity {tuple(twist)} has a number that is not within ±{LARGEST:g}"
        age = now - stamp
        if self.timeout_s and age > self.timeout_s:
            return (
                f"the velocity is {age:.3f} s old, more than the time-out of {self.timeout_s:g} s; "
                "stamp it with the simulated time (use_sim_time), or with zero"
            )
        return ""

    def set(self, twist: Twist, stamp: float, now: float = inf) -> None:
        """Follow a velocity that is as old as its `stamp` [s]; a stamp after `now` is `now`.

        So a robot stops even if its commands have stamps of another clock.
        """
        self._twist, self._stamp = twist, min(stamp, now)

    def at(self, time: float) -> Twist | None:
        """Return the velocity to follow at a time [s]; None without one, or after the time-out."""
        twist = self._twist
        if twist is None:
            return None
        if self.timeout_s:
            if time - self._stamp > self.timeout_s:
                self._twist = twist = None
        elif not self._is_kept:
            self._twist = None
        return twist
