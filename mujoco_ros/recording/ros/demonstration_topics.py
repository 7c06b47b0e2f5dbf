"""The topics that a demonstration needs, and the values of their messages."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cv_bridge import CvBridge, CvBridgeError
from sensor_msgs.msg import Image, JointState

from mujoco_ros.model.errors import UserInputError, unknown

_STATES, _REFERENCES = "joint_states", "joint_references"
_ACTUATORS = "actuator_controller/actuators"
_RESETS = "reset_event"
_DESCRIPTION = "robot_description"
_CAMERA = re.compile(r"/(?:(?P<namespace>.+)/)?camera/(?P<name>[^/]+)/image_raw")
_JOINT_STATE = "sensor_msgs/msg/JointState"
_TYPES = {
    _STATES: _JOINT_STATE,
    _REFERENCES: _JOINT_STATE,
    _ACTUATORS: _JOINT_STATE,
    _RESETS: "std_msgs/msg/Header",
    _DESCRIPTION: "std_msgs/msg/String",
}
_IMAGE = "sensor_msgs/msg/Image"
_NAME = re.compile(r"<robot\b[^>]*\bname\s*=\s*[\"']([^\"']+)")


def is_reset(topic: str) -> bool:
    """Return whether a topic has the resets of a simulation."""
    return topic.endswith(f"/{_RESETS}")


def is_description(topic: str) -> bool:
    """Return whether a topic has the description of a robot without a namespace."""
    return topic == f"/{_DESCRIPTION}"


def is_valid(topic: str, kind: str) -> bool:
    """Return whether the messages of a topic have the type that its name suggests."""
    end = next((name for name in _TYPES if topic.endswith(f"/{name}")), None)
    return kind == (_IMAGE if end is None else _TYPES[end])


def described_name(description: str) -> str:
    """Return the name of a robot in its description; empty without one."""
    found = _NAME.search(description)
    return "" if found is None else found[1]


def selection(cameras: Sequence[str] | None) -> re.Pattern[str]:
    """Return what the names of the topics match that are needed for some cameras, or for all."""
    topics = [rf"/(?:.+/)?{name}" for name in _TYPES]
    if cameras is None:
        topics.append(_CAMERA.pattern.replace("?P<namespace>", "?:").replace("?P<name>", "?:"))
    else:
        topics += [re.escape(_image_topic(camera)) for camera in cameras]
    return re.compile(rf"(?!.*/ground_truth/)(?:{'|'.join(topics)})")


def _image_topic(camera: str) -> str:
    *namespace, name = camera.split(".")
    return "/" + "/".join((*namespace, "camera", name, "image_raw"))


@dataclass(frozen=True, kw_only=True)
class DemonstrationTopics:
    """Joint states and position commands in force by namespace, with dots, and images by camera."""

    states: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)

    @property
    def all(self) -> tuple[str, ...]:
        """All topics."""
        return *self.states.values(), *self.commands.values(), *self.images.values()


def find_topics(found: Iterable[str], cameras: Sequence[str] | None) -> DemonstrationTopics:
    """Return the topics of a demonstration among those found, with some cameras or all."""
    topics = sorted(found)
    images = {}
    for topic in topics:
        if match := _CAMERA.fullmatch(topic):
            namespace = (match["namespace"] or "").replace("/", ".")
            images[".".join(filter(None, (namespace, match["name"])))] = topic
    for name in cameras or ():
        if name not in images:
            raise unknown("camera", name, images, where="topics of images")
    if cameras is None and not images:
        raise UserInputError("there are no topics of cameras yet; --cameras none does without")
    prefixes = [
        topic.removesuffix(_REFERENCES) for topic in topics if topic.endswith(f"/{_REFERENCES}")
    ]
    if not prefixes:
        raise UserInputError(
            f"there is no topic '{_REFERENCES}', which has the commands in force of all sources; "
            "it is published by a running simulator"
        )
    for prefix in prefixes:
        if f"{prefix}{_STATES}" not in topics:
            raise UserInputError(f"there is '{prefix}{_REFERENCES}', but no '{prefix}{_STATES}'")
        if f"{prefix}{_ACTUATORS}" in topics:
            raise UserInputError(
                f"'{prefix}{_ACTUATORS}' lists actuators without a joint, such as muscles; the "
                "actions of a dataset are positions of joints and grippers"
            )
    robots = {prefix.strip("/").replace("/", "."): prefix for prefix in prefixes}
    return DemonstrationTopics(
        states={name: prefix + _STATES for name, prefix in robots.items()},
        commands={name: prefix + _REFERENCES for name, prefix in robots.items()},
        images=images if cameras is None else {name: images[name] for name in cameras},
    )


class TopicValues:
    """Values of the messages of topics, which keep their joints and their size."""

    def __init__(self, topics: DemonstrationTopics) -> None:
        """Read messages of these topics."""
        # Names of the joints by topic, of those that have had a message
        self.joints: dict[str, tuple[str, ...]] = {}
        self.topics = frozenset(topics.all)  # the topics
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._bridge = CvBridge()
        self._values: dict[str, Callable[[str, Any], np.ndarray]] = {
            **dict.fromkeys(topics.states.values(), self._state),
            **dict.fromkeys(topics.commands.values(), self._command),
            **dict.fromkeys(topics.images.values(), self._image),
        }

    def read(self, topic: str, message: Any) -> np.ndarray:
        """Return positions and velocities (2, n), position commands (n,) or colours (h, w, 3)."""
        values = self._values[topic](topic, message)
        if values.shape != self._shapes.setdefault(topic, values.shape):
            before = self._shapes[topic]
            raise UserInputError(f"'{topic}' has the size {values.shape}, and had {before} before")
        return values

    def _state(self, topic: str, message: JointState) -> np.ndarray:
        values, missing = self._of_joints(
            topic, message, (message.position, message.velocity), "position and velocity"
        )
        if missing:
            raise UserInputError(f"'{topic}' has no finite position and velocity of '{missing}'")
        return values

    def _command(self, topic: str, message: JointState) -> np.ndarray:
        values, missing = self._of_joints(topic, message, (message.position,), "position command")
        if missing:
            raise UserInputError(
                f"'{topic}' has no position command of '{missing}': it follows a velocity or an "
                "effort alone; the actions of a dataset are positions"
            )
        return np.asarray(values[0])

    def _of_joints(
        self, topic: str, message: JointState, rows: Sequence[Sequence[float]], what: str
    ) -> tuple[np.ndarray, str]:
        """Return values of all joints, and the first joint that has no finite one."""
        names = tuple(message.name)
        if names != self.joints.setdefault(topic, names):
            raise UserInputError(f"the joints of '{topic}' have changed")
        if any(len(row) != len(names) for row in rows):
            raise UserInputError(f"'{topic}' has no {what} of each joint")
        values = np.array(rows)
        wrong = ~np.isfinite(values)
        return values, names[int(np.argwhere(wrong)[0][1])] if wrong.any() else ""

    def _image(self, topic: str, message: Image) -> np.ndarray:
        try:
            return np.asarray(self._bridge.imgmsg_to_cv2(message, "rgb8"))
        except (CvBridgeError, ValueError) as error:  # the first is a TypeError
            raise UserInputError(f"'{topic}' has no image in colours: {error}") from error
