"""States by name: those that the model brings, and those that were saved."""

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.initial_state import initial_state
from mujoco_ros.sim.state.snapshots import Snapshot, restore, take_snapshot

MOST_SAVED = 100
"""Each is as large as the state of the model."""


class Keyframes:
    """Saves states and loads them, in the physics thread.

    A saved state goes before a keyframe of the model that has the same name. Saved ones are kept
    as long as this object is, also over changes of the model.
    """

    def __init__(self, simulation: Simulation) -> None:
        """Keep states of `simulation`; none yet."""
        self._simulation = simulation
        self._saved: dict[str, Snapshot] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Return all names, those of the model first."""
        return tuple(dict.fromkeys((*self._of_model(), *self._saved)))

    def save(self, name: str) -> float:
        """Save the present state, in place of what was saved by that name; return its time [s].

        Raises:
            ModelError: The name is empty, or there are too many already.
        """
        if not name.strip():
            raise UserInputError("a keyframe needs a name: set the parameter 'active_keyframe'")
        if name not in self._saved and len(self._saved) >= MOST_SAVED:
            raise UserInputError(
                f"'{name}' cannot be saved: there are {MOST_SAVED} saved keyframes, and no more "
                "are kept; save in place of one of them, under its name"
            )
        self._saved[name] = take_snapshot(self._simulation)
        return self._saved[name].time

    def load(self, name: str, *, rewind: bool = True) -> float:
        """Return to a state; return the time now [s].

        A keyframe of a model says where its robot is; all else returns to the start of the scene.

        Args:
            name: The state; without the robot's name before it, if one robot alone has it.
            rewind: Whether the time returns as well.

        Raises:
            ModelError: There is no such state, or nothing is left of what it is of.
        """
        simulation = self._simulation
        keys = self._of_model()
        same = [full for full in keys if full.rpartition("/")[2] == name]
        if len(same) == 1 and name not in (*keys, *self._saved):
            name = same[0]
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

    def _of_model(self) -> dict[str, int]:
        """Return the keyframes of robots by name."""
        assembly = self._simulation.assembly
        names = [assembly.model.key(key).name for key in range(assembly.model.nkey)]
        return {
            name or f"key{key}": key
            for key, name in enumerate(names)
            if assembly.part_of(name) in assembly.robots
        }
