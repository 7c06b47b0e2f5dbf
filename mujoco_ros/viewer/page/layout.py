"""The layout of a page: areas of tabs around the scene, and the bar above."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from nicegui.element import Element

from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.dropped_world import DroppedWorld
from mujoco_ros.viewer.page import popups, widgets
from mujoco_ros.viewer.page.file_drop import FileDrop
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.panels.inspector import PROFILER, InspectorPanel
from mujoco_ros.viewer.page.panels.world import WorldPanel
from mujoco_ros.viewer.page.presets import PRESETS, Preset
from mujoco_ros.viewer.page.scene_bar import SceneBar
from mujoco_ros.viewer.page.scene_view import SceneView, linked_camera
from mujoco_ros.viewer.page.search import Search
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.page.tabs import tab
from mujoco_ros.viewer.page.time_bar import TimeBar
from mujoco_ros.viewer.page.top_bar import TopBar

_LOG = logging.getLogger(__name__)
Found = Callable[[], Mapping[str, Callable[[], Panel]]]
_GOALS = {Area.LEFT: "Move left", Area.BOTTOM: "Move below", Area.RIGHT: "Move right"}


class _Place:
    """A panel in the layout: its tab, its body, and whether it is open."""

    def __init__(self, panel: Panel) -> None:
        self.panel, self.area, self.is_open = panel, panel.area, panel.is_open
        self.is_needed = panel.is_needed
        self.number = 0  # place among all panels at first
        self.laid: Area | None = None  # where its elements are
        self.tab: widgets.Widget
        self.entry: widgets.Widget  # in the menu of panels
        self.body: Element

    def follow_title(self) -> None:
        """Show the title of the panel, which changes with another one of the same title."""
        title = self.panel.title
        self.tab.set(text=title)
        self.entry.set(text=title)
        if self.body._props["aria-label"] != title:
            self.body._props["aria-label"] = title
            self.body.update()


class Layout:
    """The areas with their panels; panels close, open again and move, and keep their place."""

    def __init__(
        self,
        session: Session,
        panels: Sequence[Panel],
        title: Callable[[], str],
        found: Found = dict,
    ) -> None:
        """Lay out panels below the title that `title` returns.

        `found` returns what creates the panels that come and go, each by a key.
        """
        self._session, self._found = session, found
        self._places = [_Place(panel) for panel in panels]
        self._later: dict[str, _Place] = {}  # places of panels that were found, by key
        self.scene = ""  # name of the scene whose settings these are
        self._kept: Mapping[str, Any] = {}
        self._selected: dict[Area, _Place | None] = dict.fromkeys(Area)
        self._tabs: dict[Area, Element] = {}
        self._bodies: dict[Area, Element] = {}
        self._areas: dict[Area, Element] = {}
        self._is_narrow = False
        self._before_narrow: list[_Place] = []
        self._runs = 0  # number of functions of page.js that have been called
        self._browser: LiveElement
        for number, place in enumerate(self._places):
            place.number = number
        search = Search(session, self.titles, self.layouts, self.open, self.find)
        self._bar = TopBar(session, title, self.layouts(), search)
        self.time_bar: TimeBar  # the bar below the scene

    @property
    def panels(self) -> Sequence[Panel]:
        """All panels, also closed ones."""
        return [place.panel for place in self._places]

    def settings(self) -> dict[str, Any]:
        """Return where each panel is, its settings, and the camera of the scene."""
        places = {
            place.panel.key: {
                "area": place.area.value,
                "open": place.is_open,
                "selected": self._selected[self._area(place)] is place,
            }
            for place in self._places
        }
        if self._is_narrow:  # keeps what a wide page showed
            places = self._kept_of("places")
        own = {place.panel.key: place.panel.settings() for place in self._places}
        return {
            "places": {**self._kept_of("places"), **places},
            "panels": {**self._kept_of("panels"), **own},
            "camera": self._session.scene.settings(),
        }

    def restore(self, scene: str, settings: Mapping[str, Any]) -> None:
        """Set what is valid among the kept settings of a scene; called before `build`."""
        self.scene, self._kept = scene, settings

    def follow_scene(self, scene: str, settings: Mapping[str, Any]) -> None:
        """Show what was kept of another scene; what was not kept stays as it is."""
        self.restore(scene, settings)
        for place in self._places:
            self._restore(place)
            self._lay(place)
            place.panel.rebuild()
        self._session.scene.restore_camera(self._kept_of("camera"))
        self._show_all()

    def _kept_of(self, part: str) -> dict[str, Any]:
        kept = self._kept.get(part)
        return kept if isinstance(kept, dict) else {}

    def _restore(self, place: _Place) -> None:
        """Restore the place and the settings of a panel."""
        panel = place.panel
        own = self._kept_of("panels").get(panel.key)
        if isinstance(own, dict):
            try:
                panel.restore(own)
            except Exception:  # the panel is shown even so
                _LOG.exception("the kept settings of '%s' cannot be restored", panel.title)
        kept = self._kept_of("places").get(panel.key)
        if not isinstance(kept, dict):
            return
        if kept.get("area") in list(Area):
            place.area = Area(kept["area"])
        place.is_open = bool(kept.get("open", True))
        if kept.get("selected"):
            self._selected[self._area(place)] = place

    def build(self) -> None:
        """Create the page."""
        with Element("div").classes("page") as page:
            page._props["id"] = "page"
            with _named("section", "Bar", "topbar"):
                self._bar.mount()
            self._bar.tick(is_visible=True)
            self._browser = LiveElement(self._session.feed, "browser")
            self._browser.on("act", lambda event: self._hear(event.args))
            self._drop = FileDrop(self._session, self._drop_world)
            for area in (Area.LEFT, Area.BOTTOM, Area.RIGHT):
                self._build_area(area)
            with _named("main", "Scene", "scene"):
                with Element("div").classes("view") as view:
                    self._session.scene = SceneView(self._session.client.id, self._session.state)
                    self._scene_bar = SceneBar(self._session)
                    with Element("div").classes("scene-bar"):
                        self._scene_bar.mount()
                    self._session.stage = Element("div").classes("stage")
                    self._session.stage.set_visibility(False)
                self.time_bar = TimeBar(self._session, view)
                with _named("div", "Time", "time-bar") as bar:
                    bar._props["role"] = "group"
                    self.time_bar.mount()
        linked = self._session.link.view
        camera = linked_camera(linked) if linked else self._kept_of("camera")
        self._session.scene.restore_camera(camera)
        for place in self._places:
            self._restore(place)
            self._mount(place)
        self._show_all()

    def handle_key(self, key: str) -> bool:
        """Handle a key that no text field takes; return whether it acted on the page."""
        if key == "Escape" and any(panel.handle_escape() for panel in self.panels):
            return True
        if key == "F2":
            self.open(InspectorPanel.title)
            return True
        if key == "KeyA":
            self._session.scene.frame()
            return True
        if key == "F3":
            self.find(InspectorPanel.title, PROFILER, "")
            return True
        if self._session.can_control and self.time_bar.handle_key(key):
            return True
        return key == "Escape" and self._session.scene.leave()

    def tick(self) -> None:
        """Update all panels, and show what is new in visible ones."""
        self._follow_found()
        self._drop.tick()
        for place in self._places:
            if place.is_needed != place.panel.is_needed:
                place.is_needed = place.panel.is_needed
                self._show(self._area(place))
        for panel in (self._bar, self.time_bar, self._scene_bar):
            panel.tick(is_visible=True)
        for place in self._places:
            is_visible = self._selected[self._area(place)] is place
            place.panel.tick(is_visible=is_visible and not self._session.is_hidden)
            place.follow_title()

    def open(self, title: str) -> None:
        """Open and select the panel with a title, if there is one."""
        for place in self._places:
            if place.panel.title == title:
                self._open(place)

    def _drop_world(self, dropped: DroppedWorld | Request) -> None:
        """Offer a dropped world in the panel "World", or show why it is none."""
        self.open(WorldPanel.title)
        for panel in self.panels:
            if isinstance(panel, WorldPanel):
                panel.guarded(panel.offer)(dropped)

    def titles(self) -> list[str]:
        """Return the titles of the panels that have something to show."""
        return [place.panel.title for place in self._places if place.is_needed]

    def find(self, title: str, kind: str, name: str) -> None:
        """Open a panel, and show what it has of a name."""
        self.open(title)
        for panel in self.panels:
            if panel.title == title:
                panel.guarded(panel.find)(kind, name)

    def layouts(self) -> Mapping[str, Callable[[], object]]:
        """Return what applies each layout, by its name."""
        presets = {name: partial(self.apply, preset) for name, preset in PRESETS.items()}
        return {**presets, "Reset layout": self.reset}

    def apply(self, preset: Preset) -> None:
        """Open the panels of a preset at their places, and close the others."""
        wanted = {title: area for area, title in preset.places()}
        order = list(wanted)
        for place in self._places:
            title = place.panel.title
            self._put(place, wanted.get(title, place.area), is_open=title in wanted)
        self._places.sort(
            key=lambda p: order.index(p.panel.title) if p.panel.title in order else len(order)
        )
        self._select_first()

    def reset(self) -> None:
        """Return to the layout of a page that nobody has changed."""
        for place in self._places:
            self._put(place, place.panel.area, is_open=place.panel.is_open)
        self._places.sort(key=lambda place: place.number)
        self._select_first()
        self._run_script("resetSizes")

    def _show_all(self) -> None:
        for area in Area:
            self._show(area)

    def _select_first(self) -> None:
        self._selected = dict.fromkeys(Area)
        self._show_all()

    def _run_script(self, name: str) -> None:
        self._browser.set(run=[name, self._runs])
        self._runs += 1

    def _hear(self, message: Mapping[str, Any]) -> None:
        """Note what the browser reports."""
        if message.get("refused"):
            self._session.refuse()
        self._session.is_hidden = bool(message.get("hidden", self._session.is_hidden))
        is_narrow = bool(message.get("narrow", self._is_narrow))
        if is_narrow != self._is_narrow:
            selected = [self._selected[area] for area in (Area.RIGHT, Area.LEFT, Area.BOTTOM)]
            self._is_narrow = is_narrow
            for place in self._places:
                self._lay(place)
            if not is_narrow:
                selected = [place for place in self._before_narrow if place in self._places]
            self._before_narrow = [place for place in selected if place is not None]
            self._selected = dict.fromkeys(Area)
            for place in reversed(self._before_narrow):
                self._selected[self._area(place)] = place
            self._show_all()

    def _area(self, place: _Place) -> Area:
        """Return where a panel is now: a narrow page has one area."""
        return Area.LEFT if self._is_narrow else place.area

    def _build_area(self, area: Area) -> None:
        name = {Area.LEFT: "Left", Area.RIGHT: "Right", Area.BOTTOM: "Bottom"}[area]
        with _named("section", f"{name} panels", f"area {area.value}") as self._areas[area]:
            with Element("div").classes("tabs-row"):
                self._tabs[area] = _named("div", f"{name} panels", "tabs")
                self._tabs[area]._props["role"] = "tablist"
                self._build_tools(area, name.lower())
            self._bodies[area] = Element("div").classes("bodies")
            divider = Element("div").classes("divider")
            divider._props |= {"role": "separator", "tabindex": 0, "data-divides": area.value}
            divider._props |= {"aria-valuenow": 0, "aria-valuemin": 0}  # page.js sets the size
            divider._props["aria-label"] = f"Size of the {name.lower()} panels"
            horizontal = area is Area.BOTTOM
            divider._props["aria-orientation"] = "horizontal" if horizontal else "vertical"

    def _follow_found(self) -> None:
        """Add the panels that appeared, and remove those that disappeared."""
        found = self._found()
        for key in self._later.keys() - found.keys():
            self._remove(self._later.pop(key))
        for key in found.keys() - self._later.keys():
            place = self._later[key] = _Place(found[key]())
            self._places.append(place)
            self._restore(place)
            place.number = len(self._places)
            self._mount(place)
            self._show(self._area(place))

    def _remove(self, place: _Place) -> None:
        self._kept = self.settings()  # of a panel that returns, as after a restart of its node
        self._places.remove(place)
        for element in (place.tab, place.body, place.entry):
            element.delete()
        area = self._area(place)
        if self._selected[area] is place:
            self._selected[area] = None
        self._show(area)

    def _mount(self, place: _Place) -> None:
        title = place.panel.title
        with self._bar.menu:
            place.entry = widgets.button(
                title, partial(self._open, place), look="plain", watch=True
            )
        area = place.laid = self._area(place)
        with self._tabs[area]:
            place.tab = tab(place.panel.title, partial(self._select, place))
        with self._bodies[area], Element("div").classes("panel") as place.body:
            place.body._props |= {"role": "tabpanel", "aria-label": place.panel.title}
            place.panel.mount()

    def _build_tools(self, area: Area, name: str) -> None:
        """Create the menu that moves or closes the selected panel of an area."""

        def act(goal: Area, *, is_open: bool) -> None:
            place = self._selected[area]
            if place is not None:
                self._move(place, goal, is_open=is_open)

        with popups.menu("\u22ef", name=f"Place of the selected {name} panel"):
            for goal, words in _GOALS.items():
                if goal is not area:
                    move = partial(act, goal, is_open=True)
                    widgets.button(words, move, look="plain", watch=True)
            close = partial(act, area, is_open=False)
            widgets.button("Close", close, look="plain", watch=True)

    def _select(self, place: _Place) -> None:
        area = self._area(place)
        self._selected[area] = place
        self._show(area)

    def _open(self, place: _Place) -> None:
        place.is_open = True
        self._select(place)

    def _move(self, place: _Place, area: Area, *, is_open: bool = True) -> None:
        before = self._area(place)
        self._put(place, area, is_open=is_open)
        if self._selected[before] is place:
            self._selected[before] = None
        if is_open:
            self._selected[self._area(place)] = place
        for each in {before, self._area(place)}:
            self._show(each)

    def _put(self, place: _Place, area: Area, *, is_open: bool) -> None:
        place.area, place.is_open = area, is_open
        self._lay(place)

    def _lay(self, place: _Place) -> None:
        """Move the elements of a panel to its area."""
        area = self._area(place)
        if place.laid is not area:
            place.laid = area
            place.tab.move(self._tabs[area])
            place.body.move(self._bodies[area])

    def _show(self, area: Area) -> None:
        """Show the selected panel of an area, or its first one."""
        here = [place for place in self._places if self._area(place) is area]
        places = [place for place in here if place.is_open and place.is_needed]
        if self._selected[area] not in places:
            self._selected[area] = places[0] if places else None
        self._areas[area].set_visibility(bool(places))
        for place in here:
            is_selected = self._selected[area] is place
            place.tab.set(hidden=place not in places, selected=is_selected)
            place.entry.set(hidden=not place.is_needed)
            place.body.set_visibility(is_selected)
            if is_selected:
                place.panel.tick(is_visible=True)


def _named(tag: str, name: str, classes: str) -> Element:
    element = Element(tag).classes(classes)
    element._props["aria-label"] = name
    return element
