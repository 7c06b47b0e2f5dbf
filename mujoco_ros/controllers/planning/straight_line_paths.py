"""Straight lines of the tool as curves in joint space."""

from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.interpolate import BSpline

from mujoco_ros.controllers.planning.collisions.collision_checker import CollisionChecker
from mujoco_ros.controllers.planning.curve import first_collision, interpolate, parameter_range
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.controllers.planning.kinematics.limits import CollisionError, IkError, LineError
from mujoco_ros.model.pose import Pose

DEVIATION = 1e-5
"""Largest distance of the tool from the line [m]."""
_SPACING = 0.025  # first distance between two configurations on the line [m]
_MIN_PARTS, _HALVINGS = 4, 4
_MIN_LENGTH = 1e-7  # a shorter line [m] takes no time
_METRES_PER_RADIAN = 0.2  # weight of rotation in the length of a line
_OVERSHOOT = 2e-4  # largest excess of the joint limits between two configurations [rad or m]
_SAMPLES = 8  # number of samples between two configurations
_MAX_STEP = 0.35
"""A larger step of a joint between two configurations is a singularity, or a jump [rad]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """A straight line from a pose to another, with even rotation."""

    start: Pose
    offset: np.ndarray  # (3,), to the last position [m]
    turn: np.ndarray  # (3,), rotation vector to the last orientation, in the frame of `start` [rad]

    @classmethod
    def between(cls, start: Pose, goal: Pose) -> "_Line":
        turn = np.empty(3)
        relative = (start.inverse() @ goal).quat_wxyz
        mujoco.mju_quat2Vel(turn, relative / np.linalg.norm(relative), 1.0)
        return cls(start=start, offset=goal.position - start.position, turn=turn)

    @property
    def length(self) -> float:
        turn = _METRES_PER_RADIAN * float(np.linalg.norm(self.turn))
        return max(float(np.linalg.norm(self.offset)), turn)

    def at(self, part: float) -> Pose:
        angle = float(np.linalg.norm(self.turn))
        quat = np.array([1.0, 0.0, 0.0, 0.0])
        if angle > 0.0:
            mujoco.mju_axisAngle2Quat(quat, self.turn / angle, part * angle)
        turned = self.start @ Pose(position=np.zeros(3), quat_wxyz=quat)
        return Pose(position=self.start.position + part * self.offset, quat_wxyz=turned.quat_wxyz)


def straight_line_path(
    inverse: InverseKinematics, checker: CollisionChecker, start: np.ndarray, goal: Pose
) -> BSpline | None:
    """Return the curve from `start` (k,) that moves the tool on a straight line to `goal`.

    Its parameter is the length of the line [m]; None if the tool is at the goal. LineError if the
    chain cannot follow the line, CollisionError if there is a collision on it.
    """
    line = _Line.between(inverse.pose(start), goal)
    if line.length < _MIN_LENGTH:
        return None
    count = max(_MIN_PARTS, int(np.ceil(line.length / _SPACING)))
    for _ in range(_HALVINGS):
        parts = np.linspace(0.0, 1.0, count + 1)
        points = _configurations(line, inverse, start, parts)
        curve = interpolate(points, parts * line.length)
        violation = _limit_violation(curve, inverse.chain, start)
        if not violation and _deviation(curve, line, inverse, parts) <= DEVIATION:
            break
        count *= 2
    else:
        deviation = f"the tool would leave the line by more than {1e3 * DEVIATION:.2f} mm"
        raise LineError(f"on the line, {violation}" if violation else deviation)
    collision = first_collision(curve, checker)
    if collision is not None:
        raise CollisionError(f"on the line, {checker.deepest_pair(collision)}")
    return curve


def _configurations(
    line: _Line, inverse: InverseKinematics, start: np.ndarray, parts: np.ndarray
) -> np.ndarray:
    """Return the configurations at fractions of the line.  # (m, k)."""
    points = [start]
    for part in parts[1:]:
        where = f"{100 * part:.0f} % of the line"
        try:
            q = inverse.follow(line.at(part), points[-1])
        except IkError as error:
            raise LineError(f"at {where}: {error}") from error
        step = np.abs(q - points[-1])
        if step.max() > _MAX_STEP:
            joint = inverse.chain.names[int(np.argmax(step))]
            raise LineError(f"at {where} {joint} would have to jump by {step.max():.2f}")
        points.append(q)
    return np.array(points)


def _limit_violation(curve: BSpline, chain: Chain, start: np.ndarray) -> str:
    """Return a message about the joint that exceeds its limits most; empty within limits."""
    points = curve(np.linspace(*parameter_range(curve), _SAMPLES * len(curve.c)))
    # A measured start may be a little beyond.
    low, high = np.minimum(chain.lower, start), np.maximum(chain.upper, start)
    excess = np.maximum(low - points, points - high).max(axis=1)
    worst = int(np.argmax(excess))
    return chain.limit_violation(points[worst]) if excess[worst] > _OVERSHOOT else ""


def _deviation(curve: BSpline, line: _Line, inverse: InverseKinematics, parts: np.ndarray) -> float:
    """Return the distance of the tool from the line halfway between the configurations [m]."""
    middle = 0.5 * (parts[:-1] + parts[1:])
    return max(
        float(np.linalg.norm(inverse.pose(q).position - line.at(part).position))
        for part, q in zip(middle, curve(middle * line.length), strict=True)
    )
