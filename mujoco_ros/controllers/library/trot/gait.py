"""The trot: which pair of feet swings, when, where the feet land, and how a leg moves."""

from math import cosh, hypot, inf, sinh, tanh
from typing import NamedTuple

import numpy as np

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.interface.inputs import BodyVelocity
from mujoco_ros.controllers.library.base_states import quintic
from mujoco_ros.controllers.library.config_checks import CheckedConfig, Positive
from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.planning.kinematics.sole import Sole
from mujoco_ros.controllers.whole_body.ground_contact import GroundContact
from mujoco_ros.controllers.whole_body.tasks import FrameTask

FRONT_LEFT, FRONT_RIGHT, REAR_LEFT, REAR_RIGHT = range(4)
PAIRS = ((FRONT_LEFT, REAR_RIGHT), (FRONT_RIGHT, REAR_LEFT))
"""The diagonal pairs, which swing in turn."""
_LONGEST_WAIT = 0.1  # time for which a pair waits until the other one stands [s]
_APPROACH = 1.0  # time in which a near goal is approached [s]


class TrotGaitConfig(CheckedConfig):
    """Settings of the gait."""

    swing_time: Positive = setting("Time for which a diagonal pair of feet is in the air [s]", 0.25)
    overlap: Positive = setting("Time on four feet between two swings [s]", 0.04)
    step_height: Positive = setting("Height of the swing feet [m]", 0.07)


class TrotGait:
    """Stands on four feet, or lifts the diagonal pairs in turn.

    Attributes:
        swinging: The pair in the air; None on four feet.
        elapsed: Time since the last change of `swinging` [s].
        is_marching: Whether the robot steps in place with a velocity of zero, instead of standing.
    """

    def __init__(self, config: TrotGaitConfig) -> None:
        self.config = config
        self.start()

    def start(self) -> None:
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


_FARTHEST = 0.15  # largest displacement of a foothold by an error of the velocity [m]


def foothold(
    velocity: np.ndarray, wanted: np.ndarray, omega: float, stance: float, gain: float
) -> np.ndarray:
    """Return the support point relative to the centre of mass when the feet land [m].  # (2,)

    The linear inverted pendulum over a point p moves with x'' = ω² (x - p). It keeps a velocity v
    through a stance of duration T with p = v tanh(ω T / 2) / ω, and changes it to another one at
    the end with a displacement of (v - v_wanted) / (ω tanh(ω T)), of which `gain` is used.

    Source: M. H. Raibert, Legged Robots That Balance, MIT Press 1986, chapter 2, with the pendulum
    instead of a constant stance velocity.
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

    Across the `line` between the feet that stand (2, 2) it falls like a pendulum; along the line
    the forces can balance it, so that its velocity is constant.
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
    """Return the middle (3,) of feet (4, 3), and the rise of the ground along x and y (2,)."""
    middle = 0.25 * feet.sum(axis=0)
    offsets = feet - middle
    (xx, xy, xz), (_, yy, yz), _ = (offsets.T @ offsets).tolist()
    area = max(xx * yy - xy * xy, 1e-9)
    return middle, np.array([yy * xz - xy * yz, xx * yz - xy * xz]) / area


_APEX = 0.45  # part of the swing at which the foot is highest
TOUCHDOWN_VELOCITY = 0.15
"""Velocity downwards at the end of a swing, and until the foot touches the ground [m/s]."""


class SwingPoint(NamedTuple):
    """A point of a motion."""

    position: np.ndarray  # [m] (3,)
    velocity: np.ndarray  # [m/s] (3,)
    acceleration: np.ndarray  # [m/s²] (3,)


def swing_point(
    start: np.ndarray, goal: np.ndarray, height: float, s: float, duration: float
) -> SwingPoint:
    """Return a point of a swing with quintic polynomials, which ends with `TOUCHDOWN_VELOCITY`.

    The foot rises by `height` above the higher end [m]; `s` is the part of the swing that is over.
    """
    part, rate, change = quintic(s)
    position = start + part * (goal - start)
    velocity = (rate / duration) * (goal - start)
    acceleration = (change / duration**2) * (goal - start)
    apex = height + max(float(start[2]), float(goal[2]))
    if s < _APEX:
        time, rise = _APEX * duration, apex - float(start[2])
        part, rate, change = quintic(s / _APEX)
        position[2] = start[2] + rise * part
        velocity[2], acceleration[2] = rise * rate / time, rise * change / time**2
    else:
        time, fall = (1.0 - _APEX) * duration, float(goal[2]) - apex
        u = (s - _APEX) / (1.0 - _APEX)
        part, rate, change = quintic(u)
        end = TOUCHDOWN_VELOCITY * time  # u³ (1 - u) has the slope -1 at the end
        position[2] = apex + fall * part + end * u**3 * (1.0 - u)
        velocity[2] = (fall * rate + end * u * u * (3.0 - 4.0 * u)) / time
        acceleration[2] = (fall * change + end * u * (6.0 - 12.0 * u)) / time**2
    return SwingPoint(position, velocity, acceleration)


_WEIGHTS = np.repeat((100.0, 0.0), 3)  # of the motion in the air: the position of the foot
_RATE, _DAMPING = 40.0, 0.25
"""Decay of an error of the foot's velocity [1/s], and the part of it for errors of the position."""
_EARLIEST = 0.5  # part of the swing before which a load is not the ground
_TOUCH = 0.08  # load at which a foot has landed, as part of the weight
_LAST_CHANGE = 0.8  # part of the swing after which its goal does not move
_DEEPEST = 0.06  # largest depth of the search below the place where the foot should have landed [m]
_LOADING = 0.03  # time in which the force on a foot that has landed may rise to the weight [s]
_FASTEST = 2.0  # velocity at which the goal of a swing moves at most [m/s]


