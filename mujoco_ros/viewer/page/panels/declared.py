"""The panels that controllers and extensions declare: a panel of the page for each."""

import time
from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

from mujoco_ros.model.panel_items import MOST_COLUMNS
from mujoco_ros.viewer.clients import ParameterInfo, Request
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.chart import Chart
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.request_result import RequestResult
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.page.setting_fields import SettingElements, setting_field
from mujoco_ros.viewer.page.tables import rows_table
from mujoco_ros.viewer.page.widgets import Column
from mujoco_ros.viewer.panel_descriptions import FieldInfo, GroupInfo, ItemInfo, PanelInfo

Refresh = Callable[[], object]
_NO_PANEL = PanelInfo(title="", node="", groups=())


class DeclaredPanel(Panel):
    """Buttons, settings, forms, values, tables and plots, in groups of the states of a node."""

    area = Area.RIGHT

    def __init__(self, session: Session, topic: str) -> None:
        """Show the panel with the topic of its description."""
        self._client, self._topic = session.clients.panels, topic
        self.title = self._info.title
        super().__init__(session)
        self.key = topic
        self._displays = session.shared.declared
        self._edited: dict[tuple[int, str], Any] = {}  # by the number of the form, and parameter
        self._request: Request | None = None
        self._refreshes: list[Refresh] = []

    @property
    def _info(self) -> PanelInfo:
        return self._client.known.get(self._topic, _NO_PANEL)

    def update(self) -> None:
        info, known = self._info, self._client.known.values()
        is_shared = sum(each.title == info.title for each in known) > 1
        self.title = f"{info.title} ({info.node})" if is_shared else info.title

    def structure(self) -> Hashable:
        info = self._info
        items = (item for group in info.groups for item in group.items)
        fields = (field for item in items for field in (item, *item.fields) if field.parameter)
        return info, tuple(self._shape(field) for field in fields)

    def build(self) -> None:
        self._refreshes = []
        for group in self._info.groups:
            with widgets.section(group.name) if group.name else nullcontext():
                self._build_group(group)
        self._result = RequestResult()

    def refresh(self) -> None:
        self._displays.show(self._info, time.monotonic())
        for refresh in self._refreshes:
            refresh()
        self._result.show(self._request)

    def _shape(self, field: FieldInfo) -> Hashable:
        """Return what the elements of a setting depend on."""
        info = self._client.setting(self._info.node, field.parameter)
        if info is None:
            return None
        length = len(info.value) if isinstance(info.value, tuple) else 0
        return type(info.value), info.low, info.high, length

    def _build_group(self, group: GroupInfo) -> None:
        buttons = None
        kinds = {"value": self._build_value, "table": self._build_table, "plot": self._build_plot}
        for number, item in enumerate(group.items):
            if item.kind == "button":
                buttons = buttons or widgets.row()
                with buttons:
                    self._build_button(group.name, item)
                continue
            buttons = None
            if item.kind == "form":
                self._build_form(group.name, number, item)
            else:
                kinds.get(item.kind, self._build_setting)(item)

    def _is_active(self, group: str) -> bool:
        """Return whether the states of a group are part of the active one."""
        controller = self.clients.controllers.known.get(self._info.node)
        if controller is None or not group:
            return True
        return group == controller.state or group.startswith(f"{controller.state}/")

    def _build_button(self, group: str, item: ItemInfo) -> None:
        def press() -> None:
            self._request = self._client.press(item.label, item.service)

        button = widgets.button(item.label, press, tip=item.tip)
        self._refreshes.append(lambda: self._enable(button, group, item.tip))

    def _enable(self, button: widgets.Widget, group: str, tip: str = "", problem: str = "") -> None:
        """Enable a button while its group is active and there is no problem."""
        if not problem and not self._is_active(group):
            problem = f"{group} is not active"
        button.enable(not problem)
        button.set(tip=problem or tip)

    def _build_setting(self, item: ItemInfo) -> None:
        node = self._info.node

        def change(value: Any) -> None:
            info = self._client.setting(node, item.parameter)
            if info is None or value != info.value:
                self._request = self._client.set(node, item.parameter, value)

        self._build_field(item, change, lambda info: info.value)

    def _build_field(
        self,
        item: FieldInfo,
        change: Callable[[Any], object],
        shown: Callable[[ParameterInfo], Any],
    ) -> bool:
        """Build a line with the field of a setting, which shows `shown`; return whether it can."""
        node = self._info.node
        info = self._client.setting(node, item.parameter)
        if info is None:
            widgets.text(f"{item.label}: {node} does not respond", "muted", tag="p")
            return False
        with widgets.line(item.label) as line:
            line.classes("setting")
            choices = self._choices(item)
            name, tip = item.label, item.tip or info.description
            field = setting_field(item.kind, name, info, change, tip=tip, choices=choices)
            if field is None:
                widgets.text(f"'{item.kind}' cannot be shown", "bad")
                return False
        if info.read_only:
            field.enable(False, f"{item.parameter} cannot be set")
        self._refreshes.append(partial(self._refresh_field, item, field, shown))
        return True

    def _refresh_field(
        self, item: FieldInfo, field: SettingElements, shown: Callable[[ParameterInfo], Any]
    ) -> None:
        info = self._client.setting(self._info.node, item.parameter)
        if info is not None:
            if item.kind == "choice":
                field.set_choices(self._choices(item))
            field.show(shown(info))

    def _choices(self, item: FieldInfo) -> tuple[str, ...]:
        if not item.topic:
            return item.columns
        return tuple(row[0] for row in self._displays.rows(item.topic) if row)

    def _build_form(self, group: str, number: int, form: ItemInfo) -> None:
        """Build fields without effect, and a button that sets them all."""
        node, edited = self._info.node, self._edited

        def shown(parameter: str, info: ParameterInfo) -> Any:
            """Return what was entered, or the value if that is equal or of another type."""
            key = number, parameter
            value = edited.get(key, info.value)
            if type(value) is not type(info.value) or value == info.value:
                edited.pop(key, None)
                return info.value
            return value

        def send() -> None:
            values = {}
            for field in form.fields:
                info = self._client.setting(node, field.parameter)
                assert info is not None, f"{node} does not respond"
                values[field.parameter] = shown(field.parameter, info)
            name = f"{form.label}: {form.button}"
            self._request = self._client.send_form(name, node, values, form.service)

        with widgets.section(form.label) as section:
            section.classes("form")
            complete = [
                self._build_field(
                    field,
                    partial(edited.__setitem__, (number, field.parameter)),
                    partial(shown, field.parameter),
                )
                for field in form.fields
            ]
            button = widgets.button(form.button, send, name=f"{form.label}: {form.button}")
        problem = "" if all(complete) else f"{node} does not respond"
        needed = group if form.service else ""
        self._refreshes.append(lambda: self._enable(button, needed, form.tip, problem))

    def _build_value(self, item: ItemInfo) -> None:
        with widgets.line(item.label) as line:
            line.classes("setting")
            figure = widgets.figure()

        def refresh() -> None:
            rows = self._displays.rows(item.topic)
            entries = list(rows[0])[:MOST_COLUMNS] if rows else ["…"]
            if rows and len(entries) == len(item.columns):
                named = zip(item.columns, entries, strict=True)
                entries = [f"{name} {entry}" for name, entry in named]
            figure.set(text=f"{', '.join(entries)} {item.unit}".strip())

        self._refreshes.append(refresh)

    def _build_table(self, item: ItemInfo) -> None:
        count = len(item.columns)
        with widgets.section(item.label):
            table = rows_table(item.label, [Column(name, wide=True) for name in item.columns])

        def refresh() -> None:
            table.show([("", *row[:count]) for row in self._displays.rows(item.topic)])

        self._refreshes.append(refresh)

    def _build_plot(self, item: ItemInfo) -> None:
        with widgets.section(item.label):
            chart = Chart(item.label, file=f"{self.title}_{item.label}")
        self._refreshes.append(lambda: chart.show(self._displays.curves(item)))


def declared_panels(session: Session) -> Mapping[str, Callable[[], Panel]]:
    """Return what creates the panel of each description, by its topic."""
    return {
        topic: partial(DeclaredPanel, session, topic)
        for topic in sorted(session.clients.panels.known)
    }
