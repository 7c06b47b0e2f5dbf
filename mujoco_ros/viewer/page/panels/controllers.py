"""The panel "Controllers": state machines of nodes with the services of lifecycle_msgs."""

import time
from collections.abc import Hashable, Iterable, Mapping

from mujoco_ros.viewer.clients import ControllerInfo, Request
from mujoco_ros.viewer.fleet import by_robot
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.details import foldable
from mujoco_ros.viewer.page.formats import format_decimals, format_stamp, is_simulated
from mujoco_ros.viewer.page.graph import StateGraph, state_graph, state_tone
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.request_result import RequestResult
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.page.tables import rows_table
from mujoco_ros.viewer.page.timeline import Timeline
from mujoco_ros.viewer.page.widgets import Column
from mujoco_ros.viewer.state_history import StatePeriod, state_periods

_NONE = "No node has a state machine, with the services of lifecycle_msgs."
_SPAN_S = 30.0  # of the timeline
_MOST_NAMED = 4  # states that a tip names


class ControllersPanel(Panel):
    """The graph, transitions and history of the selected state machine."""

    title = "Controllers"
    area = Area.RIGHT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._selected = self._robot = ""  # names of the node, and of the robot that was selected
        self._request: Request | None = None
        # As of `structure`: the thread of ROS replaces what the client has at any time
        self._known: Mapping[str, ControllerInfo] = {}
        self._graph: StateGraph | None = None
        self._buttons: dict[str, tuple[widgets.Widget, widgets.Widget]] = {}
        self._picks: dict[str, tuple[widgets.Widget, LiveElement]] = {}

    @property
    def _controller(self) -> ControllerInfo | None:
        known = self._known
        if self._robot != self.session.robot:
            self._robot = self.session.robot
            simulator, robots = self.clients.parameters.simulator, self.state.layout.robots
            own = by_robot(known, robots, simulator).get(self._robot, [])
            if self._selected not in own:
                self._selected = next(iter(own), self._selected)
        if self._selected not in known:
            self._selected = min(known, default="")
        return known.get(self._selected)

    def structure(self) -> Hashable:
        self._known = self.clients.controllers.known
        controller = self._controller
        if controller is None:
            return ()
        names = tuple(sorted(self._known))
        state = () if controller.states else controller.state  # the graph has all, once known
        return (
            names,
            self._selected,
            controller.states,
            controller.transitions,
            state,
            _labels(controller),
        )

    def build(self) -> None:
        self._picks = {}
        controller = self._controller
        if controller is None:
            widgets.text(_NONE, "muted", tag="p")
            return
        names = sorted(self._known)
        if len(names) > 1:
            self._build_choice(names)
        with widgets.row().classes("head"):
            widgets.text(controller.name, strong=True).classes("name")
            self._state = widgets.text().classes("badge")
            self._since = widgets.figure()
        self._reason = widgets.text(tag="p").classes("reason")
        with widgets.section("Transitions"):
            self._build_transitions(controller)
        self._result = RequestResult()
        self._graph = state_graph(controller)
        with widgets.section(f"Last {_SPAN_S:g} s"):
            self._timeline = Timeline(controller.name)
        with widgets.section("History"):
            self._history = rows_table(
                "History of states",
                [
                    Column("State", wide=True),
                    Column("Since"),
                    Column("For", "s"),
                    Column("Transition"),
                    Column("Reason", wide=True),
                ],
            )

    def refresh(self) -> None:
        controller = self._controller
        for name, (pick, state) in self._picks.items():
            each = self._known[name]
            pick.set(pressed=name == self._selected)
            state.set(text=each.state or "unknown", tone=state_tone(each))
        if controller is None:
            return
        tone, periods = state_tone(controller), state_periods(controller)
        now = self._now(controller)
        self._state.set(text=controller.state or "unknown", tone=tone if controller.state else "")
        lasted = periods[-1].duration(now) if periods else None
        self._since.set(text="" if lasted is None else f"for {format_decimals(lasted, 1)} s")
        self._reason.set(text=controller.reason, tone=tone, hidden=not controller.reason)
        self._refresh_transitions(controller)
        self._result.show(self._request)
        if self._graph is not None:
            self._graph.show(controller, sorted({period.state for period in periods}))
        self._timeline.show(controller, now - _SPAN_S, now)
        self._history.show([_row(period, now) for period in reversed(periods)])

    def _now(self, controller: ControllerInfo) -> float:
        """Return the present time on the clock of a controller [s]."""
        events = controller.events
        is_system = bool(events) and not is_simulated(events[-1][0])
        return time.time() if is_system else self.state.peek()[0]  # also if a past state is shown

    def _build_choice(self, names: Iterable[str]) -> None:
        table = widgets.WidgetTable("State machines", [Column("Node", wide=True), Column("State")])
        for name in names:
            with table.row():
                with table.cell().classes("wide"):
                    pick = widgets.button(
                        name, lambda name=name: self._select(name), look="plain", watch=True
                    )
                with table.cell():
                    self._picks[name] = pick, widgets.text()

    def _select(self, name: str) -> None:
        self._selected, self._request = name, None

    def _build_transitions(self, controller: ControllerInfo) -> None:
        """Build two buttons for each label, of which the one is shown that applies."""
        with widgets.row() as offered:
            self._nothing = widgets.text("none available", "muted")
        self._others = foldable("")
        self._buttons = {}
        for label in _labels(controller):
            with offered:
                offer = widgets.button(label, lambda label=label: self._change(label))
            with self._others.content:
                other = widgets.button(label, lambda: None, tip=_needed(controller, label))
                other.enable(False)
            self._buttons[label] = offer, other

    def _refresh_transitions(self, controller: ControllerInfo) -> None:
        available = 0
        for label, (offer, other) in self._buttons.items():
            is_available = label in controller.available
            available += is_available
            offer.set(hidden=not is_available)
            other.set(hidden=is_available)
        count = len(self._buttons) - available
        self._nothing.set(hidden=available > 0)
        self._others.summary.set(text=f"{count} not available now", hidden=not count)

    def _change(self, label: str) -> None:
        self._request = self.clients.controllers.change_state(self._selected, label)


def _labels(controller: ControllerInfo) -> tuple[str, ...]:
    """Return the labels of all transitions, also of those that the graph lacks."""
    labels = [*(each.label for each in controller.transitions), *controller.available]
    return tuple(dict.fromkeys(labels))


def _needed(controller: ControllerInfo, label: str) -> str:
    """Return the states in which a transition is available."""
    starts = [each.start for each in controller.transitions if each.label == label]
    rest = len(starts) - _MOST_NAMED
    named = ", ".join(starts[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
    return f"Available in {named or 'another state'}"


def _row(period: StatePeriod, now: float) -> tuple[str, ...]:
    """Return tone and texts of a row of the history."""
    since = "" if period.begin is None else format_stamp(period.begin)
    lasted = None if period.is_present else period.duration(now)
    tone = "bad" if period.state == "error" else "strong" if period.is_present else ""
    return (
        tone,
        period.state,
        since,
        "now" if period.is_present else "" if lasted is None else format_decimals(lasted, 2),
        period.label,
        period.reason,
    )
