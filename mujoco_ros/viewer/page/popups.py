"""Content above the page, which a button opens, and questions before an action."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from nicegui.element import Element

from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.session import current_session


class Popup(NamedTuple):
    """Content above the page, and the button that opens it."""

    element: Element
    opener: widgets.Widget


@contextmanager
def popup(
    label: str,
    name: str,
    on_toggle: Callable[[bool], object] = lambda _is_open: None,
    *,
    watch: bool = True,
) -> Iterator[Popup]:
    """Create a button that opens what is added inside, above the page; Escape closes it."""
    opener = widgets.button(label, lambda: None, watch=watch)
    opener._props["aria-haspopup"] = "dialog"
    with Element("div").classes("popup") as created:
        created._props |= {"popover": "auto", "role": "dialog", "aria-label": name}
        opener._props["popovertarget"] = created.html_id
        toggled = current_session().guard(on_toggle)
        created.on("toggle", lambda event: toggled(event.args["newState"] == "open"), ["newState"])
        widgets.text(name, tag="h2")
        yield Popup(created, opener)


class Question:
    """A button that asks before it acts; set the words of the question."""

    def __init__(self, label: str, act: widgets.Act, *, answer: str, refuse: str) -> None:
        self._tip = ""
        with popup(label, f"{label}?", watch=False) as self._popup:
            self._words = widgets.text(tag="p")
            with widgets.row():
                self._yes = widgets.button(answer, act, look="danger")
                no = widgets.button(refuse, lambda: None, watch=True)
            for each in (self._yes, no):
                each._props |= {
                    "popovertarget": self._popup.element.html_id,
                    "popovertargetaction": "hide",
                }

    def set_words(self, words: str) -> None:
        """Set what is asked."""
        self._words.set(text=words)

    def enable(self, reason: str) -> None:
        """Enable it without a reason against it, which is its tip."""
        for each in (self._popup.opener, self._yes):
            each.enable(not reason)
        self._popup.opener.set(tip=reason)


def menu(label: str, *, name: str = "") -> Element:
    """Create a menu that opens at a click; its entries are added inside."""
    with Element("details").classes("menu"):
        summary = widgets.text(label, tag="summary")
        if name:
            summary._props["aria-label"] = name
        return Element("div").classes("menu-items")
