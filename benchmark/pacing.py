"""What something costs in the steps of a simulation that runs in real time."""

import time
from collections.abc import Callable

import numpy as np

from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.thread_priority import schedule

_PRIORITY = 20
"""Of the physics thread."""


def costs_in_steps(
    simulation: Simulation, call: Callable[[], object], seconds: float
) -> np.ndarray:
    """Return what `call` costs after each step [µs]; between them, the caches go cold as in use."""
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
