"""Options of a robot's joints: armature, friction, gains, gravity compensation, start pose."""

import logging
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import pi

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import matches
from mujoco_ros.model.reading import computed_once
from mujoco_ros.model.robot.actuators import joint_effort
from mujoco_ros.model.robot.scope import ON_JOINT, SCALAR_JOINTS

_LOGGER = logging.getLogger(__name__)

BANDWIDTH_HZ = 25.0
"""Natural frequency of a joint under derived gains, with the largest inertia that it carries."""
DAMPING_RATIO = 1.0
"""Damping ratio of a joint under derived gains, with the largest inertia that it carries."""
LEAST_INERTIA = {mujoco.mjtJoint.mjJNT_HINGE: 1e-4, mujoco.mjtJoint.mjJNT_SLIDE: 1e-2}
"""Smallest inertia that gains are derived from [kg m² or kg]: about as much as
a small geared motor has, which many models of hands leave out."""
_OVER_DAMPING = 5.0
"""Factor of the gain of a velocity servo over the damping of its joint, before `STIFFER`: a wheel
whose joint has damping lags by 2 %."""
STIFFER = 10.0
"""Factor of the gain of a servo that does not integrate, and hence errs by load / gain."""
START = "start"
"""Name of the keyframe of a robot whose model has none."""
_LARGEST = 1e6


