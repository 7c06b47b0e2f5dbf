"""The layout of a page: areas of tabs around the scene, and the bar above."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from nicegui.element import Element

from mujoco_ros.viewer.clients import PAUSED, PLAYING, run_status
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.page.time_bar import TimeBar

Found = Callable[[], Mapping[str, Callable[[], Panel]]]
_GOALS = {Area.LEFT: "Move left", Area.BOTTOM: "Move below", Area.RIGHT: "Move right"}
_TONES = {PLAYING: "good", PAUSED: "warning"}


class _Place:
    """A panel in the layout: its tab, its body, and whether it is open."""

    def __init__(self, panel: Panel) -> None:
        self.panel, self.area, self.is_open = panel, panel.area, panel.is_open
        self.tab: widgets.Control
        self.entry: widgets.Control  # in the menu of panels
        self.body: Element


class Layout:
    """The areas with their panels; panels close, open again and move, and keep their place."""

    def __init__(
        self, session: Session, panels: Sequence[Panel], title: str, found: Found = dict
    ) -> None:
        """Lay out panels; `found` returns what creates those that come and go, each by a key."""
        self._session, self._title, self._found = session, title, found
        self._places = [_Place(panel) for panel in panels]
        self._later: dict[str, _Place] = {}  # places of panels that were found, by key
        self._kept: Mapping[str, Any] = {}
        self._selected: dict[Area, _Place | None] = dict.fromkeys(Area)
        self._tabs: dict[Area, Element] = {}
        self._bodies: dict[Area, Element] = {}
        self._areas: dict[Area, Element] = {}
        self.scene: Element  # the place of the scene
        self.time_bar: TimeBar  # the bar below it

    @property
    def panels(self) -> Sequence[Panel]:
        """All panels, also closed ones."""
        return [place.panel for place in self._places]

    def settings(self) -> dict[str, Any]:
        """Return where each panel is, and which are selected."""
        return {
            place.panel.title: {
                "area": place.area.value,
                "open": place.is_open,
                "selected": self._selected[place.area] is place,
            }
            for place in self._places
        }

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Set what is valid among kept settings; called before `build`."""
        self._kept = settings
        for place in self._places:
            self._restore(place)

    def _restore(self, place: _Place) -> None:
        kept = self._kept.get(place.panel.title)
        if not isinstance(kept, dict):
            return
        if kept.get("area") in list(Area):
            place.area = Area(kept["area"])
        place.is_open = bool(kept.get("open", True))
        if kept.get("selected"):
            self._selected[place.area] = place

    def build(self) -> None:
        """Create the page."""
        with Element("div").classes("page") as page:
            page._props["id"] = "page"
            self._build_bar()
            for area in (Area.LEFT, Area.BOTTOM, Area.RIGHT):
                self._build_area(area)
            with _named("main", "Scene", "scene"):
                self.scene = Element("div").classes("view")
                self.time_bar = TimeBar(self._session, self.scene)
                with _named("div", "Time", "time-bar") as bar:
                    bar._props["role"] = "group"
                    self.time_bar.mount()
        for place in self._places:
            self._mount(place)
        for area in Area:
            self._show(area)

    def tick(self) -> None:
        """Update all panels, and show what is new in visible ones."""
        status = run_status(self._session.clients.simulation, paused=self._session.state.paused)
        self._status.set(text=status or "no response", tone=_TONES.get(status, "bad"))
        self._time.set(text=f"{self._session.state.time:.2f} s")
        self._follow_found()
        self.time_bar.tick(is_visible=True)
        for place in self._places:
            place.panel.tick(is_visible=self._selected[place.area] is place)

    def _build_bar(self) -> None:
        with _named("header", "", "topbar"):
            widgets.text(self._title, strong=True, tag="h1")
            self._status = widgets.text().classes("badge")
            self._time = widgets.figure()
            Element("span").classes("space")
            if not self._session.can_control:
                widgets.text("read-only", "warning").classes("badge")
            self._menu = _menu("Panels")
            for name, label in (("theme", "Theme"), ("full-screen", "Full screen")):
                _script_button(name, label)

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
            self._mount(place)
            self._show(place.area)

    def _remove(self, place: _Place) -> None:
        self._places.remove(place)
        for element in (place.tab, place.body, place.entry):
            element.delete()
        if self._selected[place.area] is place:
            self._selected[place.area] = None
        self._show(place.area)

    def _mount(self, place: _Place) -> None:
        title = place.panel.title
        with self._menu:
            place.entry = widgets.button(
                title, partial(self._open, place), look="plain", watch=True
            )
        with self._tabs[place.area]:
            place.tab = _Tab(self._session, place.panel.title, partial(self._select, place))
        with self._bodies[place.area], Element("div").classes("panel") as place.body:
            place.body._props |= {"role": "tabpanel", "aria-label": place.panel.title}
            place.panel.mount()

    def _build_tools(self, area: Area, name: str) -> None:
        """Create the menu that moves or closes the selected panel of an area."""

        def act(goal: Area, *, is_open: bool) -> None:
            place = self._selected[area]
            if place is not None:
                self._move(place, goal, is_open=is_open)

        with _menu("\u22ef", name=f"Place of the selected {name} panel"):
            for goal, words in _GOALS.items():
                if goal is not area:
                    move = partial(act, goal, is_open=True)
                    widgets.button(words, move, look="plain", watch=True)
            close = partial(act, area, is_open=False)
            widgets.button("Close", close, look="plain", watch=True)

    def _select(self, place: _Place) -> None:
        self._selected[place.area] = place
        self._show(place.area)

    def _open(self, place: _Place) -> None:
        place.is_open = True
        self._select(place)

    def _move(self, place: _Place, area: Area, *, is_open: bool = True) -> None:
        before, place.area, place.is_open = place.area, area, is_open
        if before is not area:
            place.tab.move(self._tabs[area])
            place.body.move(self._bodies[area])
        if self._selected[before] is place:
            self._selected[before] = None
        if is_open:
            self._selected[area] = place
        self._show(before)
        self._show(area)

    def _show(self, area: Area) -> None:
        """Show the selected panel of an area, or its first one."""
        places = [place for place in self._places if place.area is area and place.is_open]
        if self._selected[area] not in places:
            self._selected[area] = places[0] if places else None
        self._areas[area].set_visibility(bool(places))
        for place in self._places:
            if place.area is not area:
                continue
            is_selected = self._selected[area] is place
            place.tab.set(hidden=not place.is_open, selected=is_selected)
            place.body.set_visibility(is_selected)
            if is_selected:
                place.panel.tick(is_visible=True)


class _Tab(widgets.Control):
    """The tab of a panel."""

    def __init__(self, session: Session, title: str, select: Callable[[], None]) -> None:
        super().__init__(
            "tab", lambda _value: select(), watch=True, tag="button", state={"text": title}
        )


def _named(tag: str, name: str, classes: str) -> Element:
    element = Element(tag).classes(classes)
    if name:
        element._props["aria-label"] = name
    return element


def _menu(label: str, *, name: str = "", classes: str = "") -> Element:
    """Create a menu that opens at a click; return the place of its items."""
    with Element("details").classes(f"menu {classes}"):
        summary = widgets.text(label, tag="summary")
        if name:
            summary._props["aria-label"] = name
        return Element("div").classes("menu-items")


def _script_button(name: str, label: str) -> None:
    """Create a button whose action is in the script of the page."""
    button = widgets.text(label, tag="button").classes("control button plain")
    button._props |= {"type": "button", "data-action": name}
