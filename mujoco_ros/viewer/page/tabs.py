"""Tabs: of panels, and of the robots in a panel."""

from collections.abc import Callable, Sequence
from functools import partial

from nicegui.element import Element

from mujoco_ros.viewer.page import widgets

_MOST = 6  # tabs in two rows of a panel


def tab(label: str, select: Callable[[], object], *, is_selected: bool = False) -> widgets.Widget:
    """Create a tab; set `selected`."""
    state = {"text": label, "selected": is_selected}
    created = widgets.Widget("tab", lambda _: select(), watch=True, tag="button", state=state)
    created._props["role"] = "tab"
    return created


def tabs(name: str, labels: Sequence[str], selected: str, choose: Callable[[str], object]) -> None:
    """Create tabs of which one is selected, which arrow keys move between; of many, a list."""
    if len(labels) > _MOST:
        with widgets.line(name):
            widgets.choice(name, labels, selected, choose, watch=True)
        return
    with Element("div").classes("tabs") as created:
        created._props |= {"role": "tablist", "aria-label": name}
        for label in labels:
            tab(label, partial(choose, label), is_selected=label == selected)
