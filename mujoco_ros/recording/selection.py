"""Which topics are recorded."""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A choice of topics; without `topics` and `regex`, all.

    Attributes:
        topics: Names.
        regex: What names match as a whole, None for nothing.
        exclude: What names not to record match as a whole, None for nothing.
        hidden: Whether to record topics that ROS hides, such as those of actions.
    """

    topics: frozenset[str] = frozenset()
    regex: re.Pattern[str] | None = None
    exclude: re.Pattern[str] | None = None
    hidden: bool = False

    def takes(self, name: str) -> bool:
        """Return whether the topic of this name is recorded."""
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
    """Return topic names with the slash they begin with."""
    return frozenset("/" + name.removeprefix("/") for name in names)
