"""Poses of bodies in a simulator, set through simulation_interfaces."""

from collections.abc import Callable
from typing import Any

from simulation_interfaces.msg import Result
from simulation_interfaces.srv import SetEntityState

from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.wire.names import WORLD
from mujoco_ros.wire.service_caller import ServiceCaller


class PlacementClient:
    """Sets poses of entities, if a simulator runs."""

    def __init__(
        self,
        caller: ServiceCaller,
        service: str,
        *,
        failed: Callable[[str], object],
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        """Create a client of a service.

        Args:
            caller: Calls it.
            service: Its full name.
            failed: Called with the reason if a pose was not set.
            changed: Called after each response.
        """
        self._caller, self._service, self._failed = caller, service, failed
        self._changed = changed
        self._pending = 0
        caller.is_served(SetEntityState, service)  # starts the discovery

    @property
    def busy(self) -> bool:
        """Whether a request has no response yet."""
        return self._pending > 0

    def set_pose(self, name: str, pose: Pose) -> None:
        """Request a pose in ``world`` with zero velocity; LookupError without a simulator."""
        if not self._caller.is_served(SetEntityState, self._service):
            raise LookupError(
                f"cannot set the pose of '{name}': no simulator offers {self._service}"
            )
        request = SetEntityState.Request(entity=name, set_pose=True, set_twist=True)
        request.state.header.frame_id = WORLD
        position, orientation = request.state.pose.position, request.state.pose.orientation
        position.x, position.y, position.z = map(float, pose.position)
        orientation.w, orientation.x, orientation.y, orientation.z = map(float, pose.quat_wxyz)
        self._pending += 1
        self._caller.call(SetEntityState, self._service, request, self._check, self._fail)

    def _check(self, response: Any) -> None:
        if response.result.result != Result.RESULT_OK:
            self._fail(response.result.error_message)
        else:
            self._finish()

    def _fail(self, reason: str) -> None:
        self._failed(f"a pose was not set: {reason}")
        self._finish()

    def _finish(self) -> None:
        self._pending -= 1
        self._changed()
