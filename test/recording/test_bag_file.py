import errno
import os

import pytest
from mcap.reader import NonSeekingReader, make_reader

from mujoco_ros.recording import bag_file
from mujoco_ros.recording.bag_file import COMPRESSIONS, BagFile


@pytest.fixture
def path(tmp_path):
    return tmp_path / "bag.mcap"


def begin(path, compression="none") -> tuple[BagFile, int]:
    """Return a file and a channel of it."""
    file = BagFile(path, compression)
    schema = file.add_schema("std_msgs/msg/String", "ros2msg", b"string data\n")
    return file, file.add_channel("/chatter", "cdr", schema, {"offered_qos_profiles": ""})


def read(path) -> list[tuple[int, bytes]]:
    """Return the messages of a file as mcap's reader finds them, and check every sum."""
    with path.open("rb") as stream:
        messages = make_reader(stream, validate_crcs=True).iter_messages()
        return [(message.log_time, message.data) for _, _, message in messages]


def read_unindexed(path) -> list[int]:
    """Return the times of the messages, for a file without an index."""
    with path.open("rb") as stream:
        return [message.log_time for *_, message in NonSeekingReader(stream).iter_messages()]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_another_reader_reads_the_written_messages(path, compression):
    file, channel = begin(path, compression)
    written = [(1000 + i, f"message {i}".encode()) for i in range(300)]
    for number, (time, data) in enumerate(written):
        file.write(channel, time, time - 1, number, data)
        if number % 100 == 50:
            file.flush()
    file.finish({})
    assert read(path) == written


def test_a_finished_file_is_indexed(path):
    file, channel = begin(path)
    for i in range(10):
        file.write(channel, 10 - i, 0, i, b"x")
        file.flush()
    file.finish({"rosbag2": {"key": "value"}})
    with path.open("rb") as stream:
        reader = make_reader(stream)
        summary = reader.get_summary()
        (metadata,) = reader.iter_metadata()
        found = reader.iter_messages(starting_at=3, ending_before=6, reverse=True)
        backwards = [message.log_time for *_, message in found]
    assert summary is not None
    assert summary.statistics.message_count == 10
    assert summary.statistics.channel_message_counts == {channel: 10}
    assert (summary.statistics.message_start_time, summary.statistics.message_end_time) == (1, 10)
    assert len(summary.chunk_indexes) == summary.statistics.chunk_count == 10
    assert metadata.metadata == {"key": "value"}
    assert backwards == [5, 4, 3]


def test_after_each_flush_the_file_is_whole(path):
    file, channel = begin(path)
    assert read_unindexed(path) == []
    for i in range(5):
        file.write(channel, i, i, i, bytes(1000 - 100 * i))
        file.flush()
        assert path.read_bytes().endswith(b"\x89MCAP0\r\n")
        assert read_unindexed(path) == list(range(i + 1))


def test_messages_are_buffered_until_a_flush_or_a_full_chunk(path):
    file, channel = begin(path)
    before = path.stat().st_size
    file.write(channel, 1, 1, 1, bytes(1000))
    assert path.stat().st_size == before
    file.write(channel, 2, 2, 2, bytes(2_000_000))
    assert path.stat().st_size > 2_000_000
    assert file.size >= 2_001_000


def test_a_flush_of_nothing_writes_nothing(path):
    file, _ = begin(path)
    before = path.read_bytes()
    file.flush()
    assert path.read_bytes() == before


def test_a_channel_without_a_message_is_in_the_index(path):
    file, channel = begin(path)
    file.finish({})
    with path.open("rb") as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None
    assert summary.channels[channel].topic == "/chatter"
    assert read(path) == []


def test_a_full_disk_leaves_the_flushed_messages(path, monkeypatch):
    file, channel = begin(path)
    file.write(channel, 1, 1, 1, b"kept")
    file.flush()
    pwrite = os.pwrite

    def full(descriptor, data, offset):
        if len(data) > 500:
            pwrite(descriptor, data[:300], offset)  # as much as there was room for
            raise OSError(errno.ENOSPC, "No space left on device")
        return pwrite(descriptor, data, offset)

    monkeypatch.setattr(bag_file.os, "pwrite", full)
    file.write(channel, 2, 2, 2, bytes(1000))
    with pytest.raises(OSError, match="No space"):
        file.flush()
    file.abandon()
    assert read_unindexed(path) == [1]


@pytest.mark.parametrize("last", [b"", bytes(1000)], ids=["index", "chunk"])
def test_a_disk_that_fills_at_the_end_leaves_the_flushed_messages(path, monkeypatch, last):
    file, channel = begin(path)
    file.write(channel, 1, 1, 1, b"kept")
    file.flush()
    room = path.stat().st_size
    pwrite = os.pwrite

    def full(descriptor, data, offset):
        if offset + len(data) > room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return pwrite(descriptor, data, offset)

    monkeypatch.setattr(bag_file.os, "pwrite", full)
    if last:
        file.write(channel, 2, 2, 2, last)
    with pytest.raises(OSError, match="No space"):
        file.finish({})
    other = os.open(path, os.O_RDONLY)  # has the descriptor that was the file's
    file.abandon()  # as the recorder does after any error
    os.close(other)
    assert read_unindexed(path) == [1]


def test_an_existing_file_is_not_overwritten(path):
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        BagFile(path)
    assert path.read_text() == "precious"
