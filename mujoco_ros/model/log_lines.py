"""Lines of logs, in which the text of a message, a file or a client cannot look like a line."""

import logging
import re
from types import TracebackType

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

    def formatException(  # noqa: N802 (of the base class)
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """Return the traceback, whose lines are indented."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"{_INDENTATION}{one_line(line)}" for line in lines)
