"""Sound messages of a bag, and what is missing from it."""

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from heapq import heappop, heappush
from pathlib import Path

from mcap.records import Channel, Schema

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.mcap_records import McapMessage
from mujoco_ros.recording.mcap_scan import Damage, McapScan
from mujoco_ros.recording.metadata import Metadata, RecordedTopic, Span, definition, listed

_MOST_LISTED = 10  # most damages of a file in its description
_UNKNOWN = Schema(id=(1 << 16) - 1, name="unknown/msg/Unknown", encoding="", data=b"")
"""Type of messages whose channel is damaged."""
UNTYPED = "message without a type"
"""Type of a channel that has none."""


def bag_files(bag: Path) -> list[Path]:
    """Return the MCAP files of a bag, a folder or one file, in order."""
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


class BagContents:
    """Contents of a bag that may be damaged: every check sum is verified."""

    def __init__(self, bag: Path, distribution: str = "", *, skips: bool = False) -> None:
        """Read the whole bag, of `distribution` if metadata.yaml has none.

        `skips` leaves out files that are no MCAP files, if there are others.
        """
        self.bag = bag
        # Contents of metadata.yaml, with the files, topics and messages that were found
        self.metadata = Metadata.read(bag, distribution)
        self.scans: list[McapScan] = []  # contents of the files, in order
        expected = [(topic.name, topic.kind) for topic in self.metadata.topics.values()]
        errors = []
        for path in bag_files(bag):
            try:
                self.scans.append(McapScan(path, expected))
            except OSError as error:
                raise UserInputError(f"'{path}' cannot be read: {error.strerror}") from error
            except UserInputError as error:
                errors.append(error)
        if errors and not (skips and self.scans):
            raise errors[0]
        self.problems = [*map(str, errors)]  # what is damaged or missing, as sentences
        self.is_lossy = bool(errors)  # whether something is missing, or may be wrong
        for scan in self.scans:
            self._complete_channels(scan)
        # Number of messages by topic
        self.counts = _total(_by_topic(scan, scan.counts) for scan in self.scans)
        self.lost = self._missing()  # number of missing messages by topic, as far as it is known
        self.is_lossy |= bool(self.lost) or any(scan.is_lossy for scan in self.scans)
        for scan in self.scans:
            self.problems += [_described(scan, damage) for damage in scan.damages[:_MOST_LISTED]]
            if (more := len(scan.damages) - _MOST_LISTED) > 0:
                self.problems.append(f"'{scan.path}': {more} more places are damaged")
        if unchecked := sum(scan.unchecked for scan in self.scans):
            self.problems.append(
                f"'{bag}': {unchecked} messages have no check sum, so damaged values in them "
                "are not noticed"
            )
        self._correct_metadata()

    @property
    def topics(self) -> dict[str, str]:
        """Types of the topics with messages by name."""
        return {topic: self.metadata.topics[topic].kind for topic in self.counts}

    @property
    def summary(self) -> str:
        """The number of missing messages by topic, as text; empty if none is missing."""
        if not self.is_lossy:
            return ""
        missing = f"{listed(self.lost)} are missing" if self.lost else "messages may be missing"
        return f"'{self.bag}' is damaged: {missing}"

    def lost_between(self, topic: str) -> tuple[float, float] | None:
        """Return the times between which messages of a topic are missing [s]; None if unknown."""
        spans = [
            damage.span
            for scan in self.scans
            for damage in scan.damages
            if damage.span is not None
            and damage.is_loss
            and (not damage.lost or topic in _by_topic(scan, damage.lost))
        ]
        if not spans:
            return None
        return min(first for first, _ in spans) / 1e9, max(last for _, last in spans) / 1e9

    @staticmethod
    def kind(scan: McapScan, channel: Channel) -> str:
        """Return the name of the type of a channel's messages."""
        schema = scan.schemas.get(channel.schema_id)
        return UNTYPED if schema is None else schema.name

    def messages(self, topics: Collection[str]) -> Iterator[tuple[McapScan, Channel, McapMessage]]:
        """Yield the sound messages of topics in the order of their reception."""
        blocks = [
            (block.first, number, index, scan, block)
            for number, scan in enumerate(self.scans)
            for index, block in enumerate(scan.blocks)
            if any(scan.channels[channel].topic in topics for channel in block.counts)
        ]
        blocks.sort(key=lambda row: row[:3])
        waiting: list[tuple[int, int, McapScan, McapMessage]] = []
        place = 0
        for first, _, _, scan, block in blocks:
            yield from _earlier(waiting, first)
            for message in scan.messages(block):
                if scan.channels[message.channel].topic in topics:
                    heappush(waiting, (message.log_time, place, scan, message))
                    place += 1
        yield from _earlier(waiting, 1 << 64)

    def _complete_channels(self, scan: McapScan) -> None:
        """Complete channels and schemas whose records are damaged by metadata.yaml."""
        named = {channel.topic for channel in scan.channels.values()}
        topics = self.metadata.topics.values()
        others = [topic.name for topic in topics if topic.count and topic.name not in named]
        unnamed = scan.counts.keys() - scan.channels.keys()
        is_clear = len(unnamed) == len(others) == 1
        for number in unnamed:
            name = others[0] if is_clear else f"/unknown_channel_{number}"
            scan.channels[number] = Channel(number, name, "cdr", {}, 0 if is_clear else _UNKNOWN.id)
            if not is_clear:
                scan.schemas[_UNKNOWN.id] = _UNKNOWN
            self.problems.append(
                f"'{scan.path}': the topic of channel {number} is damaged; its messages are "
                f"taken as '{name}'"
            )
            self.is_lossy |= not is_clear
        for number, channel in scan.channels.items():
            topic = self.metadata.topics.get(channel.topic)
            if topic is not None and channel.schema_id not in scan.schemas:
                unused = next(other for other in itertools.count(1) if other not in scan.schemas)
                encoding, text = definition(topic.kind)
                scan.schemas[unused] = Schema(unused, text.encode(), encoding, topic.kind)
                scan.channels[number] = replace(channel, schema_id=unused)

    def _missing(self) -> Counter[str]:
        lost = _total(_by_topic(scan, scan.lost) for scan in self.scans)
        present = {scan.path.name for scan in self.scans}
        absent = [name for name in self.metadata.files if name not in present]
        if absent or any(scan.statistics is None for scan in self.scans):
            expected = Counter({topic.name: topic.count for topic in self.metadata.topics.values()})
            lost |= expected - self.counts
            if lost:
                self.problems += [f"'{self.bag / name}' is missing" for name in absent]
        return lost

    def _correct_metadata(self) -> None:
        metadata = self.metadata
        metadata.files.clear()
        for scan in self.scans:
            metadata.files[scan.path.name] = Span(
                count=scan.counts.total(),
                first=min((block.first for block in scan.blocks), default=Span.first),
                last=max((block.last for block in scan.blocks), default=0),
            )
            for number in scan.counts:
                channel = scan.channels[number]
                kind = self.kind(scan, channel)
                topic = RecordedTopic.of_channel(channel.topic, kind, channel.metadata)
                metadata.topics.setdefault(channel.topic, topic)
        for topic in metadata.topics.values():
            topic.count = self.counts[topic.name]


def _earlier(
    waiting: list[tuple[int, int, McapScan, McapMessage]], time: int
) -> Iterator[tuple[McapScan, Channel, McapMessage]]:
    """Take the messages of a heap that are earlier than a time [ns], in order."""
    while waiting and waiting[0][0] < time:
        _, _, source, message = heappop(waiting)
        yield source, source.channels[message.channel], message


def _total(counts: Iterable[Counter[str]]) -> Counter[str]:
    return sum(counts, Counter())


def _by_topic(scan: McapScan, counts: Counter[int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for number, count in counts.items():
        channel = scan.channels.get(number)
        found[f"channel {number}" if channel is None else channel.topic] += count
    return found


def _described(scan: McapScan, damage: Damage) -> str:
    reason = f": {damage.reason}" if damage.reason else ""
    text = (
        f"'{scan.path}': the {damage.what} of {damage.size} bytes at byte {damage.offset} is "
        f"damaged{reason}"
    )
    if damage.span is not None and damage.is_loss:
        first, last = (time / 1e9 for time in damage.span)
        text += f"; it is from {first:.3f} s to {last:.3f} s"
    if damage.lost:
        text += f", and {listed(_by_topic(scan, damage.lost))} are missing"
    return text
