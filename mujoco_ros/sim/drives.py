"""Joint references as actuator controls: the PD law in the engine, and MuJoCo's own servos."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.control.joints import Mode
from mujoco_ros.control.references import References, as_slice
from mujoco_ros.model.robot.actuators import (
    FILTERS,
    is_affine,
    is_velocity_servo,
    joint_actuators,
)
from mujoco_ros.model.robot.layout import Joints
from mujoco_ros.native.plan import Plan
from mujoco_ros.sim.force_limits import ForceLimits

_GAIN, _BIAS, _DYN = mujoco.mjtGain, mujoco.mjtBias, mujoco.mjtDyn
# Integers, because `in` compares from the left, and there MuJoCo's enums equal no number.
_MULTI_INPUT = (int(_GAIN.mjGAIN_PID), int(_GAIN.mjGAIN_DCMOTOR))
# Index of the largest setpoint rate in dynprm; if it is set, act begins with the setpoint.
_SLEW = {int(_DYN.mjDYN_PID): 1, int(_DYN.mjDYN_DCMOTOR): 7}
# The engine zeroes the controls of all actuators when one is beyond mjMAXVAL, 1e10.
_LARGEST_CTRL = 1e9


@dataclass(kw_only=True)
class _Input:
    """One control slot: ``ctrl = q·ref.q + dq·ref.dq + tau·ref.tau + offset``."""

    slot: int
    joint: int  # index into the joint arrays
    actuator: int
    mode: Mode
    q: float = 0.0
    dq: float = 0.0
    tau: float = 0.0
    offset: float = 0.0
    torque: float = 0.0  # joint torque per unit of control, before a motor became a servo


class Drives:
    """All actuators that act on scalar joints, as one affine map from references to controls.

    A torque motor becomes a PD servo evaluated by the engine at every step: with gear g, gain 1 and
    bias ``(0, -kp/g², -kd/g²)``, the control ``(kp·q + kd·dq + tau)/g`` yields the joint torque
    ``kp(q_ref - q) + kd(dq_ref - dq) + tau_ff``, saturated as the motor was. Gains of zero are
    plain effort control. Actuators on tendons and sites, muscles and actuators of plugins are
    not driven; they keep their controls.
    """

    def __init__(self, model: mujoco.MjModel, joints: Joints) -> None:
        self._model = model
        self._inputs = list(_inputs(model, joints))
        servos = [i for i in self._inputs if i.mode is Mode.PD]
        self._servo_rows = np.array([self._inputs.index(i) for i in servos], dtype=np.intp)
        self._servo_actuators = np.array([i.actuator for i in servos], dtype=np.intp)
        self._servo_joints = np.array([i.joint for i in servos], dtype=np.intp)
        outputs = model.actuator_outadr[self._servo_actuators]
        self._gear = model.actuator_gear[outputs, 0].copy()
        for actuator in self._servo_actuators:
            _make_servo(model, int(actuator))
        own = [
            (i.joint, i.actuator)
            for i in self._inputs
            if i.mode is Mode.POSITION and model.actuator_gaintype[i.actuator] == _GAIN.mjGAIN_FIXED
        ]
        self._bias = model.actuator_biasprm  # a view: servos of the model may change
        self._affine_joints, self._affine_actuators = np.array(own, dtype=np.intp).reshape(-1, 2).T
        self._affine_gears = model.actuator_gear[model.actuator_outadr[self._affine_actuators], 0]
        self.force_limits = ForceLimits(model)  # the force limits of all actuators
        self._slots = as_slice(np.array([i.slot for i in self._inputs], dtype=np.intp))
        self._joints = np.array([i.joint for i in self._inputs], dtype=np.intp)
        self._columns = as_slice(self._joints)
        self._is_run = isinstance(self._columns, slice)
        factors = np.array([(i.q, i.dq, i.tau) for i in self._inputs]).reshape(-1, 3)
        self._q, self._dq, _ = factors.T
        # One product of three by three numbers for each input: (inputs, 1, 3) by (…, 3, 1).
        self._factors_by_input = factors[:, None, :]
        self._offset = np.array([i.offset for i in self._inputs])
        self._is_offset = bool(self._offset.any())
        self._ctrl = np.zeros(len(self._inputs))
        self._ctrl_by_input = self._ctrl[:, None, None]
        self._bind(np.zeros((3, len(joints.names))))
        self._most = np.full(len(self._inputs), _LARGEST_CTRL)
        self._least = -self._most
        self.kp = np.zeros(len(joints.names))  # (n,) Nm/rad or N/m
        self.kd = np.zeros(len(joints.names))  # (n,) Nms/rad or Ns/m
        self._pd_acts = np.ones(len(joints.names))  # 0 where efforts act alone
        self.set_gains(self.kp, self.kd)

    @property
    def slots(self) -> np.ndarray:
        """Indices in ``MjData.ctrl`` that `write` writes."""
        return np.array([row.slot for row in self._inputs], dtype=np.intp)

    @property
    def servo_joints(self) -> np.ndarray:
        """Joints driven by a torque motor under the PD law, indices into the joint arrays."""
        return self._servo_joints

    def modes(self, joint: int) -> tuple[Mode, ...]:
        """Return the command interfaces of joint `joint`; none for a passive joint."""
        return tuple(i.mode for i in self._inputs if i.joint == joint)

    def position_range(self, joint: int) -> tuple[float, float]:
        """Return the range of positions that the servos of joint `joint` accept [rad or m]."""
        low, high = -np.inf, np.inf
        for row in self._inputs:
            limited = self._model.actuator_ctrllimited[row.slot]
            if row.joint == joint and row.mode is Mode.POSITION and limited:
                ends = (self._model.actuator_ctrlrange[row.slot] - row.offset) / row.q
                low, high = max(low, float(ends.min())), min(high, float(ends.max()))
        return low, high

    def servo_gains(self) -> np.ndarray:
        """Return the present stiffness and damping of MuJoCo's position servos on each joint.

        [Nm/rad or N/m, Nms/rad or Ns/m], 0 for joints without one.  # (2, n)
        """
        gains = np.zeros((2, len(self.kp)))
        if len(self._affine_joints):
            own = self._bias[self._affine_actuators, 1:3] * -(self._affine_gears[:, None] ** 2)
            np.add.at(gains.T, self._affine_joints, own)
        return gains

    def limit_effort(self, joint: int, effort: float) -> None:
        """Limit the effort of the actuators of a joint [Nm or N]; 0 restores their own limit.

        It acts from the next step on; `joint` is an index into the joint arrays.
        """
        self.force_limits.limit(self.actuators(joint), effort)

    def actuators(self, joint: int) -> set[int]:
        """Return the actuators that are driven on a joint, an index into the joint arrays."""
        return {row.actuator for row in self._inputs if row.joint == joint}

    def set_gains(self, kp: np.ndarray, kd: np.ndarray) -> None:
        """Write the PD gains of every joint to the engine, from the next step on.

        kp [Nm/rad or N/m] and kd [Nms/rad or Ns/m] (n,) are ignored where there is no servo.
        """
        self.kp[:], self.kd[:] = kp, kd
        self._write_gains()

    def switch_pd(self, joints: np.ndarray | slice, *, on: bool | np.ndarray) -> None:
        """Switch the PD law of joints off, so that efforts act alone, or on again; gains stay.

        `joints` (k,) are indices into the joint arrays, ignored where there is no servo; `on` may
        differ by joint.
        """
        self._pd_acts[joints] = on
        self._write_gains()

    def _write_gains(self) -> None:
        p, d = (self._pd_acts * np.stack([self.kp, self.kd]))[:, self._servo_joints]
        self._model.actuator_biasprm[self._servo_actuators, 1] = -p / self._gear**2
        self._model.actuator_biasprm[self._servo_actuators, 2] = -d / self._gear**2
        self._q[self._servo_rows] = p / self._gear
        self._dq[self._servo_rows] = d / self._gear

    def write(self, references: References, ctrl: np.ndarray) -> None:
        """Write the controls for `references` to `ctrl` of MjData."""
        if references.values is not self._values:
            self._bind(references.values)
        if not self._is_run:
            self._values.take(self._joints, axis=1, out=self._current, mode="clip")
        out = self._ctrl
        np.matmul(self._factors_by_input, self._current_by_input, out=self._ctrl_by_input)
        if self._is_offset:
            out += self._offset
        np.maximum(out, self._least, out=out)
        np.minimum(out, self._most, out=out)
        ctrl[self._slots] = out

    def compiled_inputs(self, plan: Plan, ctrl: np.ndarray) -> list[tuple[int, ...]]:
        """Return the rows of ``Input`` in steps.c, which do what `write` does."""
        # A negative zero changes no number, not even a zero.
        offsets = self._offset if self._is_offset else np.full(len(self._inputs), -0.0)
        return [
            (
                plan.address(ctrl, row.slot),
                row.joint,
                plan.address(self._factors_by_input, 3 * index, 3),  # they follow the gains
                plan.address(offsets, index),
            )
            for index, row in enumerate(self._inputs)
        ]

    def _bind(self, values: np.ndarray) -> None:
        """Make `write` read other references.  # (3, n)"""
        self._values = values
        if self._is_run:
            self._current = values[:, self._columns]  # a view
        else:
            self._current = np.zeros((3, len(self._joints)))
        self._current_by_input = self._current.T[:, :, None]

    def adopt(self, ctrl: np.ndarray, references: References) -> None:
        """Set `references` from the controls of a keyframe.

        Zeros are ignored (a keyframe without ``ctrl`` has them); controls of motors are torques.
        """
        for row in self._inputs:
            value = float(ctrl[row.slot])
            if not value:
                continue
            if row.mode is Mode.POSITION:
                references.q[row.joint] = (value - row.offset) / row.q
            elif row.mode is Mode.VELOCITY:
                references.dq[row.joint] = value / row.dq
            else:
                references.tau[row.joint] += value * row.torque


