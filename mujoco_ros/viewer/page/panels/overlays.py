"""The panel "Overlays": what is drawn over the scene, contacts, and the loads of joints."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np
from nicegui.element import Element

from mujoco_ros.sim.grasp_quality import holding_contacts
from mujoco_ros.sim.observer import contact_forces
from mujoco_ros.viewer.overlays.balance import balance_of
from mujoco_ros.viewer.overlays.drawn_overlays import LENGTHS, TIPS
from mujoco_ros.viewer.overlays.heat_map import HOT, Heat, JointLoad
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.balance_view import BalanceView
from mujoco_ros.viewer.page.details import Details
from mujoco_ros.viewer.page.formats import format_decimals
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.page.tables import sorted_table

_MOST = 50  # contacts that are listed
_MM = 1e3
_HIGH, _FULL = 0.8, 1.0  # shares of a limit that are marked
_LENGTHS = (("force", "N"), ("torque", "Nm"))


class OverlaysPanel(Panel):
    """Selects what all pages draw over the scene, and lists forces and loads."""

    title = "Overlays"
    area = Area.LEFT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._overlays = session.shared.overlays
        self._drawings = self.clients.drawings
        self._tables: dict[str, tuple[Details, Any]] = {}

    def settings(self) -> dict[str, Any]:
        return self._overlays.settings()

    def restore(self, settings: Mapping[str, Any]) -> None:
        self._overlays.restore(settings)

    def structure(self) -> Hashable:
        return self.state.model, tuple(self._drawings.topics.items())

    def build(self) -> None:
        overlays = self._overlays
        with Element("div").classes("checks-of-overlays"):
            self._checks = {
                name: widgets.check(name, False, partial(overlays.set_shown, name), tip=tip)
                for name, tip in TIPS.items()
            }
        low, high = (_MM * length for length in LENGTHS)
        for name, unit in _LENGTHS:
            with widgets.line(f"{name.capitalize()}s"), widgets.row():
                words, set_length = f"Length of a {name} [mm/{unit}]", partial(self._set, name)
                field = widgets.number_field(words, 0.0, set_length, low=low, high=high, step=1.0)
                self._checks[name] = field
                widgets.text(f"mm/{unit}", "muted")
        with widgets.section("Topics"):
            self._topics = {
                topic: widgets.check(topic, False, partial(overlays.choose, topic), tip=kind)
                for topic, kind in self._drawings.topics.items()
            }
            if not self._topics:
                widgets.text("None that can be drawn.", "muted")
        self._problems = widgets.text(tone="warning", tag="p").classes("problems")
        with widgets.line("Heat map"):
            items = [str(heat) for heat in Heat]
            tip = "Colours of the links: green at 0, yellow at half, red at the limit"
            self._heat = widgets.choice("Heat map", items, items[0], self._set_heat, tip=tip)
        before, self._tables = self._tables, {}
        self._details("Loads of joints", self._build_loads, self._show_loads)
        self._details("Contacts", self._build_contacts, self._show_contacts)
        if any(robot.bases for robot in self.state.layout.robots):
            self._details("Balance from above", self._build_balance, self._show_balance)
        for title, (node, _) in self._tables.items():
            if title in before and before[title][0].is_open:  # topics come and go
                node.show()

    def refresh(self) -> None:
        overlays = self._overlays
        for name, shown in overlays.shown.items():
            self._checks[name].set(value=shown)
        for name, _unit in _LENGTHS:
            field = self._checks[name]
            assert isinstance(field, widgets.NumberField)
            field.show(_MM * getattr(overlays.scale, name))
        for topic, check in self._topics.items():
            check.set(value=self._drawings.is_shown(topic))
        problems = overlays.problems
        self._problems.set(text="\n".join(problems), hidden=not problems)
        self._heat.set(value=str(overlays.heat.heat))
        for node, show in self._tables.values():
            if node.is_open:
                show()

    def _details(self, title: str, build: Any, show: Any) -> None:
        self._tables[title] = Details(title, build), show

    def _set(self, name: str, millimetres: float) -> None:
        setattr(self._overlays.scale, name, millimetres / _MM)

    def _set_heat(self, name: str) -> None:
        self._overlays.heat.heat = Heat(name)

    def _build_loads(self) -> None:
        columns = [("Joint", "", False), ("Torque", "Nm, N", True), ("Share", "%", True)]
        columns += [("Error", "rad, m", True), ("Heat", "°C", True)]
        words = (
            "Share: of the limit of the torque. Error: reference minus position. Heat: of motors."
        )
        widgets.text(words, "muted")
        self._loads = sorted_table("Loads of joints", columns, by=2)

    def _show_loads(self) -> None:
        loads = self._overlays.heat.loads()
        has_several = len({load.robot for load in loads}) > 1
        self._loads.show([_load_row(load, has_several=has_several) for load in loads])

    def _build_contacts(self) -> None:
        columns = [("Body", "", False), ("Body", "", False), ("Margin", "%", True)]
        columns.append(("Force", "N", True))
        self._none = widgets.text("No contacts.", "muted")
        self._contacts = sorted_table("Contacts", columns, by=3)
        widgets.text("Margin: of the friction, 0 if a contact slips.", "muted")
        self._held = widgets.text(tag="p").classes("problems")
        self._more = widgets.text(tone="muted")

    def _show_contacts(self) -> None:
        model = self.state.model
        found = contact_forces(model, self.state.data)
        forces = np.linalg.norm(found.forces, axis=1)
        largest = np.argsort(-forces)[:_MOST]
        rows = []
        for index in largest:
            names = [model.body(int(body)).name or f"body {body}" for body in found.bodies[index]]
            margin = found.margins[index]
            share = "" if np.isnan(margin) else format_decimals(100.0 * float(margin), 0)
            rows.append(["", *names, share, format_decimals(float(forces[index]), 1)])
        self._contacts.show(rows)
        self._contacts.set(hidden=not rows)
        self._none.set(hidden=bool(rows))
        self._held.set(text="\n".join(self._grasps(found.bodies)))
        left = len(forces) - len(largest)
        self._more.set(text=f"and {left} with smaller forces", hidden=left <= 0)

    def _grasps(self, touching: np.ndarray) -> list[str]:
        """Return a line for each body that robots hold: contacts of which are a force closure."""
        model, robots = self.state.model, {b for r in self.state.layout.robots for b in r.bodies}
        lines = []
        for body in np.unique(touching[np.isin(touching, list(robots)).sum(axis=1) == 1]).tolist():
            if body in robots or not model.body_weldid[body]:
                continue
            contacts = holding_contacts(model, self.state.data, body, robots)
            if force := contacts.force_closure():
                kind = "form closure" if contacts.form_closure() else "force closure"
                share = format_decimals(100.0 * contacts.margin, 0)
                name = model.body(body).name or f"body {body}"
                lines.append(f"{name} is held: {kind} {force:.2f}, margin of friction {share} %")
        return lines

    def _build_balance(self) -> None:
        robots = [robot for robot in self.state.layout.robots if robot.bases]
        self._balances: dict[str, tuple[LiveElement, BalanceView]] = {}
        for robot in robots:
            self._balances[robot.name] = widgets.text(robot.name), BalanceView(robot.name)

    def _show_balance(self) -> None:
        for robot in self.state.layout.robots:
            if robot.name in self._balances:
                words, view = self._balances[robot.name]
                balance = balance_of(self.state, robot)
                state = "balanced" if balance.is_stable else "not over its support"
                tone = "good" if balance.is_stable else "bad"
                words.set(text=f"{robot.name}: {state}", tone=tone)
                view.show(balance)


def _load_row(load: JointLoad, *, has_several: bool) -> list[str]:
    row, share = load.row, load.share(Heat.TORQUE)
    name = f"{load.robot}/{row.name}" if has_several else row.name
    tone = "bad" if share >= _FULL else "warning" if share >= _HIGH else ""
    error = "" if np.isnan(load.error) else format_decimals(load.error, 4)
    torque = format_decimals(load.torque, 2)
    percent = format_decimals(100.0 * share, 1) if np.isfinite(row.effort) else ""
    heat = "" if np.isnan(load.temperature) else format_decimals(load.temperature, 1)
    tone = "bad" if load.temperature >= HOT else tone
    return [tone, name, torque, percent, error, heat]