class Leg:
    """A foot that stands, swings, or is lowered after a swing until it touches the ground.

    Attributes:
        at: Measured position of the foot [m].  # (3,)
        ground: Measured position when it stood last [m].  # (3,)
        goal: Where it lands [m].  # (3,)
        load: Measured normal force [N].
    """

    def __init__(self, sole: Sole, *, friction: float, least: float, weight: float, period: float):
        """Stand, with at least a normal force [N]."""
        self.contact = GroundContact.of_sole(sole, friction=friction, least=least)
        self.task = FrameTask.of_sole(sole, weight=0.0, gain=_DAMPING * _RATE * period)
        self.task.rate = _RATE
        self.at, self.ground, self.goal = np.zeros((3, 3))
        self.load, self.is_down = 0.0, True
        self._start, self._is_first, self._depth = np.zeros(3), False, 0.0
        self._least, self._weight, self._period = least, weight, period

    def measure(self, body: FloatingBaseKinematics, load: float) -> None:
        """Take the measured position and the normal force [N]."""
        self.at[:] = self.task.frame(body)[0]
        self.load = load
        if self.is_down:
            self.ground[:] = self.at

    def lift(self) -> None:
        self._start[:] = self.at
        self._is_first, self._depth = True, 0.0
        self.is_down = self.contact.is_active = False
        self.task.weight[:] = _WEIGHTS

    def swing(self, goal: np.ndarray, height: float, s: float, duration: float) -> None:
        """Move to a goal (3,), which may change; `s` is the part of the swing that is over."""
        if s > _EARLIEST and self._touches():
            self._land()
        if self.is_down:
            self._load()
            return
        if self._is_first:
            self.goal[:] = goal
            self._is_first = False
        elif s < _LAST_CHANGE:
            step = _FASTEST * self._period
            self.goal += np.maximum(np.minimum(goal - self.goal, step), -step)
        task, point = self.task, swing_point(self._start, self.goal, height, s, duration)
        task.position[:], task.linear[:] = point.position, point.velocity
        task.acceleration[:3] = point.acceleration

    def stand(self) -> None:
        """Stand; a foot that has not landed is lowered."""
        if not self.is_down and self._touches():
            self._land()
        if self.is_down:
            self._load()
            return
        is_lowered = self._depth < _DEEPEST
        velocity = TOUCHDOWN_VELOCITY if is_lowered else 0.0
        self._depth += self._period * velocity
        task = self.task
        task.position[:2] = self.goal[:2]
        task.position[2] = self.goal[2] - self._depth
        task.linear[:] = 0.0, 0.0, -velocity
        task.acceleration[:] = 0.0

    def _touches(self) -> bool:
        return self.load > _TOUCH * self._weight

    def _land(self) -> None:
        self.is_down = self.contact.is_active = True
        self.contact.most = max(_TOUCH * self._weight, self._least)
        self.task.weight[:] = 0.0
        self.ground[:] = self.at

    def _load(self) -> None:
        contact = self.contact
        if contact.most < self._weight:
            contact.most += self._weight * self._period / _LOADING
        else:
            contact.most = inf
