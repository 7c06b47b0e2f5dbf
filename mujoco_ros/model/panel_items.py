"""What the panel of a controller or extension has, declared by its class."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mujoco_ros.model.errors import UserInputError, unknown


@dataclass(frozen=True, slots=True)
class Button:
    """A button that calls a method.

    Attributes:
        label: Its text.
        method: Name of the method. That of a state takes the context; its return value is ignored.
    """

    label: str
    method: str


@dataclass(frozen=True, slots=True)
class SettingField:
    """A setting, which is a parameter. Its type determines what is shown.

    A check box for bool, a number for int and float, a list for a choice, a text for str, and a
    vector for several floats.

    Attributes:
        label: Text beside it.
        setting: Name of the setting.
    """

    label: str
    setting: str


@dataclass(frozen=True, slots=True)
class PoseField(SettingField):
    """A setting of seven floats that is a pose: position [m] and quaternion (xyzw).

    The orientation is shown as roll, pitch and yaw in degrees.
    """


@dataclass(frozen=True, slots=True)
class DisplayedTable:
    """A table of what a method returns: rows of texts and numbers.

    Attributes:
        label: Text above it.
        method: Name of the method, without arguments.
        columns: Its heads.
    """

    label: str
    method: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DisplayedPlot:
    """A plot over time of what a method returns: a number for each curve.

    Attributes:
        label: Text above it.
        method: Name of the method, without arguments.
        curves: Names of the curves.
        unit: Unit of all curves.
    """

    label: str
    method: str
    curves: tuple[str, ...]
    unit: str = ""


PanelItem = Button | SettingField | DisplayedTable | DisplayedPlot
MOST_COLUMNS = 32
"""Columns of a table, or curves of a plot."""


def check_panel(panel: Iterable[PanelItem], owner: Any, settings: Iterable[str], name: str) -> None:
    """Check that an object has what its panel names.

    Args:
        panel: The items.
        owner: The object, or its class.
        settings: Names of its settings that are parameters.
        name: Name of the owner, for errors.

    Raises:
        UserInputError: A method or setting does not exist, two items name the same method, or a
            table or plot has no columns or curves, or too many.
    """
    cls = owner if isinstance(owner, type) else type(owner)
    known, methods = tuple(settings), set[str]()
    for item in panel:
        if isinstance(item, SettingField):
            if item.setting not in known:
                raise unknown("setting", item.setting, known, where=f"the panel of {name}")
            continue
        if not callable(getattr(owner, item.method, None)):
            raise UserInputError(
                f"the panel of {name} names the method '{item.method}', which "
                f"{cls.__name__} does not have"
            )
        if item.method in methods:
            raise UserInputError(f"the panel of {name} names the method '{item.method}' twice")
        methods.add(item.method)
        if not isinstance(item, Button):
            names = item.columns if isinstance(item, DisplayedTable) else item.curves
            kind = "columns" if isinstance(item, DisplayedTable) else "curves"
            if not 1 <= len(names) <= MOST_COLUMNS:
                raise UserInputError(
                    f"'{item.label}' of the panel of {name} has {len(names)} {kind}; it needs 1 to "
                    f"{MOST_COLUMNS}"
                )
