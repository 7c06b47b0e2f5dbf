"""The node `mujoco_cameras`: cameras, lidars and contacts of a simulation in another process."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from rclpy.node import Node
from rclpy.subscription import Subscription
from std_msgs.msg import Empty, String

from mujoco_ros.bridge.diagnostics import report
from mujoco_ros.bridge.parameters.parameters import ParameterListener, Parameters
from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool
from mujoco_ros.cameras.ros.camera import QUALITY, CameraSource, SharedRenderer, needs_opengl
from mujoco_ros.cameras.ros.contact_markers import ContactSource
from mujoco_ros.cameras.ros.frame_scheduler import POLL_S, FrameScheduler
from mujoco_ros.cameras.ros.lidar import LidarSource
from mujoco_ros.cameras.ros.source import FrameSource
from mujoco_ros.rclpy_ext.endpoints import Endpoints, synchronize
from mujoco_ros.rclpy_ext.executor import create_wall_timer
from mujoco_ros.rendering.segmentation import Segmentation
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.wire.log_handler import forward_log
from mujoco_ros.wire.parameter_spec import ParameterSpec
from mujoco_ros.wire.qos import RELIABLE


class CameraDiagnostics:
    """Publishes a row for each frame source and one for the renderer, once a second."""

    def __init__(
        self,
        node: Node,
        sources: Callable[[], Sequence[FrameSource]],
        renderer: report.Row,
        now: Callable[[], float],
    ) -> None:
        """Start the timer; `now` returns the simulated time [s]."""
        self._sources, self._renderer, self._now = sources, renderer, now
        self._before = now()
        self._publisher = report.DiagnosticPublisher(node)
        self._timer = create_wall_timer(node, report.PERIOD_S, self.publish)

    def publish(self) -> None:
        """Publish the statistics since the last call."""
        now = self._now()
        elapsed, self._before = now - self._before, now
        rows: dict[str, report.Row] = {
            source.name: partial(source_row, source, elapsed) for source in self._sources()
        }
        self._publisher.publish(now, rows | {"drawing": self._renderer})


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


NAME = "mujoco_cameras"
_OPENING_S = 60.0  # timeout of opening all topics, on a busy machine


def camera_node(state: SharedState, backend: str, seed: int, subscribed: str) -> "CameraNode":
    """Return the node; OpenGL opens while the middleware discovers the subscription of a topic."""
    renderer = SharedRenderer(backend)
    node = CameraNode(state, renderer, seed)
    if needs_opengl(subscribed):
        renderer.get(state.model)
    return node


class CameraNode(Node, ParameterListener):
    """Publishes images, scans and contacts that have a subscription.

    It reads the state from shared memory, so the simulation never waits for it. `turn` and the
    executor run alternately in one thread.
    """

    failure: BaseException | None = None

    def __init__(self, state: SharedState, renderer: SharedRenderer, seed: int) -> None:
        """Open the topics of the current model."""
        state.beat(_OPENING_S)
        super().__init__(NAME)
        forward_log(self)
        self._state, self._seed = state, seed
        endpoints = Endpoints(self, POLL_S)
        self._pool = PublisherPool(endpoints)
        self._renderer = renderer
        self._specs: dict[str, ParameterSpec] = {}
        self._endpoints = endpoints
        self._triggers: dict[str, Subscription] = {}
        self._settings = Parameters(self)
        self._renderer.set_parameters(self._settings.declare([QUALITY]))
        self._scheduler = FrameScheduler(state, self._create_sources)
        self._settings.listeners.append(self)
        self._diagnostics = CameraDiagnostics(
            self,
            lambda: self._scheduler.sources,
            self._renderer.report,
            lambda: state.time,
        )

    @property
    def leaving(self) -> bool:
        """Whether the simulator has ended."""
        return self._state.ended

    def start(self) -> None:
        """Do nothing: there is no thread to start."""

    def stop(self) -> None:
        """Close the shared state."""
        self._state.close()

    def turn(self) -> float:
        """Publish at most one frame; return the wall time to wait until the next call [s]."""
        return self._scheduler.spin_once()

    def apply_parameters(self, values: Mapping[str, Any]) -> None:
        """Set parameters of the renderer and of the sources."""
        self._renderer.set_parameters(values)
        for source in self._scheduler.sources:
            source.set_parameters(values)

    def _create_sources(self) -> Sequence[FrameSource]:
        """Return the sources of the current model; parameters of the previous one keep values."""
        state, pool, seed = self._state, self._pool, self._seed
        model, layout = state.model, state.layout
        state.beat(_OPENING_S)
        segmentation = Segmentation(model)
        labels = {number: asdict(label) for number, label in segmentation.legend(layout).items()}
        legend = String(data=json.dumps(labels))
        sources: list[FrameSource] = [
            *(
                CameraSource(camera, segmentation, legend, pool, self._renderer, seed)
                for camera in layout.every_camera
            ),
            *(LidarSource(lidar, model, pool, seed) for lidar in layout.every_lidar),
            ContactSource(model, layout, pool),
        ]
        pool.close_others(p for source in sources for p in (*source.publishers, *source.latched))
        specs = {spec.name: spec for source in sources for spec in source.specs()}
        self._settings.withdraw([n for n, spec in self._specs.items() if specs.get(n) != spec])
        new = [spec for name, spec in specs.items() if name not in self._settings.names]
        # An invalid value for one camera does not affect the others.
        self._settings.declare(new, self._settings.initial(new, strict=False))
        self._specs = specs
        for source in sources:
            source.set_parameters(self._settings.values)
        triggered = {source.trigger: source for source in sources if source.trigger}
        synchronize(self._triggers, triggered, self._open_trigger, self._endpoints.close)
        return sources

    def _open_trigger(self, topic: str, _source: FrameSource) -> Subscription:
        return self._endpoints.subscription(Empty, topic, partial(self._trigger, topic), RELIABLE)

    def _trigger(self, topic: str, _message: Empty) -> None:
        for source in self._scheduler.sources:
            source.triggered = source.triggered or source.trigger == topic
