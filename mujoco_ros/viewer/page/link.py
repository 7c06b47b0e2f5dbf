"""Links to the page that name a view and a time: ``/?view=...&t=12.345``."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from urllib.parse import urlencode

_LONGEST = 200  # characters of the name of a view


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkedView:
    """What a link to the page names."""

    view: str = ""  # the view of the scene; empty for the usual one
    time: float | None = None  # simulated time of the state to show [s]; None for the present one
    problem: str = ""  # what is wrong with the link

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "LinkedView":
        """Read the query of a request; what is not valid is left out, and named in `problem`."""
        view, text = query.get("view", "")[:_LONGEST], query.get("t", "")
        try:
            time = float(text) if text else None
        except ValueError:
            time = float("nan")
        if time is not None and not (isfinite(time) and time >= 0.0):
            return cls(view=view, problem=f"The time '{text[:20]}' of the link is no number ≥ 0.")
        return cls(view=view, time=time)

    @property
    def text(self) -> str:
        """The link, relative to the server."""
        time = None if self.time is None else f"{self.time:.6f}".rstrip("0").rstrip(".")
        named = {name: it for name, it in (("view", self.view), ("t", time)) if it}
        return f"/?{urlencode(named)}" if named else "/"
