"""Log messages of the node at its start."""

from collections.abc import Iterator

import mujoco

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.model.naming import within
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.sim.perturbation.actuator_controls import Control, free_controls
from mujoco_ros.sim.simulation import Simulation


def startup_summary(
    simulation: Simulation, factor: float, *, controllers: bool = True
) -> Iterator[str]:
    """Yield the log lines that describe a simulation.

    Args:
        simulation: The simulation.
        factor: Simulated seconds per wall second; 0 is as fast as possible.
        controllers: Whether the node has controllers of its own.
    """
    for note in simulation.assembly.compiler_log:
        yield f"MuJoCo compiler: {note}"
    free = free_controls(simulation.plant)
    for robot, control in zip(simulation.layout.robots, simulation.controls, strict=True):
        parts = {
            "joint": len(robot.joints.names),
            **{kind.title: len(robot.sensors[kind.key]) for kind in SENSOR_KINDS},
            "sensor state": len(robot.states),
            "sensor array": len(robot.arrays),
            "camera": len(robot.cameras),
            "lidar": len(robot.lidars),
        }
        listing = [f"{n} {kind}{'s' * (n > 1)}" for kind, n in parts.items() if n]
        listing.append(f"{'floating' if robot.bases else 'fixed'} base")
        yield f"{robot.name}: {', '.join(listing)}"
        if robot.unused_sensors:
            yield f"{robot.name}: no topic for sensors {', '.join(robot.unused_sensors)}"
        if controls := free[robot.name]:
            topic = within(robot.namespace, CommandSource.ACTUATORS)
            yield f"{robot.name}: actuators on {topic}: {_listing(controls)}"
        if controllers and control.joints.has_gripper:
            topic = within(robot.namespace, CommandSource.GRIPPER, "gripper_cmd")
            described = _gripper(simulation.model, robot, control.joints)
            yield f"{robot.name}: gripper on {topic}: {described}"
    pace = f"at factor {factor:g}" if factor else "as fast as possible"
    yield (
        f"simulating '{simulation.assembly.config.name}' with a step of "
        f"{1e3 * simulation.model.opt.timestep:g} ms, {pace}, until Ctrl-C"
    )


def _listing(controls: tuple[Control, ...]) -> str:
    """Return the names of actuators by kind."""
    names: dict[str, list[str]] = {}
    for control in controls:
        names.setdefault(control.kind, []).append(control.name)
    return "; ".join(f"{kind} {', '.join(of_kind)}" for kind, of_kind in names.items())


def _gripper(model: mujoco.MjModel, robot: RobotLayout, joints: ControlledJoints) -> str:
    """Return the joint or tendon of a gripper, and its range."""
    tendon, index = joints.tendon, joints.gripper
    if tendon is not None:
        kind, lower, upper, is_angle = "tendon", tendon.lower, tendon.upper, tendon.is_angle
    else:
        kind, lower, upper = "joint", float(joints.lower[index]), float(joints.upper[index])
        is_angle = model.jnt_type[robot.joints.ids[index]] == mujoco.mjtJoint.mjJNT_HINGE
    unit = "rad" if is_angle else "m"
    return f"{kind} {joints.gripper_name}, {lower:.4g} to {upper:.4g} {unit}"
