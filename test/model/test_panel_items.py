"""What a panel may declare."""

from typing import Any

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.panel_items import (
    Button,
    DisplayedPlot,
    DisplayedTable,
    PanelItem,
    check_panel,
)


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
    ],
)
def test_an_invalid_panel_is_rejected(items: tuple[PanelItem, ...], message: str) -> None:
    with pytest.raises(UserInputError, match=message):
        check_panel(items, Owner(), (), "WALK")


def test_a_valid_panel_is_accepted() -> None:
    items = (Button("A", "open"), DisplayedTable("A", "feet", ("c",) * 32))
    check_panel(items, Owner(), (), "WALK")
