"""Gains of the velocity servos of a URDF, from the inertia that they carry."""

from collections.abc import Collection
from math import pi

import mujoco

from mujoco_ros.model.robot.gain_rule import BANDWIDTH_HZ, DAMPING_RATIO, LEAST_INERTIA

STIFFER = 10.0
"""Factor of the gain of a servo that does not integrate, and hence errs by load / gain."""


def derive_velocity_gains(spec: mujoco.MjSpec, servos: Collection[str]) -> None:
    """Set the gains of velocity servos.

    Those that integrate have ``kp = J w²`` and ``kv = 2 z J w``, others `STIFFER` times that kv.

    J is the inertia about the joint in the zero configuration, with the other joints locked and the
    armature included. It is at least `LEAST_INERTIA`, and at most ``1 / (z w timestep)`` times as
    large as it is: a servo at its torque limit is stable up to twice that.

    Args:
        spec: The model of the robot.
        servos: Names of the actuators, each on a hinge or slide joint.
    """
    if not servos:
        return
    model = spec.compile()
    rate = min(2.0 * pi * BANDWIDTH_HZ, DAMPING_RATIO / model.opt.timestep)
    for name in servos:
        joint = int(model.actuator(name).trnid[0])
        inertia = float(model.dof_M0[model.jnt_dofadr[joint]])
        most = inertia / (DAMPING_RATIO * rate * model.opt.timestep)
        least = LEAST_INERTIA[mujoco.mjtJoint(model.jnt_type[joint])]
        inertia = min(max(inertia, least), most)
        actuator = spec.actuator(name)
        if actuator.dyntype != mujoco.mjtDyn.mjDYN_INTEGRATOR:
            gain = STIFFER * 2.0 * DAMPING_RATIO * inertia * rate
            actuator.gainprm[0], actuator.biasprm[2] = gain, -gain
            continue
        actuator.gainprm[0] = inertia * rate**2
        actuator.biasprm[1] = -inertia * rate**2
        actuator.biasprm[2] = -2.0 * DAMPING_RATIO * inertia * rate
