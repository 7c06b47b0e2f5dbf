"""What a panel may declare."""

from typing import Any

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.panel_items import (
    Button,
    ChoiceField,
    DisplayedPlot,
    DisplayedTable,
    DisplayedValue,
    Form,
    PanelItem,
    SettingField,
    button_methods,
    check_panel,
)

SPEED = SettingField("v", "speed")


class Owner:
    """Has the methods of the items."""

    def feet(self) -> Any: ...

    def open(self) -> Any: ...


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ((Button("A", "open"), Button("B", "open")), "WALK names the method 'open' twice"),
        (
            (DisplayedTable("A", "feet", ("c",)), DisplayedPlot("B", "feet", ("c",))),
            "WALK names the method 'feet' twice",
        ),
        ((DisplayedTable("A", "feet", ()),), "'A' of the panel of WALK has 0 columns"),
        ((DisplayedPlot("A", "feet", ()),), "'A' of the panel of WALK has 0 curves"),
        ((DisplayedPlot("A", "feet", ("c",) * 33),), "has 33 curves; it needs 1 to 32"),
        ((DisplayedValue("A", "feet", "m", ("c",) * 33),), "has 33 names; it needs 0 to 32"),
        ((DisplayedValue("A", "hand"),), "WALK names the method 'hand', which Owner does not"),
        ((ChoiceField("A", "speed", "hand"),), "names the method 'hand', which Owner does not"),
        ((ChoiceField("A", "sped", "feet"),), "the panel of WALK: setting 'sped' not found"),
        ((Form("A", ()),), "'A' of the panel of WALK has 0 fields; it needs 1 to 32"),
        ((Form("A", (SPEED, SPEED)),), "'A' of the panel of WALK has a setting twice"),
        ((Form("A", (SettingField("v", "sped"),)),), "setting 'sped' not found"),
        ((Form("A", (SPEED,), method="hand"),), "names the method 'hand', which Owner does not"),
        ((Form("A", (SPEED,), method="open"), Button("B", "open")), "the method 'open' twice"),
        (
            (Form("A", (ChoiceField("c", "speed", "feet"),)), DisplayedValue("B", "feet")),
            "the method 'feet' twice",
        ),
    ],
)
def test_an_invalid_panel_is_rejected(items: tuple[PanelItem, ...], message: str) -> None:
    with pytest.raises(UserInputError, match=message):
        check_panel(items, Owner(), ("speed",), "WALK")


def test_a_valid_panel_is_accepted() -> None:
    items = (Button("A", "open"), DisplayedTable("A", "feet", ("c",) * 32))
    check_panel(items, Owner(), (), "WALK")


def test_buttons_and_forms_call_methods() -> None:
    items = (
        Button("A", "open"),
        SPEED,
        DisplayedValue("B", "feet"),
        Form("C", (SPEED,)),
        Form("D", (SPEED,), method="feet"),
    )
    assert button_methods(items) == ["open", "feet"]
