"""What users do in the scene of a page: drags of bodies and handles, and keys."""

import logging
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.dragged_bodies import DraggedBodies
from mujoco_ros.viewer.dragged_frames import DraggedFrames
from mujoco_ros.viewer.page.layout import Layout
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.ros.run_state import RunStateClient
from mujoco_ros.viewer.ros.simulator_parameters import is_replay
from mujoco_ros.viewer.scene.inputs import DragPhase, HandleDragged, KeyPressed, Pulled, SceneInput

_LOG = logging.getLogger(__name__)
_SILENT_S = 2.0  # a drag ends if its page has sent nothing for so long


class OpenPage(NamedTuple):
    """A page whose scene is connected."""

    session: Session
    layout: Layout
    heard_at: float  # when its scene last sent something, on the monotonic clock [s]


class SceneActions:
    """Lets the scenes of pages act on the simulation; one drag at a time, the newest one."""

    def __init__(
        self, pages: Callable[[int], OpenPage | None], now: Callable[[], float] = time.monotonic
    ) -> None:
        """Act for pages by the numbers of their scenes; `now` is monotonic [s]."""
        self._pages, self._now = pages, now
        self._drag: tuple[int, DraggedBodies | DraggedFrames] | None = None  # and its page

    def handle(self, number: int, given: SceneInput) -> None:
        """Act on what a user did in the scene of a page."""
        if (page := self._pages(number)) is None:
            return
        try:
            if isinstance(given, KeyPressed):
                with page.session.client:
                    _press(page, given.key)
            elif isinstance(given, Pulled | HandleDragged) and self._may_drag(page):
                self._move(number, page, given)
        except Exception:  # would end the connection of the scene
            _LOG.exception("an action in the scene failed")

    def tick(self) -> None:
        """End the drag of a page that is gone, is silent or may not act; the others go on."""
        if self._drag is None:
            return
        number, dragged = self._drag
        page = self._pages(number)
        if page is None or not self._may_drag(page) or self._now() - page.heard_at > _SILENT_S:
            self.end()
        elif isinstance(dragged, DraggedFrames):
            dragged.repeat()
        elif not dragged.follows_model:
            self.end()

    def end(self) -> None:
        """End the drag."""
        drag, self._drag = self._drag, None
        if drag is not None:
            drag[1].release()

    def _may_drag(self, page: OpenPage) -> bool:
        """Whether its drags act: bodies and frames of a past state are elsewhere now."""
        session = page.session
        may_act = session.can_control and session.state.shown is None
        return may_act and not is_replay(session.clients.parameters)

    def _move(self, number: int, page: OpenPage, given: Pulled | HandleDragged) -> None:
        shared = page.session.shared
        dragged = shared.bodies if isinstance(given, Pulled) else shared.handles
        if self._drag not in (None, (number, dragged)):
            self.end()
        elif self._drag is None and given.phase is not DragPhase.BEGIN:
            return  # this drag has ended already
        self._drag = number, dragged
        if isinstance(given, HandleDragged):
            shared.handles.drag(given)
        else:
            shared.bodies.drag(given)
        if given.phase is DragPhase.END:
            self.end()


def _toggle(simulation: RunStateClient, state: SharedState) -> None:
    simulation.play() if state.paused else simulation.pause()


def _step(simulation: RunStateClient, state: SharedState) -> None:
    if state.paused:
        simulation.step()


def _scale_speed(simulation: RunStateClient, state: SharedState, ratio: float) -> None:
    if state.factor > 0.0:
        simulation.set_speed(state.factor * ratio)


_ACTIONS: Mapping[str, Callable[[RunStateClient, SharedState], object]] = {
    "Space": _toggle,
    "ArrowRight": _step,
    "Backspace": lambda simulation, _: simulation.reset("time", "state"),
    "Minus": lambda simulation, state: _scale_speed(simulation, state, 0.5),
    "Equal": lambda simulation, state: _scale_speed(simulation, state, 2.0),
}
"""The same keys as in MuJoCo's own viewers; `state` is newer than the services."""


def _press(page: OpenPage, key: str) -> None:
    """Act on a key; past states come first."""
    session = page.session
    if page.layout.handle_key(key) or (act := _ACTIONS.get(key)) is None:
        return
    is_pause = key == "Space" and not session.state.paused  # any page may pause that may act
    if session.can_control or (is_pause and not session.is_read_only):
        act(session.clients.simulation, session.state)
    else:
        session.refuse()
