"""The bar above the scene: state, control, search, and the menus."""

from collections.abc import Callable, Mapping
from functools import partial

from nicegui import ui
from nicegui.element import Element

from mujoco_ros.viewer.page import key_help, popups, widgets
from mujoco_ros.viewer.page.panel import Panel
from mujoco_ros.viewer.page.run_button import TONES, RunButton
from mujoco_ros.viewer.page.search import Search
from mujoco_ros.viewer.page.session import Session

_MOST_STATES = 4  # of controllers
_SCRIPTED = {
    "present": ("Present", "Large text, and no panels but this bar; again to return"),
    "theme": ("Theme", "Light, dark, or as the system"),
    "full-screen": ("Full screen", "Only the scene; Esc returns"),
}
"""Buttons whose actions are in page.js: label and tip by the name of the action."""


class TopBar(Panel):
    """What is always in sight."""

    title = "Bar"

    def __init__(
        self,
        session: Session,
        title: Callable[[], str],
        layouts: Mapping[str, Callable[[], object]],
        search: Search,
    ) -> None:
        """Offer layouts by name, and a search; `title` returns the title of the page."""
        super().__init__(session)
        self._title, self._layouts, self._search = title, layouts, search
        self.menu: Element  # where the layout adds entries of panels

    def build(self) -> None:
        self._heading = widgets.text(strong=True, tag="h1")
        self._state = widgets.text().classes("badge")
        self._time = widgets.figure()
        self._run = RunButton(self.session)
        self._controllers = widgets.text(tone="muted").classes("controllers")
        with Element("div").classes("taking"):
            self._build_control()
        self._search.build()
        self.menu = popups.menu("Panels")
        with Element("div").classes("wide-only tools"):
            with popups.menu("Layout"):
                for name, apply in self._layouts.items():
                    widgets.button(name, apply, look="plain", watch=True)
            key_help.build()
            with popups.menu("More"):
                for name, (label, tip) in _SCRIPTED.items():
                    script_button(name, label, tip)

    def refresh(self) -> None:
        status = self._run.status
        if (title := self._title()) != self._heading.state["text"]:
            self._heading.set(text=title)
            ui.page_title(title)
        self._state.set(text=status or "no response", tone=TONES.get(status, "bad"))
        self._time.set(text=f"{self.state.peek()[0]:.2f} s")
        self._run.refresh()
        states = [
            f"{each.name} is {each.state}"
            for each in self.clients.controllers.known.values()
            if each.state
        ]
        more = [f"{len(states) - _MOST_STATES} more"] if len(states) > _MOST_STATES else []
        self._controllers.set(text=" · ".join([*states[:_MOST_STATES], *more]), hidden=not states)
        self._refresh_control()

    def _build_control(self) -> None:
        slot, session = self.session.control, self.session
        self._control = widgets.text().classes("badge")
        self._control._props["role"] = "status"
        if session.is_read_only:
            self._control.set(text="read-only", tone="warning")
            return
        buttons = {
            "hand_over": ("Hand over", slot.release, "Another page asks for control"),
            "keep": ("Keep control", slot.deny, "Refuse the requests of other pages"),
            "take": ("Take control", slot.request, "No page has control"),
            "request": ("Request control", slot.request, "Ask the page that has control"),
            "withdraw": ("Withdraw request", slot.release, "Ask no longer"),
            "seize": ("Seize control", slot.seize, "Take control from the other page at once"),
        }
        self._changes = {
            name: widgets.button(label, partial(act, session), tip=tip, watch=True)
            for name, (label, act, tip) in buttons.items()
        }

    def _refresh_control(self) -> None:
        session, slot = self.session, self.session.control
        if session.is_read_only:
            return
        is_taken = slot.owner not in (None, session)
        is_asking, is_asked = session in slot.waiting, session.can_control and bool(slot.waiting)
        shown = {
            "hand_over": is_asked,
            "keep": is_asked,
            "take": slot.owner is None,
            "request": is_taken and not is_asking,
            "withdraw": is_asking,
            "seize": is_taken,
        }
        for name, button in self._changes.items():
            button.set(hidden=not shown[name])
        words = ""
        if is_asked:
            words = "another page requests control"
        elif is_taken:
            words = "control requested" if is_asking else "another page has control"
        self._control.set(text=words, tone="warning", hidden=not words)


def script_button(name: str, label: str, tip: str) -> None:
    """Create a button whose action is in the script of the page."""
    button = widgets.text(label, tag="button").classes("control button plain")
    button._props |= {"type": "button", "data-action": name, "title": tip}
