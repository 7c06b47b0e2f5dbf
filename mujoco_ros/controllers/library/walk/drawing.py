"""What a walking robot displays: feet, landing, support polygon, DCM and ZMP."""

from math import atan2, cos, sin

import numpy as np
from scipy.spatial import ConvexHull

from mujoco_ros.controllers.interface.inputs import Colour, Drawing, DrawnLine, DrawnPoint
from mujoco_ros.controllers.library.walk.footsteps import LEFT, Footstep
from mujoco_ros.controllers.library.walk.walker import Walker

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
    """Return what a robot displays at the last tick.

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
