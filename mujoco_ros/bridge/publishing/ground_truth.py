"""Topics with the true numbers, beside those with numbers that channels change."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from mujoco_ros.bridge.publishing.template_publisher import NumberSource, Topic
from mujoco_ros.model.naming import within
from mujoco_ros.model.robot.layout import ModelLayout

GROUND_TRUTH = "ground_truth"
"""Namespace of the topics, in that of the robot."""
_TRUE = {
    "measured_qpos": "qpos",
    "measured_qvel": "qvel",
    "measured_effort": "qfrc_actuator",
    "measured_base_motion": "base_motion",
    "sensordata": "true_sensordata",
    "distances": "true_distances",
    "relative_poses": "true_relative_poses",
    "optical_poses": "true_optical_poses",
}
"""Array with the true numbers by that with the measured ones."""
_STORED = {"distances": "sensordata"}
"""Array whose addresses another one has."""


def true_topics(
    topics: Iterable[Topic], layout: ModelLayout, measured: set[tuple[str, int]]
) -> Iterator[Topic]:
    """Yield a topic ``ground_truth/…`` for each topic with numbers that channels change.

    Args:
        topics: The topics.
        layout: The robots.
        measured: Arrays and addresses of the numbers that channels change.
    """
    for topic in topics:
        sources = topic.numbers.values()
        if topic.robot is None or topic.rate == "controller_state":
            continue
        if any((_STORED.get(it.array, it.array), it.address) in measured for it in sources):
            namespace = layout.robots[topic.robot].namespace
            own = topic.name.removeprefix(f"{namespace}/") if namespace else topic.name
            yield replace(
                topic,
                name=within(namespace, GROUND_TRUTH, own),
                numbers={path: _true(source) for path, source in topic.numbers.items()},
            )


def true_transforms(transforms: Topic) -> Topic:
    """Return the topic ``ground_truth/tf``, for /tf with poses from measured positions."""
    return replace(
        transforms,
        name=f"/{within(GROUND_TRUTH, 'tf')}",
        numbers={path: _true(source) for path, source in transforms.numbers.items()},
    )


def _true(source: NumberSource) -> NumberSource:
    return source._replace(array=_TRUE.get(source.array, source.array))
