"""The viewer's ROS node, spun in a thread of its own."""

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count

import rclpy
from rcl_interfaces.msg import Log
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import Executor, guarded, later
from mujoco_ros.viewer.clients import LogLine, Request
from mujoco_ros.viewer.ros import commands
from mujoco_ros.viewer.ros.declared_panels import DeclaredPanels
from mujoco_ros.viewer.ros.diagnostic_rows import DiagnosticRows
from mujoco_ros.viewer.ros.drawn_topics import DrawnTopics
from mujoco_ros.viewer.ros.field_subscriber import FieldSubscriber
from mujoco_ros.viewer.ros.interactive_markers.marker_servers import MarkerServers
from mujoco_ros.viewer.ros.requests import Requests
from mujoco_ros.viewer.ros.run_state import EntityRequests, RunStateClient
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters
from mujoco_ros.viewer.ros.state_machines import StateMachines
from mujoco_ros.viewer.ros.thumbnails import ThumbnailSubscriber
from mujoco_ros.wire.service_caller import ServiceCaller

_LOG = logging.getLogger(__name__)

_CAPACITY = 1000
_QOS = QoSProfile(
    depth=200,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""As nodes offer /rosout: messages from before the subscription arrive too."""


class RosoutSubscriber:
    """Buffers the latest messages: written in the executor's thread, read in any thread."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._lines: deque[LogLine] = deque(maxlen=_CAPACITY)
        self._numbers = count(1)
        endpoints.subscription(Log, "/rosout", self._append, _QOS)

    def after(self, number: int) -> tuple[LogLine, ...]:
        """Return the lines with sequence numbers above `number`, oldest first."""
        lines = tuple(self._lines)  # one atomic copy, because the executor's thread appends
        count = lines[-1].number - number if lines else 0
        return lines[-count:] if count > 0 else ()

    def _append(self, message: Log) -> None:
        self._lines.append(
            LogLine(
                number=next(self._numbers),
                time=message.stamp.sec + message.stamp.nanosec * 1e-9,
                level=message.level,
                node=message.name,
                text=message.msg,
            )
        )


_TICK_S = 0.1
_SHUTDOWN_S = 2.0


class ViewerNode:
    """The node ``mujoco_viewer``: the clients of a simulator, which may start again.

    Calls of the clients never block, and any thread may send requests and commands.
    """

    def __init__(
        self,
        simulator: str,
        arguments: Sequence[str] = (),
        *,
        now: Callable[[], float],
    ) -> None:
        """Create the node; `arguments` are for ROS, `now` returns the time of target poses [s]."""
        self._context = Context()
        try:
            rclpy.init(args=list(arguments), context=self._context)
            namespace = simulator.rpartition("/")[0]
            self.node = Node("mujoco_viewer", context=self._context, namespace=namespace)
        except Exception as error:  # rclpy has no narrower type for wrong --ros-args
            raise UserInputError(f"ROS 2 cannot start: {type(error).__name__}: {error}") from error
        endpoints, caller = Endpoints(self.node), ServiceCaller(self.node)
        self._requests = requests = Requests(self.node)
        self.parameters = parameters = SimulatorParameters(caller, requests, endpoints, simulator)
        setter = commands.StateSetter(self.node, requests, parameters)
        self.simulation = RunStateClient(caller, requests, parameters)
        self.entities = EntityRequests(self.simulation, setter)
        self.commands = commands.CommandPublisher(requests, endpoints, now, setter)
        self.velocities = commands.VelocityPublisher(requests, endpoints, now)
        self.controllers = StateMachines(self.node, caller, requests, endpoints)
        self.images = ThumbnailSubscriber(endpoints)
        self.markers = MarkerServers(caller, requests, endpoints)
        self.drawings = DrawnTopics(endpoints, now, self.markers)
        self.fields = FieldSubscriber(endpoints, now)  # of the panel Plots
        self.panels = DeclaredPanels(caller, requests, endpoints, parameters)
        self.panel_fields = FieldSubscriber(endpoints, now)  # of the plots of declared panels
        self.diagnostics = DiagnosticRows(endpoints, simulator)
        self.log = RosoutSubscriber(endpoints).after  # see there
        commanding = (self.simulation, self.commands, self.velocities, self.controllers)
        receiving = (self.images, self.markers, self.drawings, self.fields, self.panel_fields)
        ticking = (caller, parameters, *commanding, *receiving, self.panels)
        self._ticks = [guarded(client.tick) for client in ticking]
        self._executor = Executor(context=self._context)
        self._executor.add_node(self.node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._spin, name="viewer node", daemon=True)

    def latest_request(self) -> Request | None:
        """Return the latest request of any client."""
        return self._requests.latest

    def note_image_age(self, seconds: float) -> None:
        """Record the age of what the page with control shows [s]."""
        self._requests.note_image_age(seconds)

    def start(self) -> None:
        """Spin in a thread."""
        self._thread.start()

    def close(self) -> None:
        """End the pull and shut the node down."""
        if self._thread.is_alive():
            self.commands.release()
            self.velocities.stop_all()
            later(self.node, self.markers.close)
            later(self.node, self._ended.set)
            self._thread.join(_SHUTDOWN_S)
        self._executor.shutdown()
        self.node.destroy_node()
        with contextlib.suppress(Exception):  # shut down already
            rclpy.shutdown(context=self._context)

    def _spin(self) -> None:
        while not self._ended.is_set() and self._context.ok():
            try:
                is_sending = (
                    self.commands.is_pulling
                    or self.markers.is_sending
                    or self.velocities.is_driving
                )
                self._executor.spin_once(timeout_sec=commands.REPEAT_S if is_sending else _TICK_S)
            except Exception:  # would end the thread, and the panels would show outdated data
                _LOG.exception("the viewer's executor failed and continues")
                self._ended.wait(_TICK_S)
            now = time.monotonic()
            for tick in self._ticks:
                tick(now)
