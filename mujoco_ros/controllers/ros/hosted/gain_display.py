"""Updates the parameters of gains that a hosted controller has set."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future

from mujoco_ros.control.errors import QueueFullError
from mujoco_ros.control.gains import Gains
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.tasks import later
from mujoco_ros.sim.simulation import Simulation

_DELAY_S = 0.1
"""A controller may set gains at every tick, but each parameter change is a ROS message."""
GainSnapshot = tuple[int, Mapping[object, Gains]]
ShowGains = Callable[[int, Mapping[object, Gains]], object]


class GainDisplay:
    """Updates the gain parameters after changes that did not come from parameters."""

    def __init__(self, endpoints: Endpoints, simulation: Simulation, show: ShowGains) -> None:
        """Create the display.

        Args:
            endpoints: Endpoints of the node whose executor calls `show`.
            show: Called with the number of changes by parameters so far, and the gains by robot.
        """
        self._endpoints, self._simulation, self._show = endpoints, simulation, show
        self._is_scheduled = False

    def changed(self) -> None:
        """Schedule an update; called by the physics thread."""
        if not self._is_scheduled:
            self._is_scheduled = True  # before the call, because the executor may be faster
            node = self._endpoints.node
            if not later(node, self._endpoints.later, _DELAY_S, self._request):
                self._is_scheduled = False

    def _request(self) -> None:
        self._is_scheduled = False  # before the request, which may miss later changes
        try:
            snapshot = self._simulation.commands.submit(self._read, urgent=True)
        except QueueFullError:
            return  # the simulation is shutting down
        snapshot.add_done_callback(lambda done: later(self._endpoints.node, self._update, done))

    def _read(self) -> GainSnapshot:
        return self._simulation.gains.changes, self._simulation.gains.by_robot()

    def _update(self, done: "Future[GainSnapshot]") -> None:
        if not done.cancelled():
            self._show(*done.result())
