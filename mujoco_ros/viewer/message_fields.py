"""Numeric fields of messages over time, without ROS."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol


class FieldKey(NamedTuple):
    """A numeric field.

    Attributes:
        topic: Full name of the topic.
        path: Names from the message to the field, as ``pose.position.x``, ``data[2]`` or, of a
            message with names of its elements, ``position[left_knee]``.
    """

    topic: str
    path: str


class FieldSample(NamedTuple):
    """Values of fields of one message.

    Attributes:
        topic: Full name of the topic.
        time: Simulated time of the stamp, or of the reception of a message without one [s].
        values: Values by path; NaN for an element that the message does not have.
    """

    topic: str
    time: float
    values: dict[str, float]


class FieldClient(Protocol):
    """Subscribes to numeric fields of messages.

    Attributes:
        topics: Topics that something publishes.
    """

    topics: Sequence[str]

    def inspect(self, topic: str) -> Sequence[str] | None:
        """Return the paths of the numeric fields of a topic; None until a message has arrived.

        The topic is subscribed until another one is inspected, or none, with an empty name.
        """

    def watch(self, keys: Collection[FieldKey]) -> None:
        """Receive all messages with these fields, and no others."""

    def take(self) -> Sequence[FieldSample]:
        """Return the samples since the last call, oldest first."""
