"""A robot that walks, and its drawing: feet, landing, support polygon, DCM and ZMP."""

from abc import ABC, abstractmethod
from math import atan2, cos, sin
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import ConvexHull

from mujoco_ros.controllers.estimation.base_estimator import BaseEstimator
from mujoco_ros.controllers.interface import inputs
from mujoco_ros.controllers.interface.inputs import DrawnLine, DrawnPoint
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.library.walk.footsteps import LEFT, Footstep, turned
from mujoco_ros.controllers.planning.kinematics.sole import Sole
from mujoco_ros.model.pose import Pose


class WalkingRobot(ABC):
    """Walks with a velocity, on the signals of the robot alone."""

    fastest: ClassVar[inputs.BodyVelocity]  # greatest velocities
    estimator: BaseEstimator  # estimates base and centre of mass
    joints: np.ndarray  # indices of the joints that it moves (n,)
    gait: Any
    dcm_error: np.ndarray  # measured divergent component of motion less its reference [m] (2,)
    goal: inputs.PlanarPose | None = None  # in the frame of the estimated base

    @abstractmethod
    def begin(self, observation: Observation, config: Any, period: float) -> None:
        """Begin at rest in the measured pose, with a time between two ticks [s]."""

    @property
    @abstractmethod
    def is_at_rest(self) -> bool:
        """Whether the robot stands on all feet."""

    @abstractmethod
    def place(self) -> inputs.PlanarPose:
        """Return the estimated place of the robot."""

    @abstractmethod
    def step(self, observation: Observation, velocity: inputs.BodyVelocity) -> np.ndarray:
        """Return positions, velocities and torques of `joints` for the next tick.  # (3, n)

        The next call writes into the same array. ArithmeticError: there is no solution.
        """

    @abstractmethod
    def draw(self) -> inputs.Drawing:
        """Return the drawing of the last tick."""


_CORNERS = np.array([(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)])
"""Of a sole, in half sizes; closed."""
_ABOVE = 0.003  # height of lines above the ground, which would hide them [m]
FOOT: inputs.Colour = (0.35, 0.45, 0.55, 0.9)
LANDING: inputs.Colour = (0.2, 0.6, 1.0, 0.95)
SUPPORT: inputs.Colour = (0.2, 0.75, 0.35, 0.95)
DCM: inputs.Colour = (0.95, 0.55, 0.1, 1.0)
DCM_REFERENCE: inputs.Colour = (0.95, 0.8, 0.55, 0.9)
ZMP: inputs.Colour = (0.9, 0.2, 0.25, 1.0)
COM: inputs.Colour = (0.75, 0.4, 0.9, 0.9)


def in_base(base: Pose, points: np.ndarray) -> np.ndarray:
    """Return points in the frame of the base.  # (..., 3)"""
    relative: np.ndarray = (points - base.position) @ base.matrix
    return relative


def support_polygon(base: Pose, corners: np.ndarray) -> DrawnLine:
    """Return the outline of at least three points [m].  # (n, 3)"""
    order = ConvexHull(corners[:, :2]).vertices
    return DrawnLine("support", in_base(base, corners[[*order, order[0]]]), SUPPORT)


def draw_walk(
    estimator: BaseEstimator, gait: Any, dcm_error: np.ndarray, zmp: np.ndarray, least: float
) -> inputs.Drawing:
    """Return feet, landing, support polygon, DCM and ZMP at the last tick.

    The gait is drawn where the foot that carries the robot is measured. A foot that carries
    something has at least the load `least` [N].
    """
    body, base, phase = estimator.robot, estimator.base.pose, gait.phase
    side = LEFT if phase is None or phase.support is None else phase.support.side
    frames = [sole.frame(body.data) for sole in estimator.soles]
    (origin, turn), planned = frames[side], gait.feet[side]
    difference = atan2(turn[1, 0], turn[0, 0]) - planned.yaw

    def of_gait(x: float, y: float, z: float) -> np.ndarray:
        x, y = turned(x - planned.x, y - planned.y, difference)
        return in_base(base, origin + np.array([x, y, z - planned.z + _ABOVE]))

    def landing(foot: Footstep, sole: Sole) -> np.ndarray:
        ahead, left = cos(foot.yaw), sin(foot.yaw)
        corners = [
            of_gait(foot.x + ahead * x - left * y, foot.y + left * x + ahead * y, foot.z)
            for x, y in (_CORNERS * sole.half_size).tolist()
        ]
        return np.array(corners)

    lines, loaded = [], []
    for sole, load, (at, axes) in zip(
        estimator.soles, estimator.loads.tolist(), frames, strict=True
    ):
        corners = at + (_CORNERS * sole.half_size) @ axes[:, :2].T + (0.0, 0.0, _ABOVE)
        lines.append(DrawnLine(sole.name, in_base(base, corners), FOOT))
        if load > least:
            loaded.append(corners)
    if phase is not None and phase.swing is not None:
        corners = landing(phase.swing, estimator.soles[phase.swing.side])
        lines.append(DrawnLine("landing", corners, LANDING, 0.01))
    if loaded:
        lines.append(support_polygon(base, np.concatenate(loaded)))
    reference = gait.reference().dcm
    points = [
        DrawnPoint(name, of_gait(float(at[0]), float(at[1]), planned.z), colour)
        for name, at, colour in (
            ("dcm_reference", reference, DCM_REFERENCE),
            ("dcm", reference + dcm_error, DCM),
            ("zmp", zmp, ZMP),
        )
    ]
    points.append(DrawnPoint("com", in_base(base, body.com.copy()), COM))
    return inputs.Drawing(tuple(lines), tuple(points))
