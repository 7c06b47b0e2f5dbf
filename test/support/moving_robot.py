"""A robot with a floating base that a hosted controller moves."""

from dataclasses import replace

import numpy as np

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.sim.simulation import Simulation


class MovingRobot:
    """The first robot of a simulation; its controller does not get the true pose of its base."""

    def __init__(self, simulation: Simulation, controller: FsmController) -> None:
        self.simulation = simulation
        self.host = ControllerHost(simulation, controller)
        self.host.observation_filter = without_base
        self.machine = self.host.supervised.machine
        self.base = simulation.layout.robots[0].bases[0].body

    @property
    def state(self) -> str:
        return self.host.supervised.state

    def run(self, seconds: float) -> np.ndarray:
        """Step, and return the positions of the base at all ticks.  # (n, 3)"""
        places = []
        for step in range(round(seconds * 1000)):
            assert self.host.step()
            if step % 5 == 0:
                places.append(self.simulation.sample.xpos[self.base].copy())
        assert self.host.supervised.error == ""
        return np.array(places)

    def went(self) -> list[str]:
        return [event.transition.goal for event in self.host.supervised.log.since(0)]


def without_base(observation: Observation) -> Observation:
    return replace(observation, base=None)
