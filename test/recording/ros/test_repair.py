"""Repaired bags: all that is sound, beside an original that does not change."""

import os
import random
import shutil
import stat
from collections import Counter
from pathlib import Path

import pytest
from mcap.reader import make_reader
from mcap.records import Attachment
from mcap.writer import Writer
from preset_bags import PRESETS, SECOND, TOPICS, read_all, write_bag
from rclpy.serialization import serialize_message
from rosbags.rosbag2 import Reader
from std_msgs.msg import String

from mujoco_ros.cli.record import main
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.metadata import RecordedTopic
from mujoco_ros.recording.ros.bag import Bag
from mujoco_ros.recording.ros.repair import repair

FLUSHED = 60


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "bag"


@pytest.fixture
def repaired(tmp_path):
    return tmp_path / "bag_repaired"


def begin(folder, **options) -> tuple[Bag, RecordedTopic]:
    bag = Bag(folder, "jazzy", **options)
    topic = RecordedTopic(name="/chatter", kind="std_msgs/msg/String", type_hash="RIHS01_1", qos=[])
    bag.add(topic)
    return bag, topic


def kill(bag: Bag) -> None:
    """Release the lock of a bag, as the end of its process does."""
    os.close(bag._lock)


def write(bag: Bag, topic: RecordedTopic, count: int, first: int = 0) -> None:
    for i in range(first, first + count):
        bag.write(topic, 1000 + i, 0, i, serialize_message(String(data=f"message {i}")))


def times(folder) -> list[int]:
    with Reader(folder) as reader:
        return [time for _, time, _ in reader.messages()]


def indexed(path) -> bool:
    with path.open("rb") as stream:
        summary = make_reader(stream).get_summary()
    return bool(summary and summary.chunk_indexes)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0x10
    path.write_bytes(content)


def test_a_bag_that_was_never_finished_is_indexed(folder, repaired):
    bag, topic = begin(folder)
    write(bag, topic, FLUSHED)
    bag.flush()
    write(bag, topic, 5, FLUSHED)
    kill(bag)
    before = contents(folder)
    assert not indexed(folder / "bag_0.mcap")
    result = repair(folder)
    assert result.output == repaired
    assert result.contents.counts == {"/chatter": FLUSHED}
    assert not result.contents.is_lossy
    assert indexed(repaired / "bag_0.mcap")
    assert times(repaired) == [1000 + i for i in range(FLUSHED)]
    assert contents(folder) == before


def test_a_repair_of_an_intact_bag_leaves_its_files_unchanged(folder, repaired):
    bag, topic = begin(folder, max_bytes=2000)
    write(bag, topic, FLUSHED)
    bag.finish()
    before = contents(folder)
    assert len(before) > 2
    assert repair(folder).contents.counts.total() == FLUSHED
    assert contents(folder) == before
    assert contents(repaired) == before


def test_a_truncated_file_keeps_all_complete_chunks(folder):
    bag, topic = begin(folder)
    for first in range(0, FLUSHED, 10):
        write(bag, topic, 10, first)
        bag.flush()
    kill(bag)
    path = folder / "bag_0.mcap"
    content = path.read_bytes()
    kept = []
    for end in sorted(random.Random(1).sample(range(60, len(content)), 40)):
        path.write_bytes(content[:end])
        result = repair(folder)
        found = result.contents.counts.total()
        assert times(result.output) == [1000 + i for i in range(found)]
        kept.append(found)
        shutil.rmtree(result.output)
    assert kept == sorted(kept)
    assert kept[-1] >= FLUSHED - 10


def test_garbage_at_the_end_is_cut_off(folder, repaired):
    bag, topic = begin(folder)
    write(bag, topic, FLUSHED)
    bag.flush()
    kill(bag)
    path = folder / "bag_0.mcap"
    whole = len(path.read_bytes()) - 50  # without the provisional end
    path.write_bytes(
        path.read_bytes()[:whole] + b"\x06" + (99).to_bytes(8, "little") + b"\xff" * 99
    )
    result = repair(folder)
    assert times(repaired) == [1000 + i for i in range(FLUSHED)]
    (damage,) = result.contents.scans[0].damages
    assert (damage.offset, damage.size) == (whole, 108)


def test_metadata_is_made_from_the_files_if_it_is_lost(folder, repaired):
    bag, topic = begin(folder)
    write(bag, topic, FLUSHED)
    bag.finish()
    (folder / "metadata.yaml").unlink()
    repair(folder)
    with Reader(repaired) as reader:
        (connection,) = reader.connections
        assert (connection.msgcount, connection.digest) == (FLUSHED, "RIHS01_1")
    assert {stat.S_IMODE(path.stat().st_mode) for path in repaired.iterdir()} == {0o600}


