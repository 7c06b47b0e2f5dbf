"""Message types as text, with all they consist of, as rosbag2 puts them into a bag."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.uri import package_directory

_LINE = "=" * 80
_TYPE = re.compile(r"(\w+)/(?:(\w+)/)?(\w+)")
_MSG_FIELD = re.compile(r"^[ \t]*([\w/]+)(?:<=\d+)?(?:\[[^\]]*\])?[ \t]+\w+", re.MULTILINE)
_IDL_INCLUDE = re.compile(r'^#include\s+["<]([\w/]+)\.idl[">]', re.MULTILINE)
_PRIMITIVE = re.compile(r"bool|byte|char|float(32|64)|u?int(8|16|32|64)|w?string")
# The message in which an action's feedback travels is in no file (rosidl_adapter, action to idl).
_FEEDBACK_MESSAGE = "unique_identifier_msgs/UUID goal_id\n{action}_Feedback feedback\n"
_FEEDBACK = 2
"""Place of the feedback among the parts of an .action file."""


class Definition(NamedTuple):
    """A message type: how it is written (``ros2msg`` or ``ros2idl``), and the text."""

    encoding: str
    text: str


UNKNOWN = Definition("", "")


def definition(kind: str) -> Definition:
    """Return the definition of a message type such as ``std_msgs/msg/String``.

    It holds the definitions of all other types the message has fields of. Without the files of
    the package that is UNKNOWN.
    """
    for encoding, of in (("ros2msg", _MsgFiles()), ("ros2idl", _IdlFiles())):
        try:
            return Definition(encoding, of.whole(kind))
        except (OSError, UserInputError):
            continue
    return UNKNOWN


class _Files:
    """Definition files of one kind."""

    label = ""
    heads_first = False

    def whole(self, kind: str) -> str:
        """Return the text of a type followed by those of all it depends on, each once."""
        head = f"{_LINE}\n{self.label}: {kind}\n" if self.heads_first else ""
        seen = {kind}
        return head + "\n".join(self._texts(kind, seen))

    def _texts(self, kind: str, seen: set[str]) -> Iterator[str]:
        text = self.text(kind)
        yield text
        for name in self.dependencies(kind, text):
            if name not in seen:
                seen.add(name)
                first, *rest = self._texts(name, seen)
                yield f"{_LINE}\n{self.label}: {name}\n{first}"
                yield from rest

    def text(self, kind: str) -> str:
        raise NotImplementedError

    def dependencies(self, kind: str, text: str) -> list[str]:
        raise NotImplementedError


class _MsgFiles(_Files):
    label = "MSG"

    def text(self, kind: str) -> str:
        package, folder, name = _parts(kind)
        share = package_directory(package)
        for ending in ("_FeedbackMessage", "_Feedback"):
            file = share / "action" / f"{name.removesuffix(ending)}.action"
            if folder != "msg" and name.endswith(ending) and file.exists():
                if ending == "_FeedbackMessage":
                    return _FEEDBACK_MESSAGE.format(action=file.stem)
                return re.split(r"^---.*\n?", file.read_text(), flags=re.MULTILINE)[_FEEDBACK]
        return (share / "msg" / f"{name}.msg").read_text(encoding="utf-8")

    def dependencies(self, kind: str, text: str) -> list[str]:
        package = _parts(kind)[0]
        found = (match[1] for match in _MSG_FIELD.finditer(re.sub(r"#.*", "", text)))
        names = {n if "/" in n else f"{package}/{n}" for n in found if not _PRIMITIVE.fullmatch(n)}
        return sorted(names)


class _IdlFiles(_Files):
    label = "IDL"
    heads_first = True

    def text(self, kind: str) -> str:
        package, folder, name = _parts(kind)
        share = package_directory(package)
        return (share / (folder or "msg") / f"{name}.idl").read_text(encoding="utf-8")

    def dependencies(self, kind: str, text: str) -> list[str]:
        return sorted({match[1] for match in _IDL_INCLUDE.finditer(text)})


def _parts(kind: str) -> tuple[str, str, str]:
    """Return package, folder (may be empty) and name of a type."""
    match = _TYPE.fullmatch(kind)
    if match is None:
        raise FileNotFoundError(f"'{kind}' is no message type")
    return match[1], match[2] or "", match[3]
