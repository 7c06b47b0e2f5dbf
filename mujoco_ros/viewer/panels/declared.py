"""The panels that controllers and extensions declare."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mujoco.studio.dear_imgui import dear_imgui as imgui
from mujoco.studio.implot import implot

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import style
from mujoco_ros.viewer.clients import Clients, ParameterInfo, Request
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.message_fields import FieldKey
from mujoco_ros.viewer.panel_descriptions import GroupInfo, ItemInfo, PanelInfo
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.plots.curves import FieldCurves
from mujoco_ros.viewer.panels.plots.plots import draw_curves
from mujoco_ros.viewer.panels.pose_fields import PoseFields

_SPAN_S = 10.0
_TABLE, _PLOT, _BUTTON = "table", "plot", "button"
_POSE = 7
"""Numbers of a pose: position and quaternion (xyzw)."""


class DeclaredWindows(Panel):
    """A window per declared panel: buttons, settings, tables and plots."""

    title = "Declared panels"
    area = DockArea.RIGHT_BELOW

    def __init__(self, state: SharedState, clients: Clients) -> None:
        super().__init__(state)
        self._clients, self._client = clients, clients.panels
        self._curves = FieldCurves(clients.panel_fields)
        self._edited: dict[tuple[str, str], Any] = {}
        self._poses: dict[tuple[str, str], PoseFields] = {}
        self._requests: dict[str, Request] = {}
        self._visible: set[str] = set()  # topics of visible tables and plots

    def update(self) -> None:
        """Receive what is visible, and add the samples of its plots."""
        visible, self._visible = self._visible, set()
        items = [
            item
            for panel in self._client.known.values()
            for group in panel.groups
            for item in group.items
            if item.topic in visible
        ]
        self._client.watch([item.topic for item in items if item.kind == _TABLE])
        wanted = [key for item in items if item.kind == _PLOT for key in _keys(item)]
        if wanted != list(self._curves.selected):
            self._curves.keep(wanted)
        self._curves.update()

    def windows(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield a window for each panel."""
        for topic, panel in sorted(self._client.known.items()):
            yield f"{panel.title} panel###{topic}", partial(self._build_panel, topic, panel)

    def build(self) -> None:
        """Do nothing: each window is built by its own function."""

    def _build_panel(self, topic: str, panel: PanelInfo) -> None:
        controller = self._clients.controllers.known.get(panel.node)
        state = None if controller is None else controller.state
        for group in panel.groups:
            if group.name:
                imgui.SeparatorText(group.name)
            is_active = state is None or not group.name or _is_within(group.name, state)
            self._build_group(topic, panel, group, is_active=is_active)
        if (request := self._requests.get(topic)) is not None:
            imgui.Separator()
            widgets.request_result(request)

    def _build_group(
        self, topic: str, panel: PanelInfo, group: GroupInfo, *, is_active: bool
    ) -> None:
        is_after_button = False
        for item in group.items:
            if item.kind == _BUTTON:
                if is_after_button and widgets.fits_in_row(item.label):
                    imgui.SameLine()
                tip = "" if is_active else f"{group.name} is not active"
                label = f"{item.label}##{item.service}"
                if widgets.button(label, enabled=is_active, tip=tip):
                    self._requests[topic] = self._client.press(item.label, item.service)
            elif item.kind == _TABLE:
                self._build_table(item)
            elif item.kind == _PLOT:
                self._build_plot(item)
            else:
                self._build_setting(topic, panel.node, item)
            is_after_button = item.kind == _BUTTON

    def _build_setting(self, topic: str, node: str, item: ItemInfo) -> None:
        info = self._client.setting(node, item.parameter)
        if info is None:
            widgets.text(f"{item.label}: {node} does not respond")
            return
        build = _SETTINGS.get(item.kind)
        if build is None:
            widgets.text(f"{item.label}: '{item.kind}' cannot be shown", style.BAD)
            return
        key = node, item.parameter
        shown = self._edited.get(key, info.value)
        if item.kind == "pose" and len(shown) == _POSE:
            widgets.text(item.label)
            _tip(item)
            fields = self._poses.setdefault(key, PoseFields())
            value, is_done = fields.build(item.parameter, shown)
        else:
            value, is_done = build(item, info, shown)
        if is_done:
            self._edited.pop(key, None)
            if value != info.value:
                self._requests[topic] = self._client.set(node, item.parameter, value)
        elif value != info.value:
            self._edited[key] = value

    def _build_table(self, item: ItemInfo) -> None:
        self._visible.add(item.topic)
        widgets.text(item.label)
        columns = [(column, 1.0) for column in item.columns]
        if not columns:
            return
        with widgets.table(item.topic, columns) as is_open:
            for row in self._client.rows(item.topic) if is_open else ():
                imgui.TableNextRow()
                for entry in row[: len(columns)]:
                    widgets.cell(entry)

    def _build_plot(self, item: ItemInfo) -> None:
        self._visible.add(item.topic)
        keys = _keys(item)
        curves = [
            replace(curve, name=name)
            for curve, key in zip(self._curves, self._curves.selected, strict=True)
            for name, own in zip(item.columns, keys, strict=True)
            if key == own
        ]
        widgets.text(item.label)
        newest = self.state.peek()[0]
        with widgets.plot(f"##{item.topic}", style.FILL, style.PANEL_PLOT_HEIGHT) as is_open:
            if is_open:
                implot.SetupAxes("time", item.unit, int(implot.AxisFlags.NoLabel), 0)
                draw_curves(curves, newest - _SPAN_S, newest, is_fixed=True)


