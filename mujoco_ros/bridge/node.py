"""The node `mujoco`: a simulation behind the ROS interface of a real robot."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import mujoco

from mujoco_ros.bridge.child_processes import ChildProcesses
from mujoco_ros.bridge.commands.lockstep_parameters import LockstepParameters
from mujoco_ros.bridge.commands.robot_commands import RobotCommands
from mujoco_ros.bridge.component import AddedComponent, Component, ComponentNode, NodeContext
from mujoco_ros.bridge.diagnostics.diagnostics import Diagnostics
from mujoco_ros.bridge.diagnostics.solver_comparison import SolverComparison
from mujoco_ros.bridge.parameters.control_parameters import ControlParameters
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.bridge.parameters.realism_parameters import RealismParameters
from mujoco_ros.bridge.perturbation.body_commands import MocapServer, PullServer, WrenchServer
from mujoco_ros.bridge.perturbation.element_parameters import (
    EqualityParameters,
    PluginParameters,
    PropertyParameters,
)
from mujoco_ros.bridge.perturbation.physics_parameters import PhysicsParameters
from mujoco_ros.bridge.publishing.publishers import Publishers
from mujoco_ros.bridge.publishing.topics import clock_topic
from mujoco_ros.bridge.ros2_control.controller_managers import ControllerManagers
from mujoco_ros.bridge.ros2_control.wheel_drives import WheelDrives
from mujoco_ros.bridge.simulation_interfaces.entities.services import SPAWN_FORMATS, EntityServices
from mujoco_ros.bridge.simulation_interfaces.interfaces import PREFIX, SimulationInterfaces
from mujoco_ros.bridge.simulation_interfaces.joint_states import JointStateService
from mujoco_ros.bridge.simulation_interfaces.resetting import ResetService, rewinds
from mujoco_ros.bridge.simulation_interfaces.run_control import RunControlServices
from mujoco_ros.bridge.simulation_interfaces.saved_states import SavedStateServices
from mujoco_ros.bridge.tf.robot_frames import RobotDescriptions, StaticFrames
from mujoco_ros.cameras.ros.frame_topics import FrameTopics
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.controllers.ros.controller_settings import (
    CONTROLLER_PARAMETERS,
    ControllerSettings,
    controller_settings,
)
from mujoco_ros.extensions.ros.extension_rules import extension_components
from mujoco_ros.model.errors import counted
from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.realism_config import load_profiles
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.worlds import client_folders
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.model.uri import resolve
from mujoco_ros.native import why_in_python
from mujoco_ros.rclpy_ext.endpoints import DuplicateNodes
from mujoco_ros.recording.ros.state_logging import StateLogging
from mujoco_ros.sim.actuator_controls import Control, free_controls
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.real_time import Pacer
from mujoco_ros.wire.parameter_spec import REALTIME_PRIORITY, ParameterSpec

NODE_PARAMETERS = (
    ParameterSpec(
        "scene",
        "humanoid",
        "Scene to simulate: name of a shipped scene, path of a scene YAML, MJCF, URDF, xacro or "
        "MJB file, or a robot of an installed package, such as example-robot-data:talos",
        read_only=True,
    ),
    ParameterSpec(
        "client_folders",
        ("",),
        "Folders of which clients may name files, in addition to the folders of the scene, of ROS "
        "and Python packages, and the caches of robot descriptions",
        read_only=True,
    ),
    REALTIME_PRIORITY,
    ParameterSpec(
        "on_divergence",
        "reset",
        "Reaction to a divergence of the simulation",
        choices=("reset", "pause", "shutdown"),
        read_only=True,
    ),
    ParameterSpec(
        "sensor_noise",
        False,
        "Whether sensors have Gaussian noise of the deviation their model declares",
        read_only=True,
    ),
    ParameterSpec(
        "realism",
        "",
        "Profiles of imperfect sensors, buses and motors, for robots without `realism` in the "
        "scene: names of shipped ones, or YAML files, separated by commas; empty for none",
        read_only=True,
    ),
    ParameterSpec(
        "seed",
        0,
        "Seed of the noise of sensors, cameras and lidars, and of `realism`",
        low=0,
        high=2**31 - 1,
        read_only=True,
    ),
    ParameterSpec(
        "ros2_control",
        False,
        "Leave the controllers to ros2_control: robot_description carries <ros2_control> blocks, "
        "and only joint_commands is offered",
        read_only=True,
    ),
)


_FACTOR, _CATCH_UP = "real_time_factor", "catch_up_limit"


class PaceParameters(Component):
    """Sets the pace of the physics thread."""

    parameters = (
        ParameterSpec(
            _FACTOR,
            1.0,
            "Simulated seconds per wall second; 0 is as fast as possible, behind readers: at nice "
            "5 where the system permits to return from it",
            low=0.0,
            high=1000.0,
            least=0.001,
        ),
        ParameterSpec(
            _CATCH_UP,
            0.05,
            "Largest lag behind the wall clock that is caught up [s]; a larger lag is dropped and "
            "counted",
            low=0.0,
            high=10.0,
        ),
    )

    def __init__(self, context: NodeContext) -> None:
        self._pacer = context.pacer
        # The physics options that the user gives are in force by now.
        self._pacer.set_timestep(float(context.simulation.model.opt.timestep))
        context.simulation.on_timestep.append(self._pacer.set_timestep)

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that sets the pace."""
        if values.keys().isdisjoint((_FACTOR, _CATCH_UP)):
            return None
        return lambda: self._set(values)

    def _set(self, values: Mapping[str, Any]) -> None:
        self._pacer.factor = values.get(_FACTOR, self._pacer.factor)
        self._pacer.catch_up_s = values.get(_CATCH_UP, self._pacer.catch_up_s)


