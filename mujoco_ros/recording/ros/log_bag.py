"""The topics of the simulator as a bag, made from a state log without a running node."""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.publishing.contact_states import ContactStates
from mujoco_ros.bridge.publishing.template_publisher import Batch, SerializedTopic
from mujoco_ros.bridge.publishing.topic_plan import TopicPlan
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.bridge.publishing.topics import CONTACTS, clock_topic
from mujoco_ros.bridge.tf.robot_frames import plan_frames
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.scene.config import RATES
from mujoco_ros.recording.bag_file import TopicFile
from mujoco_ros.recording.metadata import Metadata, RecordedTopic
from mujoco_ros.recording.ros.bag import as_rosbag2
from mujoco_ros.sim.state.playback import Playback
from mujoco_ros.wire.conversions import split
from mujoco_ros.wire.names import ros_distribution
from mujoco_ros.wire.parameter_spec import WrenchSign
from mujoco_ros.wire.qos import LATCHED

_COMPRESSION = "zstd"
_MOST_LISTED = 10  # most resets or runs in an error message


class _Messages:
    """Writes messages into one file of a bag, at the simulated time."""

    def __init__(self, file: BinaryIO, name: str, namespace: str) -> None:
        self._namespace = namespace
        self._metadata = Metadata(distribution=ros_distribution())
        self.file = TopicFile(Path(name), self._metadata, _COMPRESSION, os.dup(file.fileno()))
        self.time = 0
        """Time of the next messages [ns]."""

    def publisher(self, topic: str, message: Any, qos: QoSProfile) -> TopicPublisher:
        """Return what writes serialized messages of the type of `message`."""
        name = topic if topic.startswith("/") else f"{self._namespace.rstrip('/')}/{topic}"
        kind = type(message)
        package = kind.__module__.partition(".")[0]
        recorded = RecordedTopic(
            name=name,
            kind=f"{package}/msg/{kind.__name__}",
            type_hash="",
            qos=[as_rosbag2(qos)],
        )
        self._metadata.topics[name] = recorded
        publisher = TopicPublisher(name)
        publisher.publish = lambda data: self.file.add(
            recorded, self.time, self.time, recorded.count, data
        )
        publisher.subscriptions = 1
        return publisher


def rows_of_run(times: np.ndarray, rows: np.ndarray, run: int | None) -> np.ndarray:
    """Return the rows (m,) of one run; a run ends where the time (n,) jumps back, by a reset."""
    resets = np.flatnonzero(np.diff(times) < 0.0)
    runs = np.searchsorted(resets, rows, side="left")
    present = np.unique(runs).tolist()
    if run is None and len(present) > 1:
        at = _listed(f"{times[row]:g} s" for row in resets[present[0] : present[-1]])
        raise UserInputError(
            f"a bag has one run, but the span has resets, at {at}; choose one of the runs "
            f"{_listed(present)} by --run, or a span of one by --start and --end"
        )
    if run is not None and run not in present:
        raise UserInputError(f"the span has no run {run}, but {_listed(present)}")
    return rows if run is None else rows[runs == run]


def _listed(items: Iterable[object]) -> str:
    texts = [str(item) for item in items]
    return ", ".join([*texts[:_MOST_LISTED], *(["…"] if len(texts) > _MOST_LISTED else [])])


def write_bag(
    file: BinaryIO,
    playback: Playback,
    rows: np.ndarray,
    *,
    name: str,
    namespace: str,
    wrench_sign: WrenchSign,
    on_row: Callable[[], object],
) -> None:
    """Write the topics of the simulator at rows (n,) of a log, as one MCAP file of rosbag2.

    These are all topics with a rate, /clock, /tf with every link, and robot_description. The rows
    are of the first segment, without a reset between them.
    """
    messages = _Messages(file, name, namespace)
    try:
        _write(messages, playback, rows, wrench_sign, on_row)
        messages.file.complete()
    except BaseException:
        messages.file.abandon()
        raise


def _write(
    messages: _Messages,
    playback: Playback,
    rows: np.ndarray,
    wrench_sign: WrenchSign,
    on_row: Callable[[], object],
) -> None:
    plant = playback.plant
    described = descriptions(plant.assembly, plant.layout)
    frames = plan_frames(plant.model, plant.layout, "all", described)
    plan = TopicPlan(plant, lambda: playback.time, frames, wrench_sign, controllers=True)
    topics = [content for content in plan.contents if plan.rate(content.topic, RATES)]
    clock = SerializedTopic(clock_topic())
    opened = {
        messages.publisher(one.topic.name, one.topic.message, one.topic.qos): one
        for one in (clock, *topics)
    }
    batches = _batches(plan, opened)
    updates = plan.updates(topics)
    latched = {
        in_namespace(robot.namespace, "robot_description"): String(data=robot.urdf)
        for robot in described
    } | {"/tf_static": TFMessage(transforms=frames.static)}
    send_latched = [
        partial(messages.publisher(topic, message, LATCHED).publish, serialize_message(message))
        for topic, message in latched.items()
    ]
    wanted = set(rows.tolist())
    for row in range(int(rows[-1]) + 1):
        playback.step()
        if row not in wanted:
            continue
        on_row()
        time = playback.time
        messages.time = round(1e9 * time)
        for send in send_latched:
            send()
        send_latched.clear()
        for update in updates:
            update()
        for batch in batches:
            batch.publish(*split(time))


def _batches(
    plan: TopicPlan, opened: Mapping[TopicPublisher, SerializedTopic]
) -> list[Batch | ContactStates]:
    contacts = [each for each, content in opened.items() if content.topic.rate == CONTACTS]
    fixed = {each: content for each, content in opened.items() if each not in contacts}
    states = [plan.contact_states(opened[each].topic, each) for each in contacts]
    return [Batch(fixed, plan.arrays), *states]
