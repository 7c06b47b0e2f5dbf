"""RViz configurations that show a whole scene: displays repeated for each topic there is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mujoco_ros.bridge.publishing.topics import robot_topics
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout

Config = dict[str, Any]

KINDS = frozenset({"robot_description", "odom", "wrench", "contact", "camera", "scan", "points"})
"""What displays can be repeated for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RvizTopics:
    """Something that a display can show.

    Attributes:
        kind: The placeholder that stands for its topic: ``wrench``, ``camera``, …
        topic: The topic, or for a camera what its topics begin with.
        name: What to call the display of it.
        robot: Its robot's name if there are several; empty for what is of none.
        prefix: That of its robot's TF frames, as RViz has it: without the slash at the end.
    """

    kind: str
    topic: str
    name: str
    robot: str = ""
    prefix: str = ""


def shown(layout: ModelLayout) -> Iterator[RvizTopics]:
    """Yield all that a scene has for RViz to show."""
    for robot in layout.robots:
        of_robot = {"robot": robot.namespace, "prefix": robot.frame_prefix.rstrip("/")}
        description = "/" + within(robot.namespace, "robot_description")
        yield RvizTopics(kind="robot_description", topic=description, name=robot.name, **of_robot)
        for rate, topic in _published(robot):
            name = topic.rpartition("/")[2]
            yield RvizTopics(kind=rate, topic=topic, name=name, **of_robot)
    for camera in layout.every_camera:
        yield RvizTopics(
            kind="camera",
            topic="/" + within(camera.namespace, "camera", topic_token(camera.name)),
            name=camera.name,
            robot=camera.namespace,
        )
    for lidar in layout.every_lidar:
        kind = "scan" if lidar.rows == 1 else "points"
        yield RvizTopics(
            kind=kind,
            topic="/" + within(lidar.namespace, "lidar", topic_token(lidar.name), kind),
            name=lidar.name,
            robot=lidar.namespace,
        )


def filled(template: Config, layout: ModelLayout) -> Config:
    """Return a configuration with its placeholders filled in for a scene.

    A display with ``{robot_description}``, ``{odom}``, ``{wrench}``, ``{contact}``, ``{camera}``,
    ``{scan}`` or ``{points}`` in a text is repeated for each such topic, and left out if there is
    none. In it, ``{name}`` is the name of what is shown, ``{prefix}`` the robot's TF prefix, and
    ``{first}`` is true for the first of its kind. Displays of several robots are grouped by robot.
    Others stay as they are, and so does a configuration without any placeholder.
    """
    manager = template.get("Visualization Manager") or {}
    everything = list(shown(layout))
    plain: list[Config] = []
    groups: dict[str, list[Config]] = {}
    for display in manager.get("Displays") or ():
        kind = next((kind for kind in KINDS if _mentions(display, f"{{{kind}}}")), None)
        if kind is None:
            plain.append(display)
            continue
        entries = [entry for entry in everything if entry.kind == kind]
        for entry in entries:
            texts = {f"{{{kind}}}": entry.topic, "{name}": entry.name, "{prefix}": entry.prefix}
            made = _replaced(display, texts, first=entry is entries[0])
            (groups.setdefault(entry.robot, []) if entry.robot else plain).append(made)
    displays = [*plain, *(_group(robot, content) for robot, content in groups.items())]
    return {**template, "Visualization Manager": {**manager, "Displays": displays}}


def _published(robot: RobotLayout) -> Iterator[tuple[str, str]]:
    """Yield the kind and name of the topics of a robot that displays can be repeated for."""
    for topic in robot_topics(0, robot, 0, "child_on_parent"):
        if topic.rate in KINDS:
            yield topic.rate, f"/{topic.name}"


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


def _group(robot: str, displays: list[Config]) -> Config:
    return {
        "Class": "rviz_common/Group",
        "Name": robot,
        "Enabled": True,
        "Displays": displays,
    }
