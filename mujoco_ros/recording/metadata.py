"""metadata.yaml of rosbag2, and message definitions with their dependencies."""

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from mujoco_ros.model.errors import UserInputError, counted
from mujoco_ros.model.output_files import OutputFile
from mujoco_ros.model.packages import package_directory
from mujoco_ros.model.strict import parse_yaml, read_yaml

_LINE = "=" * 80
_TYPE = re.compile(r"(\w+)/(?:(\w+)/)?(\w+)")
_MSG_FIELD = re.compile(r"^[ \t]*([\w/]+)(?:<=\d+)?(?:\[[^\]]*\])?[ \t]+\w+", re.MULTILINE)
_IDL_INCLUDE = re.compile(r'^#include\s+["<]([\w/]+)\.idl[">]', re.MULTILINE)
_PRIMITIVE = re.compile(r"bool|byte|char|float(32|64)|u?int(8|16|32|64)|w?string")
# The feedback message of an action has no file (rosidl_adapter, action to idl).
_FEEDBACK_MESSAGE = "unique_identifier_msgs/UUID goal_id\n{action}_Feedback feedback\n"
_FEEDBACK_PART = 2  # of an .action file


class Definition(NamedTuple):
    """Encoding (``ros2msg`` or ``ros2idl``) and text of a message definition."""

    encoding: str
    text: str


UNKNOWN = Definition("", "")


@cache
def definition(kind: str) -> Definition:
    """Return a type's definition with dependencies; UNKNOWN if files of one are not installed."""
    for encoding, label, read in (("ros2msg", "MSG", _read_msg), ("ros2idl", "IDL", _read_idl)):
        texts: dict[str, str] = {}
        waiting = [kind]
        try:
            while waiting:
                if (name := waiting.pop(0)) not in texts:
                    texts[name], waiting[:0] = read(name)
        except (OSError, UserInputError):
            continue
        parts = [f"{_LINE}\n{label}: {name}\n{text}" for name, text in texts.items()]
        if label == "MSG":
            parts[0] = texts[kind]  # the only one without a header
        return Definition(encoding, "\n".join(parts))
    return UNKNOWN


def _read_msg(kind: str) -> tuple[str, list[str]]:
    """Return the .msg text of a type, and the types of its fields."""
    package, folder, name = _parts(kind)
    text = _msg_text(package, folder, name)
    found = (match[1] for match in _MSG_FIELD.finditer(re.sub(r"#.*", "", text)))
    names = {n if "/" in n else f"{package}/{n}" for n in found if not _PRIMITIVE.fullmatch(n)}
    return text, sorted(names)


def _msg_text(package: str, folder: str, name: str) -> str:
    share = package_directory(package)
    for ending in ("_FeedbackMessage", "_Feedback"):
        file = share / "action" / f"{name.removesuffix(ending)}.action"
        if folder != "msg" and name.endswith(ending) and file.exists():
            if ending == "_FeedbackMessage":
                return _FEEDBACK_MESSAGE.format(action=file.stem)
            return re.split(r"^---.*\n?", file.read_text(), flags=re.MULTILINE)[_FEEDBACK_PART]
    return (share / "msg" / f"{name}.msg").read_text(encoding="utf-8")


def _read_idl(kind: str) -> tuple[str, list[str]]:
    """Return the .idl text of a type, and the types that it includes."""
    package, folder, name = _parts(kind)
    file = package_directory(package) / (folder or "msg") / f"{name}.idl"
    text = file.read_text(encoding="utf-8")
    return text, sorted({match[1] for match in _IDL_INCLUDE.finditer(text)})


def _parts(kind: str) -> tuple[str, str, str]:
    """Return the package, folder (may be empty) and name of a type."""
    match = _TYPE.fullmatch(kind)
    if match is None:
        raise FileNotFoundError(f"'{kind}' is not a message type")
    return match[1], match[2] or "", match[3]


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
    """A topic of a bag, and its number of messages."""

    name: str
    kind: str
    """Message type, e.g. ``std_msgs/msg/String``."""
    type_hash: str
    """Hash of the type (REP-2016); empty if unknown."""
    qos: Any
    """QoS profiles offered by its publishers, in the format of the version of rosbag2."""
    count: int = 0

    @classmethod
    def of_channel(cls, name: str, kind: str, metadata: Mapping[str, str]) -> "RecordedTopic":
        """Return the topic of a channel; QoS profiles that are none are left out."""
        try:
            qos = parse_yaml(metadata.get("offered_qos_profiles", ""), "QoS profiles") or []
        except UserInputError:
            qos = []
        return cls(name=name, kind=kind, type_hash=metadata.get("topic_type_hash", ""), qos=qos)

    @property
    def channel_metadata(self) -> dict[str, str]:
        """Metadata of the topic's channel in a file."""
        qos = yaml.safe_dump(self.qos, sort_keys=False)
        return {"offered_qos_profiles": qos, "topic_type_hash": self.type_hash}

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


def listed(counts: Counter[str]) -> str:
    """Return numbers of messages by topic as text."""
    topics = ", ".join(f"{count} of '{name}'" for name, count in sorted(counts.items()))
    return f"{counted(counts.total(), 'message')} ({topics})"


@dataclass(kw_only=True)
class Metadata:
    """Contents of a bag: topics and files by their names, and other keys."""

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
        """Return the readable part of metadata.yaml; `distribution` is used if it has none."""
        metadata = cls(distribution=distribution)
        with suppress(
            UserInputError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError
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
