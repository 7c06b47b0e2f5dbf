"""Processor time of the ticks of a walking robot."""

import time
from dataclasses import replace

import numpy as np

from benchmark.durations import Durations
from benchmark.report import Row, percentiles
from mujoco_ros.control.references import References
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.library.catalogue import load_table
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

_STAND_S = 1.0
_LIMIT_US = 1500.0
_VELOCITY = {"velocity_x": 0.25, "velocity_yaw": 0.1}


class _TimedController(FsmController):
    """The controller, whose ticks are timed.

    Attributes:
        costs: Processor time of each tick [µs].
    """

    def __init__(self, name: str) -> None:
        super().__init__(load_table(name))
        self.costs: list[float] = []

    def step(self, observation: Observation, t: float) -> References:
        """Return the references of a tick."""
        before = time.thread_time()
        references = super().step(observation, t)
        self.costs.append(1e6 * (time.thread_time() - before))
        return references


def walking(durations: Durations) -> list[Row]:
    """(x) Processor time of a tick of walk: estimation, gait and whole-body control, humanoid."""
    simulation = Simulation(load_scene("humanoid"))
    controller = _TimedController("walk")
    controller.machine.configure("WALK", _VELOCITY)
    host = ControllerHost(simulation, controller)
    host.observation_filter = lambda observation: replace(observation, base=None)
    while simulation.time < _STAND_S:
        host.step()
    host.supervised.request("walk")
    controller.costs.clear()
    while simulation.time < _STAND_S + durations.walking:
        host.step()
    if host.supervised.state != "WALK":
        raise RuntimeError(f"the robot does not walk: {host.supervised.state}")
    host.close()
    name = f"processor time of a tick of walk, {len(controller.costs)} ticks"
    return percentiles("x", name, np.array(controller.costs), 50, 99, below={99: _LIMIT_US})
