"""The search over panels, joints, topics, layouts and commands of a page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from mujoco_ros.viewer.page import popups, widgets
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.ros.simulator_parameters import is_replay

TITLE = "Search"
_PLACEHOLDER = "panel, joint, topic, layout, command"


class Found(NamedTuple):
    """An entry of the search."""

    kind: str  # what it is, one word
    name: str
    act: Callable[[], object]


class Search:
    """A window that finds entries by their words, in the browser; the page opens it by Ctrl+K."""

    def __init__(
        self,
        session: Session,
        titles: Callable[[], Sequence[str]],
        layouts: Callable[[], Mapping[str, Callable[[], object]]],
        open_panel: Callable[[str], object],
        find: Callable[[str, str, str], object],
    ) -> None:
        """Find panels, layouts, and what a panel shows by `find`; see `Layout`."""
        self._session, self._titles, self._layouts = session, titles, layouts
        self._open, self._find = open_panel, find

    def build(self) -> None:
        """Create the button that opens the window."""
        with popups.popup("Search", TITLE, lambda _is_open: self._refresh()) as window:
            window.opener.set(tip="Ctrl+K")
            window.element._props["data-window"] = "search"
            options = {"name": "Search for", "placeholder": _PLACEHOLDER}
            state = {"entries": self._entries()}
            self._field = widgets.Widget(
                "search", self._act, watch=True, tag="div", options=options, state=state
            )

    def _refresh(self) -> None:
        self._field.set(entries=self._entries())

    def _entries(self) -> list[Sequence[str]]:
        return [[found.kind, found.name] for found in self._all()]

    def _act(self, entry: Sequence[str]) -> None:
        for found in self._all():
            if [found.kind, found.name] == entry:
                found.act()

    def _all(self) -> Iterator[Found]:
        for title in self._titles():
            yield Found("panel", title, partial(self._open, title))
        for name, apply in self._layouts().items():
            yield Found("layout", name, apply)
        if self._session.can_control:
            for name, act in self._commands().items():
                yield Found("command", name, act)
        robots = self._session.state.layout.robots
        for robot in robots:
            for joint in robot.joints.names:
                name = joint if len(robots) == 1 else f"{joint} of {robot.name}"
                yield Found("joint", name, partial(self._find, "Robots", robot.name, joint))
        for topic in self._session.clients.fields.topics:
            yield Found("topic", topic, partial(self._find, "Plots", "topic", topic))

    def _commands(self) -> Mapping[str, Callable[[], object]]:
        simulation = self._session.clients.simulation
        commands: dict[str, Callable[[], object]] = {
            "Play": simulation.play,
            "Pause": simulation.pause,
            "Step": simulation.step,
            "Reset": partial(simulation.reset, "time", "state"),
            "Reset view": lambda: self._session.scene.reset_camera(),
        }
        if not is_replay(self._session.clients.parameters):
            commands["Reset all"] = simulation.reset
        return commands
