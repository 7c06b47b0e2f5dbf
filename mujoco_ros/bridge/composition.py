"""The components of the node `mujoco`, in order."""

from collections.abc import Iterable
from functools import partial

from mujoco_ros.bridge.child_processes import ChildProcesses
from mujoco_ros.bridge.commands.lockstep_parameters import LockstepParameters
from mujoco_ros.bridge.commands.robot_commands import RobotCommands
from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.diagnostics import Diagnostics
from mujoco_ros.bridge.diagnostics.solver_comparison import SolverComparison
from mujoco_ros.bridge.parameters.control_parameters import ControlParameters
from mujoco_ros.bridge.parameters.node_parameters import NODE_PARAMETERS, PaceParameters
from mujoco_ros.bridge.parameters.realism_parameters import RealismParameters
from mujoco_ros.bridge.perturbation.actuator_server import ActuatorServer
from mujoco_ros.bridge.perturbation.element_parameters import (
    AppearanceParameters,
    EqualityParameters,
    PluginParameters,
)
from mujoco_ros.bridge.perturbation.mocap_server import MocapServer
from mujoco_ros.bridge.perturbation.physics_parameters import PhysicsParameters
from mujoco_ros.bridge.perturbation.pull_server import PullServer
from mujoco_ros.bridge.perturbation.wrench_server import WrenchServer
from mujoco_ros.bridge.publishing.publishers import Publishers
from mujoco_ros.bridge.simulation_interfaces.entities.services import SPAWN_FORMATS, EntityServices
from mujoco_ros.bridge.simulation_interfaces.interfaces import PREFIX, SimulationInterfaces
from mujoco_ros.bridge.simulation_interfaces.joint_states import JointStateService
from mujoco_ros.bridge.simulation_interfaces.run_control import RunControlServices
from mujoco_ros.bridge.simulation_interfaces.saved_states import KeyframeServices, PastStateService
from mujoco_ros.bridge.tf.frame_plan import StaticFrames
from mujoco_ros.bridge.tf.robot_descriptions import RobotDescriptions
from mujoco_ros.controllers.ros.controller_settings import (
    CONTROLLER_PARAMETERS,
    ControllerSettings,
    controller_settings,
)
from mujoco_ros.extensions.ros.extension_host import extension_components
from mujoco_ros.recording.ros.state_logging import StateLogging
from mujoco_ros.wire.parameter_spec import ParameterSpec

COMPONENTS: tuple[type[Component], ...] = (
    PaceParameters,
    LockstepParameters,
    KeyframeServices,
    PastStateService,
    RunControlServices,
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

    Those that declare parameters of the model come first: no file is written, and no process
    started, with an unknown parameter or before the values that the user set are in force.

    Returns:
        The components: parameters and model changes reach them in this order, and so do the calls
        before and after a step. They are closed in reverse order.

    Raises:
        UserInputError: A parameter is wrong or unknown, or the scene is wrong.
    """
    node, simulation, values = context.node, context.simulation, context.values
    control, appearance = ControlParameters(context), AppearanceParameters(context)
    settings = [control, PhysicsParameters(context), EqualityParameters(context), appearance]
    settings += [PluginParameters(context), RealismParameters(context)]
    extensions = extension_components(context)
    controllers = controller_settings(context.parameters)
    context.parameters.reject_unknown()
    appearance.apply_initial()
    descriptions = RobotDescriptions(context)
    frames = StaticFrames(context, descriptions)
    wrenches = WrenchServer(context)
    interfaces = SimulationInterfaces(node, values[PREFIX.name], SPAWN_FORMATS)
    entities = EntityServices(context, interfaces)
    lockstep = LockstepParameters(context)
    hosted = _host(context, controllers, control) if controllers else []
    processes = ChildProcesses(context, descriptions.of)
    return [
        *extensions,  # before those that publish and log the state, which they change and extend
        *settings,
        PaceParameters(context),
        descriptions,
        frames,
        lockstep,
        Publishers(context, frames.of, confirm=lockstep.confirm),
        processes,
        StateLogging(simulation, values),  # closed before: child processes may take seconds to end
        *hosted,
        RobotCommands(context),
        wrenches,
        PullServer(context, partial(wrenches.find_frame, "")),
        MocapServer(context),
        ActuatorServer(context),
        entities.registry,
        entities.trials,
        entities.measurements,
        RunControlServices(context, interfaces, entities),
        KeyframeServices(context),
        PastStateService(context, processes.load_past),
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
    hosted = [HostedController(context, it, controllers, control.show_gains) for it in settings]
    return [*hosted, ControllerServices(context, hosted, controllers)]
