"""Adding states to the past ones, and returning to one, in the physics thread."""

from math import inf

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.shared_memory.past_states import HistorySettings, PastStates
from mujoco_ros.sim.shared_memory.state_row import copies, row_arrays
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.state_vector import set_state

_REASON = "a past state was loaded"
_ROUNDING = 1e-3
"""Share of a timestep that a row may be early."""


class PastRows:
    """Writes the past states of a plant, and reads them.

    A row is the state between two steps: all that the engine needs for the next one, with the
    sensor readings of the last one, the references of the joints, and the numbers and generators
    of the extensions.
    """

    def __init__(self, plant: Plant, past: PastStates, history: HistorySettings) -> None:
        """Write into the `past` of a segment."""
        self._plant, self._past, self._history = plant, past, history
        width = past.width
        self._period = history.period(width)
        self._due = self._last = -inf
        self._row = row = memoryview(bytearray(8 * width))
        self._time: memoryview[float] = row[:8].cast("d")
        state = plant.present.state
        arrays = row_arrays(state, plant.data, plant.references.values, plant.sample)
        self._copies = copies(row, [*arrays, *plant.extensions.arrays.values()])

    def add_if_due(self) -> None:
        """Add the state, if the period has passed since the last row, or the time was set back."""
        time = self._plant.data.time
        if time >= self._due or time < self._last:
            self.add()

    def add(self) -> None:
        """Add the state."""
        if not self._past.capacity:
            return
        time = self._last = self._time[0] = float(self._plant.data.time)
        self._due = time + self._period - _ROUNDING * self._plant.model.opt.timestep
        self._plant.present.read()
        for target, source in self._copies:
            target[:] = source
        self._past.add(self._row)

    def load(self, simulation: Simulation, time: float, *, rewind: bool) -> float:
        """Return to a past state, between two steps.

        Goals, motions and external wrenches end, and joints hold their references, as after a
        reset. Gains and other edits of the model stay.

        Args:
            simulation: The simulation, which has this plant.
            time: The last state not later than this is loaded [s].
            rewind: Whether the simulated time is set as well.

        Returns:
            The time of the state [s].

        Raises:
            UserInputError: No past states are kept, or none is that old.
        """
        if not self._past.capacity:
            raise UserInputError(
                "no past states are kept: a state of this model is too large"
                if self._history.length
                else "no past states are kept: parameter history_length is 0"
            )
        found = self._past.find_not_later(time)
        plant, before = self._plant, float(self._plant.data.time)
        for control in simulation.controls:
            control.reset(_REASON)
        simulation.wrenches.clear()
        self._past.copy(found.number, self._row)
        for source, target in self._copies:
            target[:] = source
        set_state(plant.model, plant.data, plant.present.state)
        if plant.realism is not None:
            plant.realism.reset()
        plant.data.xfrc_applied[:] = plant.data.qfrc_applied[:] = 0.0
        plant.data.time = found.time
        plant.evaluate()
        simulation.release_commands()
        simulation.set_current_sample(found.time if rewind else before)
        simulation.emit(simulation.reset_event(before))
        return found.time
