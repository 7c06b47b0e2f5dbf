"""Plots of curves with one axis of time, which the browser draws.

    chart = Chart("Plots", file="arm")
    chart.show(curves)  # in `refresh`: sends the samples that are new

The browser keeps what it has received, zooms and pans by itself, and asks for the samples of the
range in which it stays. Samples of equal times are sent together, as numbers of 4 bytes.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from math import inf, isfinite
from typing import Any

import numpy as np

from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import current_session
from mujoco_ros.viewer.plots.curves import Curve, by_plot
from mujoco_ros.viewer.plots.history import History

SPANS_S = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0)
"""Spans of time to choose from [s]."""
_NEW_POINTS = 40  # most samples of a curve that a call of `show` sends
_ALL_POINTS = 2000  # most samples of a curve at first, and of a range


@dataclass(eq=False)
class _Sent:
    """What the browser has of a history."""

    numbers: list[int]  # of its curves
    until: float = -inf  # time of the last sample [s]
    cuts: int = 0  # of the history at that time


@dataclass
class _Block:
    """Samples of several curves at the same times."""

    times: np.ndarray  # [s]  # (n,)
    numbers: list[int] = field(default_factory=list)  # of the curves
    rows: list[np.ndarray] = field(default_factory=list)  # their values  # (n,) each

    def message(self, **further: Any) -> dict[str, Any]:
        begin = float(self.times[0])
        table = np.stack([self.times - begin, *self.rows]).astype(np.float32)
        shape = {"begin": begin, "count": len(self.times), "curves": self.numbers}
        return shape | further | {"data": table.tobytes()}


class Chart(LiveElement):
    """Plots of curves; the curves of a plot have the same label."""

    def __init__(
        self,
        name: str,
        *,
        file: str = "plots",
        span_s: float = 10.0,
        on_show: Callable[[float | None], object] | None = None,
        on_span: Callable[[float], object] | None = None,
        on_csv: Callable[[], object] | None = None,
    ) -> None:
        """Create it in the container that is active.

        Args:
            name: Its name for screen readers.
            file: Name of files that the browser saves, without suffix.
            span_s: Span of time at first [s].
            on_show: Gets the time that was clicked [s], and None after a double-click.
            on_span: Gets the chosen span of time [s].
            on_csv: Saves the samples.
        """
        session = current_session()
        state = {"plots": [], "span": span_s, "shown": None, "marks": []}
        options = {"file": file, "csv": on_csv is not None}
        super().__init__(session.feed, "plot", tag="div", options=options, state=state)
        self.file = file  # name of the files that the browser saves
        self.classes("chart")
        self._props |= {"role": "group", "aria-label": name}
        self._sent: dict[History, _Sent] = {}
        self._next = self._calls = self._views = 0
        self._on_show, self._on_span = on_show, on_span or _ignore
        self._on_csv = on_csv or _ignore
        guarded = session.guard(self._handle)
        self.on("act", lambda event: guarded(event.args))

    def show(
        self,
        curves: Iterable[Curve],
        *,
        shown: float | None = None,
        marks: Sequence[tuple[float, str]] = (),
    ) -> None:
        """Show curves, a line at the time of a shown past state, and lines with labels [s]."""
        plots = by_plot(curves)
        histories = {it.history: it.history for of in plots.values() for it in of}
        sent = {history: self._sent.get(history) or self._begin(history) for history in histories}
        self._sent = sent
        self.set(
            plots=[
                _described(unit, [(sent[it.history].numbers[it.index], it.name) for it in of])
                for unit, of in plots.items()
            ],
            shown=shown,
            marks=[[time, label] for time, label in marks],
        )
        self._calls += 1
        if self._feed.is_waiting:
            return
        blocks: dict[bytes, _Block] = {}
        reset: list[int] = []
        for history, known in sent.items():
            if known.cuts != history.cuts:
                known.cuts, known.until = history.cuts, -inf
                reset += known.numbers
            points = _ALL_POINTS if known.until == -inf else _NEW_POINTS * self._calls
            if len(history.times):
                _add(blocks, history, known.numbers, (known.until, inf), min(points, _ALL_POINTS))
                known.until = float(history.times[-1])
        self._calls = 0
        messages = [block.message() for block in blocks.values()]
        if reset:
            messages.insert(0, {"reset": reset})
        if messages:
            self._feed.append(self, messages)

    def snapshot(self) -> dict[str, Any]:
        """Return the state; the samples follow."""
        self._restart()
        return super().snapshot()

    def _restart(self) -> None:
        for known in self._sent.values():
            known.cuts = -1

    def _begin(self, history: History) -> _Sent:
        count = history.curves
        self._next += count
        return _Sent(list(range(self._next - count, self._next)), cuts=history.cuts)

    def _handle(self, message: Mapping[str, Any]) -> None:
        """Handle a message of the browser."""
        kind, value = message.get("kind"), message.get("value")
        if kind == "ready":
            self._restart()
        elif kind == "csv":
            self._on_csv()
        elif kind == "span" and value in SPANS_S:
            self.state["span"] = float(value)
            self._on_span(float(value))
        elif kind == "show" and self._on_show is not None and current_session().can_control:
            self._on_show(None if value is None else _number(value))
        elif kind == "range":
            begin, end = map(_number, value or ())
            self._send_range(begin, end)

    def _send_range(self, begin: float, end: float) -> None:
        """Send the samples of a range, and around it [s]."""
        margin = 0.5 * (end - begin)
        begin, end = begin - margin, end + margin
        blocks: dict[bytes, _Block] = {}
        for history, known in self._sent.items():
            _add(blocks, history, known.numbers, (begin, end), _ALL_POINTS)
        self._views += 1
        last = max((known.until for known in self._sent.values()), default=end)
        view = {"range": [begin, min(end, last)], "id": self._views}
        self._feed.append(self, [block.message(**view) for block in blocks.values()])


def _add(
    blocks: dict[bytes, _Block],
    history: History,
    numbers: Sequence[int],
    edges: tuple[float, float],
    points: int,
) -> None:
    """Add the samples of a history between two times [s] to the block of their times."""
    times, values = history.between(*edges, points)
    if len(times):
        block = blocks.setdefault(times.tobytes(), _Block(times))
        block.numbers += numbers
        block.rows += list(values)


def _described(unit: str, curves: Sequence[tuple[int, str]]) -> list[Any]:
    """Return the unit and title of a plot, and number, name and short name of its curves."""
    title, short = shortened(unit, [name for _, name in curves])
    return [unit, title, [[*curve, words] for curve, words in zip(curves, short, strict=True)]]


def shortened(unit: str, names: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Move what all names begin and end with, up to a ``_`` or space, to the title of a plot."""
    most = min(map(len, names)) - 1 if len(names) > 1 else 0
    begin = re.sub(r"[^_ ]*$", "", _shared(names)[:most])
    end = re.sub(r"^[^_ ]*", "", _shared([name[::-1] for name in names])[:most][::-1])
    if not begin + end or len(begin + end) > most:
        return unit, names
    words = re.sub(r"_* _*|^_|_$", " ", f"{begin} {end}").strip()
    return f"{words} [{unit}]", [name[len(begin) : len(name) - len(end)] for name in names]


def _shared(names: Sequence[str]) -> str:
    """Return what all names begin with."""
    letters = takewhile(lambda each: len(set(each)) == 1, zip(*names, strict=False))
    return "".join(each[0] for each in letters)


def _number(value: Any) -> float:
    number = float(value)
    if not isfinite(number):
        raise ValueError(f"{value!r} is no time")
    return number


def _ignore(*_: object) -> None:
    pass
