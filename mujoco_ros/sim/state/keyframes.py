"""Named states: keyframes of the model, and saved snapshots."""

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.initial_state import initial_state
from mujoco_ros.sim.state.snapshots import Snapshot, restore, take_snapshot

MAX_SAVED = 100
"""Bounds the memory: each snapshot has the size of the model's state."""


class Keyframes:
    """Saves and loads states by name, in the physics thread.

    A saved state takes precedence over a keyframe of the model with the same name. Saved states
    persist over changes of the model.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._saved: dict[str, Snapshot] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """All names, those of the model first."""
        return tuple(dict.fromkeys((*self._model_keys(), *self._saved)))

    def save(self, name: str) -> float:
        """Save the present state, replacing that of the same name; return its time [s].

        Raises:
            UserInputError: The name is empty, or too many states are saved.
        """
        if not name.strip():
            raise UserInputError("a keyframe needs a name: set the parameter 'active_keyframe'")
        if name not in self._saved and len(self._saved) >= MAX_SAVED:
            raise UserInputError(
                f"'{name}' cannot be saved: at most {MAX_SAVED} keyframes can be saved; save "
                "under the name of one of them to replace it"
            )
        self._saved[name] = take_snapshot(self._simulation)
        return self._saved[name].time

    def load(self, name: str, *, rewind: bool = True) -> float:
        """Restore a state, with its time if `rewind`, and return the time after it [s].

        A keyframe of the model sets the state of its robot; all else returns to the initial state.
        The robot's prefix may be omitted from a unique name.

        Raises:
            UserInputError: Unknown state, or one without any element of the present model.
        """
        simulation = self._simulation
        keys = self._model_keys()
        matches = [full for full in keys if full.rpartition("/")[2] == name]
        if len(matches) == 1 and name not in (*keys, *self._saved):
            name = matches[0]
        if name in self._saved:
            try:
                restore(simulation, self._saved[name], rewind=rewind)
            except UserInputError as error:
                raise UserInputError(f"keyframe '{name}' cannot be loaded: {error}") from error
        elif name in keys:
            key, plant = keys[name], simulation.plant
            time = float(simulation.model.key_time[key] if rewind else simulation.data.time)
            state = plant.settle(initial_state(simulation.assembly, simulation.layout, key))
            simulation.reset(time=time, state=state)
        else:
            raise unknown("keyframe", name, self.names)
        return float(simulation.data.time)

    def _model_keys(self) -> dict[str, int]:
        """Return the indices of the robots' keyframes by name."""
        assembly = self._simulation.assembly
        names = [assembly.model.key(key).name for key in range(assembly.model.nkey)]
        return {
            name or f"key{key}": key
            for key, name in enumerate(names)
            if assembly.part_of(name) in assembly.robots
        }
