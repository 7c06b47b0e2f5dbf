"""What the states of walking robots have in common."""

from typing import Protocol

import numpy as np

from mujoco_ros.controllers.estimation.base_estimator import BaseEstimator
from mujoco_ros.controllers.interface.inputs import BodyVelocity, PlanarPose
from mujoco_ros.controllers.interface.observation import Observation


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
