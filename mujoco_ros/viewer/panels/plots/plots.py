"""The panel "Plots": joints, wrenches and IMUs over the last seconds."""

from collections.abc import Mapping
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from mujoco.studio.dear_imgui import dear_imgui as imgui
from mujoco.studio.implot import implot

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import style
from mujoco_ros.viewer.clients import ParameterClient, wrench_sign
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.plots.history import History
from mujoco_ros.viewer.panels.plots.signals import Signal, signals

_SPANS_S = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0)
_MAX_POINTS = 600
"""Points per curve: more are not visible and slow the page down."""

_DEFAULT_JOINTS = 6
_DEFAULT_JOINT_LABEL, _DEFAULT_SENSOR_LABEL = "q", "force"

SignalKey = tuple[str, ...]


class PlotsPanel(Panel):
    """A plot per unit of the selected signals.

    At first, the positions of the first joints of a robot and its first force sensor are selected.

    Attributes:
        frozen: Whether the plots are frozen.
        span_s: Displayed time span [s].
    """

    title = "Plots"
    area = DockArea.BELOW

    def __init__(self, state: SharedState, parameters: ParameterClient) -> None:
        super().__init__(state)
        self.frozen = False
        self.span_s = 10.0
        self._parameters = parameters
        self._model: object = None
        self._signals: dict[SignalKey, Signal] = {}
        self._histories: dict[SignalKey, History] = {}
        self._is_chosen = False  # whether the selection is that of the user
        self._kept: list[SignalKey] = []  # those that were selected in the last viewer

    @property
    def plotted(self) -> list[Signal]:
        """The selected signals, in the order of the list."""
        return [signal for key, signal in self._signals.items() if key in self._histories]

    def select(self, key: SignalKey, is_selected: bool) -> None:
        """Select or deselect a signal."""
        self._is_chosen = True
        if is_selected and key not in self._histories:
            self._histories[key] = self._new_history(key)
        elif not is_selected:
            self._histories.pop(key, None)

    def history(self, key: SignalKey) -> History:
        """Return the samples of a selected signal."""
        return self._histories[key]

    def update(self) -> None:
        """Sample the selected signals."""
        if self.state.model is not self._model:
            self._update_signals()
        if not self.frozen:
            for signal in self.plotted:
                self._histories[signal.key].add(self.state.time, signal.read())

    def settings(self) -> dict[str, Any]:
        """Return the selected signals, if the user has selected some, and the time span [s]."""
        chosen = [list(key) for key in self._histories] if self._is_chosen else None
        return {"signals": chosen, "span_s": self.span_s}

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Set what is valid among kept settings; signals of other models are not selected."""
        kept = settings.get("signals")
        if isinstance(kept, list):
            self._is_chosen = True
            self._kept = [tuple(map(str, key)) for key in kept if isinstance(key, list)]
        if settings.get("span_s") in _SPANS_S:
            self.span_s = float(settings["span_s"])

    def build(self) -> None:
        """Build the settings and below a plot per unit, side by side."""
        self._build_settings()
        by_unit: dict[str, list[Signal]] = {}
        for signal in self.plotted:
            by_unit.setdefault(signal.unit, []).append(signal)
        if not by_unit:
            widgets.text("Select the signals to plot.")
            return
        columns = [("", 1.0)] * len(by_unit)
        with widgets.table("plots", columns, headed=False) as is_open:
            for unit, group in by_unit.items() if is_open else ():
                imgui.TableNextColumn()
                self._build_plot(unit, group)

    def _update_signals(self) -> None:
        """Read the signals of another model and keep the selection of those that still exist."""
        self._model = self.state.model
        sign = partial(wrench_sign, self._parameters)
        self._signals = {signal.key: signal for signal in signals(self.state, sign)}
        selected, self._kept = [*self._histories, *self._kept], []
        self._histories = {key: self._new_history(key) for key in selected if key in self._signals}
        if not self._is_chosen:
            self._histories = {key: self._new_history(key) for key in self._defaults()}

    def _defaults(self) -> list[SignalKey]:
        """Return the signals that are plotted before any was chosen."""
        joints = [key for key in self._signals if key[2] == _DEFAULT_JOINT_LABEL]
        first = [key for key in joints if key[0] == joints[0][0]][:_DEFAULT_JOINTS]
        forces = [key for key in self._signals if key[2] == _DEFAULT_SENSOR_LABEL]
        return first + forces[:1]

    def _new_history(self, key: SignalKey) -> History:
        return History(len(self._signals[key].curves), max(_SPANS_S))

    def _build_settings(self) -> None:
        if widgets.button("Choose"):
            imgui.OpenPopup("choices")
        with widgets.popup("choices") as is_open:
            if is_open:
                self._build_signal_list()
        imgui.SameLine()
        if widgets.button("Continue" if self.frozen else "Freeze"):
            self.frozen = not self.frozen
        imgui.SameLine()
        imgui.SetNextItemWidth(style.SPAN_WIDTH)
        spans = {f"{span:g} s": span for span in _SPANS_S}
        selected = widgets.combo("##span", f"{self.span_s:g} s", list(spans))
        self.span_s = spans[selected] if selected else self.span_s
        imgui.SameLine()
        if widgets.button("Clear", enabled=bool(self._histories)):
            self._is_chosen = True
            self._histories.clear()

    def _build_signal_list(self) -> None:
        with widgets.child("choices", *style.SIGNAL_LIST_SIZE) as is_visible:
            groups = groupby(self._signals.values(), lambda signal: signal.heading)
            for heading, group in groups if is_visible else ():
                with widgets.tree(heading) as is_open:
                    if is_open:
                        self._build_group(heading, list(group))

    def _build_group(self, heading: str, group: list[Signal]) -> None:
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
                    if label in by_label:
                        self._build_checkbox(by_label[label])

    def _build_checkbox(self, signal: Signal) -> None:
        is_selected = signal.key in self._histories
        changed, is_selected = imgui.Checkbox(f"##{' '.join(signal.key)}", is_selected)
        if changed:
            self.select(signal.key, is_selected)

    def _build_plot(self, unit: str, group: list[Signal]) -> None:
        end = max(self._end(signal) for signal in group)
        room = imgui.GetContentRegionAvail()
        flags = 0 if room.x >= style.MIN_LEGEND_WIDTH else int(implot.Flags.NoLegend)
        height = max(room.y - style.PLOT_MARGIN, style.MIN_PLOT_HEIGHT)
        with widgets.plot(f"##{unit}", style.FILL, height, flags) as is_open:
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
        stride = max(-(-(history.times.size - first) // _MAX_POINTS), 1)
        drawn = slice(first - first % stride, None, stride)
        times = history.times[drawn].tolist()
        for index, name in enumerate(signal.curves):
            implot.PlotLine(name, times, history.curve(index)[drawn].tolist())

    def _end(self, signal: Signal) -> float:
        times = self._histories[signal.key].times
        return float(times[-1]) if times.size else self.state.time
