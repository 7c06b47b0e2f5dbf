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
        self,
        title: str,
        fill: Callable[[], object],
        on_toggle: Callable[[bool], object] = lambda _is_open: None,
    ) -> None:
        """Create it in the container that is active; `fill` creates the content."""
        self.is_open = False
        self._fill, self._on_toggle = fill, on_toggle
        with Element("details").classes("details") as self.element:
            widgets.text(title, tag="summary")
            self._inner = Element("div").classes("inner")
        toggle = current_session().guard(self._toggle)
        self.element.on("toggle", lambda e: toggle(e.args["newState"] == "open"), ["newState"])

    def show(self) -> None:
        """Open it."""
        self.element._props["open"] = self.is_open = True
        self.fill()

    def fill(self) -> None:
        """Create the content again, if it is open."""
        self._inner.clear()
        if self.is_open:
            with self._inner:
                self._fill()

    def _toggle(self, is_open: bool) -> None:
        if is_open == self.is_open:
            return
        self.is_open = is_open
        self.fill()
        self._on_toggle(is_open)


class Foldable(NamedTuple):
    """What is shown at a click."""

    summary: LiveElement  # the text that is always shown
    content: Element


def foldable(words: str) -> Foldable:
    """Create a closed area with a text above; its content is added inside."""
    with Element("details").classes("foldable"):
        return Foldable(widgets.text(words, tag="summary"), widgets.row())
