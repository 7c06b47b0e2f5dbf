"""The panels that controllers and extensions declare."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

from mujoco.studio.dear_imgui import dear_imgui as imgui
from mujoco.studio.implot import implot

from mujoco_ros.model.panel_items import MOST_COLUMNS
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import style
from mujoco_ros.viewer.client_set import Clients, FieldKey
from mujoco_ros.viewer.clients import ParameterInfo, Request
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.panel_descriptions import FieldInfo, GroupInfo, ItemInfo, PanelInfo
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.plots.plots import draw_curves
from mujoco_ros.viewer.panels.widgets import PoseFields
from mujoco_ros.viewer.plots.curves import FieldCurves

_SPAN_S = 10.0
_TABLE, _PLOT, _BUTTON, _VALUE, _CHOICE = "table", "plot", "button", "value", "choice"
_WITH_ROWS = (_TABLE, _VALUE, _CHOICE)  # kinds of items whose topic has rows
_WIDEST_SLIDER = 1 << 30  # largest limit of a slider for integers in Dear ImGui
_POSE = 7  # numbers of a pose: position and quaternion (xyzw)


class DeclaredWindows(Panel):
    """A window per declared panel: buttons, settings, forms, values, tables and plots."""

    title = "Declared panels"
    area = DockArea.RIGHT_BELOW

    def __init__(self, state: SharedState, clients: Clients) -> None:
        super().__init__(state)
        self._clients, self._client = clients, clients.panels
        self._curves = FieldCurves(clients.panel_fields)
        self._edited: dict[tuple[str, ...], Any] = {}
        self._poses: dict[tuple[str, ...], PoseFields] = {}
        self._requests: dict[str, Request] = {}
        self._visible: set[str] = set()  # topics of visible items

    def update(self) -> None:
        visible, self._visible = self._visible, set()
        items = [
            item
            for panel in self._client.known.values()
            for group in panel.groups
            for item in _with_fields(group.items)
            if item.topic in visible
        ]
        self._client.watch([item.topic for item in items if item.kind in _WITH_ROWS])
        wanted = [key for item in items if item.kind == _PLOT for key in _keys(item)]
        if wanted != list(self._curves.selected):
            self._curves.keep(wanted)
        self._curves.update()

    def windows(self) -> Iterator[tuple[str, Callable[[], None]]]:
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
        for number, item in enumerate(group.items):
            if item.kind == _BUTTON:
                if is_after_button and widgets.fits_in_row(item.label):
                    imgui.SameLine()
                tip = "" if is_active else f"{group.name} is not active"
                label = f"{item.label}##{item.service}"
                if widgets.button(label, enabled=is_active, tip=tip):
                    self._requests[topic] = self._client.press(item.label, item.service)
            elif item.kind == "form":
                key = topic, group.name, str(number)
                self._build_form(key, panel.node, item, is_active=is_active)
            elif item.kind == _VALUE:
                self._build_value(item)
            elif item.kind == _TABLE:
                self._build_table(item)
            elif item.kind == _PLOT:
                self._build_plot(item)
            else:
                self._build_setting(topic, panel.node, item)
            is_after_button = item.kind == _BUTTON

    def _build_setting(self, topic: str, node: str, item: ItemInfo) -> None:
        key = node, item.parameter
        built = self._build_field(key, node, item)
        if built is None:
            return
        info, value, is_done = built
        if is_done:
            self._edited.pop(key, None)
            if value != info.value:
                self._requests[topic] = self._client.set(node, item.parameter, value)
        elif value != info.value:
            self._edited[key] = value

    def _build_field(
        self, key: tuple[str, ...], node: str, item: FieldInfo
    ) -> tuple[ParameterInfo, Any, bool] | None:
        """Build a field with the value edited under a key; return also whether its edit is done."""
        info = self._client.setting(node, item.parameter)
        if info is None:
            widgets.text(f"{item.label}: {node} does not respond")
            return None
        build = _SETTINGS.get(item.kind)
        if build is None:
            widgets.text(f"{item.label}: '{item.kind}' cannot be shown", style.BAD)
            return None
        shown = self._edited.get(key, info.value)
        if type(shown) is not type(info.value):  # the parameter was declared again
            shown = info.value
        if item.kind == "pose" and len(shown) == _POSE:
            widgets.text(item.label)
            _tip(item)
            fields = self._poses.setdefault(key, PoseFields())
            return info, *fields.build(item.parameter, shown)
        if item.kind == _CHOICE and item.topic:
            self._visible.add(item.topic)
            rows = self._client.rows(item.topic)
            item = replace(item, columns=tuple(row[0] for row in rows if row))
        return info, *build(item, info, shown)

    def _build_form(
        self, key: tuple[str, str, str], node: str, form: ItemInfo, *, is_active: bool
    ) -> None:
        """Build fields without effect, and a button; the key is topic, group, and number there."""
        topic, group, number = key
        values: dict[str, Any] = {}
        is_complete = True
        widgets.text(form.label)
        with widgets.scope(f"{group}/{number}"), widgets.indented():
            for item in form.fields:
                own = *key, item.parameter
                built = self._build_field(own, node, item)
                if built is None:
                    is_complete = False
                    continue
                info, value, _ = built
                values[item.parameter] = value
                if value == info.value:
                    self._edited.pop(own, None)
                else:
                    self._edited[own] = value
            can_call = is_active or not form.service
            tip = "" if can_call else f"{group} is not active"
            label = f"{form.button}##{form.label}"
            if widgets.button(label, enabled=can_call and is_complete, tip=tip):
                name = f"{form.label}: {form.button}"
                self._requests[topic] = self._client.send_form(name, node, values, form.service)

    def _build_value(self, item: ItemInfo) -> None:
        self._visible.add(item.topic)
        rows = self._client.rows(item.topic)
        entries = list(rows[0])[:MOST_COLUMNS] if rows else ["…"]
        if rows and len(entries) == len(item.columns):
            named = zip(item.columns, entries, strict=True)
            entries = [f"{name} {entry}" for name, entry in named]
        unit = f" {item.unit}" if item.unit else ""
        widgets.text(f"{item.label}: {', '.join(entries)}{unit}")

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


def _with_fields(items: Iterable[ItemInfo]) -> Iterator[FieldInfo]:
    for item in items:
        yield item
        yield from item.fields


def _keys(item: FieldInfo) -> list[FieldKey]:
    return [FieldKey(item.topic, f"data[{index}]") for index in range(len(item.columns))]


def _is_within(group: str, state: str) -> bool:
    """Return whether the states of a group are part of the active one."""
    return group == state or group.startswith(f"{state}/")


Setting = Callable[[FieldInfo, ParameterInfo, Any], tuple[Any, bool]]
"""Builds a field that shows a value; returns the value, and whether its edit is done."""


def _check_box(item: FieldInfo, _info: ParameterInfo, shown: Any) -> tuple[Any, bool]:
    changed, value = imgui.Checkbox(_label(item), bool(shown))
    _tip(item)
    return value, changed


def _choice(item: FieldInfo, _info: ParameterInfo, shown: Any) -> tuple[Any, bool]:
    imgui.SetNextItemWidth(style.SETTING_WIDTH)
    chosen = widgets.combo(_label(item), str(shown), item.columns)
    _tip(item)
    return (shown if chosen is None else chosen), chosen is not None


def _text(item: FieldInfo, _info: ParameterInfo, shown: Any) -> tuple[Any, bool]:
    imgui.SetNextItemWidth(style.SETTING_WIDTH)
    _, value = imgui.InputTextWithHint(_label(item), "", str(shown))
    _tip(item)
    return value, bool(imgui.IsItemDeactivatedAfterEdit())


def _integer(item: FieldInfo, info: ParameterInfo, shown: Any) -> tuple[Any, bool]:
    """Build a slider for an integer with two limits, else a field; keep it within the limits."""
    imgui.SetNextItemWidth(style.SETTING_WIDTH)
    low = -inf if info.low is None else info.low
    high = inf if info.high is None else info.high
    if -_WIDEST_SLIDER <= low <= high <= _WIDEST_SLIDER:
        _, value = imgui.SliderInt(_label(item), int(shown), int(low), int(high))
    else:
        _, value = imgui.InputInt(_label(item), int(shown))
    if value != shown:
        value = int(min(max(value, low), high))
    _tip(item)
    return value, bool(imgui.IsItemDeactivatedAfterEdit())


def _number(item: FieldInfo, info: ParameterInfo, shown: Any) -> tuple[Any, bool]:
    imgui.SetNextItemWidth(style.SETTING_WIDTH)
    if info.low is not None and info.high is not None:
        _, value = imgui.SliderFloat(_label(item), float(shown), info.low, info.high, "%.4g")
        # A slider has single precision.
        value = float(shown) if abs(value - shown) < 1e-6 * max(1.0, abs(shown)) else value
    else:
        _, value = imgui.InputDouble(_label(item), float(shown), 0.0, 0.0, "%.6g")
    _tip(item)
    return value, bool(imgui.IsItemDeactivatedAfterEdit())


def _vector(item: FieldInfo, _info: ParameterInfo, shown: Sequence[float]) -> tuple[Any, bool]:
    widgets.text(item.label)
    _tip(item)
    names = [f"##{item.parameter}[{index}]" for index in range(len(shown))]
    return widgets.number_row(names, shown)


def _label(item: FieldInfo) -> str:
    return f"{item.label}##{item.parameter}"


def _tip(item: FieldInfo) -> None:
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
