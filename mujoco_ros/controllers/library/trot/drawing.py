"""What a trotting robot displays: feet, landings, support polygon, DCM and centre of mass."""

import numpy as np
from scipy.spatial import ConvexHull

from mujoco_ros.controllers.interface.outputs import Drawing, DrawnLine, DrawnPoint
from mujoco_ros.controllers.library.trot.trotter import Trotter
from mujoco_ros.controllers.library.walk.drawing import (
    COM,
    DCM,
    DCM_REFERENCE,
    FOOT,
    LANDING,
    SUPPORT,
)

_CROSS = 0.04
"""Half the size of the mark of a landing [m]."""


def draw_trot(trotter: Trotter) -> Drawing:
    """Return what a robot displays at the last tick."""
    base, body = trotter.estimator.base.pose, trotter.estimator.robot
    axes = base.matrix[:3, :3]

    def in_base(points: np.ndarray) -> np.ndarray:
        relative: np.ndarray = (points - base.position) @ axes
        return relative

    lines = []
    standing = [leg.at for leg in trotter.legs if leg.is_down]
    for leg, sole in zip(trotter.legs, trotter.estimator.soles, strict=True):
        if leg.is_down:
            continue
        for axis, name in enumerate("xy"):
            cross = np.array([leg.goal, leg.goal])
            cross[:, axis] += -_CROSS, _CROSS
            lines.append(DrawnLine(f"landing_{sole.name}_{name}", in_base(cross), LANDING))
    corners = np.array(standing)
    if len(corners) > 2:
        order = ConvexHull(corners[:, :2]).vertices
        corners = corners[[*order, order[0]]]
    if len(corners) > 1:
        lines.append(DrawnLine("support", in_base(corners), SUPPORT))
    ground = float(np.mean([leg.ground[2] for leg in trotter.legs]))
    reference = trotter.dcm_reference
    points = [
        DrawnPoint(name, in_base(np.array([*at.tolist(), ground])), colour)
        for name, at, colour in (
            ("dcm_reference", reference, DCM_REFERENCE),
            ("dcm", reference + trotter.dcm_error, DCM),
        )
    ]
    points += [
        DrawnPoint(sole.name, in_base(leg.at), FOOT)
        for leg, sole in zip(trotter.legs, trotter.estimator.soles, strict=True)
    ]
    points.append(DrawnPoint("com", in_base(body.com.copy()), COM))
    return Drawing(tuple(lines), tuple(points))
