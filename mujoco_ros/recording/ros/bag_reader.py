"""Reading of the messages of a bag."""

import struct
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mcap.exceptions import McapError
from mcap.reader import make_reader
from rclpy.serialization import deserialize_message

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import open_file

_ENCODING = "cdr"
"""Of messages of ROS 2."""


class BagMessage(NamedTuple):
    """Topic, time of reception [ns] and content of a message."""

    topic: str
    log_time: int
    message: Any


def bag_files(bag: Path) -> list[Path]:
    """Return the MCAP files of a bag, a folder or one file, in order.

    Raises:
        UserInputError: There is no bag, or it is of another format.
    """
    if bag.is_file() and bag.suffix == ".mcap":
        return [bag]
    if not bag.exists():
        raise UserInputError(f"there is no bag '{bag}'")
    files = sorted(bag.glob("*.mcap"), key=lambda path: (len(path.name), path.name))
    if files:
        return files
    if bag.suffix == ".db3" or (bag.is_dir() and any(bag.glob("*.db3"))):
        raise UserInputError(
            f"'{bag}' is a bag of SQLite; `ros2 bag convert` makes one of MCAP from it"
        )
    raise UserInputError(f"'{bag}' is not a bag: it has no .mcap file")


def bag_topics(bag: Path) -> dict[str, str]:
    """Return the types of the topics with messages by name.

    Raises:
        UserInputError: There is no bag, or a file is damaged.
    """
    found: dict[str, str] = {}
    for path in bag_files(bag):
        try:
            with open(open_file(path, "bag"), "rb") as file:
                summary = make_reader(file).get_summary()
        except (McapError, OSError, struct.error) as error:
            raise _unreadable(path, error) from error
        if summary is None:
            raise UserInputError(f"'{path}' has no index; `record --repair {bag}` adds it")
        counts = {} if summary.statistics is None else summary.statistics.channel_message_counts
        for channel in summary.channels.values():
            if counts.get(channel.id):
                schema = summary.schemas.get(channel.schema_id)
                found[channel.topic] = "message without a type" if schema is None else schema.name
    return found


def read_bag(bag: Path, types: Mapping[str, type]) -> Iterator[BagMessage]:
    """Yield the messages of topics in the order of their reception.

    Args:
        bag: The bag.
        types: Class of the messages by topic.

    Raises:
        UserInputError: There is no bag, a file is damaged, or a message is of another type.
    """
    topics: Collection[str] = list(types)
    for path in bag_files(bag):
        try:
            with open(open_file(path, "bag"), "rb") as file:
                for schema, channel, message in make_reader(file).iter_messages(topics):
                    kind = types[channel.topic]
                    # Bytes of another type may be read as numbers without an error.
                    if (
                        schema is None
                        or schema.name.rpartition("/")[2] != kind.__name__
                        or channel.message_encoding != _ENCODING
                    ):
                        raise _other_type(path, channel.topic, kind)
                    try:
                        content = deserialize_message(message.data, kind)
                    except Exception as error:  # the middleware raises its own kinds
                        raise _other_type(path, channel.topic, kind) from error
                    yield BagMessage(channel.topic, message.log_time, content)
        except (McapError, OSError, struct.error) as error:
            raise _unreadable(path, error) from error


def _other_type(path: Path, topic: str, kind: type) -> UserInputError:
    return UserInputError(
        f"'{path}': a message of '{topic}' is not a {kind.__name__} of this distribution"
    )


def _unreadable(path: Path, error: Exception) -> UserInputError:
    return UserInputError(
        f"'{path}' cannot be read: {type(error).__name__}: {error}; "
        f"`record --repair {path.parent}` may mend it"
    )
