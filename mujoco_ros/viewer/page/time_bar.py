"""The bar below the scene: past states, the return to one, and files of them."""

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui
from nicegui.element import Element

from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.history_saving import BAG, FILM, IMAGE, KINDS, LOG, TABLE
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.link import LinkedView
from mujoco_ros.viewer.page.panel import Panel
from mujoco_ros.viewer.page.popups import Question, popup
from mujoco_ros.viewer.page.request_result import RequestResult
from mujoco_ros.viewer.page.session import Session

_TIPS = {
    LOG: "All states, which ros2 run mujoco_ros replay plays",
    TABLE: "Positions, velocities, efforts and references of the joints",
    BAG: "The topics of the robots, as recorded by ros2 bag",
    FILM: "The view of this page, 1280×720",
    IMAGE: "The view of this page, 1280×720",
}


class TimeBar(Panel):
    """Shows past states, with their age, instead of the present one; the simulation runs on."""

    title = "Time"

    def __init__(self, session: Session, scene: Element) -> None:
        """Mark past states in the element of the scene."""
        super().__init__(session)
        self._past, self._saving, self._scene = session.shared.past, session.shared.saving, scene
        self._edges = {"from": -math.inf, "to": math.inf}  # times of the states to save [s]
        self._request: Request | None = None  # of this page, whose file the browser gets
        self._linked = session.link.time  # time of the link, until its state is shown [s]
        self._problem = session.link.problem  # why the state of the link is not shown
        self._follow_link()

    def handle_key(self, key: str) -> bool:
        """Act on a key that was pressed in the scene; return whether it did."""
        is_past = self.state.shown is not None
        if key == "Escape" and is_past:
            self._past.show(None)
        elif key == "ArrowLeft" or (key == "ArrowRight" and is_past):
            self._past.step(-1 if key == "ArrowLeft" else 1)
        else:
            return False
        return True

    def update(self) -> None:
        """Follow the requests, also of other pages."""
        self._follow_link()
        self._past.update()
        request = self._request
        if request is not None and request.ok is not None:
            self._request = None
            if request.ok:
                self._download()

    def build(self) -> None:
        self._bar = Element("div").classes("timeline")
        with self._bar:
            self._live = widgets.button(
                "Live", partial(self._past.show, None), tip="Show the present state (Esc)"
            )
            self._return = Question(
                "Continue from here", self._past.continue_from, answer="Continue", refuse="Stay"
            )
            self._undo = widgets.button("Undo", self._past.undo)
            self._slider = widgets.Widget(
                "past",
                self._move,
                watch=False,
                options={"name": "Past states"},
                tip="Drag to show a past state; arrow keys: one state back or forth",
                state={"first": 0.0, "now": 1.0, "shown": None, "text": ""},
            )
            self._link = widgets.link_button("Link", "Copy a link to this view and state")
            with popup("Save", "Save past states"):
                self._build_saving()
        self._note = widgets.text(tone="bad", tag="p")
        with self._scene:
            self._frame = widgets.text(tag="div").classes("past-frame")

    def refresh(self) -> None:
        span, shown = self._past.span, self.state.shown
        self._bar.set_visibility(span is not None)
        self._note.set(text=self._problem, hidden=not self._problem)
        self._frame.set(hidden=shown is None)
        if span is None:
            return
        first, now = span
        age = self._past.age
        words = "live"
        if shown is not None:
            words = f"{age:.2f} s ago"
            self._frame.set(text=f"{age:.2f} s ago: the state of {shown.time:.3f} s")
            self._return.set_words(
                f"The simulation returns to {shown.time:.3f} s and pauses there. What happened in "
                f"the {age:.2f} s since then is lost, except by Undo, and controllers start again."
            )
        time = None if shown is None else round(shown.time, 6)
        self._slider.set(first=round(first, 3), now=round(now, 3), shown=time, text=words)
        self._live.enable(shown is not None)
        self._return.enable(self._past.obstacle)
        before = self._past.undo_time
        self._undo.enable(before is not None)
        tip = "Nothing to undo" if before is None else f"Return to {before:.3f} s, as it was before"
        self._undo.set(tip=tip)
        self._link.set(link=LinkedView(view=self.session.scene.view(), time=time).text)
        self._refresh_saving()

    def _follow_link(self) -> None:
        """Show the time of the link, as soon as the page before in the same tab is closed."""
        session = self.session
        if self._linked is not None and (session.can_control or not session.is_new):
            time, self._linked = self._linked, None
            if session.can_control:
                self._problem = self._past.show(time)

    def _move(self, message: Mapping[str, Any]) -> None:
        if "step" in message:
            self._past.step(int(message["step"]))
        else:
            time = message["show"]
            self._past.show(None if time is None else float(time))
        self._problem = ""

    def _build_saving(self) -> None:
        with widgets.row():
            self._fields = {}
            for name, placeholder in (("from", "the oldest"), ("to", "now")):
                widgets.text(f"{name} [s]", "muted")
                self._fields[name] = widgets.text_field(
                    f"{name} [s]", partial(self._set_edge, name), placeholder=placeholder
                )
                widgets.button("here", partial(self._set_here, name), name=f"{name} here")
        with widgets.row():
            self._kinds = {
                kind: widgets.button(
                    kind, partial(self._save, kind), name=f"Save {kind}", tip=_TIPS[kind]
                )
                for kind in KINDS
            }
        with widgets.row():
            self._progress = widgets.Progress("Saved share")
            self._cancel = widgets.button(
                "Cancel", self._saving.cancel, tip="Nothing remains of the file"
            )
            self._again = widgets.button("Download", self._download, watch=True)
        self._result = RequestResult()

    def _refresh_saving(self) -> None:
        saving = self._saving
        for control in self._kinds.values():
            control.enable(not saving.is_busy)
        request = saving.request
        share = request.message.removesuffix(" %") if request and saving.is_busy else ""
        self._progress.set(hidden=not saving.is_busy)
        self._progress.show(float(share) if share.isdigit() else None)
        self._cancel.set(hidden=not saving.is_busy)
        self._again.set(hidden=not (request and request.ok))
        self._result.show(request)

    def _set_edge(self, name: str, words: str) -> None:
        """Set the first or last time to save; empty is the oldest state, or the present one."""
        words = words.strip().replace(",", ".")
        try:
            time = float(words or {"from": -math.inf, "to": math.inf}[name])
        except ValueError:
            time = math.nan
        if math.isnan(time):
            raise ValueError(f"'{words}' is no time in seconds")
        self._edges[name] = time
        self._fields[name].set(value=words)

    def _set_here(self, name: str) -> None:
        shown = self.state.shown
        self._set_edge(name, f"{self.state.time if shown is None else shown.time:.3f}")

    def _save(self, kind: str) -> None:
        start, end = self._edges["from"], self._edges["to"]
        if start > end:
            raise ValueError("'from' is later than 'to'")
        camera = self.session.scene.camera()
        self._request = self._saving.save(kind, start=start, end=end, camera=camera)

    def _download(self) -> None:
        """Have the browser save the last file, too."""
        path = self._saving.path
        if path is None or not Path(path).is_file():
            raise FileNotFoundError("the file is not there any more")
        with self._bar:
            ui.download.file(path, path.name)
