"""A controller that runs in the simulator, seen over ROS like one that runs beside a robot."""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar
from weakref import WeakSet

from rclpy.node import Node

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN, DiagnosticReport
from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.ros_arguments import handed_on
from mujoco_ros.controllers.library.catalogue import load
from mujoco_ros.controllers.library.planner_access import PLANNERS
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.planner import Planner, ProcessPlanner
from mujoco_ros.controllers.ros.gain_display import GainDisplay, Show
from mujoco_ros.controllers.ros.lifecycle_interface import LifecycleInterface
from mujoco_ros.controllers.ros.parameter_specs import CONTROLLER_PARAMETERS
from mujoco_ros.controllers.ros.state_parameters import StateParameters
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.histogram import Histogram

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class HostedController(Component):
    """A controller on a node of its own, in the process and the threads of the simulator.

    Attributes:
        node: The node, named after the controller.
        host: What runs it.
    """

    name = "controller"
    parameters = CONTROLLER_PARAMETERS

    def __init__(
        self,
        beside: Node,
        simulation: Simulation,
        values: Mapping[str, Any],
        arguments: Sequence[str],
        show_gains: Show,
    ) -> None:
        """Load it and offer its contract; `simulation` does not run yet.

        Args:
            beside: The simulator's node.
            simulation: What it runs beside.
            values: The simulator's parameters.
            arguments: Of the command line, which may have parameters for it.
            show_gains: Has the simulator's parameters say what gains are in force.

        Raises:
            ModelError: There is no such controller or robot, one does not fit the other, or a
                parameter is wrong.
        """
        controller = load(values["controller"], seed=values["controller_seed"])
        if values["controller_step_by_step"]:
            controller.machine.step_by_step = True
        # Those of a robot that was replaced go with its states.
        self._planners: WeakSet[Planner] = WeakSet()
        controller.store.provide(PLANNERS, self._planner)
        self._simulation, self._beside = simulation, beside
        self._cost = Histogram()
        self.host = ControllerHost(
            simulation, controller, values["controller_robot"], values["rendering"]
        )
        name = controller_name(values["controller"])
        if name == beside.get_name():
            raise UserInputError(f"a controller cannot be named as the simulator's node, '{name}'")
        self.node = Node(
            name,
            context=beside.context,
            namespace=beside.get_namespace(),
            cli_args=handed_on(arguments, beside.get_namespace()),
            use_global_arguments=False,  # they may name the simulator's node
        )
        self._endpoints = Endpoints(self.node)
        self.host.on_gains = GainDisplay(self._endpoints, simulation, show_gains).changed
        parameters = Parameters(self.node, self._submit)
        self._parameters = StateParameters(parameters, self.host.runner)
        parameters.reject_unknown(known=values)
        self._contract = LifecycleInterface(
            self._endpoints, self.host.runner, self._submit, lambda: simulation.time
        )

    def start(self) -> None:
        """Serve the controller's node with the executor of the simulator's node."""
        if self._beside.executor is not None:
            self._beside.executor.add_node(self.node)

    def wait(self, now: float) -> float:
        """Make the clock wait for results that the next tick needs."""
        return self.host.wait(now)

    def after_step(self) -> None:
        """Tick the controller when it is due, and measure the cost."""
        begin = perf_counter()
        if self.host.sampled():
            self._cost.add(perf_counter() - begin)

    def report(self) -> DiagnosticReport:
        """Return the row of /diagnostics."""
        host, runner = self.host, self.host.runner
        p50, p99 = self._cost.percentiles(50, 99)
        values = {
            "controller": self.node.get_name(),
            "robot": host.robot,
            "state": runner.state,
            "rate [Hz]": f"{1.0 / runner.controller.period:g}",
            "ticks": str(host.ticks),
            "tick cost p50 [us]": f"{1e6 * p50:.0f}",
            "tick cost p99 [us]": f"{1e6 * p99:.0f}",
        }
        self._cost.clear()
        if runner.error:
            return DiagnosticReport(f"stopped: {runner.error}", values, ERROR)
        if host.awaiting:
            return DiagnosticReport(
                "the clock waits for a result of the controller's", values, WARN
            )
        return DiagnosticReport(f"in {runner.state}", values, OK)

    def close(self) -> None:
        """Free what it uses, after the physics thread has ended; nobody waits for a plan now."""
        for planner in tuple(self._planners):
            planner.close()
        self.host.close()

    def _planner(self, chain: Chain) -> Planner:
        planner = ProcessPlanner(chain)
        self._planners.add(planner)
        return planner

    def _submit(self, call: Callable[[], T]) -> "Future[T]":
        return self._simulation.commands.submit(call, urgent=True)


def controller_name(name_or_path: str) -> str:
    """Return what the node of a controller is called.

    Raises:
        ModelError: ROS cannot call a node that.
    """
    name = Path(name_or_path).stem
    if not _NAME.fullmatch(name):
        raise UserInputError(
            f"controller '{name_or_path}': its node would be named '{name}'; use letters, digits "
            "and underscores alone, a letter first"
        )
    return name
