"""The service ResetSimulation, and the topic of every reset."""

from collections.abc import Callable

from rclpy.qos import QoSProfile
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import ResetSimulation
from std_msgs.msg import Header

from mujoco_ros.bridge.publishing.template_publisher import stamp
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.service import Responder
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.sim.stepping.run_control import RunControl

Done = Callable[[Exception | None], None]
DeleteSpawned = Callable[[Done], None]

_SCOPES = {
    "time": ResetSimulation.Request.SCOPE_TIME,
    "state": ResetSimulation.Request.SCOPE_STATE,
    "spawned": ResetSimulation.Request.SCOPE_SPAWNED,
}
_EVENT = QoSProfile(depth=10)
"""Not latched: a later subscriber has nothing from before the reset."""


class ResetService:
    """Resets the simulation on request, and publishes every reset on ``~/reset_event``."""

    def __init__(
        self,
        interfaces: SimulationInterfaces,
        endpoints: Endpoints,
        commands: CommandQueue,
        run: RunControl,
        rewinds: bool,
        delete_spawned: DeleteSpawned | None,
    ) -> None:
        """Serve ResetSimulation; see `RunControlServices` for the arguments."""
        self._interfaces = interfaces
        self._commands, self._run = commands, run
        self._delete_spawned = delete_spawned
        self._rewinds = rewinds
        self._events = endpoints.publisher(Header, "~/reset_event", _EVENT)
        served = interfaces.serve("ResetSimulation", self._reset, "SIMULATION_RESET")
        self._claim = interfaces.claim if served else lambda *_features: None
        self._claim("SIMULATION_RESET_STATE")
        if delete_spawned is not None:
            self._claim("SIMULATION_RESET_SPAWNED")
        self.rewinds = rewinds

    @property
    def rewinds(self) -> bool:
        """Whether a reset sets the time to zero; otherwise the clock goes on."""
        return self._rewinds

    @rewinds.setter
    def rewinds(self, rewinds: bool) -> None:
        self._rewinds = rewinds
        if rewinds:
            self._claim("SIMULATION_RESET_TIME")
        else:
            self._interfaces.withdraw("SIMULATION_RESET_TIME")

    @property
    def time(self) -> float | None:
        """Time to set at a full reset [s]; None if the clock goes on."""
        return 0.0 if self._rewinds else None

    def delete_spawned(self, done: Done) -> None:
        """Delete the spawned entities, then call `done`."""
        if self._delete_spawned is None:
            done(None)
        else:
            self._delete_spawned(done)

    def publish(self, event: SimulationReset) -> None:
        """Publish that the simulation was reset: the time now, and which of time and state."""
        time = event.time < event.before or not event.state
        what = [name for name, was in (("time", time), ("state", event.state)) if was]
        self._events.publish(Header(stamp=stamp(event.time), frame_id=" ".join(what)))

    def _reset(self, request: ResetSimulation.Request, answer: Responder) -> None:
        all_of_it = (request.SCOPE_DEFAULT, request.SCOPE_ALL)
        asked = [name for name, bit in _SCOPES.items() if request.scope & bit]
        if request.scope in all_of_it:
            asked = list(_SCOPES)
        else:
            unable = self._unable(request.scope, asked)
            if unable:
                result = answer.response.result
                result.result, result.error_message = Result.RESULT_FEATURE_UNSUPPORTED, unable
                answer()
                return

        def reset(error: Exception | None = None) -> None:
            if error is not None:
                answer.fail(f"nothing is reset, as what was spawned cannot be deleted: {error}")
                return
            time = self.time if "time" in asked else None
            answer.ask(
                self._commands,
                lambda: self._run.reset(time=time, state="state" in asked),
                lambda _none: _succeed(answer),
            )

        if "spawned" in asked:
            self.delete_spawned(reset)
        else:
            reset()

    def _unable(self, scope: int, asked: list[str]) -> str:
        """Return why the scopes of a request cannot be reset; empty if they can."""
        unknown = scope & ~sum(_SCOPES.values())
        if unknown:
            return f"scope {scope} has unknown bits: {unknown}"
        if "time" in asked and not self._rewinds:
            return "the time is not reset, as the parameter reset_time is 'continue'"
        if "spawned" in asked and self._delete_spawned is None:
            return "nothing can be spawned, nor be deleted by a reset"
        return ""


def _succeed(answer: Responder) -> None:
    answer.response.result.result = Result.RESULT_OK
