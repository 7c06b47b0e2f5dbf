"""The camera process: the frames of cameras, lidars and contacts of a simulation, and their node.

The parameters, the triggers and the diagnostics of the frames belong to the simulator's node.
"""

import time
from collections.abc import Sequence
from multiprocessing.connection import Connection

from rclpy.node import Node

from mujoco_ros.bridge.diagnostics import report
from mujoco_ros.cameras.ros.camera import CameraSource, SharedRenderer
from mujoco_ros.cameras.ros.contact_markers import ContactSource
from mujoco_ros.cameras.ros.demand import NAME, Demand
from mujoco_ros.cameras.ros.frame_publishers import FramePublishers
from mujoco_ros.cameras.ros.frame_scheduler import FrameScheduler
from mujoco_ros.cameras.ros.lidar import LidarSource
from mujoco_ros.cameras.ros.source import FrameSource
from mujoco_ros.process.memory import release_file_pages
from mujoco_ros.rendering.segmentation import Segmentation
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.wire.log_handler import forward_log


def source_row(source: FrameSource, elapsed: float) -> report.DiagnosticReport:
    """Return the row of a source, `elapsed` [s] after its last one; its statistics begin again."""
    frames, mean_s, longest_s = source.statistics.take_latest()
    rate, achieved = source.schedule.rate, frames / elapsed if elapsed > 0 else 0.0
    level, text = report.OK, f"{achieved:.1f} of {rate:g} Hz"
    if not rate:
        text = "off: its rate is 0"
    elif not source.subscriptions:
        text = "no subscriptions"
    elif source.failure:
        level, text = report.ERROR, source.failure
    elif source.warning:
        level, text = report.WARN, source.warning
    values = {
        "asked [Hz]": f"{rate:g}",
        "achieved [Hz]": f"{achieved:.1f}",
        "subscriptions": str(source.subscriptions),
        "frames": str(source.statistics.total),
        **{f"frames: {product}": str(source.counts[product]) for product in source.products},
        "due to published, mean [ms]": f"{1e3 * mean_s:.1f}",
        "due to published, longest [ms]": f"{1e3 * longest_s:.1f}",
        "lost messages": str(sum(publisher.lost for publisher in source.publishers)),
    }
    if source.delivery is not None:
        values["lost in delivery"] = str(source.delivery.lost)
    return report.DiagnosticReport(text, values, level=level)


_OPENING_S = 60.0  # timeout of opening all topics, on a busy machine
_FIRST_S = 1.0  # longest time for the first frames before there is a node


class FrameProcess:
    """Computes the frames that have a subscription.

    It reads the state from shared memory, so the simulation never waits for it.
    """

    def __init__(self, state: SharedState, connection: Connection, backend: str, seed: int) -> None:
        """Prepare the frames of the current model; `connection` is to the simulator's node."""
        self._state, self._connection, self._seed = state, connection, seed
        self.ended = False  # whether the simulator has ended
        self.publishers = FramePublishers(connection)
        self._renderer = SharedRenderer(backend)
        self._demand = Demand({}, {}, {})
        self._follow(connection.recv())
        self._scheduler = FrameScheduler(state, self._create_sources)
        self._reported_at, self._reported_time, self._untried = time.monotonic(), state.time, 0

    def compute_first(self) -> None:
        """Compute the first frame of each subscription."""
        end = time.monotonic() + _FIRST_S
        while any(source.is_new for source in self._scheduler.sources):
            self.turn()
            if self.ended or time.monotonic() > end:
                break

    def turn(self) -> None:
        """Compute at most one frame, or wait until one may be due or another thing is wanted."""
        wait = self._scheduler.spin_once()
        self._report()
        try:
            if self._connection.poll(wait):
                self._follow(self._connection.recv())
        except (EOFError, OSError):
            self.ended = True
        self.ended = self.ended or self._state.ended

    def close(self) -> None:
        """Close the shared state."""
        self._state.close()

    def _follow(self, demand: Demand) -> None:
        """Compute what is wanted from now on."""
        before, self._demand = self._demand, demand
        self.publishers.follow(demand.topics)
        changed = {n: v for n, v in demand.values.items() if before.values.get(n) != v}
        self._renderer.set_parameters(changed)
        for source in self._scheduler.sources if before.values else ():
            if changed:
                source.set_parameters(changed)
            requested = demand.triggers.get(source.name, 0) > before.triggers.get(source.name, 0)
            source.triggered = source.triggered or requested

    def _create_sources(self) -> Sequence[FrameSource]:
        """Return the sources of the current model."""
        state, publishers, seed = self._state, self.publishers, self._seed
        model, layout = state.model, state.layout
        state.beat(_OPENING_S)
        segmentation = Segmentation(model)
        sources: list[FrameSource] = [
            *(
                CameraSource(camera, segmentation, publishers, self._renderer, seed)
                for camera in layout.every_camera
            ),
            *(LidarSource(lidar, model, publishers, seed) for lidar in layout.every_lidar),
            ContactSource(model, layout, publishers),
        ]
        publishers.close_others(each for source in sources for each in source.publishers)
        for source in sources:
            source.set_parameters(self._demand.values)
        return sources

    def _report(self) -> None:
        """Send the rows of /diagnostics, once a second."""
        now, simulated = time.monotonic(), self._state.time
        if now - self._reported_at < report.PERIOD_S:
            return
        elapsed = simulated - self._reported_time
        self._reported_at, self._reported_time = now, simulated
        untried = sum(len(source.untried) for source in self._scheduler.sources)
        if untried != self._untried:  # the driver has compiled for the others
            self._untried = untried
            release_file_pages()
        rows = {source.name: source_row(source, elapsed) for source in self._scheduler.sources}
        self._connection.send(rows | {"drawing": self._renderer.report()})


class CameraNode(Node):
    """The node of the camera process, which has publishers alone.

    `turn` and the executor run alternately in one thread.
    """

    failure: BaseException | None = None

    def __init__(self, process: FrameProcess, namespace: str) -> None:
        """Create the node in the simulator's namespace; that has remapped the topics."""
        super().__init__(
            NAME,
            namespace=namespace,
            use_global_arguments=False,
            start_parameter_services=False,
        )
        forward_log(self)
        self._process = process
        process.publishers.attach(self)

    @property
    def leaving(self) -> bool:
        """Whether the simulator has ended."""
        return self._process.ended

    def start(self) -> None:
        """Do nothing: there is no thread to start."""

    def stop(self) -> None:
        """Close the shared state."""
        self._process.close()

    def turn(self) -> float:
        """Compute at most one frame; return the wall time to wait until the next call [s]."""
        self._process.turn()
        return 0.0
