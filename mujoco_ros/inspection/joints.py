"""The joints of a robot: how stiffly actuators hold them, and how far they sink."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.control.joints import Mode
from mujoco_ros.model.robot.actuators import joint_effort
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.gains import weak_motors
from mujoco_ros.sim.simulation import Simulation

_FINAL_S = 0.2
"""Simulated time at the end over which the largest speed counts: longer than an oscillation."""


@dataclass(frozen=True, kw_only=True)
class Standstill:
    """The motion of robots without commands."""

    seconds: float  # simulated time [s]
    drift: np.ndarray  # largest distance of each joint from its start [rad or m] (n,)
    speed: np.ndarray  # largest speed of each joint at the end [rad/s or m/s] (n,)
    # Largest distance of a floating base from its start [m]; None without one
    base_drift: float | None
    base_speed: float | None  # largest speed of a floating base at the end [m/s]; None without one
    divergences: int  # how often the simulation diverged


def measure_standstill(
    simulation: Simulation, seconds: float, is_over: Callable[[], bool] = lambda: False
) -> Standstill:
    """Simulate without commands from the start; return the motion of `Simulation.joints`.

    `is_over` is called after each step; true ends the measurement before its time.
    """
    joints, data = simulation.joints, simulation.data
    bases = [base for robot in simulation.layout.robots for base in robot.bases]
    q = np.array([base.qpos for base in bases], dtype=np.intp)[:, None] + np.arange(3)
    dof = np.array([base.dof for base in bases], dtype=np.intp)[:, None] + np.arange(3)
    start, base_start = data.qpos[joints.qpos].copy(), data.qpos[q].copy()
    drift, speed = np.zeros(len(joints.names)), np.zeros(len(joints.names))
    base_drift = base_speed = 0.0
    steps = math.ceil(seconds / simulation.model.opt.timestep)
    final = steps - math.ceil(_FINAL_S / simulation.model.opt.timestep)
    done = 0
    for step in range(steps):
        simulation.step()
        done += 1
        np.maximum(drift, abs(data.qpos[joints.qpos] - start), out=drift)
        base_drift = max(base_drift, _longest(data.qpos[q] - base_start))
        if step >= final:
            np.maximum(speed, abs(data.qvel[joints.dof]), out=speed)
            base_speed = max(base_speed, _longest(data.qvel[dof]))
        if is_over():
            break
    return Standstill(
        seconds=done * float(simulation.model.opt.timestep),
        drift=drift,
        speed=speed,
        base_drift=base_drift if bases else None,
        base_speed=base_speed if bases else None,
        divergences=simulation.divergences,
    )


def _longest(vectors: np.ndarray) -> float:
    return float(np.linalg.norm(vectors, axis=1).max(initial=0.0))


_STEP = 1e-5
"""Step of finite differences [rad or m, rad/s or m/s]: actuators are affine in it, or smooth."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JointEntry:
    """A scalar joint; units are for a hinge, with m and N in place of rad and Nm for a slide."""

    name: str
    kind: str  # ``hinge`` or ``slide``
    limits: tuple[float, float] | None  # range of positions [rad]; None if unlimited
    armature: float  # inertia of the rotor at the joint [kg m²]
    effort_limit: float | None  # largest effort of its actuators [Nm]; None if unlimited
    # Kinds of its actuators: ``pd`` (a torque motor under the PD law), ``position``, ``velocity``,
    # ``effort``; empty for a passive joint
    drive: str
    kp: float | None  # stiffness of its actuators [Nm/rad]; None for a joint that no actuator holds
    kd: float | None  # damping of its actuators [Nms/rad]
    inertia: float  # inertia at the start with the other joints locked [kg m²]
    bandwidth: float | None  # natural frequency with that inertia [Hz]; None without stiffness
    damping_ratio: float | None  # damping ratio with it, and with the damping of the joint
    # Expected distance at rest from the start, under the weight at the start [rad]; None without
    # stiffness, and for a robot with a floating base
    sag: float | None
    drift: float  # largest simulated distance from the start [rad]
    speed: float  # largest simulated speed at the end [rad/s]
    is_weak: bool  # whether its actuators cannot carry the weight at the start


