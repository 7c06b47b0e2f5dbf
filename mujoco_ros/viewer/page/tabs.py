"""Tabs: of panels, and of the robots in a panel."""

from collections.abc import Callable, Sequence
from functools import partial

from nicegui.element import Element

from mujoco_ros.viewer.page import widgets


def tab(label: str, select: Callable[[], object], *, is_selected: bool = False) -> widgets.Widget:
    """Create a tab; set `selected`."""
    state = {"text": label, "selected": is_selected}
    created = widgets.Widget("tab", lambda _: select(), watch=True, tag="button", state=state)
    created._props["role"] = "tab"
    return created


def tabs(
    name: str, labels: Sequence[str], selected: str, choose: Callable[[str], object]
) -> Element:
    """Create tabs of which one is selected; arrow keys move between them."""
    with Element("div").classes("tabs") as created:
        created._props |= {"role": "tablist", "aria-label": name}
        for label in labels:
            tab(label, partial(choose, label), is_selected=label == selected)
    return created
