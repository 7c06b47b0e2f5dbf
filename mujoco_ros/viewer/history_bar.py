"""The bar below the scene: shows past states, and returns to one."""

import math
from collections.abc import Callable

import mujoco
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import style
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.docks import Rectangle
from mujoco_ros.viewer.history_saving import IMAGE, KINDS, HistorySaving
from mujoco_ros.viewer.panels import widgets

_WINDOW = style.window_flags(
    *("NoDecoration", "NoSavedSettings", "NoFocusOnAppearing", "NoDocking", "NoMove", "NoNav")
)
_RETURN, _LIVE, _SAVE = "Continue from here", "Live", "Save"
_LEAST_S = 0.1  # span of past states from which on there is a bar [s]


class HistoryBar:
    """Shows past states, and their age, instead of the present one; the simulation runs on."""

    def __init__(
        self, state: SharedState, clients: Clients, camera: Callable[[], mujoco.MjvCamera]
    ) -> None:
        """Show past states in `state`; `camera` returns the camera of saved films and images."""
        self._state, self._simulation = state, clients.simulation
        self._saving, self._camera = HistorySaving(state, clients.parameters), camera
        self._span = [-math.inf, math.inf]  # times of the first and the last saved state [s]
        self._request: Request | None = None

    @property
    def age(self) -> float:
        """Simulated time since the shown state [s]; 0 for the present one."""
        shown = self._state.shown
        return 0.0 if shown is None else max(self._state.peek()[0] - shown.time, 0.0)

    def update(self) -> None:
        """Show the present state after the simulation has returned to the past one, or a reset."""
        shown, request = self._state.shown, self._request
        if request is not None and request.ok is not None:
            self._request = None
            if request.ok:
                self._state.show(None)
        elif shown is not None and self._state.peek()[0] < shown.time:
            self._state.show(None)

    def handle_keys(self) -> bool:
        """Show another state by a pressed key; return whether one was."""
        if imgui.GetIO().WantCaptureKeyboard:
            return False
        if imgui.IsKeyChordPressed(imgui.Key.LeftArrow):
            self._step(-1)
            return True
        if self._state.shown is None:
            return False
        if imgui.IsKeyChordPressed(imgui.Key.RightArrow):
            self._step(1)
            return True
        if widgets.is_escape_pressed():
            self._state.show(None)
            return True
        return False

    def build(self, scene: Rectangle) -> None:
        """Build the bar at the bottom of the scene, and the label at its top."""
        times = self._state.past.times
        if not len(times) or times[-1] - times[0] < _LEAST_S:
            return
        left, top, width, height = scene
        bar = imgui.GetFrameHeight() + 2.0 * style.BAR_MARGIN
        imgui.SetNextWindowPos(imgui.Vec2(left, top + height - bar))
        imgui.SetNextWindowSize(imgui.Vec2(width, bar))
        imgui.SetNextWindowBgAlpha(style.BAR_OPACITY)
        imgui.PushStyleVar(
            imgui.StyleVar.WindowPadding, imgui.Vec2(style.BAR_MARGIN, style.BAR_MARGIN)
        )
        imgui.Begin("##history", None, _WINDOW)
        try:
            self._build_bar(float(times[0]))
        finally:
            imgui.End()
            imgui.PopStyleVar(1)
        if self._state.shown is not None:
            self._draw_label(scene)

    def _build_bar(self, first: float) -> None:
        shown, now = self._state.shown, self._state.peek()[0]
        if widgets.button(_LIVE, enabled=shown is not None, tip="Show the present state (Esc)"):
            self._state.show(None)
        imgui.SameLine()
        labels = (_SAVE,) if shown is None else (_SAVE, _RETURN)
        width = imgui.GetContentRegionAvail().x - sum(map(_button_width, labels))
        imgui.SetNextItemWidth(max(width, 1.0))
        label = "live" if shown is None else f"{self.age:.2f} s ago"
        span = max(now - first, _LEAST_S)
        changed, back = imgui.SliderFloat("##past", max(-self.age, -span), -span, 0.0, label)
        imgui.SetItemTooltip("Drag to show a past state; arrow keys: one state back or forth")
        if changed:
            self._state.show(now + back if back < 0.0 else None)
        imgui.SameLine()
        self._build_saving()
        if shown is None:
            return
        imgui.SameLine()
        is_kept = self._state.past.find(shown.time) == shown
        tip = "Pause the simulation in this state;\ncontrollers start again, as after a reset"
        tip = tip if is_kept else "The simulator does not keep this state any more"
        if widgets.button(_RETURN, enabled=is_kept and self._request is None, tip=tip):
            self._request = self._simulation.load_past(shown.time)

    def _build_saving(self) -> None:
        if widgets.button(_SAVE, tip="Write past states into a file"):
            imgui.OpenPopup("saving")
        with widgets.popup("saving") as is_open:
            if not is_open:
                return
            imgui.Dummy(imgui.Vec2(style.SAVING_WIDTH, 0.0))  # the width to wrap the text at
            self._build_span()
            saving, (start, end) = self._saving, self._span
            for kind in KINDS:
                if kind == IMAGE:
                    imgui.Separator()
                if widgets.button(kind, enabled=not saving.is_busy):
                    saving.save(kind, start=start, end=end, camera=self._camera())
            if saving.request is not None:
                imgui.Separator()
                widgets.request_result(saving.request)
            if saving.is_busy and widgets.button("Cancel", tip="Nothing remains of the file"):
                saving.cancel()

    def _build_span(self) -> None:
        now = self._state.peek()[0]
        oldest = float(self._state.past.times[0]) - now
        for index, (label, edge, none) in enumerate(
            (("from", oldest, -math.inf), ("to", 0.0, math.inf))
        ):
            back = min(max(self._span[index] - now, oldest), 0.0)
            shown = ("the oldest", "now")[index] if back == edge else f"{-back:.1f} s ago"
            changed, back = imgui.SliderFloat(f"{label}##span", back, oldest, 0.0, shown)
            if changed:
                self._span[index] = none if back == edge else now + back
        self._span[1] = max(self._span)

    def _step(self, states: int) -> None:
        times, shown = self._state.past.times, self._state.shown
        at = len(times) if shown is None else int(times.searchsorted(shown.time))
        at += states
        if at >= len(times):
            self._state.show(None)
        elif at >= 0:
            self._state.show(float(times[at]))

    def _draw_label(self, scene: Rectangle) -> None:
        """Draw a frame around the scene, and the age of the state, below all windows."""
        left, top, width, height = scene
        canvas, colour = imgui.GetBackgroundDrawList(), style.packed(style.WARNING)
        corner = imgui.Vec2(left + width - 1.0, top + height - 1.0)
        canvas.AddRect(imgui.Vec2(left + 1.0, top + 1.0), corner, colour, 0.0, style.PAST_FRAME)
        assert self._state.shown is not None
        label = f"{self.age:.2f} s ago: the state of {self._state.shown.time:.3f} s"
        size = imgui.CalcTextSize(label)
        x, y = left + 0.5 * (width - size.x), top + style.PAST_FRAME
        margin = style.BAR_MARGIN
        canvas.AddRectFilled(
            imgui.Vec2(x - margin, y), imgui.Vec2(x + size.x + margin, y + size.y + margin), colour
        )
        canvas.AddText(imgui.Vec2(x, y), style.packed(style.WHITE), label)


def _button_width(label: str) -> float:
    look = imgui.GetStyle()
    return float(imgui.CalcTextSize(label).x + 2.0 * look.FramePadding.x + look.ItemSpacing.x)
