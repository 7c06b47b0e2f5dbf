"""States that every controller can use."""

from dataclasses import dataclass

from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.model.errors import UserInputError


class Hold(State):
    """Stands still: positions stay as they are told, and so do the efforts that carry them."""

    def start(self, context: StateContext) -> None:
        """Stop."""
        context.references.dq[:] = 0.0

    def run(self, context: StateContext) -> str | None:
        """Go on for ever."""
        return None


class Wait(Hold):
    """Stands still for a while."""

    outcomes = ("done",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """How long.

        Attributes:
            duration: [s]
        """

        duration: float = 1.0

        def __post_init__(self) -> None:
            """Refuse a negative time."""
            if self.duration < 0.0:
                raise UserInputError(f"duration {self.duration} is negative")

    def run(self, context: StateContext) -> str | None:
        """Wait."""
        return "done" if context.over(self.config.duration) else None


STATES: tuple[type[State], ...] = (Hold, Wait)
