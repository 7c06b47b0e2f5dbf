"""Message definitions with their dependencies, in the format of rosbag2."""

import re
from collections.abc import Callable
from typing import NamedTuple

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.packages import package_directory

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
_Read = Callable[[str], tuple[str, list[str]]]


def definition(kind: str) -> Definition:
    """Return the definition of a message type such as ``std_msgs/msg/String``, with dependencies.

    UNKNOWN if the files of its package, or of a dependency, are not installed.
    """
    for encoding, label, read in (("ros2msg", "MSG", _read_msg), ("ros2idl", "IDL", _read_idl)):
        texts: dict[str, str] = {}
        try:
            _collect(kind, read, texts)
        except (OSError, UserInputError):
            continue
        parts = [f"{_LINE}\n{label}: {name}\n{text}" for name, text in texts.items()]
        if label == "MSG":
            parts[0] = texts[kind]  # the only one without a header
        return Definition(encoding, "\n".join(parts))
    return UNKNOWN


def _collect(kind: str, read: _Read, texts: dict[str, str]) -> None:
    """Add the text of a type, and those of its dependencies, each once."""
    texts[kind], dependencies = read(kind)
    for name in dependencies:
        if name not in texts:
            _collect(name, read, texts)


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
