"""Panels that controllers and extensions declare, without ROS."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mujoco_ros.model.errors import UserInputError, shortened
from mujoco_ros.model.panel_items import MOST_COLUMNS
from mujoco_ros.model.strict import from_dict
from mujoco_ros.viewer.clients import ParameterInfo, Request

_MOST_ROWS, _MOST_ITEMS = 200, 500
_MOST_CHARACTERS = 200
"""Characters of a name; the middleware has no longer ones with what it adds."""
_FULL_NAME = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+\Z")
_NAMES = {"button": "service", "table": "topic", "plot": "topic"}
"""The name that an item of a kind needs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemInfo:
    """An item of a panel.

    Attributes:
        kind: ``button``, ``check_box``, ``integer``, ``number``, ``text``, ``choice``, ``vector``,
            ``pose``, ``table`` or ``plot``.
        label: Text of it or beside it.
        service: Service that a button calls.
        parameter: Name of the parameter of a setting.
        topic: Topic of a table or plot.
        columns: Choices, columns of a table, or curves of a plot.
        unit: Unit of the curves.
        tip: Description of a setting.
    """

    kind: str
    label: str
    service: str = ""
    parameter: str = ""
    topic: str = ""
    columns: tuple[str, ...] = ()
    unit: str = ""
    tip: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupInfo:
    """The items of one object.

    Attributes:
        name: Name of the state; empty without one.
        items: The items.
    """

    name: str
    items: tuple[ItemInfo, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PanelInfo:
    """A declared panel.

    Attributes:
        title: Title of its window.
        node: Full name of the node with the parameters.
        groups: What it has.
    """

    title: str
    node: str
    groups: tuple[GroupInfo, ...]


class PanelClient(Protocol):
    """Declared panels, their settings, buttons and tables.

    Attributes:
        known: Panels by the topic of their description.
    """

    known: Mapping[str, PanelInfo]

    def setting(self, node: str, parameter: str) -> ParameterInfo | None:
        """Return a parameter of the node of a panel; None while it is unknown."""

    def set(self, node: str, parameter: str, value: Any) -> Request:
        """Set a parameter of the node of a panel."""

    def press(self, label: str, service: str) -> Request:
        """Call the service of a button."""

    def watch(self, tables: Collection[str]) -> None:
        """Receive these tables, and no others."""

    def rows(self, table: str) -> Sequence[Sequence[str]]:
        """Return the rows of a watched table, by its topic."""


def panel_info(text: str) -> PanelInfo:
    """Return a panel from its description.

    Raises:
        UserInputError: It is none, has an invalid name, or is too large.
    """
    info = from_dict(PanelInfo, _json(text), "description of a panel")
    if sum(len(group.items) for group in info.groups) > _MOST_ITEMS:
        raise UserInputError(f"the panel '{info.title}' has more than {_MOST_ITEMS} items")
    _check_name(info.node, f"the node of the panel '{info.title}'")
    for group in info.groups:
        for item in group.items:
            _check_item(item, f"'{item.label}' of the panel '{info.title}'")
    return info


def table_rows(text: str) -> list[list[str]]:
    """Return the first rows of a table from its message.

    Raises:
        UserInputError: It is none.
    """
    rows = _json(text)
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise UserInputError("the message is not a list of rows")
    return [[str(entry) for entry in row] for row in rows[:_MOST_ROWS]]


def _check_item(item: ItemInfo, where: str) -> None:
    if item.kind not in _NAMES:
        return
    field = _NAMES[item.kind]
    _check_name(getattr(item, field), f"the {field} of {where}")
    if len(item.columns) > MOST_COLUMNS:
        raise UserInputError(f"{where} has {len(item.columns)} columns; limit {MOST_COLUMNS}")


def _check_name(name: str, what: str) -> None:
    if len(name) > _MOST_CHARACTERS or not _FULL_NAME.match(name):
        raise UserInputError(f"{what} is {shortened(repr(name))}, which is no full name in ROS")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserInputError(f"the message is not JSON: {error}") from error
