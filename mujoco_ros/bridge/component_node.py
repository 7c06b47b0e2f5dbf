"""A ROS node made of components around a physics thread."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from rclpy.parameter import Parameter

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.direct_subscriptions import DirectSubscriptions
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.model_switch import ModelSwitch
from mujoco_ros.bridge.parameters.parameters import Command, Parameters
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import ALL_FILES, FileAccess
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import guarded
from mujoco_ros.rclpy_ext.parameter_services import ParameterServices
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import Lockstep
from mujoco_ros.sim.stepping.physics_thread import PhysicsThread
from mujoco_ros.sim.stepping.real_time import Pacer
from mujoco_ros.sim.stepping.run_control import RunControl
from mujoco_ros.wire.log_handler import forward_log
from mujoco_ros.wire.parameter_spec import ParameterSpec


class ComponentNode(Node):
    """A node made of components; spin it in one thread, `start` runs the physics in another.

    Attributes:
        endpoints: Opens topics.
        settings: The parameters.
        components: The components, in the order in which they are called.
        failure: The exception that ended the physics thread, if any.
        leaving: Whether the process shall end.
    """

    models: ModelSwitch
    physics: PhysicsThread

    def __init__(
        self,
        name: str,
        specs: Iterable[ParameterSpec],
        overrides: Mapping[str, Any] | None = None,
        files: FileAccess = ALL_FILES,
    ) -> None:
        """Create the node and declare its parameters.

        Args:
            name: Name of the node.
            specs: Parameters to declare.
            overrides: Values of parameters, which take precedence over the command line.
            files: The files that clients may name.

        Raises:
            UserInputError: A parameter has the wrong type or value.
        """
        given = [Parameter(key, value=value) for key, value in (overrides or {}).items()]
        try:
            super().__init__(name, parameter_overrides=given, start_parameter_services=False)
        except InvalidParameterTypeException as error:
            raise UserInputError(f"a parameter has the wrong type: {error}") from error
        forward_log(self)
        self.failure: BaseException | None = None
        self.leaving = False
        self.components: list[Component] = []
        self.endpoints = Endpoints(self)
        self._files = files
        self.settings = Parameters(self, self.submit, files)
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
        """Queue a command for the physics thread, which runs it between two steps.

        Raises:
            QueueFullError: The physics thread has ended.
        """
        self.simulation.commands.submit(command, urgent=True)

    def notify_reset(self, event: SimulationReset) -> None:
        """Call the components after a reset of the simulation."""
        for component in self.components:
            guarded(component.on_reset, _failed(component))(event)

    def _set_failure(self, error: BaseException | None) -> None:
        self.failure = error


def _failed(component: Component) -> str:
    return f"component {type(component).__name__} failed"