@dataclass(frozen=True, kw_only=True, slots=True)
class JointOptions:
    """Settings of a joint; None keeps the value of the model."""

    # Inertia of the rotor at the joint, times the square of the gear ratio [kg m² or kg]
    armature: float | None = None
    friction: float | None = None
    damping: float | None = None
    kp: float | None = None  # stiffness of the PD law of its torque motor [Nm/rad or N/m]
    kd: float | None = None  # damping of the PD law [Nms/rad or Ns/m]
    start: float | None = None  # position at the start and after a reset [rad or m]

    def __post_init__(self) -> None:
        for name in ("armature", "friction", "damping", "kp", "kd"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= _LARGEST:
                raise UserInputError(f"'{name}' must be from 0 to {_LARGEST:g}, got {value:g}")

    def updated(self, other: "JointOptions") -> "JointOptions":
        """Return these settings with the values of others."""
        values = {field.name: getattr(other, field.name) for field in fields(other)}
        return replace(self, **{name: value for name, value in values.items() if value is not None})


def gain_options(
    options: Mapping[str, JointOptions], joints: Sequence[str], where: str
) -> dict[str, tuple[float | None, float | None]]:
    """Return kp and kd of the joints that have them, by joint; `joints` have a PD law.

    The settings are by joint or pattern; of several for a joint, the last value counts.
    """
    found: dict[str, JointOptions] = {}
    for pattern, option in options.items():
        if option.kp is not None or option.kd is not None:
            for name in _matching(pattern, joints, "joint with a PD law", where):
                found[name] = found.get(name, JointOptions()).updated(option)
    return {name: (option.kp, option.kd) for name, option in found.items()}


def _matching(pattern: str, names: Iterable[str], kind: str, where: str) -> list[str]:
    found = [name for name in names if matches(name, pattern)]
    if not found:
        raise unknown(kind, pattern, names, where=f"{where}: joints")
    return found


def apply_joint_options(
    spec: mujoco.MjSpec, options: Mapping[str, JointOptions], where: str
) -> dict[str, float]:
    """Change the joints of a robot, and return the start positions by joint [rad or m].

    The settings are by joint, or by pattern of the shell (``*_knee``); of several for the same
    joint, the last one with a value counts.
    """
    joints = {joint.name: joint for joint in spec.joints if int(joint.type) in SCALAR_JOINTS}
    start: dict[str, float] = {}
    for pattern, option in options.items():
        for name in _matching(pattern, joints, "joint", where):
            _change(joints[name], option)
            if option.start is not None:
                start[name] = option.start
    _check_limits(spec, start, where)
    return start


def _change(joint: mujoco.MjsJoint, option: JointOptions) -> None:
    if option.armature is not None:
        joint.armature = option.armature
    if option.friction is not None:
        joint.frictionloss = option.friction
    if option.damping is not None:
        joint.damping = [option.damping, 0.0, 0.0]


def _check_limits(spec: mujoco.MjSpec, start: Mapping[str, float], where: str) -> None:
    if not start:
        return
    model = spec.compile()
    for name, position in start.items():
        joint = model.joint(name)
        lower, upper = joint.range
        if joint.limited[0] and not lower <= position <= upper:
            raise UserInputError(
                f"{where}: joints: the start position {position:g} of '{name}' is outside its "
                f"limits [{lower:g}, {upper:g}]"
            )


def derive_velocity_gains(
    spec: mujoco.MjSpec, servos: Sequence[str], model: mujoco.MjModel | None = None
) -> None:
    """Set the gains of velocity servos, each on a hinge or slide joint.

    Those that integrate have ``kp = J w²`` and ``kv = 2 z J w``, others `STIFFER` times that kv.

    J is the inertia about the joint in the zero configuration, with the other joints locked and the
    armature included. It is at least `LEAST_INERTIA`, and with a torque limit at most ``1 / (z w
    timestep)`` times as large as it is: a servo at its limit is stable up to twice that.
    """
    if not servos:
        return
    rate = min(2.0 * pi * BANDWIDTH_HZ, DAMPING_RATIO / spec.option.timestep)

    def inertias() -> list[float]:
        compiled = model or spec.compile()
        joints = [int(compiled.actuator(name).trnid[0]) for name in servos]
        dofs = [int(compiled.jnt_dofadr[joint]) for joint in joints]
        carried = [float(compiled.dof_M0[dof]) for dof in dofs]
        damping = [float(compiled.dof_damping[dof]) for dof in dofs]
        least = [
            max(
                LEAST_INERTIA[mujoco.mjtJoint(compiled.jnt_type[joint])],
                _OVER_DAMPING * own / (2.0 * DAMPING_RATIO * rate),
            )
            for joint, own in zip(joints, damping, strict=True)
        ]
        most = DAMPING_RATIO * rate * compiled.opt.timestep
        limited = [bool(compiled.actuator(name).forcelimited[0]) for name in servos]
        # Damping is implicit: it stabilizes a servo at its limit as inertia does.
        highest = [
            (moment + own * compiled.opt.timestep) / most if is_limited else math.inf
            for moment, own, is_limited in zip(carried, damping, limited, strict=True)
        ]
        return [
            min(max(moment, low), high)
            for moment, low, high in zip(carried, least, highest, strict=True)
        ]

    for name, inertia in zip(servos, computed_once("inertias", inertias), strict=True):
        actuator = spec.actuator(name)
        if actuator.dyntype != mujoco.mjtDyn.mjDYN_INTEGRATOR:
            gain = STIFFER * 2.0 * DAMPING_RATIO * inertia * rate
            actuator.gainprm[0], actuator.biasprm[2] = gain, -gain
            continue
        actuator.gainprm[0] = inertia * rate**2
        actuator.biasprm[1] = -inertia * rate**2
        actuator.biasprm[2] = -2.0 * DAMPING_RATIO * inertia * rate


def compensate_gravity(spec: mujoco.MjSpec, where: str) -> None:
    """Compensate the weight of all links of a robot with a fixed base, as its drives would.

    The torque is part of the measured effort, and within the effort limit of the joint.
    """
    model = spec.compile()
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            raise UserInputError(
                f"{where}: 'gravity_compensation' needs a fixed base; this one moves on "
                f"'{joint.name}', and would float"
            )
        joint.actgravcomp = True
        effort = joint_effort(model, model.joint(joint.name).id)
        if math.isfinite(effort):
            joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE
            joint.actfrcrange = [-effort, effort]
    for body in spec.bodies[1:]:
        body.gravcomp = 1.0


def move_start(spec: mujoco.MjSpec, positions: Mapping[str, float], keyframe: str | None) -> None:
    """Change the start positions of joints [rad or m]; mimics follow.

    The keyframe of the start, by default the first one, is changed. The controls of actuators of
    these joints become zero, so that they hold the new position.
    """
    names = [key.name for key in spec.keys]
    if not positions:
        return
    if not names:
        add_keyframe(spec, START, positions)
    elif keyframe is None or keyframe in names:
        index = names.index(keyframe) if keyframe else 0
        model, key = spec.compile(), spec.keys[index]
        qpos = model.key_qpos[index].copy()
        ctrl = model.key_ctrl[index].copy()
        _write(model, positions, qpos)
        for actuator in range(model.nactuator):
            joint = int(model.actuator_trnid[actuator, 0])
            on_joint = model.actuator_trntype[actuator] in ON_JOINT
            if on_joint and model.joint(joint).name in positions:
                first = int(model.actuator_ctrladr[actuator])
                ctrl[first : first + int(model.actuator_ctrlnum[actuator])] = 0.0
        key.qpos, key.ctrl = qpos, ctrl


def add_start(
    spec: mujoco.MjSpec,
    positions: Mapping[str, float],
    where: str,
    model: mujoco.MjModel | None = None,
) -> None:
    """Add a keyframe of the start positions [rad or m] that a URDF has, within the joints' limits.

    Other joints start as by `start_within_limits`. A model with keyframes is not changed.
    """
    if not positions:
        return
    if spec.keys:
        _LOGGER.warning(
            "%s: the start positions of the URDF (initial_value) have no effect, because it has "
            "the keyframe '%s'",
            where,
            spec.keys[0].name,
        )
        return
    qpos, outside = computed_once("start", lambda: _limited(model or spec.compile(), positions))
    if outside:
        _LOGGER.warning("%s: start positions outside the limits: %s", where, ", ".join(outside))
    spec.add_key(name=START, qpos=qpos)


def _limited(model: mujoco.MjModel, positions: Mapping[str, float]) -> tuple[np.ndarray, list[str]]:
    """Return qpos with positions within the limits, and the changes of those outside."""
    start, outside = _middle_of_limits(model), []
    for name, position in positions.items():
        joint = model.joint(name)
        lower, upper = joint.range
        start[name] = float(min(max(position, lower), upper) if joint.limited[0] else position)
        if start[name] != position:
            outside.append(f"{name} ({position:g} becomes {start[name]:g})")
    return _qpos(model, start), outside


def start_within_limits(
    spec: mujoco.MjSpec,
    where: str,
    given: Collection[str] = (),
    model: mujoco.MjModel | None = None,
) -> None:
    """Start joints whose limits exclude zero in the middle of their limits, as RViz shows them.

    Joints that mimic others start where these put them. A model with keyframes is not changed.
    joint_state_publisher has the same rule. The message leaves out joints whose start is `given`.
    """
    couplings = [each for each in spec.equalities if each.type == mujoco.mjtEq.mjEQ_JOINT]
    has_offsets = any(coupling.data[0] for coupling in couplings)
    if spec.keys or not (has_offsets or any(map(_may_exclude_zero, spec.joints))):
        return

    def compute() -> tuple[dict[str, float], np.ndarray]:
        compiled = model or spec.compile()
        middle = _middle_of_limits(compiled)
        return middle, _qpos(compiled, middle)

    middle, qpos = computed_once("middle", compute)
    if middle or has_offsets:
        spec.add_key(name=START, qpos=qpos)
    moved = [f"{name} ({at:.3g})" for name, at in middle.items() if name not in given]
    if moved:
        text = "%s: joints whose limits exclude zero start in the middle: %s"
        _LOGGER.info(text, where, ", ".join(moved))


def _may_exclude_zero(joint: mujoco.MjsJoint) -> bool:
    """Return whether the limits of a joint may exclude its zero, by the spec alone."""
    lower, upper = joint.range
    return int(joint.type) in SCALAR_JOINTS and not lower <= joint.ref <= upper


def _middle_of_limits(model: mujoco.MjModel) -> dict[str, float]:
    """Return the middle of the limits of each joint whose limits exclude zero [rad or m]."""
    mimics = model.eq_obj1id[model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT)]
    return {
        joint.name: float(joint.range.mean())
        for joint in map(model.joint, range(model.njnt))
        if joint.type[0] in SCALAR_JOINTS
        and joint.limited[0]
        and joint.id not in mimics
        and not joint.range[0] <= joint.qpos0[0] <= joint.range[1]
    }


