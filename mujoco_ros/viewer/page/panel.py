"""The base class of panels.

A new panel is a file in ``page/panels`` with one class, and an entry in ``panels/__init__.py``:

    class PausePanel(Panel):
        title = "Pause"
        area = Area.LEFT

        def build(self) -> None:
            self._time = widgets.figure()
            widgets.button("Pause", self.clients.simulation.pause, tip="Stop the simulation")

        def refresh(self) -> None:
            self._time.set(text=f"{self.state.time:.3f} s")

Each open page has an object of each class, so its attributes are what this page shows; what pages
share is in `Session.shared`. `build` creates the elements, once, and again when `structure`
changes: it returns what the elements depend on, as the model or the selected robot. `refresh` is
called ten times a second, while the panel is visible, and after an action; it sets texts and
values, and what is equal is not sent. Elements come from `widgets`, containers as rows and tables
too: they are disabled without control, call their functions guarded, and have names for screen
readers. Text from ROS is set as text, never as HTML. `update` is called ten times a second whether
it is visible or not. An exception is shown in the panel and logged.
"""

import logging
from collections.abc import Callable, Hashable, Mapping
from enum import StrEnum
from typing import Any, ClassVar

from nicegui.element import Element

from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.ros.simulator_parameters import is_replay

_LOG = logging.getLogger(__name__)


class Area(StrEnum):
    """A place for panels, beside the scene or below it."""

    LEFT = "left"
    RIGHT = "right"
    BOTTOM = "bottom"


class Panel:
    """A panel of one page."""

    title: str  # title of its tab
    area: ClassVar[Area]  # where it is at first
    is_open: ClassVar[bool] = True  # whether it is open at first

    def __init__(self, session: Session) -> None:
        self.session, self.key = session, self.title  # names its place and settings where kept
        # The simulated state; ``mj_forward`` has not run on its data, see `SharedState`
        self.state, self.clients = session.state, session.clients
        self._errors: dict[str, str] = {}
        self._built: Hashable = None
        self._is_built = False
        self._failed = ""  # why the last `build` failed, which explains what `refresh` lacks
        self._content: Element
        self._error: LiveElement

    @property
    def is_replay(self) -> bool:
        """Whether the simulator replays a recording, so that nothing can be changed."""
        return is_replay(self.clients.parameters)

    @property
    def is_needed(self) -> bool:
        """Whether it has something to show; its tab appears and disappears with that."""
        return True

    def build(self) -> None:
        """Create the elements, in the container that is active."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Set what the elements show."""

    def update(self) -> None:
        """Note what has to be noted also while the panel is hidden."""

    def structure(self) -> Hashable:
        """Return what the elements depend on: if it changes, they are built again."""
        return ()

    def settings(self) -> dict[str, Any]:
        """Return the settings that are kept for the next page of the scene."""
        return {}

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Set what is valid among kept settings; `build` follows."""

    def find(self, kind: str, name: str) -> None:
        """Show what has a name, as a topic or a joint of a robot, which the user has found."""

    def handle_escape(self) -> bool:
        """Close what is open, for a press of Escape; return whether it acted."""
        return False

    def mount(self) -> None:
        """Build the panel in the container that is active; called once, by the layout."""
        self._error = LiveElement(
            self.session.feed, "text", tag="p", state={"hidden": True, "tone": "bad"}
        ).classes("error")
        self._error._props["role"] = "alert"
        self._content = Element("div").classes("content")

    def tick(self, *, is_visible: bool) -> None:
        """Update the panel, and what it shows if it is visible; build it first if it has to be."""
        errors = [self._try("update", self.update)]
        if is_visible:
            self._failed = self._try("build", self._build) or self._failed
            errors += [self._failed, self._try("refresh", self.refresh)]
        text = next(filter(None, errors), self._errors.get("action", ""))
        self._error.set(text=text, hidden=not text)

    def rebuild(self) -> None:
        """Build it again when it is visible next, after `restore`."""
        self._is_built = False

    def guarded(self, act: Callable[..., object]) -> Callable[..., None]:
        """Return a function that calls `act`, shows its exception, and refreshes the panel."""

        def call(*arguments: Any) -> None:
            self._errors["action"] = self._try("action", lambda: act(*arguments))
            self.tick(is_visible=True)

        return call

    def _build(self) -> None:
        structure = self.structure()
        if self._is_built and structure == self._built:
            return
        self._is_built, self._built, self._failed = True, structure, ""
        self._content.clear()
        with self._content:
            self.build()

    def _try(self, name: str, act: Callable[[], object]) -> str:
        """Call `act`; return the text of its exception, which is logged when it changes.

        The panel also shows the errors of the elements that are created meanwhile.
        """
        before, self.session.guard = self.session.guard, self.guarded
        try:
            act()
        except Exception as exception:
            error = f"{type(exception).__name__}: {exception}"
            if self._errors.get(name) != error:
                self._errors[name] = error
                _LOG.exception("the panel '%s' failed", self.title)
            return error
        finally:
            self.session.guard = before
        if name != "action":
            self._errors.pop(name, None)
        return ""
