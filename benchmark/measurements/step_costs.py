"""Cost of a call after each step of a simulation in real time."""

import time
from collections.abc import Callable

import numpy as np

from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.real_time import schedule

_PRIORITY = 20
"""That of the physics thread."""


def costs_in_steps(
    simulation: Simulation, call: Callable[[], object], seconds: float
) -> np.ndarray:
    """Return the duration of `call` after each step [µs], with the cold caches of real time."""
    clock, timestep = time.perf_counter, float(simulation.model.opt.timestep)
    costs = np.empty(round(seconds / timestep))
    schedule(_PRIORITY)
    begun = clock()
    for step in range(len(costs)):
        time.sleep(max(0.0, begun + step * timestep - clock()))
        simulation.step()
        before = clock()
        call()
        costs[step] = clock() - before
    schedule(0)
    return 1e6 * costs
