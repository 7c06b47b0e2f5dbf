"""The panel "Fleet": a row for each of several robots."""

import math
import time
from collections.abc import Hashable
from functools import partial

from mujoco_ros.viewer.clients import ControllerInfo
from mujoco_ros.viewer.fleet import BATTERY_TYPE, by_robot, charge_of, most_important
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.formats import format_decimals
from mujoco_ros.viewer.page.graph import state_tone
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.page.widgets import Column

_LOW, _EMPTY = 0.2, 0.05  # shares of the charge that are marked
_OLD_S = 5.0  # age from which on a charge is shown with it


class FleetPanel(Panel):
    """State, battery and error of each robot; a click shows the robot in the other panels."""

    title = "Fleet"
    area = Area.LEFT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._rows: dict[str, tuple[widgets.Widget, LiveElement, LiveElement, LiveElement]] = {}

    @property
    def is_needed(self) -> bool:
        return len(self.state.layout.robots) > 1

    def structure(self) -> Hashable:
        return tuple(robot.name for robot in self.state.layout.robots)

    def build(self) -> None:
        columns = [Column("Robot"), Column("State", wide=True), Column("Battery", "%")]
        table = widgets.WidgetTable("Robots", columns)
        self._rows = {}
        for robot in self.state.layout.robots:
            with table.row():
                with table.cell().style("text-align: left"):
                    show = partial(self._show, robot.name)
                    tip = f"Show {robot.name} in the scene and in all panels"
                    button = widgets.button(robot.name, show, look="plain", tip=tip, watch=True)
                with table.cell().classes("wide"):
                    state, reason = widgets.text(), widgets.text(tag="p")
                with table.cell():
                    self._rows[robot.name] = button, state, widgets.figure(), reason

    def refresh(self) -> None:
        known, fields = self.clients.controllers.known, self.clients.panel_fields
        robots, simulator = self.state.layout.robots, self.clients.parameters.simulator
        machines = by_robot(known, robots, simulator)
        of_all = known.keys() - {name for names in machines.values() for name in names}
        batteries = by_robot(fields.of_type(BATTERY_TYPE), robots, simulator)
        displays = self.session.shared.declared
        keys = [charge_of(topic) for topics in batteries.values() for topic in topics]
        displays.receive(keys, time.monotonic())
        for name, (button, state, battery, reason) in self._rows.items():
            button.set(pressed=name == self.session.robot)
            shown = [known[each] for each in machines[name] or sorted(of_all)]
            _show_state(most_important(shown), state, reason)
            charges = [displays.newest(charge_of(topic)) for topic in batteries[name]]
            known_ones = [each for each in charges if not math.isnan(each[0])]
            charge, time_of = min(known_ones, default=(math.nan, math.nan))
            _show_charge(charge, self.state.peek()[0] - time_of, battery)

    def _show(self, name: str) -> None:
        self.session.robot = name
        entity = self.session.shared.displays.entities.get(name)
        if entity is not None:
            self.session.scene.frame(entity.root)


def _show_state(controller: ControllerInfo | None, state: LiveElement, reason: LiveElement) -> None:
    if controller is None:
        state.set(text="no controller", tone="muted", tip="")
        reason.set(text="")
        return
    tone = state_tone(controller)
    state.set(text=controller.state, tone=tone, tip=controller.name)
    reason.set(text=controller.reason, tone=tone)


def _show_charge(charge: float, age: float, battery: LiveElement) -> None:
    """Show a charge, and its age [s] if it is old."""
    if math.isnan(charge):
        battery.set(text="–", tone="muted")
        return
    tone = "bad" if charge <= _EMPTY else "warning" if charge <= _LOW else ""
    text = format_decimals(100.0 * charge, 0)
    if age > _OLD_S:
        text, tone = f"{text}, {age:.0f} s ago", "muted"
    battery.set(text=text, tone=tone)
