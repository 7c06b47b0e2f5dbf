"""States for any controller."""

from dataclasses import dataclass

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.model.errors import UserInputError


class Hold(State):
    """Holds the last commanded positions and feed-forward efforts."""

    def start(self, context: StateContext) -> None:
        """Set the reference velocities to zero."""
        context.references.dq[:] = 0.0

    def run(self, context: StateContext) -> str | None:
        """Never finish."""
        return None


class Wait(Hold):
    """Holds for a fixed time."""

    outcomes = ("done",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """Settings of `Wait`.

        Attributes:
            duration: [s]
        """

        duration: float = 1.0

        def __post_init__(self) -> None:
            if self.duration < 0.0:
                raise UserInputError(f"duration {self.duration} is negative")

    @classmethod
    def immediate_outcome(cls, config: "Wait.Config", period: float) -> str | None:
        """Return ``done`` if the time is shorter than half a period."""
        return "done" if config.duration < 0.5 * period else None

    def run(self, context: StateContext) -> str | None:
        """Finish after the configured time."""
        return "done" if context.has_elapsed(self.config.duration) else None


STATES: tuple[type[State], ...] = (Hold, Wait)
