"""The viewer's link over ROS: the node ``mujoco_viewer``, spun in a thread of its own."""

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import rclpy
from rclpy.context import Context
from rclpy.node import Node

from mujoco_ros.bridge.publishing.template_publisher import stamp
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.executor import Executor
from mujoco_ros.bridge.rclpy_ext.tasks import guarded
from mujoco_ros.bridge.service_caller import ServiceCaller
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.perturbation.pulls import Pull
from mujoco_ros.viewer.link import (
    ControllerInfo,
    LogLine,
    ParameterInfo,
    Request,
    Thumbnail,
    ViewerRunState,
    is_replay,
)
from mujoco_ros.viewer.ros.log_lines import LogLines
from mujoco_ros.viewer.ros.perturbation import REPEAT_S, PerturbationClient
from mujoco_ros.viewer.ros.run_state import RunStateClient
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters
from mujoco_ros.viewer.ros.state_machines import StateMachines
from mujoco_ros.viewer.ros.thumbnails import Thumbnails

_LOG = logging.getLogger(__name__)
_TICK_S = 0.1
_KEPT_REQUESTS = 50
_FAREWELL_S = 2.0


class RosLink:
    """Implements `viewer.link.Link` by what the simulator offers to everybody.

    A simulator that is not there yet, or goes and comes back, is waited for. Methods may be called
    from any one thread; all of ROS happens in the link's own.
    """

    def __init__(
        self,
        simulator: str = "/mujoco",
        arguments: Sequence[str] = (),
        *,
        now: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """Create the node.

        Args:
            simulator: Full name of the simulator's node.
            arguments: Of the command line, for ROS.
            now: Returns the simulated time that targets are stamped with [s].

        Raises:
            ModelError: ROS does not start with these arguments.
        """
        self._simulator = simulator
        self._now = now
        self._asked: deque[Request] = deque(maxlen=_KEPT_REQUESTS)
        self._context = Context()
        try:
            rclpy.init(args=list(arguments), context=self._context)
            namespace = simulator.rpartition("/")[0]
            self.node = Node("mujoco_viewer", context=self._context, namespace=namespace)
        except Exception as error:  # rclpy has no narrower type for wrong --ros-args
            raise UserInputError(
                f"ROS 2 does not start: {type(error).__name__}: {error}"
            ) from error
        endpoints = Endpoints(self.node)
        self._asker = ServiceCaller(self.node)
        self._parameters = SimulatorParameters(self._asker, endpoints, simulator)
        self._running = RunStateClient(self._asker, self._parameters, simulator)
        self._acting = PerturbationClient(endpoints)
        self._machines = StateMachines(self.node, self._asker, endpoints)
        self._pictures = Thumbnails(endpoints)
        self._book = LogLines(endpoints)
        self._orders: deque[Callable[[], object]] = deque()
        self._executor = Executor(context=self._context)
        self._executor.add_node(self.node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._spin, name="link", daemon=True)

    def start(self) -> None:
        """Begin to look for the simulator."""
        self._thread.start()

    def close(self) -> None:
        """Let go of everything that is held, and leave."""
        if self._thread.is_alive():
            self._order(self._acting.let_go)
            self._order(self._ended.set)
            self._thread.join(_FAREWELL_S)
        self._executor.shutdown()
        self.node.destroy_node()
        with contextlib.suppress(Exception):  # shut down already
            rclpy.shutdown(context=self._context)

    # -- What is known.

    @property
    def simulator(self) -> str:
        """Full name of the simulator's node."""
        return self._simulator

    @property
    def reachable(self) -> bool:
        """Whether the simulator answers."""
        return self._running.reachable

    @property
    def run_state(self) -> ViewerRunState:
        """What the simulation does."""
        return self._running.state

    @property
    def requests(self) -> Sequence[Request]:
        """What was asked for lately, oldest first."""
        return tuple(self._asked)

    @property
    def parameters(self) -> Mapping[str, ParameterInfo]:
        """The simulator's parameters by name; empty as long as it does not answer."""
        return self._parameters.known

    @property
    def controllers(self) -> Mapping[str, ControllerInfo]:
        """All state machines there are, by the full name of their node."""
        return self._machines.known

    def log(self, after: int = 0) -> Sequence[LogLine]:
        """Return the kept log lines with numbers beyond `after`, oldest first."""
        return self._book.after(after)

    # -- Running the simulation.

    def play(self) -> Request:
        """Let it run."""
        return self._ask("play", lambda request: self._running.go(ViewerRunState.PLAYING, request))

    def pause(self) -> Request:
        """Let it stand still."""
        return self._ask("pause", lambda request: self._running.go(ViewerRunState.PAUSED, request))

    def step(self, steps: int = 1) -> Request:
        """Make so many steps while it is paused."""
        what = f"step {steps}" if steps > 1 else "step"
        return self._ask(what, lambda request: self._running.step(steps, request))

    def reset(self, *scopes: str) -> Request:
        """Reset what is named: ``time``, ``state``, ``spawned``; everything if nothing is."""
        what = " ".join(("reset", *scopes))
        return self._ask(what, lambda request: self._running.reset(scopes, request))

    def save_keyframe(self, name: str) -> Request:
        """Keep the present state under a name."""
        return self._ask(
            f"save keyframe '{name}'",
            lambda request: self._running.keyframe("save_keyframe", name, request),
        )

    def load_keyframe(self, name: str) -> Request:
        """Return to a state: of the model, or one that was saved."""
        return self._ask(
            f"load keyframe '{name}'",
            lambda request: self._running.keyframe("load_keyframe", name, request),
        )

    def set_speed(self, factor: float) -> Request:
        """Run at so many simulated seconds per second; 0 is as fast as possible."""
        name = "rate" if is_replay(self) else "real_time_factor"
        return self.set_parameters({name: float(factor)})

    def set_parameters(self, values: Mapping[str, Any]) -> Request:
        """Set parameters of the simulator, all or none."""
        values = dict(values)
        listing = ", ".join(f"{name} = {value}" for name, value in values.items())
        return self._ask(
            f"set {listing}", lambda request: self._parameters.set(values, request.settle)
        )

    # -- Acting on what is simulated.

    def command_joints(self, namespace: str, positions: Mapping[str, float]) -> None:
        """Send references to joints of the robot with that namespace [rad or m]."""
        positions = dict(positions)
        self._order(lambda: self._acting.command_joints(namespace, positions))

    def pull(self, frame: str, pull: Pull) -> None:
        """Pull at a frame, by its name in TF, until `let_go`; that of before ends."""
        self._order(lambda: self._acting.pull(frame, pull))

    def let_go(self) -> None:
        """Pull at nothing any more."""
        self._order(self._acting.let_go)

    def move_mocap(
        self, namespace: str, name: str, position: np.ndarray, quat_wxyz: np.ndarray
    ) -> None:
        """Put a mocap body somewhere in the world."""
        position, quat_wxyz = position.copy(), quat_wxyz.copy()
        self._order(lambda: self._acting.move_mocap(namespace, name, position, quat_wxyz))

    def publish_target(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> None:
        """Tell everybody where a target frame is in the world; it is remembered for latecomers."""
        position, quat_wxyz, when = position.copy(), quat_wxyz.copy(), stamp(self._now())
        self._order(lambda: self._acting.publish_target(name, position, quat_wxyz, when))

    def remove_target(self, name: str) -> None:
        """Tell no more of a target frame."""
        self._order(lambda: self._acting.remove_target(name))

    # -- Controllers and cameras.

    def change_state(self, controller: str, transition: str) -> Request:
        """Have a controller, given by the full name of its node, take a transition."""
        return self._ask(
            f"{controller}: {transition}",
            lambda request: self._machines.change(controller, transition, request),
        )

    def watch(self, namespace: str, camera: str) -> None:
        """Ask for images of a camera of the robot with that namespace."""
        self._order(lambda: self._pictures.watch(namespace, camera))

    def unwatch(self, namespace: str, camera: str) -> None:
        """Ask for no more images of it."""
        self._order(lambda: self._pictures.unwatch(namespace, camera))

    def picture(self, namespace: str, camera: str) -> Thumbnail | None:
        """Return its newest image; None as long as there is none."""
        return self._pictures.newest.get((namespace, camera))

    # -- The link's own thread.

    def _ask(self, what: str, act: Callable[[Request], object]) -> Request:
        request = Request(what)
        self._asked.append(request)

        def asked() -> None:
            try:
                act(request)
            except Exception as error:
                request.settle(False, str(error) or repr(error))

        self._order(asked)
        return request

    def _order(self, order: Callable[[], object]) -> None:
        """Have something done in the link's thread."""
        self._orders.append(order)
        self._executor.wake()

    def _spin(self) -> None:
        while not self._ended.is_set() and self._context.ok():
            try:
                self._executor.spin_once(timeout_sec=REPEAT_S if self._acting.holds else _TICK_S)
            except Exception:  # would end the link, and the viewer would show it as if it were well
                _LOG.exception("the viewer's link has a fault, and goes on")
                self._ended.wait(_TICK_S)
            self._turn(time.monotonic())

    def _turn(self, now: float) -> None:
        """Do what was ordered, and what is due; `now` is monotonic [s]."""
        while self._orders:
            guarded(self._orders.popleft())()
        for part in (
            self._asker,
            self._parameters,
            self._running,
            self._acting,
            self._machines,
            self._pictures,
        ):
            guarded(part.tick)(now)
