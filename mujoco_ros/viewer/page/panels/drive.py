"""The panel "Drive": pads for robots, tools, targets and bodies."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from nicegui.element import Element

from mujoco_ros.viewer.driver import BODY, SCALES, SMALLEST, Driver, Shares
from mujoco_ros.viewer.fleet import by_robot, robot_of
from mujoco_ros.viewer.joint_rows import JointRow, joint_rows
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.formats import format_decimals
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.request_result import RequestResult
from mujoco_ros.viewer.page.session import Session

_WHEELS, _LEGS, _FRAME = "wheels", "legs", "frame"
"""What is moved: a robot that cannot move sideways, another one, or a tool, frame or body."""
# By the name of a pad: its axes, what it is for, and its motion to the right and up
_PADS: Mapping[str, tuple[str, Sequence[str], Callable[[float, float], Shares]]] = {
    "Steer": ("both", (_WHEELS,), lambda x, y: ((y, 0.0, 0.0), (0.0, 0.0, -x))),
    "Move": ("both", (_LEGS, _FRAME), lambda x, y: ((y, -x, 0.0), (0.0, 0.0, 0.0))),
    "Turn": ("horizontal", (_LEGS, _FRAME), lambda x, _y: ((0.0, 0.0, 0.0), (0.0, 0.0, -x))),
    "Up": ("vertical", (_FRAME,), lambda _x, y: ((0.0, 0.0, y), (0.0, 0.0, 0.0))),
    "Tilt": ("both", (_FRAME,), lambda x, y: ((0.0, 0.0, 0.0), (-x, y, 0.0))),
}
_TIP = "Hold it, or press the arrow keys; it stops when you release it"


class DrivePanel(Panel):
    """Pads command velocities or forces while they are held, and gamepads and 3D mice too."""

    title = "Drive"
    area = Area.RIGHT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        shared = session.shared
        self.driver = Driver(self.clients.velocities, shared.motion, shared.bodies)
        self._robot = ""  # the robot that was selected
        self._grip: tuple[int, JointRow] | None = None  # number of a robot, joint of its gripper
        session.client.on_delete(self.driver.stop)

    @property
    def is_needed(self) -> bool:
        return bool(self.driver.names)

    def settings(self) -> dict[str, Any]:
        return {"full": dict(self.driver.full)}

    def restore(self, settings: Mapping[str, Any]) -> None:
        if isinstance(full := settings.get("full"), dict):
            self.driver.set_full(full)

    def update(self) -> None:
        if self._robot != self.session.robot:
            self._select_robot()
        if self.session.can_control:
            self.driver.tick(self.session.scene.selected)
        else:
            self.driver.stop()
        self._build()  # gamepads act while the panel is hidden
        self._devices.set(target=self.driver.selected)

    def structure(self) -> Hashable:
        return self.state.model, self._find_gripper()

    def build(self) -> None:
        self._choice = widgets.choice("What the pads move", [], "", self.driver.select)
        self._pads: dict[str, tuple[widgets.Widget, Element]] = {}
        with Element("div").classes("pads"):
            for name, (axes, _, shares) in _PADS.items():
                with Element("div") as place:
                    hold = partial(self._hold, name, shares)
                    self._pads[name] = widgets.joystick(name, hold, axes=axes, tip=_TIP), place
                    widgets.text(name)
        self._velocity = widgets.figure()
        self._grip = None
        if (robot := self._find_gripper()) is not None:
            layout = self.state.layout.robots[robot]
            joint = joint_rows(self.state.model, layout.joints)[layout.gripper or 0]
            self._grip = robot, joint
            with widgets.line(f"gripper [{joint.unit}]"):
                self._gripper = widgets.slider(
                    "gripper",
                    0.0,
                    self._move_gripper,
                    low=joint.low,
                    high=joint.high,
                    unit=joint.unit,
                    step=(joint.high - joint.low) / 20.0,
                    tip=joint.name,
                )
        self._full, self._lines = {}, dict[str, Element]()
        with widgets.section("At full deflection") as self._scales:
            for name, scale in SCALES.items():
                with widgets.line(f"{name} [{scale.unit}]") as self._lines[name]:
                    self._full[name] = widgets.number_field(
                        f"{name} [{scale.unit}]",
                        self.driver.full[name],
                        lambda value, name=name: self.driver.set_full({name: value}),
                        low=SMALLEST,
                        high=scale.largest,
                        step=scale.value / 10.0,
                    )
        self._devices = widgets.devices(self._hold_device)
        self._result = RequestResult()

    def refresh(self) -> None:
        driver, kind = self.driver, self._kind()
        names = list(driver.names)
        self._choice.set(items=names, value=driver.selected, hidden=len(names) < 2)
        for name, (pad, place) in self._pads.items():
            pad.enable(bool(driver.selected))
            place.set_visibility(kind in _PADS[name][1])
        self._scales.set_visibility(driver.is_robot or driver.is_body)
        for name, field in self._full.items():
            field.show(driver.full[name])
            is_of_body = name in ("force", "torque")
            is_absent = name == "left" and kind == _WHEELS
            self._lines[name].set_visibility(is_of_body == driver.is_body and not is_absent)
        self._velocity.set(text=_words(driver, kind), hidden=not names)
        self._devices.enable(bool(driver.selected))
        if self._grip is not None:
            robot, joint = self._grip
            references = self.state.references.of_joints(self.state.layout.columns[robot])
            index = self.state.layout.robots[robot].gripper
            self._gripper.show(
                float(references.q[index]), mark=float(self.state.data.qpos[joint.qpos])
            )
            self._gripper.enable(self.state.shown is None)
        self._result.show(driver.request)

    def _kind(self) -> str:
        """Return what is driven, one of `_PADS`."""
        if not self.driver.is_robot:
            return _FRAME
        simulator, robots = self.clients.parameters.simulator, self.state.layout.robots
        owner = robot_of(self.driver.selected, robots, simulator)
        drives = (robot.drive for robot in robots if robot.name == owner)
        is_straight = any(drive is not None and not drive.moves_sideways for drive in drives)
        return _WHEELS if is_straight else _LEGS

    def _find_gripper(self) -> int | None:
        """Return the robot with the gripper: driven, or of the panels, or the only one."""
        robots = self.state.layout.robots
        found = [number for number, robot in enumerate(robots) if robot.gripper is not None]
        topic = self.driver.selected.removeprefix("tool ")
        owner = robot_of(topic, robots, self.clients.parameters.simulator) or self.session.robot
        own = [number for number in found if robots[number].name == owner]
        return (own or found)[0] if len(own or found) == 1 else None

    def _move_gripper(self, value: float) -> None:
        if self._grip is not None:
            robot, joint = self._grip
            namespace = self.state.layout.robots[robot].namespace
            value = min(max(value, joint.low), joint.high)
            self.clients.commands.command_joints(namespace, {joint.name: value})

    def _select_robot(self) -> None:
        """Drive the robot that panels show, if it can be driven."""
        self._robot = self.session.robot
        simulator, robots = self.clients.parameters.simulator, self.state.layout.robots
        own = by_robot(self.clients.velocities.topics, robots, simulator).get(self._robot)
        if own:
            self.driver.select(own[0])

    def _hold(
        self, name: str, shares: Callable[[float, float], Shares], held: Mapping[str, Any] | None
    ) -> None:
        if held is None:
            self.driver.hold(name, None)
        else:
            self.driver.hold(name, shares(*_numbers([held["x"], held["y"]], 2)))

    def _hold_device(self, held: Mapping[str, Any] | None) -> None:
        shares = None
        if held is not None and "grip" in held:
            if self._grip is not None and self.state.shown is None:
                joint = self._grip[1]
                self._move_gripper(joint.high if held["grip"] > 0 else joint.low)
            return
        if held is not None:
            linear, angular = (_numbers(held[part], 3) for part in ("linear", "angular"))
            shares = (linear[0], linear[1], linear[2]), (angular[0], angular[1], angular[2])
        self.driver.hold("device", shares)


def _words(driver: Driver, kind: str) -> str:
    if not driver.is_driving:
        acts = f"push {driver.selected.removeprefix(BODY)}"
        return f"Hold a pad to {acts if driver.is_body else f'move {driver.selected}'}."
    (x, y, z), (roll, pitch, yaw) = driver.commanded
    if kind != _FRAME:
        forwards, left, turn = (format_decimals(value, 2) for value in (x, y, yaw))
        sideways = f", {left} m/s left" if kind == _LEGS else ""
        return f"{forwards} m/s ahead{sideways}, {turn} rad/s"
    linear = ", ".join(format_decimals(value, 2) for value in (x, y, z))
    angular = ", ".join(format_decimals(value, 2) for value in (roll, pitch, yaw))
    units = ("N", "Nm") if driver.is_body else ("m/s", "rad/s")
    return f"{linear} {units[0]}; {angular} {units[1]}"


def _numbers(values: Sequence[Any], count: int) -> list[float]:
    """Return numbers of a page, which are shares of the largest velocities."""
    found = [float(value) for value in values]
    if len(found) != count or not all(-1.0 <= value <= 1.0 for value in found):
        raise ValueError(f"a motion has {count} numbers from -1 to 1, got {found}")
    return found
