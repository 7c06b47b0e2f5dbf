"""The pace of the physics thread, by parameters."""

from contexts import make_context

from mujoco_ros.bridge.node import PaceParameters
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.real_time import Pacer


def test_the_pace_follows_timesteps_that_were_set_before_and_after() -> None:
    simulation = Simulation(load_scene("arm"))
    pacer = Pacer(float(simulation.model.opt.timestep), factor=2.0)
    simulation.set_timestep(0.00025)  # as by a parameter at the start
    PaceParameters(make_context(None, simulation, pacer=pacer))
    assert pacer.numbers()[1] == 0.000125
    simulation.set_timestep(0.004)
    assert pacer.numbers()[1] == 0.002
