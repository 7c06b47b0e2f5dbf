"""What a controller requests from a robot or simulator: gains and poses of bodies."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter, parameter_value_to_python
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import SetEntityState

from mujoco_ros.control.gains import Gains
from mujoco_ros.controllers.interface.host import check_gains
from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.controllers.ros.node.image_requests import ImageRequests
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.wire.conversions import pose_message
from mujoco_ros.wire.names import WORLD
from mujoco_ros.wire.service_caller import ServiceCaller


@dataclass(eq=False)
class PlacementClient:
    """Sets poses of entities, if a simulator runs; `failed` gets the reason of a failure."""

    caller: ServiceCaller
    service: str
    _: KW_ONLY
    failed: Callable[[str], object]
    changed: Callable[[], object] = lambda: None

    def __post_init__(self) -> None:
        self._pending = 0
        self.caller.is_served(SetEntityState, self.service)  # starts the discovery

    @property
    def busy(self) -> bool:
        """Whether a request has no response yet."""
        return self._pending > 0

    def set_pose(self, name: str, pose: Pose) -> None:
        """Request a pose in ``world`` with zero velocity; LookupError without a simulator."""
        if not self.caller.is_served(SetEntityState, self.service):
            raise LookupError(
                f"cannot set the pose of '{name}': no simulator offers {self.service}"
            )
        request = SetEntityState.Request(entity=name, set_pose=True, set_twist=True)
        request.state.header.frame_id = WORLD
        request.state.pose = pose_message(pose.position, pose.quat_wxyz)
        self._pending += 1
        self.caller.call(SetEntityState, self.service, request, self._check, self._finish)

    def _check(self, response: Any) -> None:
        is_set = response.result.result == Result.RESULT_OK
        self._finish(None if is_set else response.result.error_message)

    def _finish(self, problem: str | None) -> None:
        if problem is not None:
            self.failed(f"a pose was not set: {problem}")
        self._pending -= 1
        self.changed()


_ROWS = ("kp", "kd")


class RemoteGains:
    """Mirrors the gain parameters of another node, and changes them.

    One change is in flight at a time, followed by the newest one: a request that is sent twice must
    not undo a later one. `settled` is true after the first response, or without a request.
    """

    def __init__(
        self,
        caller: ServiceCaller,
        node: str,
        robot: RobotLayout,
        driven: Sequence[int],
        *,
        failed: Callable[[str], object],
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        """Request the gains of the `driven` joints from `node`; an empty name is none.

        `failed` gets the reason of a failed change, `changed` is called when `busy` may have ended.
        """
        self._caller, self._node, self._failed = caller, node, failed
        self._changed = changed
        self._setter = f"{node}/set_parameters_atomically"
        self._joints = robot.joints.names
        prefix = robot.namespace.replace("/", ".") + "." if robot.namespace else ""
        self._cells = {
            f"{prefix}gains.{self._joints[joint]}.{what}": (row, joint)
            for joint in driven
            for row, what in enumerate(_ROWS)
        }
        self._remote: np.ndarray | None = None  # last known values
        self._target: np.ndarray | None = None  # requested values; None if they are in effect
        self._in_flight = self._is_stale = False
        self.settled = not (node and driven)
        if not self.settled:
            self._read()
            caller.is_served(SetParametersAtomically, self._setter)  # starts the discovery

    @property
    def busy(self) -> bool:
        """Whether a request has no response yet."""
        return self._in_flight or self._target is not None

    def get(self) -> Gains:
        """Return the gains; LookupError if the other node has no gains of this robot."""
        kp, kd = self._known().copy()
        return Gains(kp=kp, kd=kd)

    def set(self, gains: Gains) -> None:
        """Request a change of the gains; errors as in `GainsSet` and `get`."""
        self._known()
        check_gains(gains, self._joints)
        self._target = np.stack([gains.kp, gains.kd])
        self._advance()

    def refresh(self) -> None:
        """Request the gains again, because a reset may have changed them."""
        if self._remote is not None:
            self._is_stale = True
            self._advance()

    def _known(self) -> np.ndarray:
        known = self._remote if self._target is None else self._target
        if known is None:
            raise LookupError(f"node '{self._node}' has no gain parameters of this robot")
        return known

    def _advance(self) -> None:
        """Send the next request, unless one is in flight."""
        if self._in_flight or self._remote is None:
            return
        if self._is_stale:
            self._read()
        elif self._target is not None:
            self._write(self._target, self._remote)

    def _read(self) -> None:
        self._in_flight, self._is_stale = True, False
        self._caller.call(
            GetParameters,
            f"{self._node}/get_parameters",
            GetParameters.Request(names=list(self._cells)),
            lambda response: self._take(response.values),
            lambda _reason: self._take([]),
            retry=True,
        )

    def _take(self, messages: Sequence[Any]) -> None:
        self.settled, self._in_flight = True, False
        values = [parameter_value_to_python(message) for message in messages]
        if len(values) == len(self._cells) and all(type(value) is float for value in values):
            self._remote = np.zeros((len(_ROWS), len(self._joints)))
            for cell, value in zip(self._cells.values(), values, strict=True):
                self._remote[cell] = value
        self._advance()
        self._changed()

    def _write(self, target: np.ndarray, remote: np.ndarray) -> None:
        changes = [
            Parameter(name, value=float(target[cell])).to_parameter_msg()
            for name, cell in self._cells.items()
            if target[cell] != remote[cell]
        ]
        if not changes:
            self._remote, self._target = target, None
            return
        self._in_flight = True
        self._caller.call(
            SetParametersAtomically,
            self._setter,
            SetParametersAtomically.Request(parameters=changes),
            partial(self._confirm, target),
            self._reject,
            retry=True,
        )

    def _confirm(self, sent: np.ndarray, response: Any) -> None:
        if not response.result.successful:
            self._reject(response.result.reason)
            return
        self._remote, self._in_flight = sent, False
        self._advance()
        self._changed()

    def _reject(self, reason: str) -> None:
        """Report a failed change, and read the gains, which are now unknown."""
        self._target = None
        self._read()
        self._failed(f"gains were not changed: {reason}")
        self._changed()


@dataclass(frozen=True, slots=True)
class HostRequests:
    """The gains, poses and images that a controller requests.

    In lockstep, the clock waits for the command of a tick, published after the changes of its tick:
    both act in the same step, and an image that arrives before shows the state of the tick.
    """

    gains: RemoteGains
    placement: PlacementClient
    images: ImageRequests

    @property
    def settled(self) -> bool:
        """Whether all changes of gains and poses act, and the images of the tick are there."""
        return not (self.gains.busy or self.placement.busy or self.images.busy)

    def deliver(self, time: float, awaited: Sequence[object]) -> None:
        """Deliver the images that are due at a tick at a time [s], or awaited."""
        self.images.deliver(time, awaited)

    def restart(self) -> None:
        """Discard requested images, and read the gains again, which a reset may have changed."""
        self.images.reset()
        self.gains.refresh()