def holding_controls(model: mujoco.MjModel, data: mujoco.MjData, ctrl: np.ndarray) -> None:
    """Set the controls of servos that are not on joints so that they hold their current length.

    The actuator lengths in `data` are up to date. Slots of `ctrl` that are not zero keep the value
    of the keyframe.
    """
    for actuator in range(model.nactuator):
        slot, hold = int(model.actuator_ctrladr[actuator]), holding_control(model, data, actuator)
        if hold is not None and not ctrl[slot]:
            ctrl[slot] = hold


def holding_control(model: mujoco.MjModel, data: mujoco.MjData, actuator: int) -> float | None:
    """Return the first control of a servo that holds its current length; None of other actuators.

    It is within the range of controls.
    """
    slot, output = int(model.actuator_ctrladr[actuator]), int(model.actuator_outadr[actuator])
    if _has_position_input(model, actuator):
        hold = float(data.actuator_length[output])
    elif _is_position_servo(model, actuator):
        hold = _balance(model, data, actuator)
    else:
        return None
    if model.actuator_ctrllimited[slot]:
        hold = float(np.clip(hold, *model.actuator_ctrlrange[slot]))
    return hold


def holding_activations(
    model: mujoco.MjModel, data: mujoco.MjData, ctrl: np.ndarray, act: np.ndarray
) -> None:
    """Set the activations of holding controls `ctrl`, which hold the current state.

    The actuator lengths in `data` are up to date. Activations `act` that are not zero keep the
    value of the keyframe.
    """
    for actuator in range(model.nactuator):
        first = int(model.actuator_actadr[actuator])
        if first < 0 or act[first]:
            continue
        hold = holding_activation(model, data, ctrl, actuator)
        if hold is not None:
            act[first] = hold


