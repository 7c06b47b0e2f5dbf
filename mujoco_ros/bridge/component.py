"""The components that a node consists of, one for each of its capabilities, and their node."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary

from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from rclpy.parameter import Parameter

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.direct_subscriptions import DirectSubscriptions
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.diagnostics.report import DiagnosticReport
from mujoco_ros.bridge.model_switch import ModelChangeListener, ModelSwitch
from mujoco_ros.bridge.parameters.parameters import Command, ParameterListener, Parameters
from mujoco_ros.control.events import QueueFullError, SimulationReset
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import ALL_FILES, FileAccess
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import guarded, later
from mujoco_ros.rclpy_ext.parameter_services import ParameterServices
from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import Lockstep
from mujoco_ros.sim.stepping.physics_thread import PhysicsThread, StepListener
from mujoco_ros.sim.stepping.real_time import Pacer
from mujoco_ros.sim.stepping.run_control import RunControl
from mujoco_ros.sim.stepping.status import Status
from mujoco_ros.wire.log_handler import forward_log
from mujoco_ros.wire.parameter_spec import ParameterSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeContext:
    """The parts of the node that its components use."""

    node: Node  # the ROS node
    arguments: Sequence[str]  # arguments of the command line, for child processes
    endpoints: Endpoints  # opens topics that may be closed while the node runs
    parameters: Parameters  # the node's parameters, declared with their values
    simulation: Simulation  # the simulation; its model and data belong to the physics thread
    run: RunControl  # play, pause and step; belongs to the physics thread
    pacer: Pacer  # the pace of the physics thread, and owned by it
    lockstep: Lockstep  # makes the clock wait for commands; belongs to the physics thread
    # Has the physics thread take the messages of the sources that the clock waits for
    direct: DirectSubscriptions
    models: ModelSwitch  # changes the model while it is simulated
    rejections: RejectionLog  # log and counters of rejected commands
    # Returns the statistics of the steps since the last call; belongs to the physics thread
    status: Callable[[], Status]
    # Hands commands of a topic to the physics thread, with checks of their stamps; for all else
    # there is `simulation.commands`
    submit: CommandSubmission
    files: FileAccess  # the files that clients may name
    # Calls the components' `on_reset`, in the executor's thread
    notify_reset: Callable[[SimulationReset], object]
    quit: Callable[[], object]  # ends the process soon

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of the parameters by name."""
        return self.parameters.values

    @property
    def has_controllers(self) -> bool:
        """Whether the node has controllers of its own, instead of a controller_manager."""
        return not self.values.get("ros2_control", False)


class Component(StepListener, ParameterListener, ModelChangeListener):
    """A capability of the node; override what applies.

    Constructors run in the executor's thread, before the simulation starts, and open the ROS
    endpoints. `expand_parameters`, `check_parameters` and `apply_parameters` handle sets of
    parameters. `wait`, `before_step`, `after_step` and `while_paused` run in the physics thread.
    `build`, `prepare`, `commit`, `finish` and `rollback` follow a change of the model. All others
    run in the executor's thread.
    """

    name: str = ""  # name of the row on /diagnostics; needed by a component that overrides `report`
    # Parameters that the node declares before it constructs the component
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
    """A component that is constructed with the context alone, as `MujocoNode` adds it."""

    def __init__(self, context: NodeContext) -> None:
        """Open the ROS endpoints and read the parameters; override this."""


E = TypeVar("E")
T = TypeVar("T")


class PerPlant(Generic[T]):
    """Values that are derived from plants, the next one in the `build` of a component.

    So a change of the model needs neither a `commit` nor a `rollback` of them.
    """

    def __init__(self, derive: Callable[[Plant], T]) -> None:
        self._derive = derive
        self._values: WeakKeyDictionary[Plant, T] = WeakKeyDictionary()

    def build(self, plant: Plant) -> None:
        """Derive the value of a plant, in any thread."""
        self._values[plant] = self._derive(plant)

    def __getitem__(self, plant: Plant) -> T:
        """Return the value of a plant, which may be one of before `build` was called first."""
        if plant not in self._values:
            self.build(plant)
        return self._values[plant]


class ModelParameters(Component, Generic[E]):
    """The parameters of elements that are in the model, which they configure.

    `prepare` of a subclass calls `_find` with what the next model has; what remains is kept.
    """

    remedy: ClassVar[str] = "rename a joint"  # of two parameters with the same name

    def __init__(self, context: NodeContext) -> None:
        self._parameters, self._simulation = context.parameters, context.simulation
        self._elements: dict[str, E] = {}  # by parameter
        self._next: dict[str, E] = {}
        self._added: dict[str, Any] = {}  # values of the parameters that the next model adds
        self._specs: list[ParameterSpec] = []  # of these

    def _find(
        self, found: Iterable[tuple[ParameterSpec, E]], *, strict: bool = True
    ) -> dict[str, Any]:
        """Set the parameters of the next model; return the values of the added ones.

        Unless `strict`, an invalid value of the user is logged, and its default is used.
        """
        self._next, self._specs = {}, []
        taken = self._parameters.names - self._elements.keys()
        for spec, element in found:
            if spec.name in taken:
                raise UserInputError(f"two parameters would be named '{spec.name}'; {self.remedy}")
            taken.add(spec.name)
            self._next[spec.name] = element
            if self._elements.get(spec.name) != element:
                self._specs.append(spec)
        self._added = self._parameters.initial(self._specs, strict=strict)
        return self._added

    def finish(self) -> None:
        """Undeclare the parameters of elements that are gone; declare the added ones."""
        before, self._elements = self._elements, self._next
        self._parameters.withdraw(n for n, old in before.items() if self._next.get(n) != old)
        self._parameters.declare(self._specs, self._added)
        self.rollback()

    def rollback(self) -> None:
        """Discard the parameters of the next model."""
        self._next, self._added, self._specs = self._elements, {}, []

    def _changes(self, values: Mapping[str, Any]) -> dict[E, Any]:
        """Return the values of parameters that belong here, by element."""
        known = self._elements
        return {known[name]: value for name, value in values.items() if name in known}


