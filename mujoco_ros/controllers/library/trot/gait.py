"""The trot: which diagonal pair of feet swings, when, and where the feet land."""

from dataclasses import dataclass
from math import cosh, hypot, sinh, tanh

import numpy as np

from mujoco_ros.controllers.interface.inputs import BodyVelocity
from mujoco_ros.controllers.library.config_checks import check_positive

FRONT_LEFT, FRONT_RIGHT, REAR_LEFT, REAR_RIGHT = range(4)
PAIRS = ((FRONT_LEFT, REAR_RIGHT), (FRONT_RIGHT, REAR_LEFT))
"""The diagonal pairs, which swing in turn."""
_LONGEST_WAIT = 0.1
"""Time for which a pair waits until the other one stands [s]."""
_APPROACH = 1.0
"""Time in which a near goal is approached [s]."""


@dataclass(frozen=True, kw_only=True)
class TrotGaitConfig:
    """Settings of the gait.

    Attributes:
        swing_time: Time for which a diagonal pair of feet is in the air [s].
        overlap: Time on four feet between two swings [s].
        step_height: Height of the swing feet [m].
    """

    swing_time: float = 0.25
    overlap: float = 0.04
    step_height: float = 0.07

    def __post_init__(self) -> None:
        check_positive(self, "swing_time", "overlap", "step_height")


class TrotGait:
    """Stands on four feet, or lifts the diagonal pairs in turn.

    Attributes:
        config: The settings.
        swinging: The pair in the air; None on four feet.
        elapsed: Time since the last change of `swinging` [s].
        is_resting: Whether the robot stands.
        is_marching: Whether the robot steps in place with a velocity of zero, instead of standing.
        steps: Swings so far.
    """

    def __init__(self, config: TrotGaitConfig) -> None:
        self.config = config
        self.start()

    def start(self) -> None:
        """Stand."""
        self.swinging: tuple[int, ...] | None = None
        self.is_resting, self.is_marching = True, False
        self.elapsed, self.steps = 0.0, 0

    @property
    def step_time(self) -> float:
        """Time from a swing to the next one [s]."""
        return self.config.swing_time + self.config.overlap

    @property
    def approach_time(self) -> float:
        """Time in which a near goal is approached [s]."""
        return _APPROACH

    @property
    def remaining(self) -> float:
        """Time until the feet land that swing now or next [s]."""
        swing = self.config.swing_time
        if self.swinging is not None:
            return max(swing - self.elapsed, 0.0)
        return swing if self.is_resting else max(self.step_time - self.elapsed, swing)

    @property
    def progress(self) -> float:
        """Part of the swing that is over; 1 on four feet."""
        return min(self.elapsed / self.config.swing_time, 1.0) if self.swinging else 1.0

    def step(
        self, period: float, velocity: BodyVelocity, *, can_rest: bool, has_landed: bool
    ) -> None:
        """Continue by a tick.

        The next pair is lifted when the other one stands, but waits for a short time only.

        Args:
            period: [s]
            velocity: Commanded velocity of the body.
            can_rest: Whether the robot can stand where its feet are.
            has_landed: Whether all feet that do not swing stand.
        """
        if self.is_resting:
            if velocity.is_zero and not self.is_marching:
                return
            self.is_resting = False
            self._lift()
            return
        self.elapsed += period
        if self.swinging is not None:
            if self.elapsed > self.config.swing_time - 0.5 * period:
                self.swinging, self.elapsed = None, 0.0
                self.steps += 1
            return
        late = self.elapsed - self.config.overlap + 0.5 * period
        if late > 0.0 and (has_landed or late > _LONGEST_WAIT):
            if velocity.is_zero and not self.is_marching and can_rest:
                self.is_resting, self.elapsed = True, 0.0
                return
            self._lift()

    def _lift(self) -> None:
        self.swinging, self.elapsed = PAIRS[self.steps % 2], 0.0


_FARTHEST = 0.15
"""Largest displacement of a foothold by an error of the velocity [m]."""


def foothold(
    velocity: np.ndarray, wanted: np.ndarray, omega: float, stance: float, gain: float
) -> np.ndarray:
    """Return the support point relative to the centre of mass when the feet land [m].  # (2,)

    The linear inverted pendulum over a point p moves with x'' = ω² (x - p). It keeps a velocity v
    through a stance of duration T with p = v tanh(ω T / 2) / ω, and changes it to another one at
    the end with a displacement of (v - v_wanted) / (ω tanh(ω T)), of which `gain` is used.

    Source: M. H. Raibert, Legged Robots That Balance, MIT Press 1986, chapter 2, with the pendulum
    instead of a constant stance velocity.

    Args:
        velocity: Of the centre of mass when the feet land [m/s].  # (2,)
        wanted: [m/s]  # (2,)
        omega: Natural frequency of the pendulum [1/s].
        stance: Time until the other feet land [s].
        gain: Part of the error of the velocity that a step corrects.
    """
    error = (gain / (omega * tanh(omega * stance))) * (velocity - wanted)
    size = float(np.hypot(*error))
    if size > _FARTHEST:
        error *= _FARTHEST / size
    point: np.ndarray = (tanh(0.5 * omega * stance) / omega) * wanted + error
    return point


def pendulum_after(
    position: np.ndarray, velocity: np.ndarray, line: np.ndarray, omega: float, time: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return position and velocity of the centre of mass after a time [s].  # (2,) each

    Across the line between the feet that stand it falls like a pendulum; along the line the forces
    can balance it, so that its velocity is constant.

    Args:
        position: [m]  # (2,)
        velocity: [m/s]  # (2,)
        line: The two feet [m].  # (2, 2)
        omega: Natural frequency of the pendulum [1/s].
        time: [s]
    """
    x, y = (line[1] - line[0]).tolist()
    across = np.array([-y, x]) / max(hypot(x, y), 1e-6)
    offset, rate = float(across @ (position - line[0])), float(across @ velocity)
    growth, change = cosh(omega * time), sinh(omega * time)
    after = offset * growth + rate * change / omega
    moved = position + time * velocity + (after - offset - time * rate) * across
    faster = velocity + (omega * offset * change + rate * (growth - 1.0)) * across
    return moved, faster


def ground_plane(feet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the middle (3,) of feet and the rise of the ground along x and y (2,).

    Args:
        feet: Where four feet stand or stood last [m].  # (4, 3)
    """
    middle = 0.25 * feet.sum(axis=0)
    offsets = feet - middle
    (xx, xy, xz), (_, yy, yz), _ = (offsets.T @ offsets).tolist()
    area = max(xx * yy - xy * xy, 1e-9)
    return middle, np.array([yy * xz - xy * yz, xx * yz - xy * xz]) / area
