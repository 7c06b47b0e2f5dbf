"""URDF joints as joints of a body, with motors or mimic constraints."""

from collections.abc import Callable

import mujoco
import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.drive import PLANAR
from mujoco_ros.model.robot.scope import ON_JOINT
from mujoco_ros.model.urdf.importing.urdf_file import UrdfJoint

_STIFF_SOLREF = (1e-3, 1.0)
"""Time constant [s], of which MuJoCo uses at least two timesteps, and damping ratio."""
_STIFF_SOLIMP = (0.9999, 0.9999, 0.001, 0.5, 2.0)
"""Impedance of gears and linkages; MuJoCo's default gives way under the load of a grip."""


def add_joint(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    joint: UrdfJoint,
    anchor: np.ndarray,
    axis: np.ndarray,
    warn: Callable[[str, str], None],
) -> None:
    """Add a joint to a body, with its limits and its motor or mimic.

    The anchor [m] and the axis are in the frame of the body. `warn` is called with a warning and
    the name of the joint.
    """
    dynamics = {"damping": [joint.damping, 0.0, 0.0], "frictionloss": joint.friction}
    if joint.armature is not None:
        dynamics["armature"] = joint.armature
    kind = mujoco.mjtJoint
    if joint.type == "floating":
        body.add_freejoint(name=joint.name)
    elif joint.type == "spherical":
        body.add_joint(name=joint.name, type=kind.mjJNT_BALL, pos=anchor, **dynamics)
    elif joint.type == "planar":
        quat = np.zeros(4)
        mujoco.mju_quatZ2Vec(quat, axis)
        x, y, z = Pose(quat_wxyz=quat).matrix.T
        for suffix, slide in zip(PLANAR, (x, y), strict=False):
            body.add_joint(name=joint.name + suffix, type=kind.mjJNT_SLIDE, axis=slide, **dynamics)
        body.add_joint(
            name=joint.name + PLANAR[2], type=kind.mjJNT_HINGE, pos=anchor, axis=z, **dynamics
        )
        for suffix in PLANAR:
            name, drive = joint.name + suffix, mujoco.mjtTrn.mjTRN_JOINT
            servo = spec.add_actuator(name=name, target=name, trntype=drive)
            make_velocity_servo(servo, joint)
    else:
        _add_scalar_joint(spec, body, joint, warn, pos=anchor, axis=axis, **dynamics)


def _add_scalar_joint(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    joint: UrdfJoint,
    warn: Callable[[str, str], None],
    **attributes: object,
) -> None:
    slide = joint.type == "prismatic"
    added = body.add_joint(
        name=joint.name,
        type=mujoco.mjtJoint.mjJNT_SLIDE if slide else mujoco.mjtJoint.mjJNT_HINGE,
        limited=mujoco.mjtLimited.mjLIMITED_FALSE,
        userdata=[joint.velocity or 0.0],
        **attributes,
    )
    if joint.lower is not None and joint.upper is not None:
        if joint.lower < joint.upper:
            added.limited = mujoco.mjtLimited.mjLIMITED_TRUE
            added.range = [joint.lower, joint.upper]
        else:
            warn("joints whose limits are equal and therefore ignored", joint.name)
    if joint.mimic is None:
        _add_drive(spec, joint)
    else:
        spec.add_equality(
            name=f"{joint.name}_mimic",
            type=mujoco.mjtEq.mjEQ_JOINT,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=joint.name,
            name2=joint.mimic.joint,
            data=[joint.mimic.offset, joint.mimic.multiplier, *[0.0] * (mujoco.mjNEQDATA - 2)],
            solref=_STIFF_SOLREF,
            solimp=_STIFF_SOLIMP,
        )


def _add_drive(spec: mujoco.MjSpec, joint: UrdfJoint) -> None:
    if joint.drive == "none":
        return
    if any(
        actuator.trntype in ON_JOINT and actuator.target == joint.name
        for actuator in spec.actuators
    ):
        return  # an actuator of the <mujoco> extension
    drive = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    if joint.drive == "velocity":
        make_velocity_servo(drive, joint)
        return
    drive.set_to_motor()
    drive.ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE
    if joint.effort is not None:
        drive.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
        drive.ctrlrange = [-joint.effort, joint.effort]


def make_velocity_servo(drive: mujoco.MjsActuator, joint: UrdfJoint) -> None:
    """Let a drive follow velocities; its gains follow from the inertia.

    Within the limits of a joint it integrates its commands, and holds the position at a command of
    zero. Without limits, as of a wheel, the integral of a blocked joint would be unbounded.
    """
    if joint.lower is not None and joint.upper is not None and joint.lower < joint.upper:
        drive.set_to_intvelocity(kp=1.0, kv=0.0)
        drive.actlimited = mujoco.mjtLimited.mjLIMITED_TRUE
        drive.actrange = [joint.lower, joint.upper]
    else:
        drive.set_to_velocity(kv=1.0)
    drive.ctrllimited = drive.forcelimited = mujoco.mjtLimited.mjLIMITED_FALSE
    if joint.effort is not None:
        drive.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
        drive.forcerange = [-joint.effort, joint.effort]
