"""The list of what can be plotted, with a search."""

import time
from collections.abc import Hashable, Sequence
from functools import partial
from itertools import groupby, islice

from nicegui.element import Element

from mujoco_ros.viewer.clients import FieldKey
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.plots.plotted import Plotted
from mujoco_ros.viewer.plots.signals import Signal

_MOST = 200  # most rows of a group in the list


class PlotChoices:
    """Signals by robot and kind, and the fields of all topics; a group opens by its heading."""

    def __init__(self, plotted: Plotted) -> None:
        """Create the list in the container that is active."""
        self._plotted, self._client = plotted, plotted.client
        self._search, self._is_open = "", False
        self._opened: dict[str, None] = {}  # headings of open groups, and open topics
        self._paths: dict[str, Sequence[str]] = {}  # fields of topics
        self._built: Hashable = None
        self._checks: list[tuple[widgets.Widget, Hashable]] = []
        self._field = widgets.text_field(
            "Search", self._set_search, placeholder="joint, sensor, topic", eager=True, watch=True
        )
        self._list = Element("div").classes("choices")

    def set_open(self, is_open: bool) -> None:
        """Note whether the list is open."""
        self._is_open = is_open
        self.refresh()

    def find(self, topic: str) -> None:
        """Show the fields of a topic."""
        self._opened = {topic: None}
        self._field.set(value=topic)
        self._set_search(topic)

    def refresh(self) -> None:
        """Show what can be chosen, and what is."""
        if not self._is_open:
            return
        self._inspect()
        content = (
            tuple(self._plotted.signals.known),
            tuple(self._client.topics),
            self._search,
            frozenset(self._opened),
            frozenset(self._paths),
        )
        if content != self._built:
            self._built = content
            self._checks.clear()
            self._list.clear()
            with self._list:
                self._build()
        signals, fields = self._plotted.signals.selected, self._plotted.fields.selected
        chosen: set[Hashable] = {*(signal.key for signal in signals), *fields}
        for check, key in self._checks:
            check.set(value=key in chosen)

    def _build(self) -> None:
        known = self._plotted.signals.known.values()
        for heading, group in groupby(known, lambda signal: signal.heading):
            found = [it for it in group if self._is_wanted(" ".join(it.key))]
            if found and self._build_heading(heading):
                self._build_signals(heading, found)
        topics = [topic for topic in self._client.topics if self._is_wanted_topic(topic)]
        if topics:
            widgets.text("Topics", tag="h3")
        for topic in topics:
            if self._build_heading(topic):
                self._build_fields(topic)

    def _build_heading(self, heading: str) -> bool:
        """Create a heading that opens and closes a group; return whether it is open."""
        is_open = heading in self._opened or (bool(self._search) and not heading.startswith("/"))
        mark = "▾" if is_open else "▸"
        control = widgets.button(
            f"{mark} {heading}", partial(self._toggle, heading), look="plain heading", watch=True
        )
        control._props["aria-expanded"] = str(is_open).lower()
        return is_open

    def _build_signals(self, heading: str, group: Sequence[Signal]) -> None:
        labels = list(dict.fromkeys(signal.label for signal in group))
        columns = [widgets.Column("name"), *map(widgets.Column, labels)]
        created = widgets.WidgetTable(heading, columns)
        rows, select = groupby(group, lambda signal: signal.row), self._plotted.signals.select
        for row, of_row in islice(rows, _MOST):
            by_label = {signal.label: signal for signal in of_row}
            with created.row(row):
                for label in labels:
                    with created.cell():
                        if signal := by_label.get(label):
                            self._check("", f"{row} {label}", signal.key, select)

    def _build_fields(self, topic: str) -> None:
        paths = self._paths.get(topic)
        if paths is None:
            widgets.text("no message yet", "muted", tag="p")
            return
        wanted = [path for path in paths if self._is_wanted(f"{topic} {path}")] or list(paths)
        with Element("div").classes("fields"):
            for path in wanted[:_MOST]:
                self._check(path, "", FieldKey(topic, path), self._plotted.fields.select)
        if len(wanted) > _MOST:
            rest = len(wanted) - _MOST
            widgets.text(f"and {rest} more, which a search finds", "muted", tag="p")
        elif not wanted:
            widgets.text("no numbers", "muted", tag="p")

    def _check(self, label: str, name: str, key: Hashable, select: widgets.Act) -> None:
        control = widgets.check(label, False, partial(select, key), name=name)
        self._checks.append((control, key))

    def _toggle(self, heading: str) -> None:
        if heading in self._opened:
            del self._opened[heading]
        else:
            self._opened[heading] = None
        self.refresh()

    def _inspect(self) -> None:
        """Receive the open topics whose fields are not known."""
        for topic in self._opened:
            if topic in self._client.topics and topic not in self._paths:
                paths = self._client.inspect(topic, time.monotonic())
                if paths is not None:
                    self._paths[topic] = paths

    def _set_search(self, words: str) -> None:
        self._search = words.strip().casefold()
        self.refresh()

    def _is_wanted(self, text: str) -> bool:
        return all(word in text.casefold() for word in self._search.split())

    def _is_wanted_topic(self, topic: str) -> bool:
        """Return whether a topic, or a field of it that is known, has all words of the search."""
        fields = [f"{topic} {path}" for path in self._paths.get(topic, ())]
        return any(map(self._is_wanted, [topic, *fields]))
