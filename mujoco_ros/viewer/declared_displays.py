"""What declared panels display, received while a page shows it."""

from collections.abc import Iterable, Sequence
from math import nan
from typing import TypeVar

from mujoco_ros.viewer.clients import FieldKey
from mujoco_ros.viewer.panel_descriptions import FieldInfo, ItemInfo, PanelInfo
from mujoco_ros.viewer.plots.curves import Curve, FieldCurves
from mujoco_ros.viewer.ros.declared_panels import DeclaredPanels
from mujoco_ros.viewer.ros.field_subscriber import FieldSubscriber

K = TypeVar("K")
_KEPT_S = 1.0  # how long is received what no page shows any more
_WITH_ROWS = ("table", "value", "choice")  # kinds of items whose topic has rows


class DeclaredDisplays:
    """Receives rows and curves for all pages; `update` is called at all times."""

    def __init__(self, panels: DeclaredPanels, fields: FieldSubscriber) -> None:
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

    def receive(self, keys: Iterable[FieldKey], now: float) -> None:
        """Receive fields of messages for a while from now on [s]."""
        self._keys.update(dict.fromkeys(keys, now + _KEPT_S))

    def newest(self, key: FieldKey) -> tuple[float, float]:
        """Return the newest value of a received field and its time [s]; NaN before the first."""
        history = self._curves.histories.get(key)
        if history is None or not len(history.times):
            return nan, nan
        return float(history.curve(0)[-1]), float(history.times[-1])

    def update(self, now: float) -> None:
        """Receive what is shown, and no more; `now` is monotonic [s]."""
        topics, keys = _later(self._rows, now), _later(self._keys, now)
        if topics != self._watched:
            self._watched = topics
            self._panels.watch(topics)
        if keys != self._curves.selected:
            self._curves.keep(keys)
        self._curves.update()

    def rows(self, topic: str) -> Sequence[Sequence[str]]:
        """Return the rows of a topic that is shown."""
        return self._panels.rows(topic)

    def curves(self, item: ItemInfo) -> list[Curve]:
        """Return the curves of a plot that is shown."""
        received, names = self._curves.histories, zip(plot_keys(item), item.columns, strict=True)
        return [Curve(item.unit, name, received[key], 0) for key, name in names if key in received]


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
