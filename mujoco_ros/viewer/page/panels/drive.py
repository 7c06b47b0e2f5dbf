"""The panel "Drive": a joystick for robots, tools, targets and mocap bodies."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from nicegui.element import Element

from mujoco_ros.viewer.driver import FASTEST, LARGEST, SMALLEST, Driver, Shares
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.formats import format_decimals
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.scene_bar import SceneBar
from mujoco_ros.viewer.page.session import Session

_UNITS = dict(zip(FASTEST, ("m/s", "m/s", "rad/s"), strict=True))
_NOTHING = (
    "Nothing to drive: no node subscribes to a topic cmd_vel, no Cartesian controller runs, and "
    "there are neither targets nor mocap bodies."
)
# By the name of a pad: its axes, whether robots have it, and its motion to the right and up
_PADS: Mapping[str, tuple[str, bool, Callable[[float, float], Shares]]] = {
    "Move": ("both", True, lambda x, y: ((y, -x, 0.0), (0.0, 0.0, 0.0))),
    "Turn": ("horizontal", True, lambda x, _y: ((0.0, 0.0, 0.0), (0.0, 0.0, -x))),
    "Up": ("vertical", False, lambda _x, y: ((0.0, 0.0, y), (0.0, 0.0, 0.0))),
    "Tilt": ("both", False, lambda x, y: ((0.0, 0.0, 0.0), (-x, y, 0.0))),
}
_TIP = "Hold it, or press the arrow keys; it stops when you release it"


class DrivePanel(Panel):
    """Pads command velocities while they are held, and gamepads and 3D mice too."""

    title = "Drive"
    area = Area.RIGHT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.driver = Driver(self.clients.velocities, session.shared.motion)
        session.client.on_delete(self.driver.stop)

    @property
    def is_needed(self) -> bool:
        return bool(self.driver.names)

    def settings(self) -> dict[str, Any]:
        return {"fastest": dict(self.driver.fastest)}

    def restore(self, settings: Mapping[str, Any]) -> None:
        if isinstance(fastest := settings.get("fastest"), dict):
            self.driver.set_fastest(fastest)

    def update(self) -> None:
        if self.session.can_control:
            self.driver.tick()
        else:
            self.driver.stop()
        self._build()  # gamepads act while the panel is hidden
        self._devices.set(target=self.driver.selected)

    def build(self) -> None:
        self._note = widgets.text(_NOTHING, "muted", tag="p")
        self._choice = widgets.choice("What the pads move", [], "", self.driver.select)
        self._pads: dict[str, tuple[widgets.Widget, Element]] = {}
        with Element("div").classes("pads"):
            for name, (axes, _, shares) in _PADS.items():
                with Element("div") as place:
                    hold = partial(self._hold, name, shares)
                    self._pads[name] = widgets.joystick(name, hold, axes=axes, tip=_TIP), place
                    widgets.text(name)
        self._velocity = widgets.figure()
        self._frame_bar = SceneBar(self.session)
        with widgets.row():
            self._frame = widgets.button("Frame", self._frame_bar.frame_entity, watch=True)
            self._follow = widgets.button("Follow", self._frame_bar.follow_entity, watch=True)
        self._fastest = {}
        with widgets.section("At full deflection") as self._speeds:
            for name, unit in _UNITS.items():
                with widgets.line(f"{name} [{unit}]"):
                    self._fastest[name] = widgets.number_field(
                        f"{name} [{unit}]",
                        self.driver.fastest[name],
                        partial(self._set_fastest, name),
                        low=SMALLEST,
                        high=LARGEST,
                        step=0.01,
                    )
        self._devices = widgets.devices(self._hold_device)
        self._result = widgets.request_result()

    def refresh(self) -> None:
        driver = self.driver
        names = list(driver.names)
        self._note.set(hidden=bool(names))
        self._choice.set(items=names, value=driver.selected, hidden=len(names) < 2)
        for name, (pad, place) in self._pads.items():
            pad.enable(bool(driver.selected))
            place.set_visibility(driver.is_robot <= _PADS[name][1])
        self._speeds.set_visibility(driver.is_robot)
        for name, field in self._fastest.items():
            field.show(driver.fastest[name])
        self._velocity.set(text=_words(driver), hidden=not names)
        self._devices.enable(bool(driver.selected))
        entity = self._frame_bar.entity
        for control in (self._frame, self._follow):
            control.set(hidden=entity is None)
        if entity is not None:
            is_followed = self.session.scene.followed == entity.root > 0
            self._frame.set(text=f"Frame {entity.name}")
            self._follow.set(pressed=is_followed, tip=f"The camera moves with {entity.name}")
            self._follow.enable(entity.root > 0)
        self._result.show(driver.request)

    def _hold(
        self, name: str, shares: Callable[[float, float], Shares], held: Mapping[str, Any] | None
    ) -> None:
        if held is None:
            self.driver.hold(name, None)
        else:
            self.driver.hold(name, shares(*_numbers([held["x"], held["y"]], 2)))

    def _hold_device(self, held: Mapping[str, Any] | None) -> None:
        shares = None
        if held is not None:
            linear, angular = (_numbers(held[part], 3) for part in ("linear", "angular"))
            shares = (linear[0], linear[1], linear[2]), (angular[0], angular[1], angular[2])
        self.driver.hold("device", shares)

    def _set_fastest(self, name: str, value: float) -> None:
        self.driver.set_fastest({name: float(value)})


def _words(driver: Driver) -> str:
    if not driver.is_driving:
        return f"Hold a pad to move {driver.selected}."
    (x, y, z), (roll, pitch, yaw) = driver.velocity
    if driver.is_robot:
        forwards, left, turn = (format_decimals(value, 2) for value in (x, y, yaw))
        return f"{forwards} m/s ahead, {left} m/s left, {turn} rad/s"
    linear = ", ".join(format_decimals(value, 2) for value in (x, y, z))
    angular = ", ".join(format_decimals(value, 2) for value in (roll, pitch, yaw))
    return f"{linear} m/s; {angular} rad/s"


def _numbers(values: Sequence[Any], count: int) -> list[float]:
    """Return numbers of a page, which are shares of the largest velocities."""
    found = [float(value) for value in values]
    if len(found) != count or not all(-1.0 <= value <= 1.0 for value in found):
        raise ValueError(f"a motion has {count} numbers from -1 to 1, got {found}")
    return found
