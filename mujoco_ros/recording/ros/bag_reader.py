"""Reading of the messages of a bag."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rclpy.serialization import deserialize_message

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.bag_contents import BagContents

_ENCODING = "cdr"  # of messages of ROS 2
_LOG = logging.getLogger(__name__)


class BagMessage(NamedTuple):
    """Topic, time of reception [ns] and content of a message."""

    topic: str
    log_time: int
    message: Any


class BagReader:
    """Reads the messages of a bag that no check sum contradicts; the log tells what is damaged."""

    def __init__(self, bag: Path) -> None:
        """Check the whole bag."""
        self.bag = bag  # the bag, a folder or one file
        self._contents = BagContents(bag)
        self.topics = self._contents.topics  # types of the topics with messages by name
        for problem in (*self._contents.problems, self._contents.summary):
            if problem:
                _LOG.warning("%s", problem)

    def read(self, types: Mapping[str, type]) -> Iterator[BagMessage]:
        """Yield the messages of topics in the order of their reception, by their classes."""
        try:
            for scan, channel, message in self._contents.messages(types):
                name, kind = channel.topic, types[channel.topic]
                given = self._contents.kind(scan, channel).rpartition("/")[2]
                try:
                    # Bytes of another type may be read as numbers without an error.
                    if (given, channel.message_encoding) != (kind.__name__, _ENCODING):
                        raise TypeError(given)
                    content = deserialize_message(message.data, kind)
                except Exception as error:  # the middleware raises its own kinds
                    if isinstance(error.__cause__, KeyboardInterrupt):  # it wraps a signal, too
                        raise error.__cause__ from None
                    raise UserInputError(
                        f"'{scan.path}': a message of '{name}' is not a {kind.__name__} of this "
                        "distribution"
                    ) from error
                yield BagMessage(name, message.log_time, content)
        except OSError as error:
            raise UserInputError(f"'{self.bag}' cannot be read: {error.strerror}") from error
