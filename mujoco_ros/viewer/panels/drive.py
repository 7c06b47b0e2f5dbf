"""The panel "Drive": a joystick for the velocity of a walking or driving robot."""

from collections.abc import Callable, Iterator, Mapping
from math import hypot
from typing import Any

from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import style
from mujoco_ros.viewer.clients import Request, VelocityClient
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.web.page import PageHalted, PanelsHidden

_RADIUS_PX, _KNOB_PX = 60.0, 12.0
_FASTEST = {"forwards": 0.3, "left": 0.1, "turn": 0.35}
"""Velocities at full deflection, at first [m/s, m/s, rad/s]."""
_LARGEST = 10.0


class DrivePanel(Panel):
    """A round pad and a slider command velocities while held, if a robot subscribes to some."""

    title = "Drive"
    area = DockArea.RIGHT_BELOW

    def __init__(self, state: SharedState, velocities: VelocityClient) -> None:
        super().__init__(state)
        self.fastest = dict(_FASTEST)  # velocities at full deflection [m/s, m/s, rad/s]
        self._velocities = velocities
        self._selected = ""
        self._turn = 0.0
        self._is_driving = False
        self._request: Request | None = None

    def windows(self) -> Iterator[tuple[str, Callable[[], None]]]:
        if self._velocities.topics:
            yield from super().windows()
        else:
            self._stop()

    def settings(self) -> dict[str, Any]:
        return {"fastest": dict(self.fastest)}

    def restore(self, settings: Mapping[str, Any]) -> None:
        fastest = settings.get("fastest")
        if not isinstance(fastest, dict):
            return
        for name in self.fastest:
            value = fastest.get(name)
            if isinstance(value, float) and 0.0 < value <= _LARGEST:
                self.fastest[name] = value

    @messages.handler
    def on_panels_hidden(self, _: PanelsHidden) -> None:
        """Stop: no browser controls the mouse."""
        self._stop()

    @messages.handler
    def on_page_halted(self, _: PageHalted) -> None:
        """Stop: the page does not follow the mouse."""
        self._stop()

    def build(self) -> None:
        topics = self._velocities.topics
        if self._selected not in topics:
            self._stop()
            self._selected = topics[0]
        if len(topics) > 1:
            imgui.SetNextItemWidth(style.FILL)
            selected = widgets.combo("##topic", self._selected, topics)
            if selected:
                self._stop()
                self._selected = selected
        ahead, left, is_held = _pad()
        imgui.SetNextItemWidth(2.0 * _RADIUS_PX)
        no_text = int(imgui.SliderFlags.NoInput)
        _, turn = imgui.SliderFloat("##turn", self._turn, 1.0, -1.0, "turn", no_text)
        self._turn = min(max(turn, -1.0), 1.0)
        is_turning = bool(imgui.IsItemActive())
        if not is_turning:
            self._turn = 0.0
        if is_held or is_turning:
            fastest = self.fastest
            forwards, to_left = ahead * fastest["forwards"], left * fastest["left"]
            turn = self._turn * fastest["turn"]
            self._is_driving = True
            self._request = self._velocities.command(
                self._selected, (forwards, to_left, 0.0), (0.0, 0.0, turn)
            )
            widgets.text(f"{forwards:.2f} m/s ahead, {to_left:.2f} m/s left, {turn:.2f} rad/s")
        else:
            self._stop()
            widgets.text(f"Hold the pad or the slider to publish on {self._selected}.")
        for name, unit in (("forwards", "m/s"), ("left", "m/s"), ("turn", "rad/s")):
            imgui.SetNextItemWidth(style.SPAN_WIDTH)
            changed, value = imgui.DragFloat(
                f"{name} [{unit}]", self.fastest[name], 0.01, 0.01, _LARGEST, "%.2f"
            )
            if changed:
                self.fastest[name] = min(max(float(value), 0.01), _LARGEST)
        if self._request is not None:
            widgets.request_result(self._request)

    def _stop(self) -> None:
        if self._is_driving:
            self._is_driving = False
            self._velocities.stop(self._selected)


def _pad() -> tuple[float, float, bool]:
    """Build the pad; return its deflection forwards and to the left, and whether it is held."""
    corner = imgui.GetCursorScreenPos()
    size = 2.0 * _RADIUS_PX
    imgui.InvisibleButton("pad", imgui.Vec2(size, size))
    is_held = bool(imgui.IsItemActive())
    middle_x, middle_y = corner.x + _RADIUS_PX, corner.y + _RADIUS_PX
    ahead = left = 0.0
    if is_held:
        mouse = imgui.GetMousePos()
        ahead, left = deflection(mouse.x - middle_x, mouse.y - middle_y, _RADIUS_PX)
    draw = imgui.GetWindowDrawList()
    faint = imgui.GetColorU32(imgui.Col.TextDisabled)
    draw.AddCircle(imgui.Vec2(middle_x, middle_y), _RADIUS_PX, faint)
    knob = imgui.Vec2(middle_x - left * _RADIUS_PX, middle_y - ahead * _RADIUS_PX)
    draw.AddCircleFilled(knob, _KNOB_PX, style.packed(style.GOOD) if is_held else faint)
    return ahead, left, is_held


def deflection(x: float, y: float, radius: float) -> tuple[float, float]:
    """Return how far a pad is held forwards and left, at most 1, by the mouse at x, y [px]."""
    reach = max(radius, hypot(x, y))
    return -y / reach, -x / reach
