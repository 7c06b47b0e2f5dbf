"""The states of controllers over time, as an element that panels put below their plots."""

from collections.abc import Iterable
from typing import Any

from mujoco_ros.viewer.clients import ControllerInfo
from mujoco_ros.viewer.page.formats import format_decimals
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import current_session
from mujoco_ros.viewer.state_history import StatePeriod, recent_periods

_HUES = 47  # degrees between the colours of two states, which follow each other
_ERROR = "error"


class Timeline(LiveElement):
    """A row for each controller, with its states in a span of time."""

    def show(self, controllers: Iterable[ControllerInfo], low: float, high: float) -> None:
        """Show the states between two times on the clock of the controllers [s]."""
        lanes = [_lane(controller, low, high) for controller in controllers]
        self.set(lanes=[lane for lane in lanes if lane[1]], low=round(low, 3), high=round(high, 3))


def timeline() -> Timeline:
    """Create an empty timeline."""
    state: dict[str, Any] = {"lanes": [], "low": 0.0, "high": 0.0}
    created = Timeline(current_session().feed, "timeline", tag="div", state=state)
    return created.classes("lanes")


def _lane(controller: ControllerInfo, low: float, high: float) -> tuple[str, list[Any]]:
    """Return the name of a controller, and begin, end, text, hue and tip of its states."""
    numbers = {state: number for number, state in enumerate(controller.states)}
    bars = []
    for period in recent_periods(controller, low, high):
        is_error = period.state == _ERROR
        hue = -1 if is_error else (200 + _HUES * numbers.get(period.state, 0)) % 360
        bars.append((period.begin, period.end, period.state, hue, _tip(period)))
    return controller.name, bars


def _tip(period: StatePeriod) -> str:
    since = "" if period.begin is None else f" from {format_decimals(period.begin, 2)} s"
    until = "" if period.end is None else f" to {format_decimals(period.end, 2)} s"
    why = f"\n{period.label}" if period.label else ""
    return f"{period.state}{since}{until}{why}" + (f"\n{period.reason}" if period.reason else "")
