"""The panel "Plots": joints, wrenches and IMUs over the last seconds."""

from functools import partial
from itertools import groupby

import numpy as np
from mujoco.studio.dear_imgui import dear_imgui as imgui
from mujoco.studio.implot import implot

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.docks import DockPlace
from mujoco_ros.viewer.link import SimulatorLink, wrench_sign
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.plots.history import History
from mujoco_ros.viewer.panels.plots.signals import Signal, signals
from mujoco_ros.viewer.panels.widgets import (
    FILL,
    Column,
    button,
    cell,
    child,
    choose,
    plot,
    popup,
    table,
    text,
    tree,
)

SPANS_S = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0)
_CHOICES_WIDTH = 340.0
_CHOICES_HEIGHT = 360.0
_SPAN_WIDTH = 70.0
_RIM = 8.0
_LEAST_HEIGHT = 100.0
_LEGEND_WIDTH = 220.0
"""A plot that is narrower has no room for a legend."""
_DRAWN = 600
"""So many points of a curve are drawn at most: more are not seen, and each takes its time."""

Key = tuple[str, str, str]


class PlotsPanel(Panel):
    """A plot per unit of what is ticked, as it comes, or as it was when it was frozen.

    Attributes:
        frozen: Whether the plots stand still.
        span_s: How much time they show [s].
    """

    title = "Plots"
    place = DockPlace.BELOW

    def __init__(self, state: SharedState, link: SimulatorLink) -> None:
        """Plot what is in `state`."""
        super().__init__(state, link)
        self.frozen = False
        self.span_s = 10.0
        self._model: object = None
        self._signals: dict[Key, Signal] = {}
        self._histories: dict[Key, History] = {}

    @property
    def plotted(self) -> list[Signal]:
        """What is ticked, in the order of the choices."""
        return [signal for key, signal in self._signals.items() if key in self._histories]

    def tick(self, key: Key, is_ticked: bool) -> None:
        """Plot something from now on, or no longer."""
        if is_ticked and key not in self._histories:
            self._histories[key] = self._new_history(key)
        elif not is_ticked:
            self._histories.pop(key, None)

    def history(self, key: Key) -> History:
        """Return what has been measured of something that is ticked."""
        return self._histories[key]

    def update(self) -> None:
        """Take a sample of what is ticked."""
        if self.state.model is not self._model:
            self._follow()
        if not self.frozen:
            for signal in self.plotted:
                self._histories[signal.key].add(self.state.time, signal.read())

    def build(self) -> None:
        """Build what can be set, and below it a plot per unit, side by side."""
        self._build_settings()
        by_unit: dict[str, list[Signal]] = {}
        for signal in self.plotted:
            by_unit.setdefault(signal.unit, []).append(signal)
        if not by_unit:
            text("Choose what is to be plotted.")
            return
        columns = [Column("", 1.0)] * len(by_unit)
        with table("plots", columns, headed=False) as is_open:
            for unit, group in by_unit.items() if is_open else ():
                imgui.TableNextColumn()
                self._build_plot(unit, group)

    def _follow(self) -> None:
        """Plot what the present model has of what was plotted."""
        self._model = self.state.model
        self._signals = {
            signal.key: signal for signal in signals(self.state, partial(wrench_sign, self.link))
        }
        self._histories = {
            key: self._new_history(key) for key in self._histories if key in self._signals
        }

    def _new_history(self, key: Key) -> History:
        return History(len(self._signals[key].curves), max(SPANS_S))

    def _build_settings(self) -> None:
        if button("Choose"):
            imgui.OpenPopup("choices")
        with popup("choices") as is_open:
            if is_open:
                self._build_choices()
        imgui.SameLine()
        if button("Continue" if self.frozen else "Freeze"):
            self.frozen = not self.frozen
        imgui.SameLine()
        imgui.SetNextItemWidth(_SPAN_WIDTH)
        spans = {f"{span:g} s": span for span in SPANS_S}
        chosen = choose("##span", f"{self.span_s:g} s", list(spans))
        self.span_s = spans[chosen] if chosen else self.span_s
        imgui.SameLine()
        if button("Clear", enabled=bool(self._histories)):
            self._histories.clear()

    def _build_choices(self) -> None:
        with child("choices", _CHOICES_WIDTH, _CHOICES_HEIGHT) as is_seen:
            groups = groupby(self._signals.values(), lambda signal: signal.heading)
            for heading, group in groups if is_seen else ():
                with tree(heading) as is_open:
                    if is_open:
                        self._build_group(heading, list(group))

    def _build_group(self, heading: str, group: list[Signal]) -> None:
        labels = list(dict.fromkeys(signal.label for signal in group))
        columns = (Column("", 1.0), *(Column(label) for label in labels))
        with table(heading, columns) as is_open:
            if not is_open:
                return
            for row, of_row in groupby(group, lambda signal: signal.row):
                by_label = {signal.label: signal for signal in of_row}
                imgui.TableNextRow()
                cell(row)
                for label in labels:
                    cell()
                    if label in by_label:
                        self._build_box(by_label[label])

    def _build_box(self, signal: Signal) -> None:
        is_ticked = signal.key in self._histories
        changed, wanted = imgui.Checkbox(f"##{' '.join(signal.key)}", is_ticked)
        if changed:
            self.tick(signal.key, wanted)

    def _build_plot(self, unit: str, group: list[Signal]) -> None:
        end = max(self._end(signal) for signal in group)
        room = imgui.GetContentRegionAvail()
        flags = 0 if room.x >= _LEGEND_WIDTH else int(implot.Flags.NoLegend)
        with plot(f"##{unit}", FILL, max(room.y - _RIM, _LEAST_HEIGHT), flags) as is_open:
            if not is_open:
                return
            no_label, fit = int(implot.AxisFlags.NoLabel), int(implot.AxisFlags.AutoFit)
            implot.SetupAxes("time", unit, no_label, fit)
            implot.SetupAxisFormat(int(implot.Axis.X1), "%g")  # seconds: "s" makes ticks overlap
            always = int(implot.Cond.Always)
            implot.SetupAxisLimits(int(implot.Axis.X1), end - self.span_s, end, always)
            for signal in group:
                self._build_curves(signal, end - self.span_s)

    def _build_curves(self, signal: Signal, begin: float) -> None:
        history = self._histories[signal.key]
        first = int(np.searchsorted(history.times, begin))
        every = max(-(-(history.times.size - first) // _DRAWN), 1)
        drawn = slice(first - first % every, None, every)
        times = history.times[drawn].tolist()
        for index, name in enumerate(signal.curves):
            implot.PlotLine(name, times, history.curve(index)[drawn].tolist())

    def _end(self, signal: Signal) -> float:
        times = self._histories[signal.key].times
        return float(times[-1]) if times.size else self.state.time
