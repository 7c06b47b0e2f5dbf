"""The components that the node consists of, one for each of its capabilities."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from rclpy.node import Node

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.direct_subscriptions import DirectSubscriptions
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.diagnostics.report import DiagnosticReport
from mujoco_ros.bridge.model_switch import ModelChangeListener, ModelSwitch
from mujoco_ros.bridge.parameters.parameters import ParameterListener, Parameters
from mujoco_ros.control.events import QueueFullError, SimulationReset
from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import Lockstep
from mujoco_ros.sim.stepping.pacer import Pacer
from mujoco_ros.sim.stepping.run_control import RunControl
from mujoco_ros.sim.stepping.status import Status
from mujoco_ros.sim.stepping.step_listener import StepListener
from mujoco_ros.wire.parameter_spec import ParameterSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeContext:
    """The parts of the node that its components use.

    Attributes:
        node: The ROS node.
        arguments: Arguments of the command line, for child processes.
        endpoints: Opens topics that may be closed while the node runs.
        parameters: The node's parameters, declared with their values.
        simulation: The simulation; its model and data belong to the physics thread.
        run: Play, pause and step; belongs to the physics thread.
        pacer: The pace of the physics thread, and owned by it.
        lockstep: Makes the clock wait for commands; belongs to the physics thread.
        direct: Has the physics thread take the messages of the sources that the clock waits for.
        models: Changes the model while it is simulated.
        rejections: Log and counters of rejected commands.
        status: Returns the statistics of the steps since the last call; belongs to the physics
            thread.
        submit: Hands commands of a topic to the physics thread, with checks of their stamps; for
            all else there is `simulation.commands`.
        files: The files that clients may name.
        notify_reset: Calls the components' `on_reset`, in the executor's thread.
        quit: Ends the process soon.
    """

    node: Node
    arguments: Sequence[str]
    endpoints: Endpoints
    parameters: Parameters
    simulation: Simulation
    run: RunControl
    pacer: Pacer
    lockstep: Lockstep
    direct: DirectSubscriptions
    models: ModelSwitch
    rejections: RejectionLog
    status: Callable[[], Status]
    submit: CommandSubmission
    files: FileAccess
    notify_reset: Callable[[SimulationReset], object]
    quit: Callable[[], object]

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of the parameters by name."""
        return self.parameters.values

    @property
    def has_controllers(self) -> bool:
        """Whether the node has controllers of its own, instead of those of ros2_control."""
        return not self.values.get("ros2_control", False)


class Component(StepListener, ParameterListener, ModelChangeListener):
    """A capability of the node; override what applies.

    Constructors run in the executor's thread, before the simulation starts, and open the ROS
    endpoints. `expand_parameters`, `check_parameters` and `apply_parameters` handle sets of
    parameters. `wait`, `before_step`, `after_step` and `while_paused` run in the physics thread.
    `build`, `prepare`, `commit`, `finish` and `rollback` follow a change of the model. All others
    run in the executor's thread.

    Attributes:
        name: Name of the row on /diagnostics; needed by a component that overrides `report`.
        parameters: Parameters that the node declares before it constructs the component.
    """

    name: str = ""
    parameters: ClassVar[tuple[ParameterSpec, ...]] = ()

    def on_reset(self, event: SimulationReset) -> None:
        """Handle a reset of the simulation."""

    def report(self) -> DiagnosticReport:
        """Return the row on /diagnostics."""
        raise NotImplementedError

    def reports(self) -> Mapping[str, DiagnosticReport]:
        """Return further rows on /diagnostics by name, which may change while the node runs."""
        return {}

    def start(self) -> None:
        """Start, immediately before the physics thread."""

    def stop(self) -> None:
        """Begin to stop; the physics thread still runs."""

    def close(self) -> None:
        """Release all resources, after the physics thread has ended; called in reverse order."""


class AddedComponent(Component):
    """A component that is constructed with the context alone, as `MujocoNode` adds it.

    Args:
        context: The parts of the node.
    """

    def __init__(self, context: NodeContext) -> None:
        """Open the ROS endpoints and read the parameters; override this."""


T = TypeVar("T")


def query(
    node: Node, commands: CommandQueue, read: Callable[[], T], then: Callable[[T], object]
) -> None:
    """Read something in the physics thread, then call `then` with it in the executor's thread.

    Nothing is called if the physics thread ends before.
    """

    def done(future: "Future[T]") -> None:
        if not future.cancelled():
            later(node, lambda: then(future.result()))

    with suppress(QueueFullError):  # it has ended
        commands.submit(read, urgent=True).add_done_callback(done)
