"""Drawing of a walking robot: feet, landing, support polygon, DCM and ZMP; and its panel."""

from math import atan2, cos, pi, sin
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.spatial import ConvexHull

from mujoco_ros.controllers.estimation.base_estimator import BaseEstimator
from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.interface.inputs import (
    BodyVelocity,
    Colour,
    Drawing,
    DrawnLine,
    DrawnPoint,
    PlanarPose,
)
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.library.walk.footsteps import LEFT, Footstep, joined
from mujoco_ros.controllers.library.walk.walker import Walker
from mujoco_ros.model.panel_items import (
    Button,
    DisplayedPlot,
    DisplayedTable,
    DisplayedValue,
    PanelItem,
)


class WalkingRobot(Protocol):
    """A robot that walks with a velocity, as the states use it: a `Walker` or a `Trotter`."""

    estimator: BaseEstimator
    gait: Any
    joints: np.ndarray
    dcm_error: np.ndarray
    goal: PlanarPose | None

    @property
    def is_at_rest(self) -> bool:
        """Whether it stands."""

    def place(self) -> PlanarPose:
        """Return its estimated place."""

    def step(self, observation: Observation, velocity: BodyVelocity) -> np.ndarray:
        """Return positions, velocities and torques of `joints` for the next tick.  # (3, n)"""


class StandingPanel:
    """Buttons for near goals, the position, the loads of the feet, and the error of the DCM.

    Attributes:
        standing: The robot, set in each tick.
        is_sent: Whether a button has set its goal.
    """

    panel: ClassVar[tuple[PanelItem, ...]] = (
        Button("Walk 1 m ahead", "walk_ahead"),
        Button("Turn left", "turn_left"),
        DisplayedValue("position", "position", "m", ("x", "y")),
        DisplayedTable("Feet", "feet", ("foot", "load [N]")),
        DisplayedPlot("Error of the DCM", "dcm_error", ("x", "y"), "m"),
    )
    standing: WalkingRobot
    is_sent = False

    def walk_ahead(self, _context: StateContext) -> None:
        """Walk a metre forwards."""
        self._send(PlanarPose(1.0, 0.0, 0.0))

    def turn_left(self, _context: StateContext) -> None:
        """Turn by a quarter to the left."""
        self._send(PlanarPose(0.0, 0.0, 0.5 * pi))

    def position(self) -> tuple[float, float]:
        """Return the estimated position of the robot in the plane [m]."""
        place = self.standing.place()
        return place.x, place.y

    def feet(self) -> list[tuple[str, float]]:
        """Return the load of each foot [N]."""
        estimator = self.standing.estimator
        names = [sole.name for sole in estimator.soles]
        return list(zip(names, estimator.loads.tolist(), strict=True))

    def dcm_error(self) -> np.ndarray:
        """Return the error of the divergent component of motion [m].  # (2,)"""
        return self.standing.dcm_error

    def _send(self, goal: PlanarPose) -> None:
        """Set a goal relative to the robot, for the next `run`."""
        self.standing.goal, self.is_sent = joined(self.standing.place(), goal), True


_CORNERS = np.array([(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)])
"""Of a sole, in half sizes; closed."""
_LOADED = 0.05
"""Load of a foot that carries something, as part of the weight."""
_ABOVE = 0.003
"""Height of lines above the ground, which would hide them [m]."""
FOOT: Colour = (0.35, 0.45, 0.55, 0.9)
LANDING: Colour = (0.2, 0.6, 1.0, 0.95)
SUPPORT: Colour = (0.2, 0.75, 0.35, 0.95)
DCM: Colour = (0.95, 0.55, 0.1, 1.0)
DCM_REFERENCE: Colour = (0.95, 0.8, 0.55, 0.9)
ZMP: Colour = (0.9, 0.2, 0.25, 1.0)
COM: Colour = (0.75, 0.4, 0.9, 0.9)


def draw_walk(walker: Walker) -> Drawing:
    """Return feet, landing, support polygon, DCM and ZMP at the last tick.

    The gait is drawn where the foot that carries the robot is measured.
    """
    estimator, gait = walker.estimator, walker.gait
    body, base = estimator.robot, estimator.base.pose
    phase, axes = gait.phase, base.matrix
    side = LEFT if phase is None or phase.support is None else phase.support.side
    frames = [sole.frame(body.data) for sole in estimator.soles]
    origin, turn = frames[side][0], frames[side][1]
    planned = gait.feet[side]
    difference = atan2(turn[1, 0], turn[0, 0]) - planned.yaw

    def in_base(points: np.ndarray) -> np.ndarray:
        relative: np.ndarray = (points - base.position) @ axes
        return relative

    def of_gait(x: float, y: float, z: float) -> np.ndarray:
        x, y = x - planned.x, y - planned.y
        x, y = (
            cos(difference) * x - sin(difference) * y,
            sin(difference) * x + cos(difference) * y,
        )
        point: np.ndarray = origin + np.array([x, y, z - planned.z + _ABOVE])
        return point

    def landing(foot: Footstep, half: np.ndarray) -> np.ndarray:
        ahead, left = cos(foot.yaw), sin(foot.yaw)
        corners = [
            (foot.x + ahead * x - left * y, foot.y + left * x + ahead * y)
            for x, y in (_CORNERS * half).tolist()
        ]
        return np.array([of_gait(x, y, foot.z) for x, y in corners])

    lines, loaded = [], []
    least = _LOADED * body.mass * walker.gravity
    for sole, load, (at, sole_axes) in zip(
        estimator.soles, estimator.loads.tolist(), frames, strict=True
    ):
        corners = at + (_CORNERS * sole.half_size) @ sole_axes[:, :2].T + (0.0, 0.0, _ABOVE)
        lines.append(DrawnLine(sole.name, in_base(corners), FOOT))
        if load > least:
            loaded.append(corners)
    if phase is not None and phase.swing is not None:
        corners = landing(phase.swing, estimator.soles[phase.swing.side].half_size)
        lines.append(DrawnLine("landing", in_base(corners), LANDING, 0.01))
    if loaded:
        corners = np.concatenate(loaded)
        order = ConvexHull(corners[:, :2]).vertices
        lines.append(DrawnLine("support", in_base(corners[[*order, order[0]]]), SUPPORT))
    reference = gait.reference().dcm
    dcm, ground = reference + walker.dcm_error, planned.z
    points = [
        DrawnPoint(name, in_base(of_gait(float(at[0]), float(at[1]), ground)), colour)
        for name, at, colour in (
            ("dcm_reference", reference, DCM_REFERENCE),
            ("dcm", dcm, DCM),
            ("zmp", walker.zmp, ZMP),
        )
    ]
    points.append(DrawnPoint("com", in_base(body.com.copy()), COM))
    return Drawing(tuple(lines), tuple(points))
