"""Controls of actuators that no joint reference drives."""

from dataclasses import dataclass

import mujoco

from mujoco_ros.model.robot.actuators import actuator_kind, control_names, joint_of, tendon_of
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.plant import Plant


@dataclass(frozen=True)
class Control:
    """A control slot."""

    # Name without the prefix of the robot, and with the input if the actuator has several
    name: str
    key: str  # name of the actuator in the model
    input: int  # index among the inputs of the actuator
    slot: int  # index in ``MjData.ctrl``
    # Kind of the actuator: ``tendon``, ``site``, ``muscle``, ``adhesion`` and so on
    kind: str = "general"
    of_gripper: bool = False  # whether it acts on the tendon of the gripper controller


def free_controls(plant: Plant) -> dict[str, tuple[Control, ...]]:
    """Return the controls of each robot that joint references do not drive, in model order.

    They are of tendons, sites and bodies, of muscles, and of actuators of engine plugins.
    """
    model, driven = plant.model, set(plant.drives.slots.tolist())
    names = control_names(model)
    found: dict[str, list[Control]] = {robot.name: [] for robot in plant.layout.robots}
    robots = {robot.name: robot for robot in plant.layout.robots}
    for actuator in range(model.nactuator):
        key = model.actuator(actuator).name
        part = plant.assembly.part_of(key)
        if not key or part is None or part.name not in found:
            continue
        first, count = int(model.actuator_ctrladr[actuator]), int(model.actuator_ctrlnum[actuator])
        robot, kind = robots[part.name], actuator_kind(model, actuator)
        tendon = tendon_of(model, actuator)
        of_gripper = tendon is not None and tendon == robot.gripper_tendon
        for index in range(count):
            name = names[first + index].removeprefix(robot.prefix)
            if first + index not in driven:
                control = Control(name, key, index, first + index, kind, of_gripper)
                found[part.name].append(control)
    return {robot: tuple(controls) for robot, controls in found.items()}


def joints_of_actuators(model: mujoco.MjModel, robot: RobotLayout) -> dict[str, str]:
    """Return the scalar joint of each actuator of a robot that acts on one, by name."""
    joints = dict(zip(robot.joints.ids.tolist(), robot.joints.names, strict=True))
    return {
        model.actuator(actuator).name.removeprefix(robot.prefix): joints[joint]
        for actuator in range(model.nactuator)
        if (joint := joint_of(model, actuator)) in joints
    }