def _keys(item: ItemInfo) -> list[FieldKey]:
    return [FieldKey(item.topic, f"data[{index}]") for index in range(len(item.columns))]


def _is_within(group: str, state: str) -> bool:
    """Return whether the states of a group are part of the active one."""
    return group == state or group.startswith(f"{state}/")


Setting = Callable[[ItemInfo, ParameterInfo, Any], tuple[Any, bool]]
"""Builds a field that shows a value; returns the value, and whether its edit is done."""


def _check_box(item: ItemInfo, _info: ParameterInfo, shown: Any) -> tuple[Any, bool]:
    changed, value = imgui.Checkbox(_label(item), bool(shown))
    _tip(item)
    return value, changed


def _choice(item: ItemInfo, _info: ParameterInfo, shown: Any) -> tuple[Any, bool]:
    imgui.SetNextItemWidth(style.SETTING_WIDTH)
    chosen = widgets.combo(_label(item), str(shown), item.columns)
    _tip(item)
    return (shown if chosen is None else chosen), chosen is not None


def _text(item: ItemInfo, _info: ParameterInfo, shown: Any) -> tuple[Any, bool]:
    imgui.SetNextItemWidth(style.SETTING_WIDTH)
    _, value = imgui.InputTextWithHint(_label(item), "", str(shown))
    _tip(item)
    return value, bool(imgui.IsItemDeactivatedAfterEdit())


def _integer(item: ItemInfo, _info: ParameterInfo, shown: Any) -> tuple[Any, bool]:
    imgui.SetNextItemWidth(style.SETTING_WIDTH)
    _, value = imgui.InputInt(_label(item), int(shown))
    _tip(item)
    return value, bool(imgui.IsItemDeactivatedAfterEdit())


def _number(item: ItemInfo, info: ParameterInfo, shown: Any) -> tuple[Any, bool]:
    """Build a slider for a bounded number, else a field."""
    imgui.SetNextItemWidth(style.SETTING_WIDTH)
    if info.low is not None and info.high is not None:
        _, value = imgui.SliderFloat(_label(item), float(shown), info.low, info.high, "%.4g")
        # A slider has single precision.
        value = float(shown) if abs(value - shown) < 1e-6 * max(1.0, abs(shown)) else value
    else:
        _, value = imgui.InputDouble(_label(item), float(shown), 0.0, 0.0, "%.6g")
    _tip(item)
    return value, bool(imgui.IsItemDeactivatedAfterEdit())


def _vector(item: ItemInfo, _info: ParameterInfo, shown: Sequence[float]) -> tuple[Any, bool]:
    widgets.text(item.label)
    _tip(item)
    names = [f"##{item.parameter}[{index}]" for index in range(len(shown))]
    return widgets.number_row(names, shown)


def _label(item: ItemInfo) -> str:
    return f"{item.label}##{item.parameter}"


def _tip(item: ItemInfo) -> None:
    if item.tip:
        imgui.SetItemTooltip(item.tip)


_SETTINGS: Mapping[str, Setting] = {
    "check_box": _check_box,
    "choice": _choice,
    "text": _text,
    "integer": _integer,
    "number": _number,
    "vector": _vector,
    "pose": _vector,  # unless it has the numbers of a pose
}
