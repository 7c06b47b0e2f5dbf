"""Errors in the files, names and values that users give, each one line of a log."""

import logging
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

CONTROL = "\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
"""Characters, other than line breaks, that change a terminal or that a log cannot have."""
_OF_LINES = re.compile(rf"[{CONTROL}\n]")
_INDENTATION = "    "


def escaped(found: re.Match[str]) -> str:
    """Return the escape sequences of the characters of a match."""
    return repr(found.group())[1:-1]


def one_line(text: str) -> str:
    """Return a text with its control characters and line breaks escaped."""
    return text if text.isprintable() else _OF_LINES.sub(escaped, text)


class LineFormatter(logging.Formatter):
    """Formats a record as one line, and indents the traceback that may follow."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line and the traceback, which another formatter may have formatted before."""
        record.exc_text = None
        text = super().format(record)
        record.exc_text = None
        return text

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (of the base class)
        """Return the line."""
        return one_line(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 (of the base class)
        """Return the traceback, whose lines are indented."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"{_INDENTATION}{one_line(line)}" for line in lines)


_LONGEST_QUOTE = 200
_LONGEST_MESSAGE = 4000
_CONTROL = re.compile(f"[{CONTROL}]")
# Where the engine has cut a message, the next mark begins another quotation, or there is none.
_QUOTE = re.compile(r"(?<![\w'])'([^']*)('(?!\w)|(?=')|\Z)")
# A shortened quotation, with its marks, is no long word.
_WORD = re.compile(rf"(\S{{{_LONGEST_QUOTE}}})\S{{10,}}")


def shortened(message: str) -> str:
    """Return a message in which no quotation and no word is longer than 200 characters.

    A client's text of a megabyte would otherwise be sent back, and written to every log. Control
    characters, but not line breaks, are escaped: they would change the terminal.
    """
    if not message.isprintable():
        message = _CONTROL.sub(escaped, message)
    if len(message) <= _LONGEST_QUOTE:
        return message
    message = _QUOTE.sub(_shortened_quotation, message)
    message = _WORD.sub(lambda found: f"{found.group(1)}…", message)
    longer = len(message) > _LONGEST_MESSAGE
    return f"{message[:_LONGEST_MESSAGE]}…" if longer else message


def _shortened_quotation(found: re.Match[str]) -> str:
    text, end = found.groups()
    return f"'{text[:_LONGEST_QUOTE]}…{end}" if len(text) > _LONGEST_QUOTE else found.group()


class UserInputError(ValueError):
    """A user's file, name or value is invalid; the message names it and the remedy."""

    def __init__(self, message: str = "") -> None:
        """Set the message, `shortened`."""
        super().__init__(shortened(message))


class NameTakenError(UserInputError):
    """Another element of the scene has the name."""


class NameInvalidError(UserInputError):
    """The name cannot be part of a ROS name."""


class NamespaceError(UserInputError):
    """The namespace is invalid, or another robot has it."""


class MissingFileError(UserInputError):
    """The file does not exist."""


class UnsupportedFormatError(UserInputError):
    """The format of the model cannot be read or merged."""


class ParseError(UserInputError):
    """The text of the model is invalid or does not compile."""


class NativeCodeError(UserInputError):
    """The scene names a plugin (native code) that must not be loaded."""


class MissingAssetError(UserInputError):
    """A file of the model, such as a mesh, is missing."""


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> UserInputError:
    """Return the error for an unknown name; its message has the choices and the closest one.

    `kind` is what is named, e.g. ``"keyframe"``; `where`, e.g. a file and key path, begins the
    message.
    """
    choices = list(known)
    close = get_close_matches(name[:_LONGEST_QUOTE], choices, n=1)
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    listing = f"there are: {', '.join(choices)}" if choices else "there are none"
    prefix = f"{where}: " if where else ""
    return UserInputError(f"{prefix}{kind} '{name}' not found{hint}; {listing}")


def ambiguous(what: str, candidates: Iterable[str], remedy: str) -> UserInputError:
    """Return the error for a choice, e.g. of an ``"IMU"``, that only a name can decide."""
    return UserInputError(f"several could be the {what}: {', '.join(candidates)}; {remedy}")


def counted(number: int, noun: str) -> str:
    """Return a number with a regular noun, in the singular for 1: ``1 body``, ``2 bodies``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("dy") else f"{number} {noun}s"
