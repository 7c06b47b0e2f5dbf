"""States of `trot_policy` beside its policy."""

from mujoco_ros.controllers.fsm.state import State, StateContext


class DampJoints(State):
    """Follows the measured positions, so that a fallen robot is damped only."""

    def start(self, context: StateContext) -> None:
        """Command neither velocities nor efforts."""
        context.references.values[1:] = 0.0

    def run(self, context: StateContext) -> str | None:
        """Never finish."""
        context.references.q[:] = context.observation.q
        return None


STATES: tuple[type[State], ...] = (DampJoints,)
