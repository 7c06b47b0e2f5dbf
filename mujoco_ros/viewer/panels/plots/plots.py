"""The panel "Plots": signals of the robots and fields of messages over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from typing import Any

import numpy as np
from mujoco.studio.dear_imgui import dear_imgui as imgui
from mujoco.studio.implot import implot

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import style
from mujoco_ros.viewer.client_set import FieldClient, FieldKey
from mujoco_ros.viewer.clients import ParameterClient
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.plots.curves import Curve, FieldCurves, StateCurves, by_plot
from mujoco_ros.viewer.plots.signals import Signal

SPANS_S = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0)
"""Spans to choose from [s]."""
SHORTEST_S = 1e-3
"""Least span of a range [s]."""
_PADDING, _LEAST = 0.05, 1e-3
"""Margin of the values, as a share of their span, and the least of the span."""


@dataclass(slots=True)
class TimeAxis:
    """The range of time that all plots show."""

    span_s: float = 10.0  # span of the range while it follows the newest sample [s]
    # Begin and end of a range that stays [s]; None while it follows
    held: tuple[float, float] | None = None
    cursors: tuple[float, float] | None = None  # times of the two cursors [s]; None without cursors

    def range(self, newest: float) -> tuple[float, float]:
        """Return begin and end [s], for a newest sample at a time [s]."""
        return self.held or (newest - self.span_s, newest)

    def hold(self, begin: float, end: float) -> None:
        """Show a range, with the least span, until `follow` [s]."""
        middle, half = 0.5 * (begin + end), 0.5 * max(end - begin, SHORTEST_S)
        self.held = middle - half, middle + half

    def follow(self) -> None:
        self.held = None

    def put_cursors(self, newest: float) -> None:
        """Put two cursors into the range, which stays, for a newest sample at a time [s]."""
        begin, end = self.range(newest)
        self.hold(begin, end)
        third = (end - begin) / 3.0
        self.cursors = begin + third, end - third


def padded(low: float, high: float) -> tuple[float, float]:
    """Return the limits of an axis for values from `low` to `high`: with margins, never too close.

    The least span is a thousandth, of the unit or of the values themselves if they are larger, so
    that rounding errors do not look like motion.
    """
    least = _LEAST * max(1.0, abs(low), abs(high))
    middle, half = 0.5 * (low + high), 0.5 * max(high - low, least)
    return middle - (1.0 + 2.0 * _PADDING) * half, middle + (1.0 + 2.0 * _PADDING) * half


class Choices:
    """Selects signals and fields."""

    def __init__(self, signals: StateCurves, fields: FieldCurves, client: FieldClient) -> None:
        self._signals, self._fields, self._client = signals, fields, client
        self._search = ""

    def build(self) -> None:
        with widgets.child("choices", *style.SIGNAL_LIST_SIZE) as is_visible:
            if not is_visible:
                return
            for heading, group in groupby(
                self._signals.known.values(), lambda signal: signal.heading
            ):
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


_MAX_POINTS = 600  # points per curve: more are not visible and slow the page down
_PAST_LINE, _CURSOR_LINES = 0, (1, 2)
"""Identifiers of the lines."""
_READOUT = (("curve", 1.0), ("A", 0.0), ("B", 0.0), ("B - A", 0.0))


class PlotsPanel(Panel):
    """A plot per unit of what is selected; a click shows a time, wheel and drag zoom and pan."""

    title = "Plots"
    area = DockArea.BELOW

    def __init__(
        self, state: SharedState, parameters: ParameterClient, fields: FieldClient
    ) -> None:
        super().__init__(state)
        self.signals, self.fields = StateCurves(state, parameters), FieldCurves(fields)
        self.axis = TimeAxis()  # the axis of time
        self._choices = Choices(self.signals, self.fields, fields)
        self._moved = ""  # the plot in which the mouse zooms and pans
        self._is_double = False  # whether the last press of the mouse was a double-click

    def update(self) -> None:
        self.sample()

    def sample(self) -> list[Curve]:
        """Sample what is selected; return all curves."""
        self.signals.update()
        self.fields.update()
        return [*self.signals, *self.fields]

    def settings(self) -> dict[str, Any]:
        """Return the selection, if the user has made one, and the time span [s]."""
        chosen = self.signals.chosen
        return {
            "signals": None if chosen is None else sorted(map(list, chosen)),
            "fields": [list(key) for key in self.fields.selected],
            "span_s": self.axis.span_s,
        }

    def restore(self, settings: Mapping[str, Any]) -> None:
        if isinstance(kept := settings.get("signals"), list):
            self.signals.restore(tuple(map(str, key)) for key in kept if isinstance(key, list))
        fields = settings.get("fields")
        for key in fields if isinstance(fields, list) else ():
            if isinstance(key, list) and [type(text) for text in key] == [str, str]:
                self.fields.select(FieldKey(*key), True)
        if settings.get("span_s") in SPANS_S:
            self.axis.span_s = float(settings["span_s"])

    def build(self) -> None:
        plots = by_plot([*self.signals, *self.fields])
        newest = self._newest(plots)
        self._build_settings(newest)
        if not plots:
            widgets.text("Select the signals to plot.")
            return
        columns = [("", 1.0)] * len(plots)
        if self.axis.cursors is not None:
            columns.append(("", 0.0))
        with widgets.table("plots", columns, headed=False) as is_open:
            for label, curves in plots.items() if is_open else ():
                imgui.TableNextColumn()
                self._build_plot(label, curves, newest)
            if is_open and self.axis.cursors is not None:
                imgui.TableNextColumn()
                self._build_readout([curve for curves in plots.values() for curve in curves])

    def _newest(self, plots: Mapping[str, Sequence[Curve]]) -> float:
        times = (curve.history.times for curves in plots.values() for curve in curves)
        return max((float(column[-1]) for column in times if len(column)), default=self.state.time)

    def _build_settings(self, newest: float) -> None:
        if widgets.button("Choose"):
            imgui.OpenPopup("choices")
        with widgets.popup("choices") as is_open:
            if is_open:
                self._choices.build()
            else:
                self._choices.close()
        axis = self.axis
        imgui.SameLine()
        if axis.held is None and widgets.button("Freeze", tip="Or zoom and pan in a plot"):
            axis.hold(*axis.range(newest))
        elif axis.held is not None and widgets.button("Continue", tip="Or double-click a plot"):
            axis.follow()
        imgui.SameLine()
        imgui.SetNextItemWidth(style.SPAN_WIDTH)
        spans = {f"{span:g} s": span for span in SPANS_S}
        if selected := widgets.combo("##span", f"{axis.span_s:g} s", list(spans)):
            axis.span_s = spans[selected]
            axis.follow()
        imgui.SameLine()
        if axis.cursors is None and widgets.button("Cursors", tip="Two lines to measure between"):
            axis.put_cursors(newest)
        elif axis.cursors is not None and widgets.button("No cursors"):
            axis.cursors = None
        imgui.SameLine()
        if widgets.button("Clear", enabled=bool(self.signals.selected or self.fields.selected)):
            self.signals.clear()
            self.fields.clear()

    def _build_plot(self, label: str, curves: Sequence[Curve], newest: float) -> None:
        room = imgui.GetContentRegionAvail()
        flags = 0 if room.x >= style.MIN_LEGEND_WIDTH else int(implot.Flags.NoLegend)
        height = max(room.y - style.PLOT_MARGIN, style.MIN_PLOT_HEIGHT)
        begin, end = self.axis.range(newest)
        with widgets.plot(f"##{label}", style.FILL, height, flags) as is_open:
            if not is_open:
                return
            implot.SetupAxes("time", label, int(implot.AxisFlags.NoLabel), 0)
            is_moved = self.axis.held is not None and self._moved == label
            draw_curves(curves, begin, end, is_fixed=not is_moved)
            if not self._build_lines():
                self._handle_mouse(label, begin, end, is_moved=is_moved)

    def _build_lines(self) -> bool:
        """Build the line of the shown past state, and the cursors; return whether one moved."""
        is_moved = False
        if (shown := self.state.shown) is not None:
            time = _line(_PAST_LINE, shown.time, style.WARNING)
            if time != shown.time:
                is_moved = True
                self.state.show(time)
        if (cursors := self.axis.cursors) is not None:
            pairs = zip(_CURSOR_LINES, cursors, (style.CURSOR_A, style.CURSOR_B), strict=True)
            first, second = (_line(*pair) for pair in pairs)
            is_moved |= (first, second) != cursors
            self.axis.cursors = first, second
        return is_moved

    def _handle_mouse(self, label: str, begin: float, end: float, *, is_moved: bool) -> None:
        """Zoom and pan, also an axis that the mouse moved, or show the state of a clicked time."""
        if not implot.IsPlotHovered():
            return
        left = imgui.MouseButton.Left
        if imgui.IsMouseClicked(left):
            self._is_double = bool(imgui.IsMouseDoubleClicked(left))
        if imgui.IsMouseDoubleClicked(left):
            self.axis.follow()
            self.state.show(None)
        elif is_moved:
            corner, size = implot.GetPlotPos(), implot.GetPlotSize()
            ends = (implot.PixelsToPlot(x, corner.y) for x in (corner.x, corner.x + size.x))
            self.axis.hold(*(float(end.x) for end in ends))
        elif self.axis.held is not None or imgui.GetIO().MouseWheel or imgui.IsMouseDragging(left):
            self.axis.hold(begin, end)
            self._moved = label
        drag = imgui.GetMouseDragDelta(left)
        if imgui.IsMouseReleased(left) and not (drag.x or drag.y or self._is_double):
            self.state.show(float(implot.GetPlotMousePos().x))

    def _build_readout(self, curves: Sequence[Curve]) -> None:
        assert self.axis.cursors is not None
        first, second = self.axis.cursors
        with widgets.child("readout", style.READOUT_WIDTH) as is_visible:
            if not is_visible:
                return
            rate = f", {1.0 / abs(second - first):.3g} Hz" if second != first else ""
            widgets.text(f"dt = {second - first:.4f} s{rate}")
            with widgets.table("values", _READOUT, height=style.FILL) as is_open:
                for curve in curves if is_open else ():
                    at = [curve.history.value(curve.index, time) for time in (first, second)]
                    imgui.TableNextRow()
                    widgets.cell(f"{curve.name} ({curve.plot.rpartition(' ')[2]})")
                    for value in (*at, at[1] - at[0]):
                        widgets.number_cell(f"{value:.4g}")


def draw_curves(curves: Sequence[Curve], begin: float, end: float, *, is_fixed: bool) -> None:
    """Draw curves with margins; the axis of time [s] is fixed, or the mouse has set it."""
    drawn = [
        (curve.name, *curve.history.window(curve.index, begin, end, _MAX_POINTS))
        for curve in curves
    ]
    always = int(implot.Cond.Always)
    implot.SetupAxisFormat(int(implot.Axis.X1), "%g")  # seconds: "s" makes ticks overlap
    if is_fixed:
        implot.SetupAxisLimits(int(implot.Axis.X1), begin, end, always)
    limits = padded(*_extremes([values for _, _, values in drawn]))
    implot.SetupAxisLimits(int(implot.Axis.Y1), *limits, always)
    for name, times, values in drawn:
        implot.PlotLine(name, times.tolist(), values.tolist())


def _line(identifier: int, time: float, colour: style.Colour) -> float:
    is_moved = implot.DragLineX(identifier, time, style.vec4(colour))
    return float(implot.GetPlotMousePos().x) if is_moved else time


def _extremes(curves: Sequence[np.ndarray]) -> tuple[float, float]:
    finite = [curve[np.isfinite(curve)] for curve in curves]
    low = min((float(values.min()) for values in finite if len(values)), default=inf)
    high = max((float(values.max()) for values in finite if len(values)), default=-inf)
    return (low, high) if low <= high else (0.0, 0.0)
