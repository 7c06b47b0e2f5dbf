"""The search over panels, joints, topics, layouts and commands of a page."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple, Protocol

from nicegui.element import Element

from mujoco_ros.viewer.page import popups, widgets
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.ros.simulator_parameters import is_replay

_MOST = 12  # results that are shown
TITLE = "Search"
_PLACEHOLDER = "panel, joint, topic, layout, command"


class Searched(Protocol):
    """The layout, which imports this module."""

    def titles(self) -> list[str]:
        """Return the titles of the panels that have something to show."""

    def find(self, title: str, kind: str, name: str) -> None:
        """Open a panel, and show what it has of a name."""

    def open(self, title: str) -> None:
        """Open a panel."""

    def layouts(self) -> Mapping[str, Callable[[], object]]:
        """Return what applies each layout, by its name."""


class Found(NamedTuple):
    """A result."""

    kind: str  # what it is, one word
    name: str
    act: Callable[[], object]


class Search:
    """A window with a field for words and a button for each result; the page opens it by Ctrl+K."""

    def __init__(self, session: Session, layout: Searched) -> None:
        self._session, self._layout = session, layout
        self._words = ""
        self._results: list[Found] = []
        self._buttons: list[widgets.Widget] = []

    def build(self) -> None:
        """Create the button that opens the window."""
        with popups.popup("Search", TITLE, lambda _is_open: self._show()) as window:
            window.opener.set(tip="Ctrl+K")
            window.element._props["data-window"] = "search"
            self._field = widgets.text_field(
                "Search for", self._search, placeholder=_PLACEHOLDER, eager=True, watch=True
            )
            with Element("div").classes("list found"):
                self._buttons = [
                    widgets.button("", partial(self._act, number), look="plain", watch=True)
                    for number in range(_MOST)
                ]
            self._none = widgets.text("Nothing is called that.", "muted", tag="p")
        for button in self._buttons:
            button.set(hidden=True)  # until there are results
            button._props |= {
                "popovertarget": window.element.html_id,
                "popovertargetaction": "hide",
            }

    def _search(self, words: str) -> None:
        self._words = str(words)
        self._show()

    def _show(self) -> None:
        words = self._words.casefold().split()
        matching = [
            found
            for found in self._all()
            if all(word in f"{found.kind} {found.name}".casefold() for word in words)
        ]
        # Names that begin with the words first
        matching.sort(key=lambda found: not found.name.casefold().startswith(" ".join(words)))
        self._results = matching[:_MOST]
        for number, button in enumerate(self._buttons):
            is_shown = number < len(self._results)
            text = ": ".join(self._results[number][:2]) if is_shown else ""
            button.set(text=text, hidden=not is_shown)
        self._none.set(hidden=bool(self._results))

    def _act(self, number: int) -> None:
        if number < len(self._results):
            self._results[number].act()

    def _all(self) -> Iterator[Found]:
        layout = self._layout
        for title in layout.titles():
            yield Found("panel", title, partial(layout.open, title))
        for name, apply in layout.layouts().items():
            yield Found("layout", name, apply)
        if self._session.can_control:
            for name, act in self._commands().items():
                yield Found("command", name, act)
        for robot in self._session.state.layout.robots:
            for joint in robot.joints.names:
                show = partial(layout.find, "Robots", robot.name, joint)
                yield Found("joint", joint, show)
        for topic in self._session.clients.fields.topics:
            yield Found("topic", topic, partial(layout.find, "Plots", "topic", topic))

    def _commands(self) -> Mapping[str, Callable[[], object]]:
        simulation, scene = self._session.clients.simulation, self._session.scene
        commands: dict[str, Callable[[], object]] = {
            "Play": simulation.play,
            "Pause": simulation.pause,
            "Step": simulation.step,
            "Reset": partial(simulation.reset, "time", "state"),
            "Reset view": scene.reset_camera,
        }
        if not is_replay(self._session.clients.parameters):
            commands["Reset all"] = simulation.reset
        return commands