HOSTILE = [
    b"rosbag2_bagfile_information: {ros_distro: x, custom_data: &x [*x]}",
    b"a: &a [b, b]\n"
    + b"".join(b"%c: &%c [%s]\n" % (i, i, b",".join([b"*%c" % (i - 1)] * 9)) for i in b"bcdefghi")
    + b"rosbag2_bagfile_information: {ros_distro: x, custom_data: *i}",
]
"""Metadata that contain themselves, and that are billions of values as text."""


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\0", b"[1, 2", b"rosbag2_bagfile_information: 3", *HOSTILE]
)
def test_damaged_metadata_is_made_from_the_files(folder, repaired, content):
    bag, topic = begin(folder)
    write(bag, topic, FLUSHED)
    bag.finish()
    (folder / "metadata.yaml").write_bytes(content)
    assert not repair(folder).contents.is_lossy
    assert times(repaired) == [1000 + i for i in range(FLUSHED)]


@pytest.mark.parametrize("offered", ["2001-99-99", "&x [*x]", "[" * 3000, "a: b: c"])
def test_qos_profiles_that_are_none_are_left_out(folder, repaired, offered):
    folder.mkdir()
    with (folder / "bag_0.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start("ros2")
        schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        metadata = {"offered_qos_profiles": offered}
        writer.add_message(writer.register_channel("/chatter", "cdr", schema, metadata), 5, b"", 5)
        writer.finish()
    repair(folder)
    assert "offered_qos_profiles: []" in (repaired / "metadata.yaml").read_text()


def test_topics_without_a_message_are_kept(folder, repaired):
    bag, _ = begin(folder)
    bag.finish()
    repair(folder)
    with Reader(repaired) as reader:
        assert [connection.topic for connection in reader.connections] == ["/chatter"]


def test_a_folder_without_bag_is_rejected(folder, repaired):
    with pytest.raises(UserInputError, match="there is no bag"):
        repair(folder)
    folder.mkdir()
    with pytest.raises(UserInputError, match="is not a bag"):
        repair(folder)
    (folder / "bag_0.mcap").write_text("something else")
    with pytest.raises(UserInputError, match="is not an MCAP file"):
        repair(folder)
    assert not repaired.exists()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_damaged_bag_of_rosbag2_loses_what_is_damaged_alone(folder, repaired, preset, capsys):
    bag = write_bag(folder, preset)
    first, end, inside = bag.places[len(bag.places) // 2]
    content = bytearray(bag.path.read_bytes())
    content[first + 1 : end] = random.Random(1).randbytes(end - first - 1)
    bag.path.write_bytes(content)
    assert main(["--repair", str(folder)]) == 1
    assert bag.path.read_bytes() == content
    kept = [it for it in bag.messages if it not in inside]
    assert read_all(repaired / "bag_0.mcap") == kept
    assert times(repaired) == [it.time for it in kept]
    lost = Counter(it.topic for it in inside)
    errors = capsys.readouterr().err
    for topic, count in lost.items():
        assert f"{count} of '{topic}'" in errors
    assert indexed(repaired / "bag_0.mcap")
    assert main(["--repair", str(repaired)]) == 0


def test_a_bag_without_chunks_is_complete_and_indexed(folder, repaired):
    bag = write_bag(folder, "fastwrite")
    assert main(["--repair", str(folder)]) == 0
    assert read_all(repaired / "bag_0.mcap") == bag.messages
    assert indexed(repaired / "bag_0.mcap")


def test_lost_messages_have_a_topic_and_a_time_range(folder, caplog):
    bag = write_bag(folder, "zstd_small")
    _, end, inside = bag.places[1]
    flip(bag.path, end - 30)
    with caplog.at_level("INFO"):
        assert main(["--repair", str(folder)]) == 1
    first, last = inside[0].time / SECOND, inside[-1].time / SECOND
    for topic in TOPICS:
        lost = sum(it.topic == topic for it in inside)
        kept = sum(it.topic == topic for it in bag.messages) - lost
        expected = f"'{topic}': {kept} messages recovered, {lost} lost between"
        assert f"{expected} {first:.3f} s and {last:.3f} s" in caplog.text


def test_in_place_the_original_gets_another_name(folder, tmp_path, repaired):
    bag = write_bag(folder, "zstd_small")
    flip(bag.path, bag.places[0][1] - 30)
    before = contents(folder)
    assert main(["--repair", str(folder), "--in-place"]) == 1
    assert contents(tmp_path / "bag_original") == before
    assert read_all(folder / "bag_0.mcap") == [
        it for it in bag.messages if it not in bag.places[0][2]
    ]
    assert not repaired.exists()
    with pytest.raises(UserInputError, match="bag_original' exists"):
        repair(folder, in_place=True)


def test_a_single_file_is_repaired_beside_itself(folder, tmp_path):
    bag = write_bag(folder, "lz4")
    path = bag.path.rename(tmp_path / "field.mcap")
    shutil.rmtree(folder)
    flip(path, bag.places[1][1] - 30)
    with pytest.raises(UserInputError, match=r"other' would be a file, .* ends in \.mcap"):
        repair(path, tmp_path / "other")
    assert main(["--repair", str(path)]) == 1
    kept = [it for it in bag.messages if it not in bag.places[1][2]]
    assert read_all(tmp_path / "field_repaired.mcap") == kept
    assert sorted(it.name for it in tmp_path.iterdir()) == ["field.mcap", "field_repaired.mcap"]


def test_a_foreign_folder_of_several_files_keeps_each(folder, repaired):
    bags = [write_bag(folder.with_name(name), "zstd_fast") for name in ("one", "two", "three")]
    folder.mkdir()
    for bag in bags:
        bag.path.rename(folder / bag.path.name)
    (folder / "two_0.mcap").write_bytes(b"no bag")
    assert main(["--repair", str(folder)]) == 1
    assert sorted(contents(repaired)) == ["metadata.yaml", "one_0.mcap", "three_0.mcap"]
    assert len(times(repaired)) == 2 * len(bags[0].messages)


def test_a_topic_whose_channel_is_damaged_is_found_in_the_metadata(folder, repaired):
    bag, topic = begin(folder)
    write(bag, topic, 10)
    bag.flush()
    write(bag, topic, FLUSHED - 10, 10)
    bag.flush()
    kill(bag)
    path = folder / "bag_0.mcap"
    flip(path, path.read_bytes().index(b"/chatter") + 2)  # in the first chunk
    assert main(["--repair", str(folder)]) == 1
    with Reader(repaired) as reader:
        (connection,) = [it for it in reader.connections if it.msgcount]
        assert connection.topic == "/chatter"
        assert connection.msgcount == FLUSHED - 10


def test_attachments_and_other_metadata_are_kept(folder, repaired):
    bag, topic = begin(folder)
    write(bag, topic, 3)
    bag._current.add_attachment(Attachment(1, 2, "notes", "text/plain", b"attached"))
    bag._current.add_metadata("weather", {"sky": "blue"})
    bag.flush()
    kill(bag)
    repair(folder)
    with (repaired / "bag_0.mcap").open("rb") as stream:
        reader = make_reader(stream)
        (attachment,) = reader.iter_attachments()
        metadata = {it.name: it.metadata for it in reader.iter_metadata()}
    assert (attachment.create_time, attachment.log_time, attachment.data) == (1, 2, b"attached")
    assert metadata["weather"] == {"sky": "blue"}
    assert "message_count: 3" in metadata["rosbag2"]["serialized_metadata"]


OUTPUTS = ["bag", "bag/inside", "other", "link/inside", "other/../bag/inside"]


@pytest.mark.parametrize("output", OUTPUTS)
def test_an_output_that_exists_or_is_in_the_bag_is_refused(folder, tmp_path, output):
    write_bag(folder, "none")
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(folder)
    before = contents(folder)
    with pytest.raises(UserInputError, match="name another one by --output"):
        repair(folder, tmp_path / output)
    assert contents(folder) == before
    assert not list((tmp_path / "other").iterdir())


def test_a_bag_that_is_being_written_is_refused(folder, repaired):
    bag, topic = begin(folder)
    write(bag, topic, 10)
    bag.flush()
    with pytest.raises(UserInputError, match="another process writes into"):
        repair(folder)
    assert not repaired.exists()
    bag.finish()
    assert repair(folder).contents.counts.total() == 10


def test_a_full_disk_leaves_no_half_of_a_repaired_bag(folder, repaired, monkeypatch, capsys):
    write_bag(folder, "fastwrite")
    before = contents(folder)

    def full(*_arguments: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        assert main(["--repair", str(folder)]) == 1
    assert "cannot be repaired" in capsys.readouterr().err
    assert not repaired.exists()
    assert contents(folder) == before
