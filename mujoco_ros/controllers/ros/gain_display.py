"""Gains that a hosted controller sets, told to the parameters that are said to have them."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future

from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.control.gains import Gains
from mujoco_ros.sim.command_queue import QueueFullError
from mujoco_ros.sim.simulation import Simulation

_SOON_S = 0.1
"""A controller may set gains at every tick, but who has parameters tells the world of each."""
Shown = tuple[int, Mapping[object, Gains]]
Show = Callable[[int, Mapping[object, Gains]], object]


class GainDisplay:
    """Has gains shown that were changed by nobody's parameters, soon and not too often."""

    def __init__(self, endpoints: Endpoints, simulation: Simulation, show: Show) -> None:
        """Show gains.

        Args:
            endpoints: Of the node whose executor it is that shows.
            simulation: Where they are in force.
            show: Shows them, in the executor's thread: how many changes by parameters they have
                seen, and what they are by robot.
        """
        self._endpoints, self._simulation, self._show = endpoints, simulation, show
        self._waiting = False

    def changed(self) -> None:
        """Take notice of a change; the physics thread calls this."""
        if not self._waiting:
            self._waiting = True  # first: the executor may be quicker
            if not later(self._endpoints.node, self._endpoints.later, _SOON_S, self._ask):
                self._waiting = False

    def _ask(self) -> None:
        self._waiting = False  # first: what changes from now on may be missed below
        try:
            asked = self._simulation.commands.submit(self._read, urgent=True)
        except QueueFullError:
            return  # it ends
        asked.add_done_callback(lambda asked: later(self._endpoints.node, self._tell, asked))

    def _read(self) -> Shown:
        return self._simulation.gains.changes, self._simulation.gains.by_robot()

    def _tell(self, asked: "Future[Shown]") -> None:
        if not asked.cancelled():
            self._show(*asked.result())
