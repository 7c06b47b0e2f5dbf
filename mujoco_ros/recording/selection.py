"""Selection of the topics to record."""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Selected topics; without `topics` and `regex`, all.

    Attributes:
        topics: Names.
        regex: Full match of the names to record; None selects none.
        exclude: Full match of the names not to record; None excludes none.
        hidden: Whether to record hidden topics, such as those of actions.
    """

    topics: frozenset[str] = frozenset()
    regex: re.Pattern[str] | None = None
    exclude: re.Pattern[str] | None = None
    hidden: bool = False

    def includes(self, name: str) -> bool:
        """Return whether a topic is recorded."""
        if self.exclude is not None and self.exclude.fullmatch(name):
            return False
        if name in self.topics:
            return True
        if not self.hidden and any(part.startswith("_") for part in name.split("/")):
            return False
        if self.regex is not None:
            return self.regex.fullmatch(name) is not None
        return not self.topics


def absolute(names: Iterable[str]) -> frozenset[str]:
    """Return topic names with a leading slash."""
    return frozenset("/" + name.removeprefix("/") for name in names)
