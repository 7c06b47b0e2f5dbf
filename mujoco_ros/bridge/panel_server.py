"""A declared panel: its description, the services of its buttons, and what it displays."""

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rclpy.publisher import Publisher
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

from mujoco_ros.control.events import QueueFullError
from mujoco_ros.model.errors import UserInputError, counted
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.panel_items import (
    MOST_COLUMNS,
    Button,
    ChoiceField,
    DisplayedPlot,
    DisplayedTable,
    DisplayedValue,
    Form,
    PanelItem,
    PoseField,
    SettingField,
    check_panel,
    setting_fields,
)
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.service import Responder, Service
from mujoco_ros.wire.names import PANEL
from mujoco_ros.wire.parameter_spec import ParameterSpec
from mujoco_ros.wire.qos import LATCHED, RELIABLE

_LOG = logging.getLogger(__name__)
_TEXT_PERIOD_S = 0.2
"""Least time between two messages of a table, value or list of alternatives [s]."""
_ROUNDING_S = 1e-6
_LEAST = 1e-5  # smaller numbers are shown as 0
_POSE = 7  # numbers of a pose: position, and orientation as a quaternion
_KINDS = {bool: "check_box", int: "integer", float: "number", str: "text"}
Display = DisplayedPlot | DisplayedTable | DisplayedValue | ChoiceField
"""An item with a topic."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PanelGroup:
    """The items of one object, such as a state."""

    name: str  # name of the group; empty without one
    items: Sequence[PanelItem]
    owner: Any  # the object whose methods the items name, or its class
    path: Sequence[str]  # parts of the names of its topics and services
    settings: Mapping[str, ParameterSpec]  # the parameter of each setting
    # Has a method called in the thread of the owner; the future has the error
    press: Callable[[str], "Future[None]"]
    # Returns the result of a method, None if nothing is published; called in `publish`
    evaluate: Callable[[str], Any]
    # Returns whether topics of items are published; called in `publish`
    is_active: Callable[[], bool]
    plot_period_s: float = 0.0  # least time between two messages of a plot [s]


class PanelServer:
    """Serves a panel below a name, whose description is JSON on the latched topic ``panel``.

    Below it, buttons are services (Trigger), plots are arrays of numbers, and others rows in JSON.
    """

    def __init__(
        self, endpoints: Endpoints, base: str, title: str, groups: Sequence[PanelGroup]
    ) -> None:
        """Open topics and services below a name, and publish the description; without groups,
        nothing.

        Nothing is opened if an item does not fit its owner (`check_panel`), or a setting its field.
        """
        self._endpoints, self._node = endpoints, endpoints.node
        self._base = in_namespace(base, PANEL)
        self._displays: list[_Display] = []
        self._services: list[Service] = []
        for group in groups:
            check_panel(group.items, group.owner, group.settings, group.name or title)
            _check_settings(group, title)
        described = [
            {"name": group.name, "items": [self._open(group, item) for item in group.items]}
            for group in groups
        ]
        self._description: Publisher | None = None
        if groups:
            name = self._node.get_fully_qualified_name()
            self._description = endpoints.publisher(String, self._base, LATCHED)
            content = {"title": title, "node": name, "groups": described}
            self._description.publish(String(data=json.dumps(content)))

    def publish(self, time: float) -> None:
        """Publish what is due at a time of the simulation or robot [s]."""
        for display in self._displays:
            display.publish(time)

    def close(self) -> None:
        """Close all topics and services."""
        displayed = [display.publisher for display in self._displays]
        for publisher in (*displayed, self._description):
            if publisher is not None:
                self._endpoints.close(publisher)
        for service in self._services:
            service.destroy()

    def _open(self, group: PanelGroup, item: PanelItem) -> dict[str, Any]:
        """Open what an item needs; return its description."""
        if isinstance(item, SettingField):
            return self._open_field(group, item)
        described: dict[str, Any] = {"label": item.label}
        if isinstance(item, Button):
            service = self._serve(group, item.method, item.label)
            return described | {"kind": "button", "service": service}
        if isinstance(item, Form):
            fields = [self._open_field(group, field) for field in item.fields]
            described |= {"kind": "form", "button": item.button, "fields": fields}
            if item.method:
                described["service"] = self._serve(group, item.method, item.button)
            return described
        described["topic"] = self._display(group, item, item.method)
        if isinstance(item, DisplayedTable):
            return described | {"kind": "table", "columns": list(item.columns)}
        if isinstance(item, DisplayedValue):
            return described | {"kind": "value", "columns": list(item.names), "unit": item.unit}
        return described | {"kind": "plot", "columns": list(item.curves), "unit": item.unit}

    def _open_field(self, group: PanelGroup, item: SettingField) -> dict[str, Any]:
        """Open what a setting needs; return its description."""
        described = _field(item, group.settings[item.setting])
        if isinstance(item, ChoiceField):
            described |= {"kind": "choice", "topic": self._display(group, item, item.alternatives)}
        return described

    def _serve(self, group: PanelGroup, method: str, label: str) -> str:
        """Open the service of a method; return its full name."""
        name = in_namespace(self._base, *group.path, method)
        press = partial(self._press, group, method, label)
        self._services.append(Service(self._node, Trigger, name, press))
        return str(self._node.resolve_service_name(name))

    def _display(self, group: PanelGroup, item: Display, method: str) -> str:
        """Open the topic of an item that a method computes; return its full name."""
        name, display = in_namespace(self._base, *group.path, method), _Display(group, item, method)
        kind = Float64MultiArray if isinstance(item, DisplayedPlot) else String
        display.publisher = self._endpoints.publisher(kind, name, RELIABLE, display.count)
        self._displays.append(display)
        return str(self._node.resolve_topic_name(name))

    def _press(
        self, group: PanelGroup, method: str, label: str, _request: Any, responder: Responder
    ) -> None:
        def respond(pressed: "Future[None]") -> None:
            error = None if pressed.cancelled() else pressed.exception()
            if error is not None or pressed.cancelled():
                responder.fail("it is shutting down" if error is None else str(error))
            else:
                responder.succeed(f"'{label}' is pressed")

        try:
            group.press(method).add_done_callback(respond)
        except QueueFullError as error:
            responder.fail(str(error))


class _Display:
    """A topic of an item, published while it is subscribed and its group is active."""

    publisher: Publisher

    def __init__(self, group: PanelGroup, item: Display, method: str) -> None:
        self._group, self._item, self._method = group, item, method
        is_plot = isinstance(item, DisplayedPlot)
        self._period_s = group.plot_period_s if is_plot else _TEXT_PERIOD_S
        self._last, self._subscriptions = 0.0, 0
        self._is_active = self._has_failed = False

    def count(self, subscriptions: int) -> None:
        self._subscriptions = subscriptions

    def publish(self, time: float) -> None:
        """Publish if it is due.

        An exception, even `SystemExit`, is logged, and ends the display until its group becomes
        active again. The only exception is `KeyboardInterrupt` in the main thread (Ctrl-C).
        """
        if not self._subscriptions and not self._has_failed:
            return
        try:
            self._publish(time)
        except BaseException as error:
            is_main = threading.current_thread() is threading.main_thread()
            if isinstance(error, KeyboardInterrupt) and is_main:
                raise
            if not self._has_failed:
                name = self._group.name
                place = f"{name}: " if name else ""
                _LOG.exception("%s'%s' of the panel cannot be computed", place, self._item.label)
            self._has_failed = True

    def _publish(self, time: float) -> None:
        was_active, self._is_active = self._is_active, self._group.is_active()
        if not was_active:
            self._has_failed = False
        if self._has_failed or not self._subscriptions or not self._is_active:
            return
        if 0.0 <= time - self._last < self._period_s - _ROUNDING_S:
            return
        self._last = time
        value = self._group.evaluate(self._method)
        if value is not None:
            self.publisher.publish(_message(self._item, value))


def _message(item: Display, value: Any) -> Float64MultiArray | String:
    if isinstance(item, DisplayedPlot):
        numbers = [float(number) for number in value]
        _check_length(numbers, item.curves)
        return Float64MultiArray(data=numbers)
    if isinstance(item, ChoiceField):
        rows = _alternatives(value)
    elif isinstance(item, DisplayedValue):
        rows = [_entries(item, value)]
    else:
        rows = [_texts(row) for row in value]
        for row in rows:
            _check_length(row, item.columns)
    return String(data=json.dumps(rows))


def _texts(row: Iterable[Any]) -> list[str]:
    return [entry if isinstance(entry, str) else _number(entry) for entry in row]


def _number(value: float) -> str:
    """Return a number as text; one that is a rounding error in metres or radians is 0."""
    return f"{0.0 if abs(value) < _LEAST else value:.6g}"


def _alternatives(value: Any) -> list[list[str]]:
    if isinstance(value, str) or not all(isinstance(text, str) for text in value):
        raise UserInputError(f"the alternatives are {value!r}, not a list of texts")
    return [[text] for text in value]


def _entries(item: DisplayedValue, value: Any) -> list[str]:
    entries = _texts([value] if np.ndim(value) == 0 else value)
    if item.names:
        _check_length(entries, item.names)
    if len(entries) > MOST_COLUMNS:
        raise UserInputError(f"{counted(len(entries), 'value')}; limit {MOST_COLUMNS}")
    return entries


def _check_length(values: Sequence[Any], names: Sequence[str]) -> None:
    if len(values) != len(names):
        raise UserInputError(f"{counted(len(values), 'value')} for: {', '.join(names)}")


def _check_settings(group: PanelGroup, title: str) -> None:
    """Check that poses and choices have parameters of their types."""
    for field in setting_fields(group.items):
        spec, shown = group.settings[field.setting], ""
        if isinstance(field, PoseField) and spec.length != _POSE:
            shown, needed = "pose", "a pose has seven floats, position and quaternion"
        elif isinstance(field, ChoiceField) and (type(spec.default) is not str or spec.choices):
            shown, needed = "choice", "its alternatives need a text without fixed choices"
        if shown:
            raise UserInputError(
                f"the panel of {group.name or title} shows '{field.setting}' as a {shown}, but its "
                f"default is {spec.default!r}; {needed}"
            )


def _field(item: SettingField, spec: ParameterSpec) -> dict[str, Any]:
    kind = "pose" if isinstance(item, PoseField) else _KINDS.get(type(spec.default), "vector")
    found: dict[str, Any] = {"label": item.label, "kind": "choice" if spec.choices else kind}
    found |= {"parameter": spec.name, "tip": spec.description}
    return found | {"columns": list(spec.choices)}
