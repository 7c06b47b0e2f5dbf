"""What the simulator wants of its camera process."""

from collections.abc import Mapping
from typing import Any, NamedTuple

NAME = "mujoco_cameras"
"""Name of the node of the camera process."""


class Demanded(NamedTuple):
    """What is wanted on a topic."""

    name: str  # the name of the topic, remapped
    subscriptions: int
    joins: int  # number of subscriptions that have matched since the simulator began


class Demand(NamedTuple):
    """What is wanted; each of them replaces the previous one."""

    topics: Mapping[str, Demanded]  # by the names of the topics, before they are remapped
    values: Mapping[str, Any]  # values of the parameters of all sources, by name
    triggers: Mapping[str, int]  # number of frames that were requested, by the name of the source
