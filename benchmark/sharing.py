"""What it costs to share the state with the processes that show it."""

from collections.abc import Callable
from contextlib import closing

from benchmark.pacing import costs_in_steps
from benchmark.plan import Plan
from benchmark.report import Row, figure, percentiles
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.sim.shared_memory.writer import SharedStateWriter
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.writer import describe_robots


def sharing(plan: Plan) -> list[Row]:
    """(n) What a step of the humanoid takes longer with its state shared, in real time."""
    simulation = Simulation(load_scene("humanoid"))
    with closing(SharedStateWriter(simulation, describe_robots)) as writer:
        reader = SharedState(writer.name)
        costs = costs_in_steps(simulation, writer.write, plan.sharing)
        if reader.peek()[1] - reader.step != len(costs):
            raise RuntimeError("not every step was shared")
    return [
        *percentiles("n", "sharing the state, per step", costs, 50, 99),
        figure(
            "n",
            "sharing the state, per step, mean",
            float(costs.mean()),
            "µs",
            limit="≤ 5",
            keeps=lambda us: us <= 5,
        ),
    ]


SHARING: dict[str, Callable[[Plan], list[Row]]] = {"n": sharing}
