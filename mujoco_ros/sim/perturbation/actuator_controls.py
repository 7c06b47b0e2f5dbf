"""Controls of actuators that no joint reference drives."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.sim.plant import Plant


@dataclass(frozen=True)
class Control:
    """A control slot.

    Attributes:
        name: Name of the actuator without the prefix of the robot, with that of the input if it has
            several.
        key: Name of the actuator in the model.
        input: Index among the inputs of the actuator.
        slot: Index in ``MjData.ctrl``.
    """

    name: str
    key: str
    input: int
    slot: int


def free_controls(plant: Plant) -> dict[str, tuple[Control, ...]]:
    """Return the controls of each robot that joint references do not drive, in model order.

    Actuators on tendons, sites and bodies, muscles, and those of engine plugins have such controls.
    """
    model, driven = plant.model, set(plant.drives.slots.tolist())
    found: dict[str, list[Control]] = {robot.name: [] for robot in plant.layout.robots}
    prefixes = {robot.name: robot.prefix for robot in plant.layout.robots}
    for actuator in range(model.nactuator):
        key = model.actuator(actuator).name
        part = plant.assembly.part_of(key)
        if not key or part is None or part.name not in found:
            continue
        first, count = int(model.actuator_ctrladr[actuator]), int(model.actuator_ctrlnum[actuator])
        for index in range(count):
            name = key.removeprefix(prefixes[part.name])
            if count > 1:
                name += f".{mujoco.mj_actuatorInputName(model, actuator, index)}"
            if first + index not in driven:
                found[part.name].append(Control(name, key, index, first + index))
    return {robot: tuple(controls) for robot, controls in found.items()}


def slots_of(model: mujoco.MjModel, controls: tuple[Control, ...]) -> np.ndarray:
    """Return the indices of controls in another model that has the same actuators."""
    actuators = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, c.key) for c in controls]
    return np.array(
        [
            int(model.actuator_ctrladr[actuator]) + control.input
            for actuator, control in zip(actuators, controls, strict=True)
        ],
        dtype=np.intp,
    )
