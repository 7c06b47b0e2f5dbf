"""Damaged files: nothing sound is lost, nothing damaged is taken, and both are counted."""

import random
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import pytest
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, DataEnd, Footer, Header, McapRecord, Message, Schema
from mcap.writer import MCAP0_MAGIC, CompressionType, Writer
from preset_bags import CHECKED, MESSAGES, PRESETS, PresetBag, Recorded, write_bag

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording import mcap_records
from mujoco_ros.recording.mcap_records import DAMAGED, HEAD, McapRecords
from mujoco_ros.recording.mcap_scan import McapScan

REGIONS = 40
TYPES = [("/joint_states", "pkg/msg/Type2"), ("/tf", "pkg/msg/Type3")]


@pytest.fixture(params=PRESETS)
def bag(request, tmp_path) -> PresetBag:
    return write_bag(tmp_path / "bag", request.param)


def damaged(content: bytes, begin: int, end: int, kind: str) -> bytes:
    """Return the content of a file with damaged bytes."""
    rng = random.Random(begin)
    if kind == "cut":
        return content[:begin]
    inside = {
        "bit": bytes([content[begin] ^ 1 << rng.randrange(8)]) + content[begin + 1 : end],
        "zeros": bytes(end - begin),
        "noise": rng.randbytes(end - begin),
    }[kind]
    return content[:begin] + inside + content[end:]


def messages(scan: McapScan) -> list[Recorded]:
    return [
        Recorded(scan.channels[it.channel].topic, it.log_time, it.data)
        for block in scan.blocks
        for it in scan.messages(block)
        if it.channel in scan.channels
    ]


def outside(bag: PresetBag, begin: int, end: int) -> set[Recorded]:
    """Return the messages of the chunks, or the single messages, without damaged bytes."""
    lost = [it for first, last, them in bag.places if first < end and begin < last for it in them]
    return set(bag.messages).difference(lost)


def test_a_sound_file_has_all_messages_and_no_damage(bag):
    scan = McapScan(bag.path)
    assert messages(scan) == bag.messages
    assert not scan.damages
    assert not scan.lost
    assert not scan.is_lossy
    assert scan.counts.total() == MESSAGES


