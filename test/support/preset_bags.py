"""Bags as the presets of rosbag2 write them, made by the writer of the package mcap."""

import random
import struct
from pathlib import Path
from typing import NamedTuple

from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, IndexType, Writer

# Presets of rosbag2_storage_mcap; the last two are options of its README.
PRESETS = {
    "none": {"compression": CompressionType.NONE},
    "fastwrite": {
        "use_chunking": False,
        "enable_crcs": False,
        "compression": CompressionType.NONE,
    },
    "zstd_fast": {"compression": CompressionType.ZSTD, "enable_crcs": False},
    "zstd_small": {"compression": CompressionType.ZSTD},
    "lz4": {"compression": CompressionType.LZ4},
    "data_crc": {"compression": CompressionType.NONE, "enable_data_crcs": True},
    "no_index": {"compression": CompressionType.ZSTD, "index_types": IndexType.NONE},
}
SECOND = 1_000_000_000
CHECKED = tuple(it for it in PRESETS if it not in ("fastwrite", "zstd_fast"))
"""Presets in which a check sum confirms each message."""
TOPICS = {"/joint_states": 2, "/tf": 3}
MESSAGES = 90


class Recorded(NamedTuple):
    """Topic, time and data of a message."""

    topic: str
    time: int
    data: bytes


class PresetBag(NamedTuple):
    """A file, its messages, and the begin, end and messages of each of its chunks or records."""

    path: Path
    messages: list[Recorded]
    places: list[tuple[int, int, list[Recorded]]]


def write_bag(folder: Path, preset: str) -> PresetBag:
    """Write a bag of a preset: a folder with one file."""
    folder.mkdir()
    path, made = folder / f"{folder.name}_0.mcap", random.Random(1)
    messages = []
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=1500, **PRESETS[preset])
        writer.start("ros2", "rosbag2")
        channels = {
            topic: writer.register_channel(
                topic,
                "cdr",
                writer.register_schema(f"pkg/msg/Type{number}", "ros2msg", b"float64 x\n"),
                {"offered_qos_profiles": "", "topic_type_hash": ""},
            )
            for topic, number in TOPICS.items()
        }
        for number in range(MESSAGES):
            topic = list(TOPICS)[number % 3 == 0]
            data = b"\0\1\0\0" + made.randbytes(8) + struct.pack("<d", number) * TOPICS[topic]
            if topic == "/tf":
                data = data.ljust(97, b"\0")  # a record of 128 bytes
            message = Recorded(topic, SECOND + 10_000_000 * number, data)
            writer.add_message(channels[topic], message.time, data, message.time, number)
            messages.append(message)
        writer.add_metadata("rosbag2", {"serialized_metadata": "version: 9\n"})
        writer.finish()
    return PresetBag(path, messages, _places(path, messages))


def _places(path: Path, messages: list[Recorded]) -> list[tuple[int, int, list[Recorded]]]:
    """Return where the messages are, found by their data or by the records of mcap."""
    content, by_time = path.read_bytes(), {it.time: it for it in messages}
    found = []
    with path.open("rb") as file:
        records = iter(StreamReader(file, emit_chunks=True).records)
        at = 8
        while at < len(content) - 8:
            end = at + 9 + int.from_bytes(content[at + 1 : at + 9], "little")
            record = next(records)
            if content[at] == 6:  # a chunk
                first, last = record.message_start_time, record.message_end_time
                inside = [it for time, it in by_time.items() if first <= time <= last]
                found.append((at, end, inside))
            elif content[at] == 5:  # a message
                found.append((at, end, [by_time[record.log_time]]))
            at = end
    assert sum(len(it) for *_, it in found) == len(messages)
    return found


def read_all(path: Path) -> list[Recorded]:
    """Return the messages of a file as mcap reads them, with every check sum verified."""
    with path.open("rb") as file:
        return [
            Recorded(channel.topic, message.log_time, message.data)
            for _, channel, message in make_reader(file, validate_crcs=True).iter_messages()
        ]
