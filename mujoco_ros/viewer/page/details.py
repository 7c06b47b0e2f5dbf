"""Titles that open content below them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from nicegui.element import Element

from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import current_session


@contextmanager
def group(title: str) -> Iterator[Element]:
    """Create content that opens below its title, and is there from the beginning."""
    with Element("details").classes("details") as created:
        widgets.text(title, tag="summary")
        with Element("div").classes("inner"):
            yield created


class Details:
    """A title that opens content below it, which is there only while it is open."""

    def __init__(
        self, title: str, fill: Callable[[], object], on_toggle: Callable[[bool], object]
    ) -> None:
        self.is_open = False
        self._fill, self._on_toggle = fill, on_toggle
        self._session = current_session()
        self._guard = self._session.guard
        with Element("details").classes("details") as self.element:
            widgets.text(title, tag="summary")
            self._inner = Element("div").classes("inner")
        toggle = self._guard(self._toggle)
        self.element.on("toggle", lambda e: toggle(e.args["newState"] == "open"), ["newState"])

    def show(self) -> None:
        """Open it."""
        self.element._props["open"] = self.is_open = True
        self.fill()

    def fill(self) -> None:
        """Create the content again, if it is open."""
        self._inner.clear()
        if not self.is_open:
            return
        before, self._session.guard = self._session.guard, self._guard
        try:
            with self._inner:
                self._fill()
        finally:
            self._session.guard = before

    def _toggle(self, is_open: bool) -> None:
        if is_open == self.is_open:
            return
        self.is_open = is_open
        self.fill()
        self._on_toggle(is_open)


def details(
    title: str,
    fill: Callable[[], object],
    on_toggle: Callable[[bool], object] = lambda _is_open: None,
) -> Details:
    """Create a title; `fill` creates what opens below it."""
    return Details(title, fill, on_toggle)


class Foldable(NamedTuple):
    """What is shown at a click."""

    summary: LiveElement  # the text that is always shown
    content: Element


def foldable(words: str) -> Foldable:
    """Create a closed area with a text above; its content is added inside."""
    with Element("details").classes("foldable"):
        return Foldable(widgets.text(words, tag="summary"), widgets.row())