COMPONENTS: tuple[type[Component], ...] = (
    PaceParameters,
    ControllerManagers,
    WheelDrives,
    LockstepParameters,
    PropertyParameters,
    SavedStateServices,
    ResetService,
    StateLogging,
    StaticFrames,
    WrenchServer,
    ChildProcesses,
    Publishers,
    Diagnostics,
)
"""The components with parameters or a row on /diagnostics, but for the hosted controllers."""
PARAMETERS: tuple[ParameterSpec, ...] = (
    *NODE_PARAMETERS,
    PREFIX,
    *CONTROLLER_PARAMETERS,  # without an import of the hosted controllers
    *(spec for component in COMPONENTS for spec in component.parameters),
)
"""The parameters that do not depend on the scene."""


def compose(context: NodeContext) -> list[Component]:
    """Create the components of the node.

    Components that declare parameters of the model come first: no file is written, and no process
    started, with an unknown parameter or before the values that the user set are in force.
    Parameters and model changes reach the components in this order, and so do the calls before and
    after a step. They are closed in reverse order.
    """
    node, simulation, values = context.node, context.simulation, context.values
    descriptions = RobotDescriptions(context)
    managers = ControllerManagers(context, descriptions)  # before what depends on controllers
    control, properties = ControlParameters(context), PropertyParameters(context)
    settings = [control, PhysicsParameters(context), EqualityParameters(context), properties]
    settings += [PluginParameters(context), RealismParameters(context)]
    extensions = extension_components(context)
    images = FrameTopics(context)
    controllers = controller_settings(context.parameters)
    context.parameters.reject_unknown()
    properties.apply_initial()
    drives = WheelDrives(context, managers.have_odometry)
    frames = StaticFrames(context, descriptions, drives.have_odometry)
    wrenches = WrenchServer(context)
    interfaces = SimulationInterfaces(node, values[PREFIX.name], SPAWN_FORMATS)
    entities = EntityServices(context, interfaces)
    resetting = ResetService(context, interfaces, entities.spawning.delete_spawned)
    lockstep = LockstepParameters(context, managers.command_topics, drives.command_topics)
    hosted = _host(context, controllers, control) if controllers else []
    processes = ChildProcesses(context, descriptions.descriptions_of, images.connect)
    images.on_join = processes.start_cameras
    return [
        descriptions,
        managers,
        drives,
        *extensions,  # before the state is published and logged: they change and extend it
        *settings,
        PaceParameters(context),
        frames,
        lockstep,
        Publishers(context, frames.plan_of, confirm=lockstep.confirm, others=(managers, drives)),
        processes,
        images,
        StateLogging(simulation, values),  # closed before: child processes may take seconds to end
        *hosted,
        RobotCommands(context),
        wrenches,
        PullServer(context, partial(wrenches.find_frame, "")),
        MocapServer(context),
        entities.registry,
        entities.trials,
        entities.measurements,
        resetting,
        RunControlServices(context, interfaces, resetting, lambda: entities.worlds.state),
        SavedStateServices(context, processes.load_past),
        JointStateService(context, entities.registry),
        SolverComparison(context),
    ]


