"""Damaged files: nothing sound is lost, nothing damaged is taken, and both are counted."""

import random
from collections import Counter
from pathlib import Path

import pytest
from mcap.writer import Writer
from preset_bags import CHECKED, MESSAGES, PRESETS, PresetBag, Recorded, write_bag

from mujoco_ros.model.errors import UserInputError
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
