"""Restart of the controllers of a controller_manager after a reset of its robot."""

import time
from typing import Any

from mujoco_ros.bridge.commands.controller_manager_types import PACKAGE, is_installed
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import within
from mujoco_ros.wire.service_caller import ServiceCaller

_POLL_S = 0.05
_TIMEOUT_S = 3
"""Wall time in which the controller_manager must switch."""
_MANAGER = "controller_manager"
REACTIVATE = "reactivate"
"""The value of the parameter ``reset_hold`` that restarts controllers."""


def check_types(parameter: str) -> None:
    """Reject the policy of a parameter if the types of the services are not installed.

    Raises:
        UserInputError: They are not.
    """
    if not is_installed():
        raise UserInputError(
            f"'{parameter}' cannot be '{REACTIVATE}': the package {PACKAGE} is not installed"
        )


class ControllerRestart:
    """Deactivates and activates the controllers that command a robot, in one strict switch.

    It does so while the simulation runs: a controller_manager in simulated time switches in its
    next update. All methods run in the executor's thread.
    """

    def __init__(self, context: NodeContext) -> None:
        """Restart nothing."""
        self._node, self._endpoints = context.node, context.endpoints
        self._simulation, self._rejections = context.simulation, context.rejections
        self._caller = ServiceCaller(context.node)
        self._requested: dict[str, None] = {}
        self._busy: set[str] = set()
        self._polling = False

    def request(self, namespace: str) -> None:
        """Restart the controllers of the robot in a namespace, once the simulation runs."""
        self._requested[namespace] = None
        if not self._polling:
            self._polling = True
            self._poll()

    def _poll(self) -> None:
        self._caller.tick(time.monotonic())
        if not self._simulation.paused:
            for namespace in [it for it in self._requested if it not in self._busy]:
                del self._requested[namespace]
                self._busy.add(namespace)
                self._list(namespace)
        self._polling = bool(self._requested or self._busy)
        if self._polling:
            self._endpoints.later(_POLL_S, self._poll)

    def _list(self, namespace: str) -> None:
        from controller_manager_msgs.srv import ListControllers, SwitchController

        def found(response: Any) -> None:
            # Broadcasters claim no interface.
            active = [it for it in response.controller if it.state == "active"]
            names = [it.name for it in active if it.claimed_interfaces]
            if names:
                self._switch(namespace, names)
            else:
                self._end(namespace, "no active controller commands joints")

        # The switch cannot be repeated, so its response must not get lost.
        self._caller.prepare(SwitchController, within(namespace, _MANAGER, "switch_controller"))
        self._caller.call(
            ListControllers,
            within(namespace, _MANAGER, "list_controllers"),
            ListControllers.Request(),
            found,
            lambda reason: self._end(namespace, reason),
            retry=True,
        )

    def _switch(self, namespace: str, names: list[str]) -> None:
        from controller_manager_msgs.srv import SwitchController

        request = SwitchController.Request(
            activate_controllers=names,
            deactivate_controllers=names,
            strictness=SwitchController.Request.STRICT,
            activate_asap=True,
        )
        request.timeout.sec = _TIMEOUT_S

        def switched(response: Any) -> None:
            if response.ok:
                self._node.get_logger().info(f"activated {', '.join(names)} again after the reset")
                self._end(namespace)
            else:
                reason = getattr(response, "message", "") or "the switch was refused"
                self._end(namespace, f"{', '.join(names)} were not activated again: {reason}")

        self._caller.call(
            SwitchController,
            within(namespace, _MANAGER, "switch_controller"),
            request,
            switched,
            lambda reason: self._end(namespace, reason),
        )

    def _end(self, namespace: str, problem: str = "") -> None:
        self._busy.discard(namespace)
        if problem:
            self._rejections.report(
                within(namespace, _MANAGER), "failed", f"{problem}; the joints stay held"
            )
