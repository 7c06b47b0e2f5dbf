"""Callbacks of the physics thread around each step."""

from collections.abc import Callable, Iterable
from typing import Any


class StepListener:
    """Called by the physics thread around each step; override what applies.

    Methods that a subclass does not override are never called, so they cost nothing.
    """

    def wait(self, now: float) -> float:
        """Return how long the next step must wait at most [s]; 0 lets it begin.

        Called before every step, and again after every command and after the time returned.

        Args:
            now: Monotonic wall time [s].
        """
        return 0.0

    def before_step(self) -> None:
        """Act on the state that the next step starts from."""

    def after_step(self) -> None:
        """Act on a new, valid sample; not called for a step that diverged."""

    def while_paused(self) -> None:
        """Act while the simulation is paused: after commands, and every 0.1 s."""


def overrides(
    listeners: Iterable[StepListener], method: Callable[..., object]
) -> list[Callable[..., Any]]:
    """Return the bound methods of those listeners that override `method` of the base class."""
    name = method.__name__
    return [getattr(each, name) for each in listeners if getattr(type(each), name) is not method]
