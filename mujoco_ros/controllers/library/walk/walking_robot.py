"""What the states of walking robots have in common, and the panel of a robot that stands."""

from math import pi
from typing import ClassVar, Protocol

import numpy as np

from mujoco_ros.controllers.estimation.base_estimator import BaseEstimator
from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.interface.inputs import BodyVelocity, PlanarPose
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.library.walk.goal import joined
from mujoco_ros.model.panel_items import (
    Button,
    DisplayedPlot,
    DisplayedTable,
    DisplayedValue,
    PanelItem,
)


class WalkingGait(Protocol):
    """A gait that may stand.

    Attributes:
        is_marching: Whether the robot steps in place with a velocity of zero, instead of standing.
    """

    is_marching: bool

    @property
    def approach_time(self) -> float:
        """Time in which a near goal is approached [s]."""


class WalkingRobot(Protocol):
    """A robot that walks with a velocity.

    Attributes:
        estimator: Estimates its base.
        joints: Indices of the joints that it moves.  # (n,)
        dcm_error: Measured divergent component of motion less its reference [m].  # (2,)
        goal: Where it goes, in the frame of the estimated base; None without one.
    """

    estimator: BaseEstimator
    joints: np.ndarray
    dcm_error: np.ndarray
    goal: PlanarPose | None

    @property
    def gait(self) -> WalkingGait:
        """The gait."""

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