@pytest.mark.parametrize("kind", ["bit", "zeros", "noise", "cut"])
@pytest.mark.parametrize("preset", PRESETS)
def test_no_message_outside_of_damaged_bytes_is_lost(tmp_path, preset, kind):
    bag = write_bag(tmp_path / "bag", preset)
    content, path = bag.path.read_bytes(), tmp_path / "damaged.mcap"
    size = -(-len(content) // REGIONS)
    for begin in range(0 if kind != "cut" else size, len(content), size):
        end = len(content) if kind == "cut" else begin + (1 if kind == "bit" else size)
        path.write_bytes(damaged(content, begin, min(end, len(content)), kind))
        scan = McapScan(path, TYPES)
        found = messages(scan)
        where = f"bytes {begin} to {end}"
        assert outside(bag, begin, end) <= set(found), where
        if preset in CHECKED:
            assert len(found) == len(set(found)), where
            assert set(found) <= set(bag.messages), where
        if scan.statistics is not None:
            known = Counter({it: n for it, n in scan.counts.items() if it in (1, 2)})
            assert known.total() + scan.lost.total() == MESSAGES, where
            assert scan.is_lossy or (scan.metadata and not scan.lost), where
        elif kind != "cut":
            assert scan.is_lossy >= (len(found) < MESSAGES), where


@pytest.mark.parametrize("preset", ["none", "zstd_small", "lz4"])
def test_the_index_finds_a_chunk_whose_header_is_damaged(tmp_path, preset):
    bag = write_bag(tmp_path / "bag", preset)
    content, (begin, *_) = bag.path.read_bytes(), bag.places[2]
    for at in (*range(begin, begin + 33), *range(begin + 37, begin + 44)):  # but for its check sum
        bag.path.write_bytes(damaged(content, at, at + 1, "noise"))
        scan = McapScan(bag.path)
        assert messages(scan) == bag.messages, at - begin
        assert not scan.is_lossy


def test_a_message_whose_length_is_damaged_takes_no_other_with_it(tmp_path):
    bag = write_bag(tmp_path / "bag", "fastwrite")
    content = bag.path.read_bytes()
    for begin, _, (own,) in bag.places[:9]:
        for at in range(begin, begin + 9):
            for bit in range(8):
                changed = bytearray(content)
                changed[at] ^= 1 << bit
                bag.path.write_bytes(changed)
                found = messages(McapScan(bag.path))
                found = [it for it in found if it.time != own.time]
                assert found == [it for it in bag.messages if it != own], (at - begin, bit)


def test_a_damaged_chunk_has_its_times_and_numbers(tmp_path):
    bag = write_bag(tmp_path / "bag", "zstd_small")
    begin, end, inside = bag.places[1]
    content = bag.path.read_bytes()
    bag.path.write_bytes(damaged(content, end - 30, end, "noise"))
    scan = McapScan(bag.path)
    (damage,) = scan.damages
    assert (damage.offset, damage.size, damage.what) == (begin, end - begin, "chunk")
    assert damage.span == (inside[0].time, inside[-1].time)
    lost = Counter(it.topic for it in inside)
    assert {scan.channels[it].topic: count for it, count in damage.lost.items()} == lost
    assert {scan.channels[it].topic: count for it, count in scan.lost.items()} == lost


def test_a_cut_chunk_keeps_the_messages_before_the_cut(tmp_path):
    bag = write_bag(tmp_path / "bag", "none")
    begin, end, inside = bag.places[2]
    bag.path.write_bytes(bag.path.read_bytes()[: end - 50])
    found = messages(McapScan(bag.path))
    before = [it for first, _, them in bag.places if first < begin for it in them]
    assert found == before + inside[:-1]


def test_a_definition_that_differs_is_decided_by_what_is_expected(tmp_path):
    bag = write_bag(tmp_path / "bag", "fastwrite")
    content = bag.path.read_bytes()
    first, second = content.index(b"/tf"), content.rindex(b"/tf")
    assert first < second
    for at in (first, second):
        bag.path.write_bytes(content[:at] + b"/tg" + content[at + 3 :])
        assert messages(McapScan(bag.path, TYPES)) == bag.messages


def test_a_wrong_check_sum_of_the_data_is_a_doubt_about_messages_without_one(tmp_path, monkeypatch):
    monkeypatch.setitem(PRESETS, "own", {**PRESETS["fastwrite"], "enable_data_crcs": True})
    bag = write_bag(tmp_path / "bag", "own")
    assert McapScan(bag.path).unchecked == 0
    _, end, _ = bag.places[4]
    bag.path.write_bytes(damaged(bag.path.read_bytes(), end - 1, end, "bit"))
    scan = McapScan(bag.path)
    assert scan.is_lossy
    assert scan.unchecked == MESSAGES
    (damage,) = scan.damages
    assert (damage.what, damage.reason) == ("data section", "its check sum differs")


def test_an_attachment_whose_check_sum_differs_is_left_out(tmp_path):
    path = tmp_path / "file.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start("ros2")
        writer.add_attachment(1, 2, "notes", "text/plain", b"attached")
        writer.finish()
    (attachment,) = McapScan(path).attachments
    assert attachment.data == b"attached"
    path.write_bytes(path.read_bytes().replace(b"attached", b"detached"))
    scan = McapScan(path)
    assert not scan.attachments
    assert scan.is_lossy


@pytest.mark.parametrize("content", [b"", b"something else", bytes(5000)])
def test_another_file_is_refused(tmp_path, content):
    path: Path = tmp_path / "file.mcap"
    path.write_bytes(content)
    with pytest.raises(UserInputError, match="cannot be read: it is not an MCAP file"):
        McapScan(path)


def chunk(*content: bytes) -> bytes:
    data = b"".join(content)
    return encoded(Chunk("", data, 9, 1, zlib.crc32(data), len(data)))


def encoded(*several: McapRecord) -> bytes:
    builder = RecordBuilder()
    for record in several:
        record.write(builder)
    return builder.end()


def write_file(path: Path, *several: bytes) -> None:
    end = encoded(DataEnd(0), Footer(0, 0, 0)) + MCAP0_MAGIC
    path.write_bytes(MCAP0_MAGIC + encoded(Header("ros2", "")) + b"".join(several) + end)


def defined(topic: str) -> bytes:
    """Return a topic with a message, whose numbers are 1."""
    return encoded(
        Schema(id=1, name=f"pkg/msg/{topic}", encoding="ros2msg", data=b"x"),
        Channel(id=1, topic=topic, message_encoding="cdr", metadata={}, schema_id=1),
        Message(channel_id=1, log_time=1, publish_time=1, sequence=1, data=topic.encode()),
    )


def test_two_topics_of_one_number_are_not_taken_for_each_other(tmp_path):
    path = tmp_path / "joined.mcap"
    write_file(path, chunk(defined("/one")), chunk(defined("/one")))
    assert McapScan(path).channels[1].topic == "/one"
    write_file(path, chunk(defined("/one")), chunk(defined("/two")))
    scan = McapScan(path)
    assert not scan.channels
    assert not scan.schemas
    assert scan.counts == {1: 2}
    assert scan.is_lossy
    assert {it.reason for it in scan.damages} == {"there are others with the number 1"}


def test_a_record_that_is_too_short_hides_nothing_behind_it(tmp_path):
    path = tmp_path / "file.mcap"
    write_file(path, chunk(defined("/one"), HEAD.pack(Opcode.MESSAGE, 3) + b"abc", defined("/one")))
    scan = McapScan(path)
    assert [it.reason for it in scan.damages] == ["a record is damaged"]
    assert scan.is_lossy


def test_a_message_that_resembles_records_is_one_message(tmp_path):
    path = tmp_path / "file.mcap"
    first = 23 << 8  # as a publish time, begins a record of 23 bytes up to the end of the message
    alike = encoded(*(Message(1, first + it, bytes(24), first + it, it) for it in range(16)))
    write_file(path, defined("/one"), encoded(Message(1, 1, bytes(24), 1, 1)), alike)
    scan = McapScan(path)
    assert scan.counts == {1: 18}
    assert not scan.damages


def test_records_in_a_message_are_visited_once(tmp_path, monkeypatch):
    path, count = tmp_path / "file.mcap", 400
    inside = encoded(*(Message(1, it, b"", it, it) for it in range(count))) + b"end"
    write_file(path, defined("/one"), encoded(Message(1, 1, inside, 1, 1)))
    visits, find = [], McapRecords._find
    monkeypatch.setattr(McapRecords, "_find", lambda *its: visits.append(1) or find(*its))
    assert McapScan(path).counts == {1: 2}
    assert len(visits) < 10 * count


def test_what_seems_to_be_larger_than_the_memory_is_not_read(monkeypatch):
    monkeypatch.setattr(mcap_records, "LARGEST", 1 << 20)
    size = 1 << 23
    for opcode in (Opcode.MESSAGE, Opcode.CHUNK, Opcode.ATTACHMENT):
        head, requests = HEAD.pack(opcode, size - HEAD.size).ljust(60, b"\0"), []

        def read(at: int, count: int, head: bytes = head, requests: list[int] = requests) -> bytes:
            requests.append(count)
            return (head[at:] + bytes(count))[:count]

        assert list(McapRecords(read, 0, size)) == [(DAMAGED, 0, size)]
        assert max(requests) < 1 << 21


def write_with_wrong_summary(path: Path, change: Callable[[Writer], None]) -> None:
    """Write a file of several chunks, whose summary is changed and has a right check sum."""
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=500, compression=CompressionType.NONE)
        writer.start("ros2")
        channel = writer.register_channel("/one", "cdr", 0)
        for number in range(MESSAGES):
            writer.add_message(channel, number, bytes(24), number, number)
        change(writer)
        writer.finish()


