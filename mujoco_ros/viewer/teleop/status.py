"""What the pages display of the simulation."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.achieved_factor import AchievedFactor
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.clients import CameraKey, run_status
from mujoco_ros.viewer.plots.curves import Curve
from mujoco_ros.viewer.scene_title import scene_title

_PERIOD_S = 0.1
_KEPT_ROWS = 300  # rows of samples for pages that are opened later: half a minute

_TOOL, _TOPIC = "tool ", "/target_twist"
"""Prefix of the names of tools, and the end of their topics, which the names lack."""

Row = tuple[int, float, Sequence[float | None]]
"""Number, simulated time [s], and the value of each curve; None is not a number."""


class PageStatus:
    """Collects the status in the state's thread, ten times a second; attributes are replaced."""

    def __init__(
        self,
        state: SharedState,
        clients: Clients,
        curves: Callable[[], Iterable[Curve]],
        frames: Callable[[], Sequence[str]],
    ) -> None:
        """Collect the status, the newest samples of the curves, and the movable frames."""
        self.values: Mapping[str, Any] = {}  # the status by name, as values of JSON
        # The cameras of the scene by their name on the pages
        self.cameras: Mapping[str, CameraKey] = {}
        self.rows: Sequence[Row] = ()  # the last samples of the curves, oldest first
        self.collected_at = -math.inf  # monotonic time of the status [s]
        self._state, self._clients, self._curves, self._frames = state, clients, curves, frames
        self._achieved = AchievedFactor()
        self._kept: deque[Row] = deque(maxlen=_KEPT_ROWS)
        self._names: list[list[str]] = []
        self._number = 0

    def tick(self, now: float) -> None:
        """Collect the status when due; `now` is monotonic [s]."""
        time = self._state.peek()[0]
        self._achieved.add(now, time)
        if now < self.collected_at + _PERIOD_S:
            return
        self._sample()
        found = [(camera.namespace, camera.name) for camera in self._state.layout.every_camera]
        self.cameras = {"/".join(filter(None, camera)): camera for camera in found}
        clients, factor = self._clients, self._achieved.value
        request = clients.latest_request()
        self.values = {
            "title": scene_title(self._state),
            "time": round(time, 2),
            "run": run_status(clients.simulation, paused=self._state.paused),
            "factor": None if factor is None else round(factor, 2),
            "controllers": [
                {
                    "name": controller.name,
                    "state": controller.state,
                    "available": list(controller.available),
                }
                for controller in clients.controllers.known.values()
            ],
            "movable": [
                *clients.velocities.topics,
                *map(tool_name, clients.velocities.tool_topics),
                *self._frames(),
            ],
            "cameras": [*self.cameras],
            "curves": self._names,
            "request": request.summary if request is not None else "",
        }
        self.collected_at = now

    def _sample(self) -> None:
        """Add a row if there are newer samples; other curves start again."""
        curves = [curve for curve in self._curves() if len(curve.history.times)]
        names = [[curve.plot, curve.name] for curve in curves]
        newest = max((float(curve.history.times[-1]) for curve in curves), default=0.0)
        if names != self._names or (self._kept and newest < self._kept[-1][1]):
            self._kept.clear()
            self._names = names
        if curves and (not self._kept or newest > self._kept[-1][1]):
            values = [float(curve.history.curve(curve.index)[-1]) for curve in curves]
            self._number += 1
            shown = [float(f"{value:.5g}") if math.isfinite(value) else None for value in values]
            self._kept.append((self._number, round(newest, 3), shown))
        self.rows = tuple(self._kept)


def tool_name(topic: str) -> str:
    """Return the name on the pages of the tool with a topic."""
    return f"{_TOOL}{topic.removesuffix(_TOPIC) or '/'}"


def is_tool(name: str) -> bool:
    """Return whether a name on the pages belongs to a tool."""
    return name.startswith(_TOOL)


def velocity_topic(name: str) -> str:
    """Return the topic of the velocity of a robot or tool by its name on the pages; else empty."""
    if is_tool(name):
        return f"{name.removeprefix(_TOOL).rstrip('/')}{_TOPIC}"
    return name if name.startswith("/") else ""
