"""How far robots without commands move from their start."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mujoco_ros.sim.simulation import Simulation

_FINAL_S = 0.2
"""Simulated time at the end over which the largest speed counts: longer than an oscillation."""


@dataclass(frozen=True, kw_only=True)
class Standstill:
    """The motion of robots without commands.

    Attributes:
        seconds: Simulated time [s].
        drift: Largest distance of each joint from its start [rad or m].  # (n,)
        speed: Largest speed of each joint at the end [rad/s or m/s].  # (n,)
        base_drift: Largest distance of a floating base from its start [m]; None without one.
        base_speed: Largest speed of a floating base at the end [m/s]; None without one.
        divergences: How often the simulation diverged.
    """

    seconds: float
    drift: np.ndarray
    speed: np.ndarray
    base_drift: float | None
    base_speed: float | None
    divergences: int


def measure_standstill(
    simulation: Simulation, seconds: float, is_over: Callable[[], bool] = lambda: False
) -> Standstill:
    """Simulate robots without commands from their start.

    Args:
        simulation: The simulation, at its start; it is stepped.
        seconds: Simulated time [s].
        is_over: Called after each step; true ends the measurement before its time.

    Returns:
        The motion of the joints of all robots, in the order of `Simulation.joints`.
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
    """Return the largest length of vectors (n, 3); 0 without any."""
    return float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
