"""Putting things somewhere, which simulators can and robots cannot."""

from collections.abc import Callable
from typing import Any

from simulation_interfaces.msg import Result
from simulation_interfaces.srv import SetEntityState

from mujoco_ros.bridge.publishing.topics import WORLD
from mujoco_ros.bridge.service_caller import ServiceCaller
from mujoco_ros.controllers.interface.observation import Pose


class PlacementClient:
    """Has a simulator put entities somewhere, if there is one."""

    def __init__(
        self, asker: ServiceCaller, service: str, *, failed: Callable[[str], object]
    ) -> None:
        """Ask the service of that full name, by `asker`; `failed` is told what went wrong."""
        self._asker, self._service, self._failed = asker, service, failed
        asker.is_served(SetEntityState, service)  # so that it is known by the time it counts

    def put(self, name: str, pose: Pose) -> None:
        """Have an entity put somewhere, at rest, soon.

        Raises:
            LookupError: No simulator is there.
        """
        if not self._asker.is_served(SetEntityState, self._service):
            raise LookupError(
                f"'{name}' cannot be put anywhere: there is no simulator with {self._service}"
            )
        request = SetEntityState.Request(entity=name, set_pose=True, set_twist=True)
        request.state.header.frame_id = WORLD
        at, turned = request.state.pose.position, request.state.pose.orientation
        at.x, at.y, at.z = map(float, pose.position)
        turned.w, turned.x, turned.y, turned.z = map(float, pose.quat_wxyz)
        self._asker.ask(SetEntityState, self._service, request, self._answered, self._refused)

    def _answered(self, response: Any) -> None:
        if response.result.result != Result.RESULT_OK:
            self._refused(response.result.error_message)

    def _refused(self, reason: str) -> None:
        self._failed(f"nothing was put anywhere: {reason}")
