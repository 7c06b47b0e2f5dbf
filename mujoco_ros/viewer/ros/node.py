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
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.clients import LogLine
from mujoco_ros.viewer.ros.commands import (
    REPEAT_S,
    CommandPublisher,
    StateSetter,
    VelocityPublisher,
)
from mujoco_ros.viewer.ros.declared_panels import DeclaredPanels
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
    """The node ``mujoco_viewer`` and the clients of a simulator that may start or restart later."""

    def __init__(
        self,
        simulator: str,
        arguments: Sequence[str] = (),
        *,
        now: Callable[[], float],
    ) -> None:
        """Create the node.

        Args:
            simulator: Full name of the simulator's node.
            arguments: Command-line arguments for ROS.
            now: Returns the simulated time of target poses [s].

        Raises:
            UserInputError: ROS rejects the arguments.
        """
        self._context = Context()
        try:
            rclpy.init(args=list(arguments), context=self._context)
            namespace = simulator.rpartition("/")[0]
            self.node = Node("mujoco_viewer", context=self._context, namespace=namespace)
        except Exception as error:  # rclpy has no narrower type for wrong --ros-args
            raise UserInputError(f"ROS 2 cannot start: {type(error).__name__}: {error}") from error
        endpoints, caller = Endpoints(self.node), ServiceCaller(self.node)
        self._requests = requests = Requests(self.node)
        parameters = SimulatorParameters(caller, requests, endpoints, simulator)
        run_state = RunStateClient(caller, requests, parameters)
        machines = StateMachines(self.node, caller, requests, endpoints)
        images = ThumbnailSubscriber(endpoints)
        self._markers = markers = MarkerServers(caller, requests, endpoints)
        drawings = DrawnTopics(endpoints, now, markers)
        self._velocities = velocities = VelocityPublisher(requests, endpoints, now)
        fields, panel_fields = FieldSubscriber(endpoints, now), FieldSubscriber(endpoints, now)
        declared = DeclaredPanels(caller, requests, endpoints, parameters)
        setter = StateSetter(self.node, caller, requests, parameters)
        self._commands = CommandPublisher(requests, endpoints, now, setter)
        inputs = (images, drawings, markers, velocities, fields, declared, panel_fields)
        ticking = (caller, parameters, run_state, self._commands, machines, *inputs)
        self._ticks = [guarded(client.tick) for client in ticking]
        # The clients that panels use
        self.clients = Clients(
            simulation=run_state,
            parameters=parameters,
            commands=self._commands,
            controllers=machines,
            entities=EntityRequests(run_state, setter),
            images=images,
            drawings=drawings,
            markers=markers,
            velocities=velocities,
            fields=fields,
            panels=declared,
            panel_fields=panel_fields,
            log=RosoutSubscriber(endpoints).after,
            latest_request=lambda: requests.latest,
        )
        self._executor = Executor(context=self._context)
        self._executor.add_node(self.node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._spin, name="viewer node", daemon=True)

    def note_image_age(self, seconds: float) -> None:
        """Record the age of the displayed image [s], for requests on an old one."""
        self._requests.note_image_age(seconds)

    def start(self) -> None:
        """Start the executor's thread."""
        self._thread.start()

    def close(self) -> None:
        """End the pull and shut the node down."""
        if self._thread.is_alive():
            self._commands.release()
            self._velocities.stop_all()
            later(self.node, self._markers.close)
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
                    self._commands.is_pulling
                    or self._markers.is_sending
                    or self._velocities.is_driving
                )
                self._executor.spin_once(timeout_sec=REPEAT_S if is_sending else _TICK_S)
            except Exception:  # would end the thread, and the panels would show outdated data
                _LOG.exception("the viewer's executor failed and continues")
                self._ended.wait(_TICK_S)
            now = time.monotonic()
            for tick in self._ticks:
                tick(now)