def joint_entries(plant: Plant, still: Standstill, index: int) -> tuple[JointEntry, ...]:
    """Return the joints of a robot; the plant is in the initial state of its scene."""
    robot, columns = plant.layout.robots[index], plant.layout.columns[index]
    model = _unlimited(plant.model)
    data = _at_start(plant, model)
    load = data.qfrc_bias - data.qfrc_passive - data.qfrc_actuator
    inertia = data.M[model.M_rowadr + model.M_rownnz - 1]
    stiffness, damping = _stiffness(model, data, robot.joints.qpos, robot.joints.dof)
    modes = [plant.drives.modes(columns.start + i) for i in range(len(robot.joints.names))]
    driven = np.flatnonzero([bool(kinds) for kinds in modes])
    weak = set()
    if not robot.bases:
        weak = {name for name, _, _ in weak_motors(plant.model, data, robot, driven)}
    entries = []
    for i, name in enumerate(robot.joints.names):
        joint, dof = int(robot.joints.ids[i]), int(robot.joints.dof[i])
        kp, kd = float(stiffness[i]), float(damping[i])
        if modes[i] == (Mode.PD,):
            kp = float(plant.drives.kp[columns.start + i])
            kd = float(plant.drives.kd[columns.start + i])
        holds, mass = kp > 0, float(inertia[dof])
        effort = joint_effort(plant.model, joint) if modes[i] else math.inf
        low, high = (float(end) for end in model.jnt_range[joint])
        root = math.sqrt(kp * mass) if holds else 0.0
        passive = float(np.ravel(model.dof_damping[dof])[0])
        entries.append(
            JointEntry(
                name=name,
                kind=mujoco.mjtJoint(model.jnt_type[joint]).name.removeprefix("mjJNT_").lower(),
                limits=(low, high) if model.jnt_limited[joint] else None,
                armature=float(model.dof_armature[dof]),
                effort_limit=effort if math.isfinite(effort) else None,
                drive=", ".join(dict.fromkeys(map(str, modes[i])))
                or ("tendon or other" if holds else ""),
                kp=kp if holds else None,
                kd=kd if holds else None,
                inertia=mass,
                bandwidth=math.sqrt(kp / mass) / (2 * math.pi) if holds else None,
                damping_ratio=(kd + passive) / (2 * root) if root else None,
                sag=abs(float(load[dof])) / kp if holds and not robot.bases else None,
                drift=float(still.drift[columns][i]),
                speed=float(still.speed[columns][i]),
                is_weak=name in weak,
            )
        )
    return tuple(entries)


def _unlimited(model: mujoco.MjModel) -> mujoco.MjModel:
    """Return a copy whose actuators have no force limits, at which they have no stiffness."""
    model = copy.copy(model)
    model.actuator_forcelimited[:] = 0
    model.jnt_actfrclimited[:] = 0
    model.tendon_actfrclimited[:] = 0
    return model


def _at_start(plant: Plant, model: mujoco.MjModel) -> mujoco.MjData:
    """Return the state of a plant with the controls of its references."""
    data = mujoco.MjData(model)
    mujoco.mj_copyData(data, plant.model, plant.data)
    plant.drives.write(plant.references, data.ctrl)
    mujoco.mj_forward(model, data)
    return data


def _stiffness(
    model: mujoco.MjModel, data: mujoco.MjData, qpos: np.ndarray, dofs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return stiffness and damping (n,) of actuators at joints, by differences of their efforts.

    `qpos` and `dofs` are the addresses of the joints (n,). Compensation of gravity is in neither.
    """
    trial, stiffness, damping = mujoco.MjData(model), np.zeros(len(dofs)), np.zeros(len(dofs))

    def effort(dof: int) -> float:
        mujoco.mj_fwdPosition(model, trial)
        mujoco.mj_fwdVelocity(model, trial)
        mujoco.mj_fwdActuation(model, trial)
        compensated = model.jnt_actgravcomp[model.dof_jntid[dof]] and model.ngravcomp
        return float(trial.qfrc_actuator[dof] - bool(compensated) * trial.qfrc_gravcomp[dof])

    for array, addresses, out in (("qpos", qpos, stiffness), ("qvel", dofs, damping)):
        for i, (address, dof) in enumerate(zip(addresses, dofs, strict=True)):
            ends = []
            for step in (-_STEP, _STEP):
                mujoco.mj_copyData(trial, model, data)
                getattr(trial, array)[address] += step
                ends.append(effort(int(dof)))
            out[i] = (ends[0] - ends[1]) / (2 * _STEP)
    return stiffness, damping
