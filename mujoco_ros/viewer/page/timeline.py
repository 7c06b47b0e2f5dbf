"""The states of a controller over time."""

from mujoco_ros.viewer.clients import ControllerInfo
from mujoco_ros.viewer.page.formats import format_decimals
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import current_session
from mujoco_ros.viewer.state_history import StatePeriod, recent_periods

_HUES = 47  # degrees between the colours of two states, which follow each other
_ERROR = "error"


class Timeline(LiveElement):
    """The states of a controller in a span of time."""

    def __init__(self, controller: str) -> None:
        """Create it for a controller by name, in the container that is active."""
        super().__init__(current_session().feed, "content", tag="div")
        self.classes("lane")
        self._props |= {"role": "list", "aria-label": f"States of {controller}"}

    def show(self, controller: ControllerInfo, low: float, high: float) -> None:
        """Show the states between two times on the clock of the controller [s]."""
        numbers = {state: number for number, state in enumerate(controller.states)}
        bars = []
        for period in recent_periods(controller, low, high):
            begin, end = (
                f"var({edge})" if time is None else f"{time:.3f}"
                for edge, time in (("--low", period.begin), ("--high", period.end))
            )
            hue = (200 + _HUES * numbers.get(period.state, 0)) % 360
            attributes = {
                "role": "listitem",
                "class": "lane-bar bad" if period.state == _ERROR else "lane-bar",
                "title": _tip(period),
                "style": f"--begin: {begin}; --end: {end}; --hue: {hue}",
            }
            bars.append(("span", attributes, period.state))
        self.set(tree=bars, style={"--low": f"{low:.3f}", "--high": f"{high:.3f}"})


def _tip(period: StatePeriod) -> str:
    since = "" if period.begin is None else f" from {format_decimals(period.begin, 2)} s"
    until = "" if period.end is None else f" to {format_decimals(period.end, 2)} s"
    why = f"\n{period.label}" if period.label else ""
    return f"{period.state}{since}{until}{why}" + (f"\n{period.reason}" if period.reason else "")
