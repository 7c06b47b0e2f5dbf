"""Contents of a bag: metadata.yaml of rosbag2, written as version 9."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import OutputFile
from mujoco_ros.model.strict import read_yaml

FILE = "metadata.yaml"
_VERSION = 9
_NEVER = 2**63 - 1


@dataclass(kw_only=True)
class Span:
    """Number of messages, and times of the first and last one [ns]."""

    count: int = 0
    first: int = _NEVER
    last: int = 0

    def add(self, time: int) -> None:
        """Count a message."""
        self.count += 1
        # Called for every message: comparisons are faster than min and max.
        if time < self.first:
            self.first = time
        if time > self.last:
            self.last = time

    @property
    def duration(self) -> int:
        """Time from the first to the last message [ns]."""
        return max(0, self.last - self.first)

    def as_rosbag2(self) -> dict[str, Any]:
        """Return the keys of a bag or a file in metadata.yaml."""
        return {
            "starting_time": {"nanoseconds_since_epoch": self.first},
            "duration": {"nanoseconds": self.duration},
            "message_count": self.count,
        }


@dataclass(kw_only=True)
class RecordedTopic:
    """A topic of a bag.

    Attributes:
        name: Name of the topic.
        kind: Message type, e.g. ``std_msgs/msg/String``.
        type_hash: Hash of the type (REP-2016); empty if unknown.
        qos: QoS profiles offered by its publishers, in the format of the version of rosbag2.
        count: Number of messages.
    """

    name: str
    kind: str
    type_hash: str
    qos: Any
    count: int = 0

    def as_rosbag2(self) -> dict[str, Any]:
        """Return the entry of the topic in metadata.yaml."""
        return {
            "topic_metadata": {
                "name": self.name,
                "type": self.kind,
                "serialization_format": "cdr",
                "offered_qos_profiles": self.qos,
                "type_description_hash": self.type_hash,
            },
            "message_count": self.count,
        }


@dataclass(kw_only=True)
class Metadata:
    """Contents of a bag.

    Attributes:
        distribution: ROS distribution of the recording.
        topics: Topics by name.
        files: Messages of each file by its name, in the order of recording.
        others: Other keys, such as the version.
    """

    distribution: str
    topics: dict[str, RecordedTopic] = field(default_factory=dict)
    files: dict[str, Span] = field(default_factory=dict)
    others: dict[str, Any] = field(
        default_factory=lambda: {
            "version": _VERSION,
            "storage_identifier": "mcap",
            "compression_format": "",
            "compression_mode": "",
            "custom_data": None,
        }
    )

    @classmethod
    def read(cls, folder: Path, distribution: str) -> "Metadata":
        """Return the contents of metadata.yaml up to what is damaged; nothing without the file.

        Args:
            folder: The folder of the bag.
            distribution: ROS distribution, if the file has none.
        """
        metadata = cls(distribution=distribution)
        with suppress(
            UserInputError, ValueError, OverflowError, LookupError, TypeError, AttributeError
        ):
            content = read_yaml(folder / FILE)["rosbag2_bagfile_information"]
            metadata.distribution = str(content.get("ros_distro") or distribution)
            names = "version", "compression_format", "compression_mode", "custom_data"
            metadata.others |= {name: content[name] for name in names if name in content}
            for entry in content["topics_with_message_count"]:
                topic = entry["topic_metadata"]
                metadata.topics[str(topic["name"])] = RecordedTopic(
                    name=str(topic["name"]),
                    kind=str(topic["type"]),
                    type_hash=str(topic.get("type_description_hash", "")),
                    qos=topic.get("offered_qos_profiles", []),
                    count=int(entry["message_count"]),
                )
            for name in content["relative_file_paths"]:
                metadata.files[str(name)] = Span()
        return metadata

    @property
    def total(self) -> Span:
        """Number of messages in all topics."""
        spans = self.files.values()
        return Span(
            count=sum(span.count for span in spans),
            first=min((span.first for span in spans), default=_NEVER),
            last=max((span.last for span in spans), default=0),
        )

    def as_rosbag2(self) -> dict[str, Any]:
        """Return the content of metadata.yaml below its only key."""
        return {
            **self.others,
            **self.total.as_rosbag2(),
            "topics_with_message_count": [t.as_rosbag2() for t in self.topics.values()],
            "relative_file_paths": list(self.files),
            "files": [{"path": name, **span.as_rosbag2()} for name, span in self.files.items()],
            "ros_distro": self.distribution,
        }

    def text(self) -> str:
        """Return the content of metadata.yaml below its only key, as YAML."""
        return yaml.dump(self.as_rosbag2(), Dumper=_Dumper, sort_keys=False)

    def save(self, folder: Path) -> None:
        """Replace metadata.yaml atomically, by a file that only its user can read."""
        content = {"rosbag2_bagfile_information": self.as_rosbag2()}
        with OutputFile(folder / FILE, mode=0o600) as output:
            output.file.write(yaml.dump(content, Dumper=_Dumper, sort_keys=False).encode())
            output.finish()


class _Dumper(yaml.CSafeDumper):
    """Repeats equal values: not all YAML readers support aliases."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True