def add_keyframe(spec: mujoco.MjSpec, name: str, positions: Mapping[str, float]) -> None:
    """Add a keyframe with positions of joints [rad or m]; mimics follow, others are at zero.

    Joints that the model does not have are ignored.
    """
    spec.add_key(name=name, qpos=_qpos(spec.compile(), positions))


def _qpos(model: mujoco.MjModel, positions: Mapping[str, float]) -> np.ndarray:
    qpos: np.ndarray = model.qpos0.copy()
    _write(model, positions, qpos)
    return qpos


def _write(model: mujoco.MjModel, positions: Mapping[str, float], qpos: np.ndarray) -> None:
    for joint in range(model.njnt):
        if model.jnt_type[joint] in SCALAR_JOINTS and model.joint(joint).name in positions:
            qpos[model.jnt_qposadr[joint]] = positions[model.joint(joint).name]
    for row in np.flatnonzero(model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT)):
        joint, leader = int(model.eq_obj1id[row]), int(model.eq_obj2id[row])
        if leader >= 0:
            source, target = model.jnt_qposadr[leader], model.jnt_qposadr[joint]
            moved = qpos[source] - model.qpos0[source]
            polynomial = model.eq_data[row, 4::-1]
            qpos[target] = model.qpos0[target] + np.polyval(polynomial, moved)
