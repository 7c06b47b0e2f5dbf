"""The base class of panels: docked windows that survive exceptions."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from mujoco.studio import messages, plugin
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.docks import DOCKS, DockArea
from mujoco_ros.viewer.framing import ScreenProjection
from mujoco_ros.viewer.panels.widgets import text
from mujoco_ros.viewer.style import BAD

_LOG = logging.getLogger(__name__)


class Panel(plugin.ViewerPlugin, ABC):
    """A window, or several of a kind. An exception is shown in its window and logged."""

    title: ClassVar[str]  # title of the window
    area: ClassVar[DockArea]  # initial dock area of the windows

    def __init__(self, state: SharedState) -> None:
        # The simulated state; ``mj_forward`` has not run on its data, see `SharedState`
        self.state = state
        self._errors: dict[str, str] = {}
        self._update_error = ""

    @messages.handler
    def on_update(self, _: messages.UpdateEvent) -> None:
        self._update_error = self._guard("update", self.update)

    @messages.handler
    def on_build_gui(self, _: messages.BuildGuiEvent) -> None:
        self._guard("windows", self._build_windows)

    def update(self) -> None:
        """Update; called in every frame, also while the window is hidden."""

    def windows(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield title and content builder of each window."""
        yield self.title, self.build

    def settings(self) -> dict[str, Any]:
        """Return the settings that are kept for the next viewer of the scene."""
        return {}

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Set what is valid among kept settings."""

    def handle_escape(self) -> bool:
        """Close what is open over the page, for a press of Escape; return whether it acted."""
        return False

    @abstractmethod
    def build(self) -> None:
        """Build the content of the window; called only while it is visible."""

    def _projection(self) -> ScreenProjection | None:
        """Return the projection of the scene to the page; None before the page has a size."""
        viewer, page = self.viewer, imgui.GetIO().DisplaySize
        if page.x <= 0.0 or page.y <= 0.0:
            return None
        return ScreenProjection.of_camera(viewer.model, viewer.data, viewer.camera, page.x, page.y)

    def _build_windows(self) -> None:
        for title, build in self.windows():
            with DOCKS.window(title, self.area) as (is_visible, _):
                if not is_visible:
                    continue
                if self._update_error:
                    text(self._update_error, BAD)
                if error := self._guard(title, build):
                    text(error, BAD)

    def _guard(self, name: str, act: Callable[[], None]) -> str:
        """Call `act`; return the text of its exception, which is logged when it changes."""
        try:
            act()
        except Exception as exception:
            error = f"{type(exception).__name__}: {exception}"
            if self._errors.get(name) != error:
                self._errors[name] = error
                _LOG.exception("the panel '%s' failed", self.title)
            return error
        return ""
