"""Straight lines of the tool, as curves of the joints."""

from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.interpolate import BSpline

from mujoco_ros.controllers.planning.collisions.collisions import Collisions
from mujoco_ros.controllers.planning.curves.curve import curve_touches, ends, through
from mujoco_ros.controllers.planning.errors import CollisionError, IkError, LineError
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.model.pose import Pose

DEVIATION = 1e-5
"""How far the tool may leave the line [m]."""
_SPACING = 0.025
"""Between two postures computed, at first [m]."""
_FEWEST, _HALVINGS = 4, 4
_NOWHERE = 1e-7
"""Length of a line that is none [m]."""
_METRES_PER_RADIAN = 0.2
"""What turning counts for in the length of a line."""
_SWING = 2e-4
"""How far a joint may swing beyond its limits between two postures [rad or m]."""
_LOOKS = 8
"""At what lies between two postures."""
_LONGEST_STEP = 0.35
"""A joint that goes farther between two postures passes a singularity, or jumps [rad]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """From a pose to another, position and orientation at once.

    Attributes:
        start: Where it begins.
        way: Whereto from there [m].  # (3,)
        turn: About what axis to turn, and how far, in the start's frame [rad].  # (3,)
    """

    start: Pose
    way: np.ndarray
    turn: np.ndarray

    @classmethod
    def between(cls, start: Pose, goal: Pose) -> "_Line":
        turn = np.empty(3)
        relative = (start.inverse() @ goal).quat_wxyz
        mujoco.mju_quat2Vel(turn, relative / np.linalg.norm(relative), 1.0)
        return cls(start=start, way=goal.position - start.position, turn=turn)

    @property
    def length(self) -> float:
        turn = _METRES_PER_RADIAN * float(np.linalg.norm(self.turn))
        return max(float(np.linalg.norm(self.way)), turn)

    def at(self, part: float) -> Pose:
        angle = float(np.linalg.norm(self.turn))
        quat = np.array([1.0, 0.0, 0.0, 0.0])
        if angle > 0.0:
            mujoco.mju_axisAngle2Quat(quat, self.turn / angle, part * angle)
        turned = self.start @ Pose(position=np.zeros(3), quat_wxyz=quat)
        return Pose(position=self.start.position + part * self.way, quat_wxyz=turned.quat_wxyz)


def line_curve(
    inverse: InverseKinematics, collisions: Collisions, start: np.ndarray, goal: Pose
) -> BSpline | None:
    """Return the curve on which the tool goes straight from where it is to `goal`.

    Args:
        inverse: Of the chain.
        collisions: What must not touch.
        start: First posture.  # (k,)
        goal: Pose of the tool at the end, in ``world``; it turns evenly on the way.

    Returns:
        Postures by length of the way [m]; None if the tool is there already.

    Raises:
        LineError: The chain cannot follow the line; and where.
        CollisionError: Something touches on it.
    """
    line = _Line.between(inverse.pose(start), goal)
    if line.length < _NOWHERE:
        return None
    count = max(_FEWEST, int(np.ceil(line.length / _SPACING)))
    for _ in range(_HALVINGS):
        parts = np.linspace(0.0, 1.0, count + 1)
        points = _followed(line, inverse, start, parts)
        curve = through(points, parts * line.length)
        beyond = _swings(curve, inverse.chain, start)
        if not beyond and _strays(curve, line, inverse, parts) <= DEVIATION:
            break
        count *= 2
    else:
        off = f"the tool would leave the line by more than {1e3 * DEVIATION:.2f} mm"
        raise LineError(f"on the line, {beyond}" if beyond else off)
    touched = curve_touches(curve, collisions)
    if touched is not None:
        touch = collisions.touching(touched)
        raise CollisionError(f"on the line, {touch}")
    return curve


def _followed(
    line: _Line, inverse: InverseKinematics, start: np.ndarray, parts: np.ndarray
) -> np.ndarray:
    """Return the postures at some parts of the line.  # (m, k)."""
    points = [start]
    for part in parts[1:]:
        where = f"{100 * part:.0f} % of the line"
        try:
            q = inverse.follow(line.at(part), points[-1])
        except IkError as error:
            raise LineError(f"at {where}: {error}") from error
        far = np.abs(q - points[-1])
        if far.max() > _LONGEST_STEP:
            joint = inverse.chain.names[int(np.argmax(far))]
            raise LineError(f"at {where} {joint} would have to jump by {far.max():.2f}")
        points.append(q)
    return np.array(points)


def _swings(curve: BSpline, chain: Chain, start: np.ndarray) -> str:
    """Return which joint is beyond its limits between the postures, in words; empty if none is."""
    points = curve(np.linspace(*ends(curve), _LOOKS * len(curve.c)))
    # A measured start may be a little beyond.
    low, high = np.minimum(chain.lower, start), np.maximum(chain.upper, start)
    beyond = np.maximum(low - points, points - high).max(axis=1)
    worst = int(np.argmax(beyond))
    return chain.beyond(points[worst]) if beyond[worst] > _SWING else ""


def _strays(curve: BSpline, line: _Line, inverse: InverseKinematics, parts: np.ndarray) -> float:
    """Return how far the tool is off half way between the postures [m]."""
    middle = 0.5 * (parts[:-1] + parts[1:])
    return max(
        float(np.linalg.norm(inverse.pose(q).position - line.at(part).position))
        for part, q in zip(middle, curve(middle * line.length), strict=True)
    )
