"""The PD gains of all robots: configured, derived from inertia, in force, and after a reset."""

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.control.gains import LARGEST_GAIN, Gains, load_gains
from mujoco_ros.model.errors import counted
from mujoco_ros.model.robot.actuators import joint_effort
from mujoco_ros.model.robot.layout import Joints, ModelLayout, RobotLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.correspondence import Pairs
from mujoco_ros.model.scene.joint_options import (
    BANDWIDTH_HZ,
    DAMPING_RATIO,
    LEAST_INERTIA,
    gain_options,
)
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.sim.drives import Drives

_LOG = logging.getLogger(__name__)

_IMPLICIT = (
    int(mujoco.mjtIntegrator.mjINT_IMPLICIT),
    int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST),
    int(mujoco.mjtIntegrator.mjINT_DISCRETE),
)
_SAMPLES = 32
# Part of the limit of stability that the damping uses with an explicit integrator.
_EXPLICIT_MARGIN = 0.5


class DerivedGains(NamedTuple):
    """Gains of driven joints."""

    used: Gains  # the gains that are stable with the timestep
    wanted: Gains  # the gains of the rule, which are at least as large


def derive_gains(
    model: mujoco.MjModel, qpos: np.ndarray, robot: Joints, servo: np.ndarray, timestep: float
) -> DerivedGains:
    """Derive the gains of driven joints `servo` (n,) as ``kp = J w²`` and ``kd = 2 z J w - d``.

    w is the natural frequency, z the damping ratio, d the damping of the joint in the model. J is
    at least what d demands for the same frequency and ratio, so that such a joint is not slow.

    With an implicit integrator, J is the largest inertia that the joint carries with the other
    joints locked, over the start `qpos` and random configurations, and at least `LEAST_INERTIA`.
    Such gains are stable while ``w·timestep < 4 z``, whatever the inertia. A drive at its torque
    limit, however, is integrated explicitly, and would alternate between its limits for ever where
    ``kd·timestep`` exceeds twice the inertia; hence J of a limited drive is at most ``1 / (z w
    timestep)`` times the smallest inertia.

    With an explicit integrator, J is the inertia with all other joints free, in the start, and w is
    reduced to what is stable with the coupling of the joints there.
    """
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    wanted_rate = 2.0 * np.pi * BANDWIDTH_HZ
    if int(model.opt.integrator) in _IMPLICIT:
        rate = min(wanted_rate, DAMPING_RATIO / timestep)
        smallest, largest = _locked_inertia(model, data, robot, servo)
        least = [LEAST_INERTIA[mujoco.mjtJoint(model.jnt_type[j])] for j in robot.ids[servo]]
        limited = np.isfinite([joint_effort(model, int(joint)) for joint in robot.ids[servo]])
        most = np.where(limited, smallest / (DAMPING_RATIO * rate * timestep), np.inf)
        wanted_inertia = np.maximum(largest, least)
        inertia = np.minimum(wanted_inertia, most)
    else:
        wanted_inertia, coupling = _free_inertia(model, data, robot.dof[servo])
        inertia = wanted_inertia
        rate = min(wanted_rate, _EXPLICIT_MARGIN / (DAMPING_RATIO * coupling * timestep))
    damping = model.dof_damping[robot.dof[servo]]
    return DerivedGains(
        _gains(inertia, rate, damping), _gains(wanted_inertia, wanted_rate, damping)
    )


def _gains(inertia: np.ndarray, rate: float, damping: np.ndarray) -> Gains:
    needed = np.maximum(2.0 * DAMPING_RATIO * inertia * rate, damping)
    return Gains(
        kp=np.minimum(needed * rate / (2.0 * DAMPING_RATIO), LARGEST_GAIN),
        kd=np.minimum(needed - damping, LARGEST_GAIN),
    )


