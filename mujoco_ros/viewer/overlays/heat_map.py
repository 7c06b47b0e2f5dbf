"""The joints of robots by torque, error or temperature, and the links in colours of these."""

import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.colours import Colour
from mujoco_ros.viewer.entity_displays import VISIBLE_GROUPS, EntityDisplays
from mujoco_ros.viewer.joint_rows import JointRow, joint_rows

_PERIOD_S = 0.1  # of changes of colours
_LEVELS = 32  # different colours
LARGEST_ERROR, LARGEST_OFFSET = 0.1, 0.02
"""Tracking errors with the last colour [rad], [m]."""
_COLD, HOT = 25.0, 100.0
"""Temperatures with the first and the last colour: the defaults of ``realism`` [°C]."""
_POINTS = (0.0, 0.5, 1.0)
_COLOURS = np.array([(0.16, 0.62, 0.30), (0.95, 0.80, 0.20), (0.88, 0.16, 0.12)])


class Heat(StrEnum):
    """What the colours of links show."""

    NONE = "off"
    TORQUE = "torque"
    ERROR = "tracking error"
    TEMPERATURE = "temperature"


class JointLoad(NamedTuple):
    """How much a joint is loaded."""

    robot: str
    row: JointRow
    body: int  # the link that it moves
    torque: float  # of its actuators [Nm or N]
    error: float  # reference minus position [rad or m]; NaN without a reference
    temperature: float  # of its motors [°C]; NaN if the robot does not report it

    def share(self, heat: Heat) -> float:
        """Return the share of the limit of the torque, of the largest error, or of `HOT`."""
        if heat is Heat.TORQUE:
            return abs(self.torque) / self.row.effort if self.row.effort > 0.0 else 0.0
        if heat is Heat.TEMPERATURE:
            return max(0.0, (self.temperature - _COLD) / (HOT - _COLD))  # 0 for NaN
        largest = LARGEST_OFFSET if self.row.is_prismatic else LARGEST_ERROR
        return abs(self.error) / largest if np.isfinite(self.error) else 0.0


class HeatMap:
    """Colours the links of robots."""

    def __init__(
        self,
        state: SharedState,
        displays: EntityDisplays,
        temperatures: Callable[[], Mapping[tuple[str, str], float]],
    ) -> None:
        """Colour what displays show; `temperatures` returns them by robot and joint [°C]."""
        self.heat = Heat.NONE  # what the colours show
        self._state, self._displays, self._temperatures = state, displays, temperatures
        self._model: mujoco.MjModel | None = None
        self._rows: list[tuple[str, slice, tuple[JointRow, ...], np.ndarray]] = []
        self._geoms: dict[int, list[int]] = {}  # visible geoms of each link
        self._due = 0.0

    def loads(self) -> list[JointLoad]:
        """Return the loads of all joints."""
        self._follow_model()
        data, references, heats = self._state.data, self._state.references, self._temperatures()
        found = []
        for robot, columns, rows, bodies in self._rows:
            wanted = references.q[columns]
            for row, body, reference in zip(rows, bodies, wanted, strict=True):
                error = float(reference - data.qpos[row.qpos]) if row.is_actuated else np.nan
                torque = float(data.qfrc_actuator[row.dof])
                heat = heats.get((robot, row.name), np.nan)
                found.append(JointLoad(robot, row, int(body), torque, error, heat))
        return found

    def update(self) -> None:
        """Set the colours of the present state, ten times a second."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + _PERIOD_S
        if self.heat is Heat.NONE:
            self._displays.paint({})
            return
        shares: dict[int, float] = {}
        for load in self.loads():
            shares[load.body] = max(shares.get(load.body, 0.0), load.share(self.heat))
        colours = {body: heat_colour(share) for body, share in shares.items()}
        self._displays.paint(
            {geom: colour for body, colour in colours.items() for geom in self._geoms[body]}
        )

    def _follow_model(self) -> None:
        model, layout = self._state.model, self._state.layout
        if model is self._model:
            return
        self._model = model
        self._rows = [
            (
                robot.name,
                columns,
                joint_rows(model, robot.joints),
                model.jnt_bodyid[robot.joints.ids],
            )
            for robot, columns in zip(layout.robots, layout.columns, strict=True)
        ]
        self._geoms = {body: [] for *_, bodies in self._rows for body in map(int, bodies)}
        for geom in np.flatnonzero(model.geom_group < VISIBLE_GROUPS):
            body = int(model.geom_bodyid[geom])
            if body in self._geoms:
                self._geoms[body].append(int(geom))


def heat_colour(share: float) -> Colour:
    """Return green for 0, yellow for 0.5, and red from 1 on."""
    level = round(min(max(share, 0.0), 1.0) * _LEVELS) / _LEVELS
    red, green, blue = (float(np.interp(level, _POINTS, column)) for column in _COLOURS.T)
    return red, green, blue, 1.0
