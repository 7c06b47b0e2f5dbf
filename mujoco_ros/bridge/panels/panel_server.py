"""A declared panel: its description, the services of its buttons, its tables and plots."""

import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from rclpy.publisher import Publisher
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.publishing.topics import LATCHED, RELIABLE
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.service import Responder, Service
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import within
from mujoco_ros.model.panel_items import (
    Button,
    DisplayedPlot,
    DisplayedTable,
    PanelItem,
    PoseField,
    SettingField,
    check_panel,
)
from mujoco_ros.sim.command_queue import QueueFullError

_LOG = logging.getLogger(__name__)
PANEL = "panel"
"""Name of the topic of the description, below which are those of its items."""
_TABLE_PERIOD_S = 0.2
_ROUNDING_S = 1e-6
_POSE = 7
"""Numbers of a pose: position, and orientation as a quaternion."""
_KINDS = {bool: "check_box", int: "integer", float: "number", str: "text"}


@dataclass(frozen=True, kw_only=True, slots=True)
class PanelGroup:
    """The items of one object, such as a state.

    Attributes:
        name: Name of the group; empty without one.
        items: The items.
        owner: The object whose methods the items name, or its class.
        path: Parts of the names of its topics and services.
        settings: The parameter of each setting.
        press: Has a method called in the thread of the owner; the future has the error.
        evaluate: Returns the result of a method, None if nothing is published; called in `publish`.
        is_active: Returns whether tables and plots are published; called in `publish`.
        plot_period_s: Least time between two messages of a plot [s].
    """

    name: str
    items: Sequence[PanelItem]
    owner: Any
    path: Sequence[str]
    settings: Mapping[str, ParameterSpec]
    press: Callable[[str], "Future[None]"]
    evaluate: Callable[[str], Any]
    is_active: Callable[[], bool]
    plot_period_s: float = 0.0


class PanelServer:
    """Serves a panel below a name.

    The description is JSON on the latched topic ``panel``; buttons are services (Trigger), tables
    are JSON and plots are arrays of numbers on topics below it.
    """

    def __init__(
        self, endpoints: Endpoints, base: str, title: str, groups: Sequence[PanelGroup]
    ) -> None:
        """Open topics and services, and publish the description.

        Args:
            endpoints: Endpoints of the node that has the parameters.
            base: Name below which the topic ``panel`` is.
            title: Title of the panel.
            groups: What it has; without any, nothing is opened.

        Raises:
            UserInputError: An item names a method or setting that its owner does not have, or is
                invalid (`check_panel`), or that of a pose has not seven floats; nothing is opened.
        """
        self._endpoints, self._node = endpoints, endpoints.node
        self._base = within(base, PANEL)
        self._displays: list[_Display] = []
        self._services: list[Service] = []
        for group in groups:
            check_panel(group.items, group.owner, group.settings, group.name or title)
            _check_poses(group, title)
        described = [
            {"name": it.name, "items": [self._open(it, item) for item in it.items]} for it in groups
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
            return _field(item, group.settings[item.setting])
        name = within(self._base, *group.path, item.method)
        described: dict[str, Any] = {"label": item.label}
        full = self._node.resolve_topic_name(name)
        if isinstance(item, Button):
            self._services.append(
                Service(self._node, Trigger, name, partial(self._press, group, item))
            )
            return described | {"kind": "button", "service": full}
        display = _Display(group, item)
        is_table = isinstance(item, DisplayedTable)
        kind = String if is_table else Float64MultiArray
        display.publisher = self._endpoints.publisher(kind, name, RELIABLE, display.count)
        self._displays.append(display)
        described |= {"topic": full, "kind": "table" if is_table else "plot"}
        if isinstance(item, DisplayedTable):
            return described | {"columns": list(item.columns)}
        return described | {"columns": list(item.curves), "unit": item.unit}

    def _press(
        self, group: PanelGroup, button: Button, _request: Any, responder: Responder
    ) -> None:
        def respond(done: "Future[None]") -> None:
            error = None if done.cancelled() else done.exception()
            if error is not None or done.cancelled():
                responder.fail("it is shutting down" if error is None else str(error))
            else:
                responder.succeed(f"'{button.label}' is pressed")

        try:
            group.press(button.method).add_done_callback(respond)
        except QueueFullError as error:
            responder.fail(str(error))


class _Display:
    """A topic of a table or plot, published while it is subscribed and its group is active."""

    publisher: Publisher

    def __init__(self, group: PanelGroup, item: DisplayedTable | DisplayedPlot) -> None:
        self._group, self._item = group, item
        self._is_table = isinstance(item, DisplayedTable)
        self._period_s = _TABLE_PERIOD_S if self._is_table else group.plot_period_s
        self._last, self._subscriptions = 0.0, 0
        self._is_active = self._has_failed = False

    def count(self, subscriptions: int) -> None:
        """Note the number of subscriptions."""
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
        value = self._group.evaluate(self._item.method)
        if value is not None:
            self.publisher.publish(self._message(value))

    def _message(self, value: Any) -> Float64MultiArray | String:
        item = self._item
        if isinstance(item, DisplayedPlot):
            numbers = [float(number) for number in value]
            _check_length(numbers, item.curves)
            return Float64MultiArray(data=numbers)
        rows = [[it if isinstance(it, str) else f"{it:.6g}" for it in row] for row in value]
        for row in rows:
            _check_length(row, item.columns)
        return String(data=json.dumps(rows))


def _check_length(values: Sequence[Any], names: Sequence[str]) -> None:
    if len(values) != len(names):
        raise UserInputError(f"there are {len(values)} values, for: {', '.join(names)}")


def _check_poses(group: PanelGroup, title: str) -> None:
    for item in group.items:
        if not isinstance(item, PoseField):
            continue
        spec = group.settings[item.setting]
        if spec.length != _POSE:
            raise UserInputError(
                f"the panel of {group.name or title} shows '{item.setting}' as a pose, but its "
                f"default is {spec.default!r}; a pose has seven floats, position and quaternion"
            )


def _field(item: SettingField, spec: ParameterSpec) -> dict[str, Any]:
    """Return the description of a setting."""
    kind = "pose" if isinstance(item, PoseField) else _KINDS.get(type(spec.default), "vector")
    found: dict[str, Any] = {"label": item.label, "kind": "choice" if spec.choices else kind}
    found |= {"parameter": spec.name, "tip": spec.description}
    return found | {"columns": list(spec.choices)}
