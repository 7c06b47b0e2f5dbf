"""What the panel of a controller or extension has, declared by its class."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from mujoco_ros.model.errors import UserInputError, unknown


@dataclass(frozen=True, slots=True)
class Button:
    """A button that calls a method."""

    label: str
    # Name of the method. A state's method takes the context; its return value is ignored.
    method: str


@dataclass(frozen=True, slots=True)
class SettingField:
    """A setting, which is a parameter. Its type determines what is shown.

    A check box for bool, a number for int and float, a list for a choice, a text for str, and a
    vector for several floats.
    """

    label: str
    setting: str  # name of the setting


@dataclass(frozen=True, slots=True)
class PoseField(SettingField):
    """A setting of seven floats that is a pose: position [m] and quaternion (xyzw).

    The orientation is shown as roll, pitch and yaw in degrees.
    """


@dataclass(frozen=True, slots=True)
class ChoiceField(SettingField):
    """A setting of type str whose alternatives change at run time."""

    alternatives: str  # name of a method without arguments that returns the present texts


@dataclass(frozen=True, slots=True)
class Form:
    """Settings that are edited together without effect, and a button that sets all of them."""

    label: str
    fields: tuple[SettingField, ...]
    button: str = "Set"  # text of the button, which sets the parameters atomically
    method: str = ""  # name of the method that is called after that, or empty; see `Button`


@dataclass(frozen=True, slots=True)
class DisplayedValue:
    """What a method returns: a text, a number, or a short sequence of them."""

    label: str  # text before it
    method: str  # name of the method, without arguments
    unit: str = ""  # unit of all numbers
    names: tuple[str, ...] = ()  # names of the entries of a sequence; empty if they have none


@dataclass(frozen=True, slots=True)
class DisplayedTable:
    """A table of what a method returns: rows of texts and numbers."""

    label: str
    method: str  # name of the method, without arguments
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DisplayedPlot:
    """A plot over time of what a method returns: a number for each curve."""

    label: str
    method: str  # name of the method, without arguments
    curves: tuple[str, ...]
    unit: str = ""  # unit of all curves


PanelItem = Button | SettingField | Form | DisplayedValue | DisplayedTable | DisplayedPlot
MOST_COLUMNS = 32
"""Columns of a table, curves of a plot, entries of a value, or fields of a form."""


def button_methods(panel: Iterable[PanelItem]) -> list[str]:
    """Return the methods that the buttons of a panel and of its forms call."""
    return [item.method for item in panel if isinstance(item, Button | Form) and item.method]


def setting_fields(panel: Iterable[PanelItem]) -> list[SettingField]:
    """Return the fields of a panel and of its forms."""
    return [field for item in panel for field in _fields(item)]


def check_panel(panel: Iterable[PanelItem], owner: Any, settings: Iterable[str], name: str) -> None:
    """Check that an object or class has what its panel names, and the sizes of the items."""
    cls = owner if isinstance(owner, type) else type(owner)
    known, methods = tuple(settings), set[str]()
    for item in panel:
        _check_count(item, name)
        for field in _fields(item):
            if field.setting not in known:
                raise unknown("setting", field.setting, known, where=f"the panel of {name}")
        for method in _methods(item):
            if not callable(getattr(owner, method, None)):
                raise UserInputError(
                    f"the panel of {name} names the method '{method}', which {cls.__name__} does "
                    "not have"
                )
            if method in methods:
                raise UserInputError(f"the panel of {name} names the method '{method}' twice")
            methods.add(method)


_COUNTED = {
    DisplayedTable: "columns",
    DisplayedPlot: "curves",
    DisplayedValue: "names",
    Form: "fields",
}


def _check_count(item: PanelItem, name: str) -> None:
    """Check the number of columns, curves, names or fields of an item."""
    where, kind = f"the panel of {name}", _COUNTED.get(type(item))
    if kind is None:
        return
    count, least = len(getattr(item, kind)), 0 if kind == "names" else 1
    if len({field.setting for field in _fields(item)}) < len(_fields(item)):
        raise UserInputError(f"'{item.label}' of {where} has a setting twice")
    if not least <= count <= MOST_COLUMNS:
        raise UserInputError(
            f"'{item.label}' of {where} has {count} {kind}; it needs {least} to {MOST_COLUMNS}"
        )


def _fields(item: PanelItem) -> tuple[SettingField, ...]:
    if isinstance(item, Form):
        return item.fields
    return (item,) if isinstance(item, SettingField) else ()


def _methods(item: PanelItem) -> Iterator[str]:
    """Yield the methods that an item names."""
    for field in _fields(item):
        if isinstance(field, ChoiceField):
            yield field.alternatives
    if not isinstance(item, SettingField) and (item.method or not isinstance(item, Form)):
        yield item.method