def query(
    node: Node, commands: CommandQueue, read: Callable[[], T], then: Callable[[T], object]
) -> None:
    """Read something in the physics thread, then call `then` with it in the executor's thread.

    Nothing is called if the physics thread ends before.
    """

    def hand_over(future: "Future[T]") -> None:
        if not future.cancelled():
            later(node, lambda: then(future.result()))

    with suppress(QueueFullError):  # it has ended
        commands.submit(read, urgent=True).add_done_callback(hand_over)


class ComponentNode(Node):
    """A node made of components; spin it in one thread, `start` runs the physics in another."""

    models: ModelSwitch
    physics: PhysicsThread

    def __init__(
        self,
        name: str,
        specs: Iterable[ParameterSpec],
        overrides: Mapping[str, Any] | None = None,
        files: FileAccess = ALL_FILES,
    ) -> None:
        """Create the node and declare its parameters; `overrides` precede the command line.

        `files` are the files that clients may name.
        """
        given = [Parameter(key, value=value) for key, value in (overrides or {}).items()]
        try:
            super().__init__(name, parameter_overrides=given, start_parameter_services=False)
        except InvalidParameterTypeException as error:
            raise UserInputError(f"a parameter has the wrong type: {error}") from error
        forward_log(self)
        # The exception that ended the physics thread, if any
        self.failure: BaseException | None = None
        self.leaving = False  # whether the process shall end
        # The components, in the order in which they are called
        self.components: list[Component] = []
        self.endpoints = Endpoints(self, refuse_two_types=True)  # opens topics
        self._files = files
        self.settings = Parameters(self, self.submit, files)  # the parameters
        self.settings.declare(specs)
        ParameterServices(self, self.settings.begin_request, self.settings.end_request)

    def create_context(
        self,
        simulation: Simulation,
        pacer: Pacer,
        arguments: Sequence[str],
        begin_time: Callable[[], float],
    ) -> NodeContext:
        """Return the context of the components; see `NodeContext` and `ModelSwitch`."""
        files = self._files
        self.settings.on_change = simulation.note_change
        self.models = ModelSwitch(self, simulation, self.components, begin_time, files)
        lockstep, rejections = Lockstep(simulation), RejectionLog(self.get_logger().warning)
        return NodeContext(
            node=self,
            arguments=arguments,
            endpoints=self.endpoints,
            parameters=self.settings,
            simulation=simulation,
            run=RunControl(simulation),
            pacer=pacer,
            lockstep=lockstep,
            direct=DirectSubscriptions(self, simulation.commands),
            models=self.models,
            rejections=rejections,
            status=lambda: self.physics.status(),
            submit=CommandSubmission(simulation, rejections, lockstep),
            files=files,
            notify_reset=self.notify_reset,
            quit=self.quit,
        )

    def assemble(
        self, context: NodeContext, components: Iterable[Component], priority: int = 0
    ) -> None:
        """Set the components, and create the physics thread around them."""
        self.components += components
        self.settings.listeners += self.components
        self.physics = PhysicsThread(
            context.simulation,
            context.pacer,
            self.components,
            run=context.run,
            priority=priority,
            on_end=self._set_failure,
        )

    @property
    def simulation(self) -> Simulation:
        """The simulation."""
        return self.models.simulation

    def start(self) -> None:
        """Start the components and the physics thread."""
        for component in self.components:
            component.start()
        self.physics.start()

    def stop(self) -> None:
        """Stop the physics thread and close the components.

        A component that fails is logged, and the others are closed.
        """
        for component in self.components:
            guarded(component.stop, _failed(component))()
        self.physics.stop()
        self.models.close()
        for component in reversed(self.components):
            guarded(component.close, _failed(component))()

    def quit(self) -> None:
        """End the process soon."""
        self.leaving = True

    def submit(self, command: Command) -> None:
        """Queue a command for the physics thread, which runs it between two steps."""
        self.simulation.commands.submit(command, urgent=True)

    def notify_reset(self, event: SimulationReset) -> None:
        """Call the components after a reset of the simulation."""
        for component in self.components:
            guarded(component.on_reset, _failed(component))(event)

    def _set_failure(self, error: BaseException | None) -> None:
        self.failure = error


def _failed(component: Component) -> str:
    return f"component {type(component).__name__} failed"
