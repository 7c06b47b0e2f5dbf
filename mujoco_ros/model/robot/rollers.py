"""Rollers of mecanum and omni wheels, in place of the round shapes that stand for them."""

from math import cos, pi, sin, sqrt

import mujoco
import numpy as np

from mujoco_ros.model.robot.drive import Drive
from mujoco_ros.model.robot.wheels import FoundWheel

HIDDEN_JOINTS = 5
"""Group of joints that are no joints of a robot for ROS: of rollers."""
_COUNT = 12
"""Rollers of a wheel. The radius of their envelope varies by 0.2 %."""
_THICKNESS = 0.25  # radius of a roller, as a share of the wheel's
_MASS = 0.02  # of a roller, as a share of the wheel's


def add_rollers(spec: mujoco.MjSpec, drive: Drive) -> None:
    """Give the wheels of a drive that moves in every direction rollers instead of their shapes.

    Each roller is an ellipsoid on a hinge without friction, whose outer side follows the rim of the
    wheel. Its joint is in the group `HIDDEN_JOINTS`.
    """
    for wheel, grip in zip(drive.wheels, drive.grips, strict=True):
        if wheel.roller_angle is None:
            _replace(spec, wheel, grip)


def _replace(spec: mujoco.MjSpec, wheel: FoundWheel, grip: float) -> None:
    body = spec.joint(wheel.joint).parent
    mass = max(_MASS * body.mass, 1e-3)
    for geom in body.geoms:
        geom.contype = geom.conaffinity = 0
    axle, centre, down = (np.array(v) for v in (wheel.local_axle, wheel.local_centre, wheel.down))
    radius = _THICKNESS * wheel.radius
    reach = wheel.radius - radius  # from the axle to the axes of the rollers
    # At the ground, the axis of a roller is where the wheel grips.
    turn = grip - wheel.direction - pi / 2
    # A barrel that is curved as the rim: both have the same curvature in its middle.
    length = sqrt(radius * reach) / abs(sin(turn))
    for index in range(_COUNT):
        angle = 2.0 * pi * index / _COUNT
        outwards = cos(angle) * down + sin(angle) * np.cross(axle, down)
        axis = cos(turn) * axle + sin(turn) * np.cross(axle, outwards)
        roller = body.add_body(
            name=f"{body.name}_roller_{index}", pos=centre + reach * outwards, mass=mass
        )
        roller.add_joint(
            name=f"{wheel.joint}_roller_{index}",
            axis=axis,
            armature=mass * radius**2,
            group=HIDDEN_JOINTS,
        )
        quat = np.zeros(4)
        mujoco.mju_quatZ2Vec(quat, axis)
        # Without conaffinity, rollers touch the world and other robots, but not each other.
        roller.add_geom(
            type=mujoco.mjtGeom.mjGEOM_ELLIPSOID,
            size=[radius, radius, length],
            quat=quat,
            mass=mass,
            group=3,
            contype=1,
            conaffinity=0,
            priority=1,
        )
        spec.add_exclude(bodyname1=roller.name, bodyname2=body.parent.name)
