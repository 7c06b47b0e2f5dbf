"""The configured PD gains of a scene."""

import logging
from collections.abc import Collection

import mujoco
import numpy as np

from mujoco_ros.control.gains import Gains, load_gains
from mujoco_ros.model.robot.actuator_limits import joint_effort
from mujoco_ros.model.robot.gain_rule import BANDWIDTH_HZ, DAMPING_RATIO
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.model.scene.robot_options.joint_options import gain_options
from mujoco_ros.sim.settings.derived_gains import DerivedGains, derive_gains

_LOG = logging.getLogger(__name__)
_REDUCED = 0.99
"""Part of a wanted gain below which the gain counts as reduced."""


def configured_gains(
    assembly: Assembly,
    layout: ModelLayout,
    data: mujoco.MjData,
    servos: np.ndarray,
    timestep: float,
    known: Collection[Part] = (),
) -> Gains:
    """Read the gains files of robots, and derive the gains of robots without one.

    Gains of single joints in the scene precede both.

    Args:
        assembly: The scene.
        layout: Its robots.
        data: The initial state.
        servos: Which joints have a PD servo, over the joints of all robots.  # (n,) bool
        timestep: Simulated time between steps [s].
        known: Robots whose gains are set already.

    Returns:
        Gains over the joints of all robots; zero where there is no servo, or the gains are set.

    Raises:
        UserInputError: A gains file is invalid, or the scene has gains of a joint without a servo.
    """
    kp, kd = np.zeros(len(servos)), np.zeros(len(servos))
    robots = zip(
        *(assembly.robots, assembly.config.robots, layout.robots, layout.columns), strict=True
    )
    for part, config, robot, columns in robots:
        if part in known:
            continue
        names, servo = robot.joints.names, np.flatnonzero(servos[columns])
        own = gain_options(config.joints, [names[i] for i in servo], f"robot '{robot.name}'")
        if config.gains is not None:
            required = tuple(names[i] for i in servo)
            gains = load_gains(assembly.config.path(config.gains), names, required)
            kp[columns][servo], kd[columns][servo] = gains.kp[servo], gains.kd[servo]
        elif servo.size:
            _LOG.warning(
                "robot '%s' has no gains file: PD gains of its %d torque motors are derived from "
                "their inertias, for a bandwidth of %g Hz and a damping ratio of %g",
                robot.name,
                servo.size,
                BANDWIDTH_HZ,
                DAMPING_RATIO,
            )
            derived = derive_gains(assembly.model, data.qpos, robot.joints, servo, timestep)
            kp[columns][servo], kd[columns][servo] = derived.used.kp, derived.used.kd
            _warn_of_reduced_gains(robot, servo, derived, own)
            if not robot.bases:
                _warn_of_weak_motors(assembly.model, data, robot, servo)
        for joint, given in own.items():
            index = columns.start + names.index(joint)
            for gains_of_all, gain in zip((kp, kd), given, strict=True):
                if gain is not None:
                    gains_of_all[index] = gain
    return Gains(kp=kp, kd=kd)


def weak_motors(
    model: mujoco.MjModel, data: mujoco.MjData, robot: RobotLayout, driven: np.ndarray
) -> list[tuple[str, float, float]]:
    """Return the joints whose actuators cannot carry the weight of a robot with a fixed base.

    Args:
        model: The model.
        data: State with its forces computed.
        robot: The robot.
        driven: Indices of the joints in question, of the robot's.  # (n,)

    Returns:
        Name, weight and effort limit of each [Nm or N].
    """
    dofs = robot.joints.dof[driven]
    # Compensation that is no effort of an actuator carries its part.
    passive = ~model.jnt_actgravcomp[robot.joints.ids[driven]].astype(bool)
    weights = abs(data.qfrc_bias[dofs] - passive * data.qfrc_gravcomp[dofs])
    limits = [joint_effort(model, int(joint)) for joint in robot.joints.ids[driven]]
    return [
        (robot.joints.names[joint], float(weight), limit)
        for joint, weight, limit in zip(driven, weights, limits, strict=True)
        if weight > limit
    ]


def _warn_of_weak_motors(
    model: mujoco.MjModel, data: mujoco.MjData, robot: RobotLayout, servo: np.ndarray
) -> None:
    """Log the motors that cannot carry the weight of a robot with a fixed base at the start."""
    weak = [
        f"{name} ({weight:.3g} of {limit:.3g})"
        for name, weight, limit in weak_motors(model, data, robot, servo)
    ]
    if weak:
        _LOG.warning(
            "robot '%s': the weight at the start is more than these motors can hold, in Nm or N: "
            "%s",
            robot.name,
            ", ".join(weak),
        )


def _warn_of_reduced_gains(
    robot: RobotLayout, servo: np.ndarray, derived: DerivedGains, own: Collection[str]
) -> None:
    """Log the derived gains that are smaller than wanted, but not for joints with their own."""
    used, wanted = derived
    reduced = [
        f"{name} (kp {wanted.kp[row]:.4g} to {used.kp[row]:.4g}, "
        f"kd {wanted.kd[row]:.4g} to {used.kd[row]:.4g})"
        for row, name in enumerate(robot.joints.names[joint] for joint in servo)
        if name not in own
        and (used.kp[row] < _REDUCED * wanted.kp[row] or used.kd[row] < _REDUCED * wanted.kd[row])
    ]
    if reduced:
        _LOG.warning(
            "robot '%s': the timestep and the integrator allow only smaller gains of these joints, "
            "so they are slower: %s; a smaller timestep allows more, and so does the integrator "
            "implicitfast instead of Euler",
            robot.name,
            ", ".join(reduced),
        )
