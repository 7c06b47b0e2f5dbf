"""Cost of the state in shared memory, for cameras and viewer."""

from contextlib import closing

from benchmark.durations import Durations
from benchmark.measurements.step_costs import costs_in_steps
from benchmark.report import Row, percentiles, result
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.sim.shared_memory.writer import SharedStateWriter
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.writer import describe_robots


def shared_memory(durations: Durations) -> list[Row]:
    """(n) Cost of writing the humanoid's state into shared memory at each step, in real time."""
    simulation = Simulation(load_scene("humanoid"))
    with closing(SharedStateWriter(simulation, describe_robots)) as writer:
        reader = SharedState(writer.name)
        costs = costs_in_steps(simulation, writer.write, durations.shared_memory)
        if reader.peek()[1] - reader.step != len(costs):
            raise RuntimeError("the state of some steps was not shared")
    return [
        *percentiles("n", "sharing the state, per step", costs, 50, 99),
        result(
            "n",
            "sharing the state, per step, mean",
            float(costs.mean()),
            "µs",
            limit="≤ 5",
            keeps=lambda us: us <= 5,
        ),
    ]
