"""The list of what can be plotted: signals of the robots, and fields of messages."""

from itertools import groupby

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer import style
from mujoco_ros.viewer.message_fields import FieldClient, FieldKey
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.plots.curves import FieldCurves, StateCurves
from mujoco_ros.viewer.panels.plots.signals import Signal


class Choices:
    """Selects signals and fields."""

    def __init__(self, signals: StateCurves, fields: FieldCurves, client: FieldClient) -> None:
        """Select `signals` and `fields`, those of the topics of a client."""
        self._signals, self._fields, self._client = signals, fields, client
        self._search = ""

    def build(self) -> None:
        """Build the list."""
        with widgets.child("choices", *style.SIGNAL_LIST_SIZE) as is_visible:
            if not is_visible:
                return
            for heading, group in groupby(self._signals.known.values(), lambda it: it.heading):
                with widgets.tree(heading) as is_open:
                    if is_open:
                        self._build_group(heading, list(group))
            with widgets.tree("Topics") as is_open:
                if is_open:
                    self._build_topics()

    def close(self) -> None:
        """End what is received for the list alone."""
        self._client.inspect("")

    def _build_group(self, heading: str, group: list[Signal]) -> None:
        selected = {signal.key for signal in self._signals.selected}
        labels = list(dict.fromkeys(signal.label for signal in group))
        columns = (("", 1.0), *((label, 0.0) for label in labels))
        with widgets.table(heading, columns) as is_open:
            if not is_open:
                return
            for row, of_row in groupby(group, lambda signal: signal.row):
                by_label = {signal.label: signal for signal in of_row}
                imgui.TableNextRow()
                widgets.cell(row)
                for label in labels:
                    widgets.cell()
                    if (signal := by_label.get(label)) is None:
                        continue
                    key = signal.key
                    changed, is_on = imgui.Checkbox(f"##{' '.join(key)}", key in selected)
                    if changed:
                        self._signals.select(key, is_on)

    def _build_topics(self) -> None:
        imgui.SetNextItemWidth(style.FILL)
        _, self._search = imgui.InputTextWithHint("##topic", "topic", self._search)
        wanted = self._search.strip().casefold()
        for topic in self._client.topics:
            if wanted not in topic.casefold():
                continue
            with widgets.tree(topic) as is_open:
                if is_open:
                    self._build_fields(topic)

    def _build_fields(self, topic: str) -> None:
        paths = self._client.inspect(topic)
        if paths is None:
            widgets.text("no message yet")
            return
        selected = self._fields.selected
        for path in paths:
            key = FieldKey(topic, path)
            changed, is_on = imgui.Checkbox(f"{path}##{topic}", key in selected)
            if changed:
                self._fields.select(key, is_on)
        if not paths:
            widgets.text("no numbers")
