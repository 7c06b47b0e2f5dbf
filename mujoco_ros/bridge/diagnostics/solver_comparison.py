"""The component that compares the solver of each model with another one."""

from threading import Thread

import numpy as np

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.model.scene.mjcf_files import silence_compiler
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state.state_vector import state_vector
from mujoco_ros.sim.stepping.sparse_newton import check_solver


class SolverComparison(Component):
    """Compares the solver with another one once for each model, and warns if they differ."""

    def __init__(self, context: NodeContext) -> None:
        self._node, self._simulation = context.node, context.simulation
        self._next: Thread | None = None

    def start(self) -> None:
        """Begin the comparison for the first model."""
        self.prepare(self._simulation.plant)
        self.finish()

    def prepare(self, plant: Plant) -> None:
        """Note the initial state of the next model."""
        state = state_vector(plant.model, plant.data)
        self._next = Thread(
            target=self._compare, args=(plant, state), name="solver check", daemon=True
        )

    def finish(self) -> None:
        """Begin the comparison for the model that is simulated now."""
        if self._next is not None:
            self._next.start()
            self._next = None

    def rollback(self) -> None:
        """Compare nothing."""
        self._next = None

    def _compare(self, plant: Plant, state: np.ndarray) -> None:
        with silence_compiler():  # as no warning of its steps is about the simulation
            check = check_solver(plant.model, state)
        if not check.is_passed:
            self._node.get_logger().warning(
                f"scene '{plant.assembly.config.name}': {check}. {check.remedy}"
            )