def holding_activation(
    model: mujoco.MjModel, data: mujoco.MjData, ctrl: np.ndarray, actuator: int
) -> float | None:
    """Return the first activation of an actuator that holds the current state.

    None if that is not the activation of a setpoint.
    """
    if model.actuator_actadr[actuator] < 0 or model.actuator_plugin[actuator] >= 0:
        return None
    kind = model.actuator_dyntype[actuator]
    if kind in FILTERS or (kind in _SLEW and model.actuator_dynprm[actuator, _SLEW[kind]]):
        return float(ctrl[model.actuator_ctrladr[actuator]])
    if kind == _DYN.mjDYN_INTEGRATOR and model.actuator_biasprm[actuator, 1]:
        return _balance(model, data, actuator)
    return None


def _balance(model: mujoco.MjModel, data: mujoco.MjData, actuator: int) -> float:
    """Return the input at which an affine actuator exerts no force at its current length."""
    bias, length = model.actuator_biasprm[actuator], data.actuator_length
    force = bias[0] + bias[1] * length[model.actuator_outadr[actuator]]
    return float(-force / model.actuator_gainprm[actuator, 0])


def position_inputs(
    model: mujoco.MjModel, actuators: Collection[int]
) -> list[tuple[int, float, float]]:
    """Return slot, factor and offset of each position servo among actuators of one tendon.

    The control ``factor·q + offset`` commands the position q of the tendon [m or rad].
    """
    return [
        (row.slot, row.q, row.offset)
        for actuator in actuators
        for row in _inputs_of(model, actuator, 0, len(actuators), alone=False)
        if row.mode is Mode.POSITION
    ]


