"""Panels that controllers and extensions declare, without ROS."""

import json
import re
from dataclasses import dataclass
from typing import Any

from mujoco_ros.model.errors import UserInputError, shortened
from mujoco_ros.model.panel_items import MOST_COLUMNS
from mujoco_ros.model.strict import from_dict

_MOST_ROWS, _MOST_ITEMS = 200, 500
_MOST_CHARACTERS = 200  # characters of a name; the middleware has no longer ones with what it adds
_FULL_NAME = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+\Z")
_NAMES = {"button": "service", "table": "topic", "plot": "topic", "value": "topic"}
"""The name that an item of a kind needs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldInfo:
    """A setting of a panel, by itself or in a form."""

    # ``check_box``, ``integer``, ``number``, ``text``, ``choice``, ``vector`` or ``pose``
    kind: str
    label: str  # text of it or beside it
    parameter: str = ""  # name of the parameter
    topic: str = ""  # topic of the alternatives of a choice; empty if they do not change
    columns: tuple[str, ...] = ()  # alternatives of a choice that do not change
    tip: str = ""  # description of the setting


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemInfo(FieldInfo):
    """A setting, or an item whose kind is ``button``, ``form``, ``value``, ``table`` or ``plot``.

    It has the topic of a value, table or plot, and columns: the names of the entries of a value,
    columns of a table, or curves of a plot.
    """

    service: str = ""  # service that a button or form calls; empty for a form without one
    unit: str = ""  # unit of a value, or of the curves
    fields: tuple[FieldInfo, ...] = ()  # settings of a form
    button: str = ""  # text of the button of a form


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupInfo:
    """The items of one object."""

    name: str  # name of the state; empty without one
    items: tuple[ItemInfo, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PanelInfo:
    """A declared panel."""

    title: str  # title of its tab
    node: str  # full name of the node with the parameters
    groups: tuple[GroupInfo, ...]  # what it has

    @property
    def has_settings(self) -> bool:
        """Whether it shows parameters of the node."""
        items = (item for group in self.groups for item in group.items)
        return any(field.parameter for item in items for field in (item, *item.fields))


def panel_info(text: str) -> PanelInfo:
    """Return a panel from its description, if that is one with valid names and not too large."""
    info = from_dict(PanelInfo, _json(text), "description of a panel")
    items = [item for group in info.groups for item in group.items]
    if sum(1 + len(item.fields) for item in items) > _MOST_ITEMS:
        raise UserInputError(f"the panel '{info.title}' has more than {_MOST_ITEMS} items")
    _check_name(info.node, f"the node of the panel '{info.title}'")
    for item in items:
        _check_item(item, f"'{item.label}' of the panel '{info.title}'")
        for field in item.fields:
            _check_field(field, f"'{field.label}' of the form '{item.label}' of '{info.title}'")
    return info


def table_rows(text: str) -> list[list[str]]:
    """Return the first rows of a table, value or list of alternatives from its message."""
    rows = _json(text)
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise UserInputError("the message is not a list of rows")
    return [[str(entry) for entry in row] for row in rows[:_MOST_ROWS]]


def _check_item(item: ItemInfo, where: str) -> None:
    for field in ("service", "topic"):
        name = getattr(item, field)
        if name or _NAMES.get(item.kind) == field:
            _check_name(name, f"the {field} of {where}")
    if item.kind in _NAMES and len(item.columns) > MOST_COLUMNS:
        raise UserInputError(f"{where} has {len(item.columns)} columns; limit {MOST_COLUMNS}")
    if len(item.fields) > MOST_COLUMNS or (item.kind == "form" and not item.fields):
        raise UserInputError(f"{where} has {len(item.fields)} fields; it needs 1 to {MOST_COLUMNS}")


def _check_field(field: FieldInfo, where: str) -> None:
    if field.kind == "form" or field.kind in _NAMES:
        raise UserInputError(f"{where} is a {field.kind}; a form has settings only")
    if field.topic:
        _check_name(field.topic, f"the topic of {where}")


def _check_name(name: str, what: str) -> None:
    if len(name) > _MOST_CHARACTERS or not _FULL_NAME.match(name):
        raise UserInputError(f"{what} is {shortened(repr(name))}, which is no full name in ROS")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserInputError(f"the message is not JSON: {error}") from error