def test_an_index_that_leads_elsewhere_deletes_nothing(tmp_path):
    def shift(writer: Writer) -> None:
        writer._Writer__enable_crcs = False  # of the last chunk
        for index in writer._Writer__chunk_indices:
            index.chunk_start_offset += 40

    path = tmp_path / "file.mcap"
    write_with_wrong_summary(path, shift)
    content = bytearray(path.read_bytes())
    for block in McapScan(path).blocks:
        content[block.begin + 33 : block.begin + 37] = bytes(4)  # no check sum
    path.write_bytes(content)
    assert McapScan(path).counts == {1: MESSAGES}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("chunk_start_offset", (1 << 64) - 1),
        ("chunk_start_offset", 1000),
        ("chunk_length", 1),
        ("chunk_length", 1 << 62),
        ("compressed_size", 1 << 62),
    ],
)
def test_an_impossible_index_hides_no_chunk(tmp_path, field, value):
    def change(writer: Writer) -> None:
        setattr(writer._Writer__chunk_indices[1], field, value)

    path = tmp_path / "file.mcap"
    write_with_wrong_summary(path, change)
    blocks = McapScan(path).blocks
    content = bytearray(path.read_bytes())
    for block in blocks[1], blocks[3]:
        content[block.begin + 1] ^= 1  # its length
    path.write_bytes(content)
    assert McapScan(path).counts == {1: MESSAGES}


def test_statistics_of_too_few_messages_do_not_hide_a_loss(tmp_path):
    def reset(writer: Writer) -> None:
        writer._Writer__statistics.message_count = 0
        writer._Writer__statistics.channel_message_counts.clear()

    path = tmp_path / "file.mcap"
    write_with_wrong_summary(path, reset)
    end = McapScan(path).blocks[1].end
    path.write_bytes(damaged(path.read_bytes(), end - 1, end, "bit"))
    scan = McapScan(path)
    assert scan.is_lossy
    assert scan.lost.total() == MESSAGES - scan.counts.total() > 0


@pytest.mark.parametrize("pack", [zstandard.ZstdCompressor().compress, lz4.frame.compress])
def test_a_chunk_that_expands_far_beyond_its_size_is_not_read_into_memory(
    monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(mcap_records, "_SMALL_CHUNK", 1 << 16)
    monkeypatch.setattr(mcap_records, "_GROWTH", 10)
    monkeypatch.setattr(mcap_records, "_PART", 1 << 10)
    name = "lz4" if pack is lz4.frame.compress else "zstd"
    content, problem = mcap_records._decompressed(pack(bytes(1 << 22)), name)
    assert "expand to more than" in problem
    assert len(content) < 1 << 18
    noise = random.Random(0).randbytes(1 << 17)
    assert mcap_records._decompressed(pack(noise), name) == (noise, "")
