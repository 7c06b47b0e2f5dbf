"""RViz configurations of a scene, from a template whose displays are repeated for each topic."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mujoco_ros.bridge.publishing.topics import robot_topics
from mujoco_ros.model.naming import in_namespace, topic_token
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS, SensorKind

Config = dict[str, Any]

_SENSORS = "{sensors}"
KINDS = frozenset({"robot_description", "odom", "camera", "scan", "points"}) | {
    kind.key for kind in SENSOR_KINDS
}
"""Kinds of topics that have a placeholder."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RvizTopics:
    """A topic that a display can show."""

    kind: str  # the placeholder of its topic: ``wrench``, ``camera``, …
    topic: str  # the topic; for a camera, the beginning of its topics
    name: str  # name of the sensor or robot
    robot: str = ""  # namespace of its robot if there are several; empty for the scene
    prefix: str = ""  # TF prefix of its robot without the slash at the end, as RViz writes it


def displayable_topics(layout: ModelLayout) -> Iterator[RvizTopics]:
    """Yield the topics of a scene that displays can show."""
    for robot in layout.robots:
        of_robot = {"robot": robot.namespace, "prefix": robot.frame_prefix.rstrip("/")}
        description = "/" + in_namespace(robot.namespace, "robot_description")
        yield RvizTopics(kind="robot_description", topic=description, name=robot.name, **of_robot)
        for topic in robot_topics(0, robot, 0, "child_on_parent"):
            if topic.rate in KINDS:
                name = topic.name.rpartition("/")[2]
                yield RvizTopics(kind=topic.rate, topic=f"/{topic.name}", name=name, **of_robot)
    for camera in layout.every_camera:
        yield RvizTopics(
            kind="camera",
            topic="/" + in_namespace(camera.namespace, "camera", topic_token(camera.name)),
            name=camera.name,
            robot=camera.namespace,
        )
    for lidar in layout.every_lidar:
        yield RvizTopics(
            kind="scan" if lidar.is_scan else "points",
            topic=f"/{lidar.topic}",
            name=lidar.name,
            robot=lidar.namespace,
        )


def filled(template: Config, layout: ModelLayout) -> Config:
    """Return a configuration with its placeholders replaced for a scene.

    A display with a placeholder of `KINDS`, such as ``{odom}`` or ``{camera}``, is repeated for
    each such topic, and left out if there is none. In it, ``{name}`` is the name of the sensor or
    robot, ``{prefix}`` the robot's TF prefix, and ``{first}`` is true for the first of its kind.
    A display of the class ``{sensors}`` stands for the displays of all kinds of sensors. Displays
    of several robots are grouped by robot. Other displays stay as they are. As the fixed frame,
    ``{world}`` is ``world``, or where the odometry begins if wheels place all robots.
    """
    manager = template.get("Visualization Manager") or {}
    everything = list(displayable_topics(layout))
    plain: list[Config] = []
    groups: dict[str, list[Config]] = {}
    for display in _with_sensors(manager.get("Displays") or ()):
        kind = next((kind for kind in KINDS if _mentions(display, f"{{{kind}}}")), None)
        if kind is None:
            plain.append(display)
            continue
        entries = [entry for entry in everything if entry.kind == kind]
        for entry in entries:
            texts = {f"{{{kind}}}": entry.topic, "{name}": entry.name, "{prefix}": entry.prefix}
            made = _replaced(display, texts, first=entry is entries[0])
            (groups.setdefault(entry.robot, []) if entry.robot else plain).append(made)
    displays = plain + [
        {"Class": "rviz_common/Group", "Name": robot, "Enabled": True, "Displays": content}
        for robot, content in groups.items()
    ]
    made = {**manager, "Displays": displays}
    if "Global Options" in manager:
        texts = {"{world}": _fixed_frame(layout)}
        made["Global Options"] = _replaced(manager["Global Options"], texts, first=False)
    return {**template, "Visualization Manager": made}


def _fixed_frame(layout: ModelLayout) -> str:
    """Return the frame that TF has at the root: that of the first robot if none is in the world."""
    frames = []
    for robot in layout.robots:
        parameters = {} if robot.drive is None else robot.drive.parameters
        if robot.drive is None or not parameters.get("enable_odom_tf", True):
            return "world"
        frames.append(f"{robot.frame_prefix}{parameters.get('odom_frame_id', 'odom')}")
    return frames[0] if frames else "world"


def _with_sensors(displays: Iterable[Config]) -> Iterator[Config]:
    """Yield displays; ``{sensors}`` is replaced by a display for each kind of sensor."""
    for display in displays:
        if display.get("Class") == _SENSORS:
            yield from (_sensor_display(kind) for kind in SENSOR_KINDS if kind.display)
        else:
            yield display


def _sensor_display(kind: SensorKind) -> Config:
    properties = kind.display or {}
    return {
        **properties,
        "Enabled": True,
        "Name": f"{properties['Class'].rpartition('/')[2]} {{name}}",
        "Topic": {
            "Depth": 5,
            "Durability Policy": "Volatile",
            "Filter size": 10,
            "History Policy": "Keep Last",
            "Reliability Policy": "Best Effort",
            "Value": f"{{{kind.key}}}",
        },
        "Value": True,
    }


def _mentions(value: Any, placeholder: str) -> bool:
    if isinstance(value, Mapping):
        return any(_mentions(entry, placeholder) for entry in value.values())
    return isinstance(value, str) and placeholder in value


def _replaced(value: Any, texts: Mapping[str, str], *, first: bool) -> Any:
    if isinstance(value, Mapping):
        return {key: _replaced(entry, texts, first=first) for key, entry in value.items()}
    if value == "{first}":
        return first
    if isinstance(value, str):
        for placeholder, text in texts.items():
            value = value.replace(placeholder, text)
    return value
