"""What declared panels display, received while a page shows it."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from mujoco_ros.viewer.client_set import FieldClient, FieldKey
from mujoco_ros.viewer.panel_descriptions import FieldInfo, ItemInfo, PanelClient, PanelInfo
from mujoco_ros.viewer.plots.curves import Curve, FieldCurves

K = TypeVar("K")
_KEPT_S = 1.0  # how long is received what no page shows any more
_WITH_ROWS = ("table", "value", "choice")  # kinds of items whose topic has rows


class DeclaredDisplays:
    """Receives rows and curves for all pages; `update` is called at all times."""

    def __init__(self, panels: PanelClient, fields: FieldClient) -> None:
        self._panels, self._curves = panels, FieldCurves(fields)
        self._rows: dict[str, float] = {}  # until when topics are received, monotonic [s]
        self._keys: dict[FieldKey, float] = {}
        self._watched: Sequence[str] = ()

    def show(self, panel: PanelInfo, now: float) -> None:
        """Receive what a panel displays for a while from now on [s]."""
        for item in _all_items(panel):
            if item.kind in _WITH_ROWS and item.topic:
                self._rows[item.topic] = now + _KEPT_S
            for key in plot_keys(item):
                self._keys[key] = now + _KEPT_S

    def update(self, now: float) -> None:
        """Receive what is shown, and no more; `now` is monotonic [s]."""
        topics, keys = _later(self._rows, now), _later(self._keys, now)
        if topics != self._watched:
            self._watched = topics
            self._panels.watch(topics)
        if keys != list(self._curves.selected):
            self._curves.keep(keys)
        self._curves.update()

    def rows(self, topic: str) -> Sequence[Sequence[str]]:
        """Return the rows of a topic that is shown."""
        return self._panels.rows(topic)

    def curves(self, item: ItemInfo) -> list[Curve]:
        """Return the curves of a plot that is shown."""
        own = dict(zip(plot_keys(item), item.columns, strict=True))
        shown = zip(self._curves, self._curves.selected, strict=True)
        return [
            Curve(item.unit, own[key], curve.history, curve.index)
            for curve, key in shown
            if key in own
        ]


def plot_keys(item: FieldInfo) -> list[FieldKey]:
    """Return the fields of messages that a plot shows."""
    if item.kind != "plot":
        return []
    return [FieldKey(item.topic, f"data[{index}]") for index in range(len(item.columns))]


def _all_items(panel: PanelInfo) -> Iterable[FieldInfo]:
    for group in panel.groups:
        for item in group.items:
            yield item
            yield from item.fields


def _later(ends: dict[K, float], now: float) -> list[K]:
    """Remove what has ended from a dictionary, and return the rest."""
    for each in [each for each, end in ends.items() if end < now]:
        del ends[each]
    return list(ends)
