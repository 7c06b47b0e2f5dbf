"""The node `mujoco`: a simulation behind the ROS interface of a real robot."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import mujoco

from mujoco_ros.bridge.component import AddedComponent
from mujoco_ros.bridge.component_node import ComponentNode
from mujoco_ros.bridge.composition import PARAMETERS, compose
from mujoco_ros.bridge.diagnostics.diagnostics import Diagnostics
from mujoco_ros.bridge.duplicate_nodes import DuplicateNodes
from mujoco_ros.bridge.publishing.topics import clock_topic
from mujoco_ros.bridge.simulation_interfaces.resetting import rewinds
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.model.naming import within
from mujoco_ros.model.realism_config import load_profiles
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.model_folders import client_folders
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.model.uri import resolve
from mujoco_ros.sim.perturbation.actuator_controls import Control, free_controls
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.pacer import Pacer


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


class MujocoNode(ComponentNode):
    """Simulates the scene that its parameters name, with everything `compose` lists."""

    def __init__(
        self, arguments: Sequence[str] = (), added: Sequence[type[AddedComponent]] = ()
    ) -> None:
        """Load the scene and create the components.

        Args:
            arguments: Arguments of the command line, for child processes.
            added: Further components, after those that `compose` lists.

        Raises:
            UserInputError: A parameter, or a file that the scene names, is wrong.
        """
        own = (spec for component in added for spec in component.parameters)
        files = FileAccess(self._client_folders, "; the parameter 'client_folders' adds others")
        super().__init__("mujoco", (*PARAMETERS, *own), files=files)
        with files.at_start():
            self._assemble(arguments, added)

    def _client_folders(self) -> Iterator[Path]:
        values = self.settings.values
        return client_folders(values["scene"], values["client_folders"])

    def _assemble(self, arguments: Sequence[str], added: Sequence[type[AddedComponent]]) -> None:
        values = self.settings.values
        options = {name: values[name] for name in ("on_divergence", "sensor_noise", "seed")}
        realism = None
        if values["realism"]:
            realism = load_profiles(values["realism"], _from_here, "parameter 'realism'")
        simulation = Simulation(load_scene(values["scene"]), realism=realism, **options)
        pacer = Pacer(
            simulation.model.opt.timestep,
            factor=values["real_time_factor"],
            catch_up_s=values["catch_up_limit"],
        )
        context = self.create_context(simulation, pacer, arguments, self._begin_time)
        components = [*compose(context), *(component(context) for component in added)]
        components.append(Diagnostics(context, components))
        self._duplicates = DuplicateNodes(self, clock_topic().name)
        self.assemble(context, components, values["realtime_priority"])
        for line in startup_summary(simulation, pacer.factor, controllers=context.has_controllers):
            self.get_logger().info(line)

    def _begin_time(self) -> float:
        """Return the simulated time at which a world that is loaded begins [s]."""
        return 0.0 if rewinds(self.settings.values) else float(self.simulation.data.time)


def _from_here(uri: str) -> Path:
    """Return the path of a file that a parameter names."""
    return resolve(uri, Path.cwd())
