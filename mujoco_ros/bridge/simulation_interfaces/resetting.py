"""The service ResetSimulation, and the topic of every reset."""

from collections.abc import Callable, Mapping
from math import inf
from time import monotonic
from typing import Any

from rclpy.duration import Duration
from rclpy.qos import QoSProfile
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import ResetSimulation
from std_msgs.msg import Header

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.model_switch import OnDone
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.native.plan import MANY
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder
from mujoco_ros.wire.conversions import stamp
from mujoco_ros.wire.parameter_spec import ParameterSpec

RESET_TIME = "reset_time"
AUTO, REWIND = "auto", "rewind"
DeleteSpawned = Callable[[OnDone], None]
_SCOPES = {
    "time": ResetSimulation.Request.SCOPE_TIME,
    "state": ResetSimulation.Request.SCOPE_STATE,
    "spawned": ResetSimulation.Request.SCOPE_SPAWNED,
}
_EVENT = QoSProfile(depth=10)  # not latched: a later subscriber has nothing from before the reset
_POLL_S = 0.002
_STATE_S = 0.02  # simulated time in which a controller_manager receives several states
_ANSWER_S = 2.0  # longest wall time that the answer waits for it: the clock may wait for commands
_LONGEST_S = 0.02
"""Longest wall time for which a clock in lockstep waits for subscribers.

A published report is on its way before the state, but Fast DDS asks for receipts every 3 s only.
"""


class ResetService(Component):
    """Resets the simulation on request, and publishes every reset on ``~/reset_event``."""

    parameters = (
        ParameterSpec(
            RESET_TIME,
            AUTO,
            "Effect of a full reset on the clock: rewind sets the time to zero; continue keeps it; "
            "auto rewinds unless ros2_control is set, whose controller_manager may sleep until the "
            "old time comes again; after divergence the clock always continues",
            choices=(AUTO, REWIND, "continue"),
        ),
    )

    def __init__(
        self,
        context: NodeContext,
        interfaces: SimulationInterfaces,
        delete_spawned: DeleteSpawned | None,
    ) -> None:
        """Serve ResetSimulation; without `delete_spawned` nothing can be spawned."""
        self._simulation, self._endpoints = context.simulation, context.endpoints
        self._commands, self._run = context.simulation.commands, context.run
        self._has_controllers = context.has_controllers
        self._values, self._interfaces = context.values, interfaces
        self._delete_spawned = delete_spawned
        self._events = context.endpoints.publisher(Header, "~/reset_event", _EVENT)
        self._lockstep = context.lockstep
        self._sent, self._is_new, self._deadline = True, False, inf
        context.simulation.on_reset.append(self._begin)
        self._service = interfaces.serve(
            "ResetSimulation", self._reset, "SIMULATION_RESET", "SIMULATION_RESET_STATE"
        )
        if self._service is not None and delete_spawned is not None:
            interfaces.add_features("SIMULATION_RESET_SPAWNED")
        self._report_feature()

    @property
    def time(self) -> float | None:
        """Time to set at a full reset [s]; None if the clock continues."""
        return 0.0 if rewinds(self._values) else None

    def apply_parameters(self, values: Mapping[str, Any]) -> None:
        """Apply `reset_time`."""
        if RESET_TIME in values:
            self._report_feature()

    def _report_feature(self) -> None:
        """Report whether the time can be reset."""
        if self._service is not None and rewinds(self._values):
            self._interfaces.add_features("SIMULATION_RESET_TIME")
        else:
            self._interfaces.remove_features("SIMULATION_RESET_TIME")

    def delete_spawned(self, on_done: OnDone) -> None:
        """Delete the spawned entities, then call `on_done`."""
        if self._delete_spawned is None:
            on_done(None)
        else:
            self._delete_spawned(on_done)

    def on_reset(self, event: SimulationReset) -> None:
        """Publish a reset: the time after it, and which of time and state were reset."""
        time = event.time < event.before or not event.state
        scopes = [name for name, was in (("time", time), ("state", event.state)) if was]
        self._events.publish(Header(stamp=stamp(event.time), frame_id=" ".join(scopes)))
        self._sent = True

    def wait(self, now: float) -> float:
        """Return how long a clock in lockstep waits after a reset [s]; 0 lets the next step begin.

        So subscribers, as controllers, have the event before the first state after the reset.
        """
        if not self._is_new:
            return 0.0
        self._deadline = min(self._deadline, now + _LONGEST_S)
        is_known = self._sent and self._events.wait_for_all_acked(Duration())
        if is_known or now > self._deadline or not self._lockstep.robots:
            self._is_new, self._deadline = False, inf
            return 0.0
        return _POLL_S

    def idle_steps(self) -> int:
        """The clock waits after a reset only."""
        return 0 if self._is_new else MANY

    def _begin(self) -> None:
        """Note a reset, in the physics thread."""
        self._sent, self._is_new = False, True

    def _reset(self, request: ResetSimulation.Request, responder: Responder) -> None:
        scopes = [name for name, bit in _SCOPES.items() if request.scope & bit]
        if request.scope in (request.SCOPE_DEFAULT, request.SCOPE_ALL):
            scopes = list(_SCOPES)
        elif problem := self._problem(request.scope, scopes):
            raise RequestRejectedError(problem, Result.RESULT_FEATURE_UNSUPPORTED)

        def reset(error: Exception | None = None) -> None:
            if error is not None:
                responder.fail(f"nothing is reset: the spawned entities cannot be deleted: {error}")
                return
            time = self.time if "time" in scopes else None
            responder.run(
                self._commands,
                lambda: self._run.reset(time=time, state="state" in scopes),
                None if self._has_controllers else lambda _: self._answer(responder),
            )

        if "spawned" in scopes:
            self.delete_spawned(reset)
        else:
            reset()

    def _answer(self, responder: Responder) -> None:
        """Answer once a controller_manager has a state from after the reset, which now is.

        Otherwise a controller that is activated next could begin at the state before it. Another
        reset may set the time back meanwhile.
        """
        simulation, begin = self._simulation, self._simulation.time
        deadline = monotonic() + _ANSWER_S

        def poll() -> None:
            is_awaited = 0.0 <= simulation.time - begin <= _STATE_S and monotonic() < deadline
            if simulation.paused or not is_awaited:
                responder.succeed()
            else:
                self._endpoints.later(_POLL_S, poll)

        later(self._endpoints.node, poll)

    def _problem(self, scope: int, scopes: list[str]) -> str:
        """Return why the scopes of a request cannot be reset; empty if they can."""
        unknown = scope & ~sum(_SCOPES.values())
        if unknown:
            return f"scope {scope} has unknown bits: {unknown}"
        if "time" in scopes and not rewinds(self._values):
            return f"the clock continues, as {RESET_TIME} is '{self._values[RESET_TIME]}'"
        if "spawned" in scopes and self._delete_spawned is None:
            return "nothing can be spawned, nor be deleted by a reset"
        return ""


def rewinds(values: Mapping[str, Any]) -> bool:
    """Return whether a full reset sets the time to zero, by the values of the parameters."""
    chosen = values.get(RESET_TIME, AUTO)
    return bool(not values.get("ros2_control", False) if chosen == AUTO else chosen == REWIND)