def _inputs(model: mujoco.MjModel, joints: Joints) -> Iterator[_Input]:
    for index, joint in enumerate(joints.ids):
        actuators = joint_actuators(model, int(joint))
        motors = sum(_is_motor(model, actuator) for actuator in actuators)
        for actuator in actuators:
            yield from _inputs_of(model, actuator, index, motors, alone=len(actuators) == 1)


def _inputs_of(
    model: mujoco.MjModel, actuator: int, joint: int, motors: int, *, alone: bool
) -> Iterator[_Input]:
    """Yield the control slots of an actuator; several motors on one joint share its torque."""
    slot = int(model.actuator_ctrladr[actuator])
    gear = float(model.actuator_gear[model.actuator_outadr[actuator], 0])
    gain, bias = float(model.actuator_gainprm[actuator, 0]), model.actuator_biasprm[actuator]
    at = {"joint": joint, "actuator": actuator}
    if not gear:
        return
    names = [
        mujoco.mj_actuatorInputName(model, actuator, k)
        for k in range(int(model.actuator_ctrlnum[actuator]))
    ]
    if model.actuator_gaintype[actuator] in _MULTI_INPUT:
        for k, name in enumerate(names):
            if name == "pos":
                yield _Input(slot=slot + k, mode=Mode.POSITION, q=gear, **at)
            elif name == "vel":
                yield _Input(slot=slot + k, mode=Mode.VELOCITY, dq=gear, **at)
            elif name == "ff":
                yield _Input(slot=slot + k, mode=Mode.EFFORT, tau=1 / gear, torque=gear, **at)
    elif names == ["vel"] and model.actuator_dyntype[actuator] == _DYN.mjDYN_INTEGRATOR:
        yield _Input(slot=slot, mode=Mode.VELOCITY, dq=gear, **at)
    elif _is_position_servo(model, actuator):
        q, offset = -bias[1] * gear / gain, -bias[0] / gain
        yield _Input(slot=slot, mode=Mode.POSITION, q=q, offset=offset, **at)
    elif is_velocity_servo(model, actuator):
        yield _Input(slot=slot, mode=Mode.VELOCITY, dq=-bias[2] * gear / gain, **at)
    elif _is_motor(model, actuator):
        torque = gear * gain
        if alone:
            yield _Input(slot=slot, mode=Mode.PD, tau=1 / gear, torque=torque, **at)
        else:
            tau = 1 / (torque * motors)
            yield _Input(slot=slot, mode=Mode.EFFORT, tau=tau, torque=torque, **at)


def _has_position_input(model: mujoco.MjModel, actuator: int) -> bool:
    return bool(
        model.actuator_gaintype[actuator] in _MULTI_INPUT
        and model.actuator_ctrlnum[actuator]
        and mujoco.mj_actuatorInputName(model, actuator, 0) == "pos"
    )


def _is_motor(model: mujoco.MjModel, actuator: int) -> bool:
    return bool(
        model.actuator_gaintype[actuator] == _GAIN.mjGAIN_FIXED
        and model.actuator_plugin[actuator] < 0
        and model.actuator_biastype[actuator] == _BIAS.mjBIAS_NONE
        and model.actuator_dyntype[actuator] == _DYN.mjDYN_NONE
        and model.actuator_gainprm[actuator, 0]
    )


def _is_position_servo(model: mujoco.MjModel, actuator: int) -> bool:
    return is_affine(model, actuator) and bool(model.actuator_biasprm[actuator, 1])


def _make_servo(model: mujoco.MjModel, actuator: int) -> None:
    """Turn a torque motor into an affine actuator of gain 1 with the same saturation."""
    slot = int(model.actuator_ctrladr[actuator])
    gain = model.actuator_gainprm[actuator, 0]
    if model.actuator_ctrllimited[slot]:
        low, high = sorted(gain * model.actuator_ctrlrange[slot])
        if model.actuator_forcelimited[actuator]:
            low = max(low, model.actuator_forcerange[actuator, 0])
            high = min(high, model.actuator_forcerange[actuator, 1])
        model.actuator_forcerange[actuator] = low, high
        model.actuator_forcelimited[actuator] = True
        model.actuator_ctrllimited[slot] = False
    model.actuator_gainprm[actuator, 0] = 1.0
    model.actuator_biastype[actuator] = _BIAS.mjBIAS_AFFINE
    model.actuator_biasprm[actuator, :3] = 0.0