def _host(
    context: NodeContext, settings: Iterable[ControllerSettings], control: ControlParameters
) -> list[Component]:
    """Return the hosted controllers, in the order of their ticks, and their services."""
    # A simulator without a controller needs neither state machines nor planning.
    from mujoco_ros.controllers.ros.hosted_controller import ControllerServices, HostedController
    from mujoco_ros.controllers.runtime.controller_set import ControllerSet

    controllers = ControllerSet()
    hosted = [
        HostedController(context, setting, controllers, control.show_gains) for setting in settings
    ]
    return [*hosted, ControllerServices(context, hosted, controllers)]


def startup_summary(
    simulation: Simulation, factor: float, *, controllers: bool = True
) -> Iterator[str]:
    """Yield the lines that describe a simulation; a pace `factor` of 0 is as fast as possible."""
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
        listing = [counted(n, kind) for kind, n in parts.items() if n]
        listing.append(f"{'floating' if robot.bases else 'fixed'} base")
        yield f"{robot.name}: {', '.join(listing)}"
        if robot.unused_sensors:
            yield f"{robot.name}: no topic for sensors {', '.join(robot.unused_sensors)}"
        if controls := free[robot.name]:
            topic = in_namespace(robot.namespace, CommandSource.ACTUATORS)
            yield f"{robot.name}: actuators on {topic}: {_listing(controls)}"
        if controllers and control.has_default_controllers and control.joints.has_gripper:
            topic = in_namespace(robot.namespace, CommandSource.GRIPPER, "gripper_cmd")
            described = _gripper(simulation.model, robot, control.joints)
            yield f"{robot.name}: gripper on {topic}: {described}"
    if reason := why_in_python(mujoco.mj_version()):
        yield f"steps are taken in Python, which is slower: {reason}"
    pace = f"at factor {factor:g}" if factor else "as fast as possible"
    yield (
        f"simulating '{simulation.assembly.config.name}' with a step of "
        f"{1e3 * simulation.model.opt.timestep:g} ms, {pace}, until Ctrl-C"
    )


def _listing(controls: tuple[Control, ...]) -> str:
    names: dict[str, list[str]] = {}
    for control in controls:
        names.setdefault(control.kind, []).append(control.name)
    return "; ".join(f"{kind} {', '.join(of_kind)}" for kind, of_kind in names.items())


def _gripper(model: mujoco.MjModel, robot: RobotLayout, joints: ControlledJoints) -> str:
    tendon, index = joints.tendon, joints.gripper
    if tendon is not None:
        kind, lower, upper, is_angle = "tendon", *tendon.limits, tendon.is_angle
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
        """Load the scene, and create the components of `compose`, then those that are `added`."""
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
        # The processed meshes, 11 MB for the humanoid, which only another build would use.
        mujoco.mj_clearCache(mujoco.mj_getCache())
        for line in startup_summary(simulation, pacer.factor, controllers=context.has_controllers):
            self.get_logger().info(line)

    def _begin_time(self) -> float:
        """Return the simulated time at which a world that is loaded begins [s]."""
        return 0.0 if rewinds(self.settings.values) else float(self.simulation.data.time)


def _from_here(uri: str) -> Path:
    return resolve(uri, Path.cwd())
