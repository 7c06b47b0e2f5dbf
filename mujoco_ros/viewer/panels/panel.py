"""What panels have in common: a place, and windows that outlive mistakes made inside."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar

from mujoco.studio import messages, plugin
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import docks
from mujoco_ros.viewer.link import SimulatorLink
from mujoco_ros.viewer.panels.widgets import BAD, text

_LOG = logging.getLogger(__name__)


class Panel(plugin.ViewerPlugin, ABC):
    """A window, or several of a kind, that show the state and act through the link.

    What goes wrong inside a window is shown there, and everything else goes on.

    Attributes:
        title: Of its window.
        place: Where its windows are at first.
        state: What is simulated; its data is not forwarded, see `SharedState`.
        link: What is known and done beyond that.
    """

    title: ClassVar[str]
    place: ClassVar[docks.DockPlace]

    def __init__(self, state: SharedState, link: SimulatorLink) -> None:
        """Show `state`, and act through `link`."""
        self.state, self.link = state, link
        self._troubles: dict[str, str] = {}

    @messages.handler
    def on_update(self, _: messages.UpdateEvent) -> None:
        """Take notice of what is new, before the windows are built."""
        self._guard("update", self.update)

    @messages.handler
    def on_build_gui(self, _: messages.BuildGuiEvent) -> None:
        """Build the windows."""
        self._guard("windows", self._build_windows)

    def update(self) -> None:
        """Take notice of what is new; called in each frame, whether a window is seen or not."""

    def windows(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield the title of each window and what builds its contents."""
        yield self.title, self.build

    @abstractmethod
    def build(self) -> None:
        """Build what is in the window; called only while that is seen."""

    def _build_windows(self) -> None:
        for title, build in self.windows():
            docks.place(self.place, title)
            is_seen, _ = imgui.Begin(title)
            try:
                docks.border(self.place)
                if is_seen and (trouble := self._guard(title, build)):
                    text(trouble, BAD)
            finally:
                imgui.End()

    def _guard(self, what: str, act: Callable[[], None]) -> str:
        """Do something; return what went wrong, which is logged when it is new."""
        try:
            act()
        except Exception as error:
            trouble = f"{type(error).__name__}: {error}"
            if self._troubles.get(what) != trouble:
                self._troubles[what] = trouble
                _LOG.exception("the panel '%s' has a fault", self.title)
            return trouble
        return ""
