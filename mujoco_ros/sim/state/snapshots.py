"""Snapshots of the whole state of a simulation."""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.joint_owners import ControlState
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import Joints
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.correspondence import Correspondence
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.perturbation.wrenches import WrenchState as Wrenches
from mujoco_ros.sim.realism.robot_realism import SavedRealism
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.extension_states import SavedExtensionState
from mujoco_ros.sim.state.state_transfer import joint_pairs, transfer_data
from mujoco_ros.sim.state.state_vector import set_state, state_vector

_REASON = "another state was loaded"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """All that the next steps depend on, except options and edits of the model.

    Attributes:
        assembly: The scene.
        joints: Its scalar joints.
        state: The engine's state.
        time: Time of the next step [s].
        origin: Time of step zero [s].
        timestep: Simulated time between steps [s].
        references: References of the joints.  # (3, n)
        gains: The PD gains.  # (2, n)
        force_limits: Force range of each actuator, and whether it is limited.  # (nu, 3)
        controls: Command arbitration of each robot.
        wrenches: External wrenches on bodies.
        noise: State of the sensor noise generator, if sensors have noise.
        extensions: State of the extensions.
        realism: State of imperfect sensors, buses and motors, by robot.
    """

    assembly: Assembly
    joints: Joints
    state: np.ndarray
    time: float
    origin: float
    timestep: float
    references: np.ndarray
    gains: np.ndarray
    force_limits: np.ndarray
    controls: dict[Part, ControlState]
    wrenches: Wrenches
    noise: Any
    extensions: dict[str, SavedExtensionState]
    realism: dict[Part, SavedRealism]

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
        origin=simulation.origin,
        timestep=float(model.opt.timestep),
        references=simulation.references.values.copy(),
        gains=simulation.gains.save_state(),
        force_limits=simulation.drives.force_limits.save_state(),
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

    Raises:
        UserInputError: The snapshot shares no element with the present model.
    """
    present = simulation.assembly
    if not snapshot.assembly.shares_parts_with(present):
        raise UserInputError("it was saved in another world, which has no element of this one")
    before = float(simulation.data.time)
    for control in simulation.controls:
        control.reset(_REASON)
    simulation.wrenches.clear()
    if snapshot.model is simulation.model:
        _set_all(simulation, snapshot)
    else:
        _set_shared(simulation, snapshot)
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
    simulation.emit(simulation.reset_event(before))


def _set_all(simulation: Simulation, snapshot: Snapshot) -> None:
    model, plant = simulation.model, simulation.plant
    set_state(model, simulation.data, snapshot.state)
    simulation.references.values[:] = snapshot.references
    simulation.gains.restore_state(snapshot.gains)
    simulation.drives.force_limits.restore_state(snapshot.force_limits)
    if plant.noise is not None:
        plant.noise.restore_state(snapshot.noise)
    plant.evaluate()


def _set_shared(simulation: Simulation, snapshot: Snapshot) -> None:
    """Set the elements that the snapshot's model and the present one share."""
    plant = simulation.plant
    same = Correspondence(snapshot.assembly, simulation.assembly)
    saved = mujoco.MjData(snapshot.model)
    set_state(snapshot.model, saved, snapshot.state)
    transfer_data(saved, simulation.data, same)
    old, new = joint_pairs(snapshot, plant, same)
    simulation.references.values[:, new] = snapshot.references[:, old]
    simulation.gains.restore_state(snapshot.gains, (old, new))
    simulation.drives.force_limits.restore_state(snapshot.force_limits, same.pairs["actuator"])
    plant.evaluate()