def _locked_inertia(
    model: mujoco.MjModel, data: mujoco.MjData, robot: Joints, servo: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and largest inertia (n,) about driven joints with the others locked."""
    random = np.random.default_rng(0)
    start, limits = data.qpos[robot.qpos].copy(), model.jnt_range[robot.ids].T.copy()
    limited = model.jnt_limited[robot.ids].astype(bool)
    turns = model.jnt_type[robot.ids] == int(mujoco.mjtJoint.mjJNT_HINGE)
    limits[:, ~limited] = np.where(turns[~limited], [[-np.pi], [np.pi]], start[~limited])
    moving = _moved_dofs(model, robot.dof[servo])
    diagonal = model.M_rowadr + model.M_rownnz - 1
    smallest, largest = np.full(len(servo), np.inf), np.zeros(len(servo))
    moved = np.zeros(model.nv)
    for sample in range(_SAMPLES):
        if sample:
            data.qpos[robot.qpos] = random.uniform(*limits)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        mujoco.mj_makeM(model, data)
        inertia = data.M[diagonal[robot.dof[servo]]]
        np.minimum(smallest, inertia, out=smallest)
        for index, direction in moving.items():
            mujoco.mj_mulM(model, data, moved, direction)
            inertia[index] = direction @ moved
        np.maximum(largest, inertia, out=largest)
    return smallest, largest


def _moved_dofs(model: mujoco.MjModel, dofs: np.ndarray) -> dict[int, np.ndarray]:
    """Return the velocities of all joints (nv,) at unit velocity of each that others mimic."""
    moved: dict[int, np.ndarray] = {}
    index_of = {int(dof): index for index, dof in enumerate(dofs)}
    for row in np.flatnonzero(model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT)):
        mimic, leader = int(model.eq_obj1id[row]), int(model.eq_obj2id[row])
        index = index_of.get(int(model.jnt_dofadr[leader])) if leader >= 0 else None
        if index is None or not model.eq_active0[row]:
            continue
        if index not in moved:
            moved[index] = np.zeros(model.nv)
            moved[index][dofs[index]] = 1.0
        moved[index][model.jnt_dofadr[mimic]] = model.eq_data[row, 1]
    return moved


def _free_inertia(
    model: mujoco.MjModel, data: mujoco.MjData, dofs: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the inertia about each joint with the others free (n,), and their coupling.

    That is the largest eigenvalue of the inverse, with a unit diagonal, at the positions in `data`.
    """
    mujoco.mj_forward(model, data)
    unit = np.zeros((len(dofs), model.nv))
    unit[np.arange(len(dofs)), dofs] = 1.0
    acceleration = np.zeros_like(unit)
    mujoco.mj_solveM(model, data, acceleration, unit)
    inverse = acceleration[:, dofs]
    inertia = 1.0 / np.diag(inverse)
    scale = np.sqrt(inertia)
    return inertia, float(np.linalg.eigvalsh(inverse * np.outer(scale, scale)).max())


_UNSTABLE = 2.0
"""Share of a speed by which damping may change it in a timestep."""
_REDUCED = 0.99  # part of a wanted gain below which the gain counts as reduced


def configured_gains(
    assembly: Assembly,
    layout: ModelLayout,
    data: mujoco.MjData,
    servos: np.ndarray,
    timestep: float,
    known: Collection[ScenePart] = (),
) -> Gains:
    """Read the gains files of robots, and derive the gains of robots without one.

    Gains of single joints in the scene precede both. The result, over the joints of all robots, is
    zero without a PD servo, by `servos` (n,), and for `known` robots, whose gains are set.
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
                "robot '%s' has no gains file: PD gains of its %s are derived from "
                "the inertia, for a bandwidth of %g Hz and a damping ratio of %g",
                robot.name,
                counted(servo.size, "torque motor"),
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
        if config.gains is not None or own:
            _warn_of_unstable_gains(assembly.model, data, robot, servo, kd[columns], timestep)
    return Gains(kp=kp, kd=kd)


def weak_motors(
    model: mujoco.MjModel, data: mujoco.MjData, robot: RobotLayout, driven: np.ndarray
) -> list[tuple[str, float, float]]:
    """Return the joints of a fixed robot that cannot carry it: name, load, effort limit."""
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


def _warn_of_unstable_gains(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    robot: RobotLayout,
    servo: np.ndarray,
    kd: np.ndarray,
    timestep: float,
) -> None:
    """Log the configured gains with which ``kd timestep / J`` exceeds 2.

    An explicit integrator then diverges, and a drive alternates between its torque limits for ever;
    see `derive_gains`. J is the inertia at the start.
    """
    dofs, joints = robot.joints.dof[servo], robot.joints.ids[servo]
    if int(model.opt.integrator) in _IMPLICIT:
        inertia = data.M[(model.M_rowadr + model.M_rownnz - 1)[dofs]]
        limited = np.isfinite([joint_effort(model, int(joint)) for joint in joints])
    else:
        inertia, _ = _free_inertia(model, data, dofs)
        limited = np.ones(len(dofs), dtype=bool)
    ratio = kd[servo] * timestep / inertia
    unstable = [
        f"{robot.joints.names[servo[row]]} (kd {kd[servo[row]]:.3g}, J {inertia[row]:.3g}, "
        f"{ratio[row]:.3g} times)"
        for row in np.flatnonzero(limited & (ratio > _UNSTABLE))
    ]
    if unstable:
        _LOG.warning(
            "robot '%s': these joints will shake, because kd timestep / J is more than %g: %s; "
            "reduce kd or the timestep, or give the joints an armature",
            robot.name,
            _UNSTABLE,
            ", ".join(unstable),
        )


KP, KD = 0, 1


class GainChange(NamedTuple):
    """One gain of one joint of a robot."""

    robot: ScenePart
    row: int  # `KP` or `KD`
    joint: int  # index among the robot's joints
    value: float  # stiffness [Nm/rad or N/m] or damping [Nms/rad or Ns/m]


class GainSettings:
    """The one owner of PD gains, for the plant's thread; they act from the next step on."""

    def __init__(
        self, drives: Drives, robots: Mapping[ScenePart, slice], configured: Gains
    ) -> None:
        """Set the configured gains, which a reset restores; `robots` are columns of joints."""
        self.changes = 0  # number of sets of changes by `change`, since the start
        self._drives = drives
        self._robots = robots
        self._configured = np.stack([configured.kp, configured.kd])  # (2, n)
        self.restore()

    def gains_of(self, robot: ScenePart) -> Gains:
        """Return a copy of the gains of a robot."""
        kp, kd = self.save_state()[:, self._robots[robot]]
        return Gains(kp=kp, kd=kd)

    def by_robot(self) -> dict[object, Gains]:
        """Return a copy of the gains of every robot."""
        return {robot: self.gains_of(robot) for robot in self._robots}

    def configured(self, robot: ScenePart) -> Gains:
        """Return a copy of the gains that a reset restores for a robot."""
        kp, kd = self._configured[:, self._robots[robot]].copy()
        return Gains(kp=kp, kd=kd)

    def change(self, changes: Iterable[GainChange]) -> None:
        """Set single gains, and count that; changes of robots that do not exist are ignored."""
        gains = self.save_state()
        for change in changes:
            if change.robot in self._robots:
                gains[change.row, self._robots[change.robot].start + change.joint] = change.value
        self._drives.set_gains(*gains)
        self.changes += 1

    def set(self, robot: ScenePart, gains: Gains) -> None:
        """Set all gains of a robot."""
        rows = self.save_state()
        rows[:, self._robots[robot]] = gains.kp, gains.kd
        self._drives.set_gains(*rows)

    def configure(self, robot: ScenePart, gains: Gains) -> None:
        """Set the gains that a reset restores for a robot; ignored for one that does not exist."""
        if robot in self._robots:
            self._configured[:, self._robots[robot]] = gains.kp, gains.kd

    def restore(self) -> None:
        """Set the configured gains."""
        self._drives.set_gains(*self._configured)

    def save_state(self) -> np.ndarray:
        """Return a copy of the gains over the joints of all robots.  # (2, n)"""
        return np.stack([self._drives.kp, self._drives.kd])

    def restore_state(self, state: np.ndarray, pairs: Pairs | None = None) -> None:
        """Set saved gains (2, n); `pairs` are the joints that two plants share, None if all."""
        gains = self.save_state()
        old, new = (slice(None), slice(None)) if pairs is None else pairs
        gains[:, new] = state[:, old]
        self._drives.set_gains(*gains)

    def transfer(self, old: "GainSettings", pairs: Pairs) -> None:
        """Copy the gains, in force and configured, of the joints `pairs` that two plants share."""
        self._configured[:, pairs[1]] = old._configured[:, pairs[0]]
        self.restore_state(old.save_state(), pairs)
