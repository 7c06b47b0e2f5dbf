"""Cost per step of imperfect sensors, buses and motors, and of none."""

import time

import numpy as np

from benchmark.durations import Durations
from benchmark.report import Row, result
from mujoco_ros.model.realism_config import RealismConfig
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

_KEY = "v"
_BLOCK = 100
"""Steps of one simulation before the next one, so that the load of the machine affects all."""
_TIMING = {"delay": 0.004, "jitter": 0.002, "dropout": 0.01}
_ALL = RealismConfig(
    sensors={"all": {**_TIMING, "noise_density": 1e-4, "bias": 0.01, "bias_walk": 1e-3}},
    joints={"all": {**_TIMING, "position_quantisation": 1e-4, "velocity_noise": 1e-3}},
    actuators={
        "all": {
            **_TIMING,
            "backlash": 1e-3,
            "stall_effort": 300.0,
            "no_load_velocity": 30.0,
            "copper_loss": 1e-3,
        }
    },
)


def realism(durations: Durations) -> list[Row]:
    """(v) Steps of the humanoid without realism, with the profile `ideal`, and with everything."""
    scene = load_scene("humanoid")
    profiles = {"none": None, "ideal": RealismConfig(), "all": _ALL}
    simulations = {name: Simulation(scene, realism=profile) for name, profile in profiles.items()}
    costs: dict[str, list[float]] = {name: [] for name in profiles}
    for _ in range(max(durations.raw_steps // _BLOCK, 10)):
        for name, simulation in simulations.items():
            costs[name].append(_block(simulation))
    median = {name: float(np.median(values)) for name, values in costs.items()}
    ideal = np.array(costs["ideal"]) - costs["none"]
    added = np.array(costs["all"]) - costs["none"]
    return [
        result(
            _KEY, "step without realism, processor time, warm caches, median", median["none"], "µs"
        ),
        result(_KEY, "added by the profile ideal, median", float(np.median(ideal)), "µs", 2),
        result(
            _KEY,
            "standard error of that",
            float(1.2533 * ideal.std() / np.sqrt(len(ideal))),
            "µs",
            2,
        ),
        result(
            _KEY,
            "added by every imperfection of all joints and sensors, median",
            float(np.median(added)),
            "µs",
        ),
    ]


def _block(simulation: Simulation) -> float:
    """Return the mean processor time of a step in a block [µs]."""
    before = time.thread_time()
    for _ in range(_BLOCK):
        simulation.step()
    return 1e6 * (time.thread_time() - before) / _BLOCK
