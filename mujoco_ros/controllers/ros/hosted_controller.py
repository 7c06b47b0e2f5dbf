"""Controllers in the simulator, with the ROS interface of a node, and services that switch them."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from math import inf
from time import perf_counter
from typing import TypeVar
from weakref import WeakSet

from controller_manager_msgs.msg import ControllerState
from controller_manager_msgs.srv import ListControllers, SwitchController
from rclpy.node import Node

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN, DiagnosticReport
from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.bridge.ros_arguments import child_ros_arguments
from mujoco_ros.control.events import QueueFullError
from mujoco_ros.control.gains import Gains
from mujoco_ros.control.joints import INTERFACES
from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.planner import PLANNERS, Planner, ProcessPlanner
from mujoco_ros.controllers.ros.controller_settings import ControllerSettings
from mujoco_ros.controllers.ros.controller_topics import ControllerTopics
from mujoco_ros.controllers.ros.lifecycle_interface import LifecycleInterface
from mujoco_ros.controllers.ros.state_parameters import StateParameters, controller_panel
from mujoco_ros.controllers.runtime.controller_set import ControllerSet
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.controllers.runtime.supervisor import ACTIVATE, DEACTIVATE, INACTIVE
from mujoco_ros.controllers.runtime.ticks import LongWait, TickCosts
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.rclpy_ext.service import Responder, Service
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.wire.controller_messages import answer_switch, controller_state

T = TypeVar("T")

_DELAY_S = 0.1
"""A controller may set gains at every tick, but each parameter change is a ROS message."""
GainSnapshot = tuple[int, Mapping[object, Gains]]
ShowGains = Callable[[int, Mapping[object, Gains]], object]


class GainDisplay:
    """Updates the gain parameters after changes that did not come from parameters."""

    def __init__(self, endpoints: Endpoints, simulation: Simulation, show: ShowGains) -> None:
        """Call `show` with the number of changes by parameters, and the gains by robot."""
        self._endpoints, self._simulation, self._show = endpoints, simulation, show
        self._is_scheduled = False

    def changed(self) -> None:
        """Schedule an update; called by the physics thread."""
        if not self._is_scheduled:
            self._is_scheduled = True  # before the call, because the executor may be faster
            node = self._endpoints.node
            if not later(node, self._endpoints.later, _DELAY_S, self._request):
                self._is_scheduled = False

    def _request(self) -> None:
        self._is_scheduled = False  # before the request, which may miss later changes
        try:
            snapshot = self._simulation.commands.submit(self._read, urgent=True)
        except QueueFullError:
            return  # the simulation is shutting down
        snapshot.add_done_callback(lambda read: later(self._endpoints.node, self._update, read))

    def _read(self) -> GainSnapshot:
        return self._simulation.plant.gains.changes, self._simulation.plant.gains.by_robot()

    def _update(self, snapshot: "Future[GainSnapshot]") -> None:
        if not snapshot.cancelled():
            self._show(*snapshot.result())


class HostedController(Component):
    """A controller with its own ROS node, in the process and threads of the simulator."""

    name = "controller"

    def __init__(
        self,
        context: NodeContext,
        settings: ControllerSettings,
        controllers: ControllerSet,
        show_gains: ShowGains,
    ) -> None:
        """Load the controller and open its endpoints, before the simulation runs."""
        node, simulation, values = context.node, context.simulation, context.values
        self.settings, self.name = settings, settings.row
        if settings.name == node.get_name():
            raise UserInputError(
                f"controller '{settings.name}' has the name of the simulator's node"
            )
        controller = load(settings.type, seed=settings.seed, name=settings.name)
        if settings.step_by_step:
            controller.machine.step_by_step = True
        # States release their planners when the robot is replaced.
        self._planners: WeakSet[Planner] = WeakSet()
        controller.store.provide(PLANNERS, self._planner)
        self._simulation, self._simulator_node = simulation, node
        self._pacer = context.pacer
        self._costs = TickCosts(controller.table.name)
        self._wait = LongWait(controller.table.name)
        self.host = host = ControllerHost(
            simulation, controller, settings.robot, values["rendering"], settings.joints
        )
        host.supervised.time_limit.limit_s = settings.time_limit
        controllers.add(settings.name, host, is_active=settings.active)
        self.node = Node(
            settings.name,
            context=node.context,
            namespace=node.get_namespace(),
            cli_args=child_ros_arguments(context.arguments, node.get_namespace()),
            use_global_arguments=False,  # they may contain the simulator's node name
        )
        endpoints, supervised = Endpoints(self.node), host.supervised
        self._topics: ControllerTopics | None = None
        if (layout := host.layout) is not None:
            self._topics = ControllerTopics(
                endpoints, controller, layout, self._submit, now=lambda: simulation.time
            )
        host.on_scene.append(self._follow)
        host.on_gains.append(GainDisplay(endpoints, simulation, show_gains).changed)
        parameters = Parameters(self.node, self._submit)
        StateParameters(parameters, supervised.machine)
        parameters.reject_unknown(known=values)
        self._panel = controller_panel(endpoints, supervised.machine, self._submit)
        self._interface = LifecycleInterface(
            endpoints,
            supervised,
            self._submit,
            (INACTIVE,),
            {
                ACTIVATE: lambda: controllers.switch((settings.name,), (), strict=True),
                DEACTIVATE: lambda: controllers.switch((), (settings.name,), strict=True),
            },
        )

    def start(self) -> None:
        """Add the controller's node to the executor of the simulator's node."""
        if self._simulator_node.executor is not None:
            self._simulator_node.executor.add_node(self.node)

    def build(self, plant: Plant) -> None:
        """Copy the model that may be simulated next for the controller."""
        self.host.build(plant)

    def wait(self, now: float) -> float:
        """Stop the clock while the next tick needs a future that is not done."""
        duration = self.host.wait(now)
        if duration:
            self._wait.poll(self.host.supervised.state, now)
        elif self._wait.is_running:
            self._wait.end()
        return duration

    def idle_steps(self) -> int:
        """Between two ticks there is nothing to do; `wait` notes the end of a wait before that."""
        return 0 if self._wait.is_running else self.host.steps_until_tick()

    def after_step(self) -> None:
        """Run the tick that is due, and measure its cost."""
        begin = perf_counter()
        host = self.host
        if not host.after_step():
            return
        if self._topics is not None:
            self._topics.publish(host.time)
        self._panel.publish(host.time)
        now, factor = perf_counter(), self._pacer.factor
        # A lag beyond the first is dropped; one beyond the second is not made up for.
        period = host.supervised.controller.period
        limit = min(self._pacer.catch_up_s, period / factor) if factor else inf
        self._costs.add(host.supervised.machine.calls.path, now - begin, limit, now)

    def report(self) -> DiagnosticReport:
        """Return the row of /diagnostics."""
        host, supervised = self.host, self.host.supervised
        values = {
            "controller": self.node.get_name(),
            "robot": host.robot,
            "state": supervised.state,
            "rate [Hz]": f"{1.0 / supervised.controller.period:g}",
            "ticks": str(host.ticks),
            **self._costs.values(),
            "NaN references": ", ".join(
                f"{joint} ({state})" for joint, state in supervised.references.became_nan.items()
            ),
        }
        slow, overdue = self._costs.complaint(), supervised.time_limit.overdue
        waited_s = self._wait.spent_s
        if supervised.error:
            return DiagnosticReport(f"stopped: {supervised.error}", values, ERROR)
        if not host.is_active:
            return DiagnosticReport(INACTIVE, values, OK)
        if overdue:
            return DiagnosticReport(f"{overdue} does not return", values, ERROR)
        if slow:
            return DiagnosticReport(slow, values, WARN)
        if host.is_waiting:
            text = f"clock stopped: {supervised.state} has awaited a result for {waited_s:.1f} s"
            return DiagnosticReport(text, values, WARN)
        return DiagnosticReport(f"in {supervised.state}", values, OK)

    def close(self) -> None:
        """Close planners and cameras, after the physics thread has ended."""
        for planner in tuple(self._planners):
            planner.close()
        self.host.close()

    def _planner(self, chain: Chain) -> Planner:
        planner = ProcessPlanner(chain)
        self._planners.add(planner)
        return planner

    def _follow(self, robot: RobotModel) -> None:
        for planner in tuple(self._planners):
            with suppress(UserInputError):  # of a robot that is gone: its states close it
                planner.follow(robot.model)

    def _submit(self, call: Callable[[], T]) -> "Future[T]":
        return self._simulation.commands.submit(call, urgent=True)


_DONE = "all controllers are as requested"


class ControllerServices(Component):
    """Serves ``~/list_controllers`` and ``~/switch_controller`` of controller_manager_msgs."""

    def __init__(
        self, context: NodeContext, hosted: Sequence[HostedController], controllers: ControllerSet
    ) -> None:
        self._simulation, self._controllers = context.simulation, controllers
        self._types = {controller.settings.name: controller.settings.type for controller in hosted}
        self._services = [
            Service(context.node, ListControllers, "~/list_controllers", self._list),
            Service(context.node, SwitchController, "~/switch_controller", self._switch),
        ]

    def _list(self, _request: ListControllers.Request, answer: Responder) -> None:
        def respond(states: list[ControllerState]) -> None:
            answer.response.controller = states
            answer()

        def states() -> list[ControllerState]:
            return [self._state(name, host) for name, host in self._controllers.hosts.items()]

        answer.run(self._simulation.commands, states, respond)

    def _switch(self, request: SwitchController.Request, answer: Responder) -> None:
        activate, deactivate = request.activate_controllers, request.deactivate_controllers
        switch = partial(
            self._controllers.switch,
            activate,
            deactivate,
            strict=request.strictness == SwitchController.Request.STRICT,
        )

        answer.run(
            self._simulation.commands, switch, partial(answer_switch, answer, otherwise=_DONE)
        )

    def _state(self, name: str, host: ControllerHost) -> ControllerState:
        is_active = host.is_active and not host.supervised.error
        joints = [
            (in_namespace(robot.namespace, joint), takes)
            for robot, control in zip(
                self._simulation.layout.robots, self._simulation.controls, strict=True
            )
            for joint, takes in zip(control.joints.names, control.joints.interfaces, strict=True)
            if joint in host.claims.get(robot.name, ())
        ]
        commands = [
            f"{joint}/{interface}"
            for joint, takes in joints
            for interface in INTERFACES
            if interface in takes
        ]
        message = controller_state(name, self._types[name], commands, is_active=is_active)
        message.update_rate = round(1.0 / host.supervised.controller.period)
        message.required_state_interfaces = [
            f"{joint}/{interface}" for joint, _ in joints for interface in INTERFACES
        ]
        return message
