"""Snapshots of the whole state of a simulation, by the names of keyframes."""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.joint_owners import ControlState
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.robot.layout import Joints
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.correspondence import Correspondence
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.sim.realism.robot_realism import SavedRealism
from mujoco_ros.sim.settings.element_properties import Property, Value
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.extension_states import SavedExtensionState
from mujoco_ros.sim.state.initial_state import initial_state
from mujoco_ros.sim.state.model_edits import gather
from mujoco_ros.sim.state.state_transfer import joint_pairs, transfer_data
from mujoco_ros.sim.state.state_vector import set_state, state_vector, wake
from mujoco_ros.sim.wrenches import WrenchState as Wrenches

_REASON = "another state was loaded"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Everything that determines the next steps, except options.

    The numbers of elements are restored as by a reset, if `PropertySettings.is_restored`.
    """

    assembly: Assembly  # the scene
    joints: Joints  # its scalar joints
    state: np.ndarray  # the engine's state
    time: float  # time of the next step [s]
    origin: float  # time of step zero [s]
    model_values: np.ndarray  # options and numbers of the model, from `gather`
    timestep: float  # simulated time between steps [s]
    references: np.ndarray  # references of the joints (3, n)
    gains: np.ndarray  # the PD gains (2, n)
    force_limits: np.ndarray  # commanded force limits of the actuators (nactuator,)
    properties: dict[Property, Value]  # numbers of elements that were set
    controls: dict[ScenePart, ControlState]  # command arbitration of each robot
    wrenches: Wrenches  # external wrenches on bodies
    noise: Any  # state of the sensor noise generator, if sensors have noise
    extensions: dict[str, SavedExtensionState]  # state of the extensions
    realism: dict[ScenePart, SavedRealism]  # state of imperfect sensors, buses and motors, by robot

    @property
    def model(self) -> mujoco.MjModel:
        """The model."""
        return self.assembly.model


def take_snapshot(simulation: Simulation) -> Snapshot:
    """Return the present state; call it in the physics thread, between two steps."""
    model, data, plant = simulation.model, simulation.data, simulation.plant
    return Snapshot(
        assembly=simulation.assembly,
        joints=simulation.joints,
        state=state_vector(model, data),
        time=float(data.time),
        origin=simulation.times.origin,
        model_values=gather(model),
        timestep=float(model.opt.timestep),
        references=simulation.references.values.copy(),
        gains=simulation.plant.gains.save_state(),
        force_limits=simulation.drives.force_limits.commanded.copy(),
        properties=dict(simulation.properties.present),
        controls={
            part: control.save_state()
            for part, control in zip(simulation.assembly.robots, simulation.controls, strict=True)
        },
        wrenches=simulation.wrenches.save_state(),
        noise=None if plant.noise is None else plant.noise.save_state(),
        extensions=plant.extensions.save(),
        realism={} if plant.realism is None else plant.realism.save(),
    )


def restore(simulation: Simulation, snapshot: Snapshot, *, rewind: bool = True) -> None:
    """Restore a snapshot and end all goals; call it in the physics thread, between two steps.

    With the same model and commands, the following steps are bitwise the same. In another model,
    the shared elements are restored and the others keep their state. With `rewind`, the time and
    motions in progress are restored as well; otherwise motions end and references are constant.
    """
    present = simulation.assembly
    if not snapshot.assembly.shares_parts_with(present):
        raise UserInputError("it was saved in another world, which has no element of this one")
    before = float(simulation.data.time)
    for control in simulation.controls:
        control.reset(_REASON)
    simulation.wrenches.clear()
    simulation.properties.set(simulation.properties.restored(snapshot.properties))
    _set_plant(simulation, snapshot)
    simulation.plant.extensions.restore(snapshot.extensions)
    if simulation.plant.realism is not None:
        simulation.plant.realism.restore(snapshot.realism)
    simulation.wrenches.restore_state(snapshot.wrenches)
    for part, control in zip(present.robots, simulation.controls, strict=True):
        if part in snapshot.controls:
            control.restore_state(snapshot.controls[part])
    if rewind:
        alike = snapshot.timestep == simulation.model.opt.timestep
        simulation.set_current_sample(snapshot.time, origin=snapshot.origin if alike else None)
    else:
        simulation.release_commands()
        simulation.set_current_sample(before)
    simulation.emit(simulation.plant.reset_event(before))


def _set_plant(simulation: Simulation, snapshot: Snapshot) -> None:
    """Set state, references, gains and limits, of shared elements in another model."""
    plant, data, joints, actuators = simulation.plant, simulation.data, None, None
    if snapshot.model is simulation.model:
        set_state(snapshot.model, data, snapshot.state)
        if plant.noise is not None:
            plant.noise.restore_state(snapshot.noise)
    else:
        same = Correspondence(snapshot.assembly, simulation.assembly)
        saved = mujoco.MjData(snapshot.model)
        set_state(snapshot.model, saved, snapshot.state)
        transfer_data(saved, data, same)
        joints, actuators = joint_pairs(snapshot.joints, plant.joints, same), same.pairs["actuator"]
    old, new = joints or (slice(None), slice(None))
    plant.references.values[:, new] = snapshot.references[:, old]
    plant.gains.restore_state(snapshot.gains, joints)
    plant.drives.force_limits.restore_state(snapshot.force_limits, actuators)
    if not np.array_equal(snapshot.model_values, gather(plant.model)):
        wake(plant.model, data)  # what slept under other options, masses or gains
    plant.evaluate()


MAX_SAVED = 100
"""Bounds the memory: each snapshot has the size of the model's state."""


class Keyframes:
    """Saves and loads states by name, in the physics thread, over changes of the model.

    A saved state takes precedence over a keyframe of the model with the same name.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.saved: dict[str, Snapshot] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the model's first."""
        return tuple(dict.fromkeys((*self._model_keys(), *self.saved)))

    def save(self, name: str) -> float:
        """Save the present state, in place of one with the same name; return its time [s]."""
        if not name.strip():
            raise UserInputError("a keyframe needs a name: set the parameter 'active_keyframe'")
        if name not in self.saved and len(self.saved) >= MAX_SAVED:
            raise UserInputError(
                f"'{name}' cannot be saved: at most {MAX_SAVED} keyframes can be saved; save "
                "under the name of one of them to replace it"
            )
        self.saved[name] = take_snapshot(self._simulation)
        return self.saved[name].time

    def delete(self, name: str) -> int:
        """Delete a saved state, or all with an empty name; return how many there were.

        A keyframe of the model with that name is the model's again.
        """
        if not name:
            count = len(self.saved)
            self.saved.clear()
            return count
        if name not in self.saved:
            raise unknown("saved keyframe", name, self.saved)
        del self.saved[name]
        return 1

    def load(self, name: str, *, rewind: bool = True) -> float:
        """Restore a state, with its time if `rewind`, and return the time after it [s].

        A keyframe of the model sets the state of its robot; all else returns to the initial state.
        The robot's prefix may be omitted from a unique name.
        """
        simulation = self._simulation
        keys = self._model_keys()
        matches = [full for full in keys if full.rpartition("/")[2] == name]
        if len(matches) == 1 and name not in (*keys, *self.saved):
            name = matches[0]
        if name in self.saved:
            try:
                restore(simulation, self.saved[name], rewind=rewind)
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
