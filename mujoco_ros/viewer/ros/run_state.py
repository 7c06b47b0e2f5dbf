"""Run state, entities and worlds, requested from services of the simulator."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import simulation_interfaces.srv
from rcl_interfaces.srv import GetParameters
from rclpy.expand_topic_name import expand_topic_name
from rclpy.parameter import parameter_value_to_python
from simulation_interfaces.msg import SimulationState
from std_srvs.srv import Trigger

from mujoco_ros.viewer.clients import PAUSED, PLAYING, OfferedModel, Request
from mujoco_ros.viewer.ros.commands import StateSetter
from mujoco_ros.viewer.ros.requests import Requests, service_call
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters, is_replay
from mujoco_ros.wire.conversions import pose_message
from mujoco_ros.wire.names import service_name, write_resource
from mujoco_ros.wire.service_caller import TIMEOUT_S, ServiceCaller

_PREFIX = "simulation_interfaces_prefix"
_DEFAULT_PREFIX = "~/"
_KEYFRAME, _PAST, _MODEL_FILE = "active_keyframe", "history_time", "model_file"
_POLL_S = 1.0
_SCOPES = {
    "time": simulation_interfaces.srv.ResetSimulation.Request.SCOPE_TIME,
    "state": simulation_interfaces.srv.ResetSimulation.Request.SCOPE_STATE,
    "spawned": simulation_interfaces.srv.ResetSimulation.Request.SCOPE_SPAWNED,
}
_NO_WORLD = "no world"
_STATUS = {
    getattr(SimulationState, f"STATE_{status.upper().replace(' ', '_')}", None): status
    for status in ("stopped", PLAYING, PAUSED, "quitting", _NO_WORLD, "loading world")
}
"""Distributions differ in the states of SimulationState."""


class RunStateClient:
    """Polls the run state once a second and after each change; any thread may request changes."""

    def __init__(
        self, caller: ServiceCaller, requests: Requests, parameters: SimulatorParameters
    ) -> None:
        # ``playing``, ``paused``, ``no world`` …; empty while the simulator does not respond
        self.status = ""
        self._caller, self._requests, self._parameters = caller, requests, parameters
        self._prefix = _DEFAULT_PREFIX
        self._poll_at = 0.0
        self._is_polling = False

    def tick(self, now: float) -> None:
        """Poll the state when due; `now` is monotonic [s]."""
        if now < self._poll_at or self._is_polling:
            return
        self._poll_at = now + _POLL_S
        self._is_polling = True
        if self.status:
            self._poll()
        else:  # the names of the services depend on a parameter
            self._caller.call(
                GetParameters,
                f"{self._parameters.simulator}/get_parameters",
                GetParameters.Request(names=[_PREFIX]),
                self._on_prefix,
                self._on_timeout,
                retry=True,
            )

    def play(self) -> Request:
        """Start or continue the simulation."""
        return self._set_state("play", SimulationState.STATE_PLAYING)

    def pause(self) -> Request:
        """Pause the simulation."""
        return self._set_state("pause", SimulationState.STATE_PAUSED)

    def step(self, steps: int = 1) -> Request:
        """Advance a paused simulation by `steps` steps."""
        message = simulation_interfaces.srv.StepSimulation.Request(steps=steps)
        return self.submit(f"step {steps}" if steps > 1 else "step", "StepSimulation", message)

    def reset(self, *scopes: str) -> Request:
        """Reset ``time``, ``state`` or ``spawned``; everything without arguments."""
        name = " ".join(("reset", *scopes))
        unknown = [scope for scope in scopes if scope not in _SCOPES]
        if unknown:
            reason = f"'{unknown[0]}' cannot be reset; these can: {', '.join(_SCOPES)}"
            return self._requests.submit(name, lambda request: request.complete(False, reason))
        message = simulation_interfaces.srv.ResetSimulation.Request()
        message.scope = sum(_SCOPES[scope] for scope in set(scopes))
        return self.submit(name, "ResetSimulation", message)

    def save_keyframe(self, name: str) -> Request:
        """Save the current state as a keyframe."""
        return self._keyframe("save", name)

    def load_keyframe(self, name: str) -> Request:
        """Load a keyframe of the model or a saved one."""
        return self._keyframe("load", name)

    def delete_keyframe(self, name: str) -> Request:
        """Delete a saved keyframe."""
        return self._keyframe("delete", name)

    def save_model(self, file: str) -> Request:
        """Save the present model to a new file in the folder of the simulator's outputs."""
        return self._named(f"save the model as '{file}'", {_MODEL_FILE: file}, "save_model")

    def load_past(self, time: float) -> Request:
        """Pause in the last past state not later than `time` [s]."""
        if is_replay(self._parameters):
            return self._parameters.set({"paused": True, "time": time})
        return self._named(f"return to {time:.3f} s", {_PAST: time}, "load_past_state")

    def set_speed(self, factor: float) -> Request:
        """Set the real-time factor; 0 is as fast as possible."""
        name = "rate" if is_replay(self._parameters) else "real_time_factor"
        return self._parameters.set({name: float(factor)})

    def _set_state(self, name: str, state: int) -> Request:
        message = simulation_interfaces.srv.SetSimulationState.Request()
        message.state.state = state
        return self.submit(name, "SetSimulationState", message)

    def submit(
        self,
        name: str,
        interface: str,
        message: Any,
        on_success: Callable[[Any], object] | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
    ) -> Request:
        """Call a service of simulation_interfaces by the name of its type; display it as `name`."""

        def send(request: Request) -> None:
            def on_response(response: Any) -> None:
                result = response.result
                is_ok = result.result == result.RESULT_OK
                if is_ok and on_success is not None:
                    on_success(response)
                request.complete(is_ok, result.error_message)
                self._poll_at = 0.0

            kind = getattr(simulation_interfaces.srv, interface)
            service = self._service(interface)
            request.command = service_call(kind, service, message)
            self._caller.call(
                kind, service, message, on_response, request.fail, timeout_s=timeout_s
            )

        return self._requests.submit(name, send)

    def discover(self, *interfaces: str) -> None:
        """Create the clients of services by the names of their types, and call the last one.

        Its response proves that the simulator has discovered the clients of the other services.
        """

        def create() -> None:
            for interface in interfaces:
                kind = getattr(simulation_interfaces.srv, interface)
                self._caller.prepare(kind, self._service(interface))
            service, ignore = self._service(interfaces[-1]), lambda _response: None
            self._caller.call(kind, service, kind.Request(), ignore, retry=True)

        self._requests.post(create)

    def _keyframe(self, action: str, name: str) -> Request:
        label = f"{action} keyframe '{name}'"
        return self._named(label, {_KEYFRAME: name}, f"{action}_keyframe")

    def _named(self, name: str, named: Mapping[str, Any], action: str) -> Request:
        """Set parameters, then call a service that acts on what they name."""
        service = f"{self._parameters.simulator}/{action}"

        def call(request: Request) -> None:
            def on_response(response: Trigger.Response) -> None:
                request.complete(response.success, response.message)
                self._poll_at = 0.0

            self._caller.call(Trigger, service, Trigger.Request(), on_response, request.fail)

        return self._parameters.set_first(name, named, service, call)

    def _service(self, interface: str) -> str:
        namespace, _, node = self._parameters.simulator.rpartition("/")
        name = self._prefix + service_name(interface)
        return str(expand_topic_name(name, node, namespace or "/"))

    def _poll(self) -> None:
        kind = simulation_interfaces.srv.GetSimulationState
        service = self._service("GetSimulationState")
        self._caller.call(
            kind, service, kind.Request(), self._on_state, self._on_timeout, retry=True
        )

    def _on_prefix(self, response: GetParameters.Response) -> None:
        values = [parameter_value_to_python(value) for value in response.values]
        self._prefix = next((value for value in values if value is not None), _DEFAULT_PREFIX)
        self._poll()

    def _on_state(self, response: Any) -> None:
        self._is_polling = False
        if not self.status:
            self._parameters.fetch()
        self.status = _STATUS.get(response.state.state, _NO_WORLD)

    def _on_timeout(self, _reason: str) -> None:
        self._is_polling = False
        self.status = ""
        self._parameters.clear()


def run_status(simulation: RunStateClient, *, paused: bool) -> str:
    """Return the run state; the shared state reports a pause before the services."""
    present = PAUSED if paused else PLAYING
    return present if simulation.status in (PLAYING, PAUSED) else simulation.status


_ENTITY, _WORLD = "entity_resource", "world_resource"
_BUILD_S = 60.0  # time for a model to be built
_MEASUREMENT_S = 400.0
"""Time for the models of the list to be measured, which the simulator does once."""
_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
_SERVICES = (
    *("GetSpawnables", "SpawnEntity", "DeleteEntity"),
    *("SetEntityState", "GetAvailableWorlds", "LoadWorld", "GetEntities"),
)


class EntityRequests:
    """Changes entities and the world. Any thread may call the methods."""

    def __init__(self, services: RunStateClient, setter: StateSetter) -> None:
        # The models that can be spawned; empty before `list_spawnables`
        self.spawnables: Sequence[OfferedModel] = ()
        # The worlds that can be loaded; empty before `list_worlds`
        self.worlds: Sequence[OfferedModel] = ()
        self._services, self._setter = services, setter

    def prepare(self) -> None:
        """Discover the services, so that the first request of a user is not late."""
        self._services.discover(*_SERVICES)

    def list_spawnables(self) -> Request:
        """Request the models that can be spawned."""
        return self._list("models", "GetSpawnables", "spawnables", _ENTITY, _MEASUREMENT_S)

    def list_worlds(self) -> Request:
        """Request the worlds that can be loaded."""
        return self._list("worlds", "GetAvailableWorlds", "worlds", _WORLD, _BUILD_S)

    def spawn(self, name: str, uri: str, position: Sequence[float]) -> Request:
        """Spawn a model at a position in the world [m]; a taken name gets a number."""
        message = simulation_interfaces.srv.SpawnEntity.Request(name=name, allow_renaming=True)
        write_resource(message, _ENTITY, uri)
        message.initial_pose.header.frame_id = "world"
        message.initial_pose.pose = pose_message(np.array(position), _UPRIGHT)
        return self._services.submit(f"spawn {name}", "SpawnEntity", message, timeout_s=_BUILD_S)

    def delete(self, name: str) -> Request:
        """Delete an entity."""
        message = simulation_interfaces.srv.DeleteEntity.Request(entity=name)
        return self._services.submit(f"delete {name}", "DeleteEntity", message, timeout_s=_BUILD_S)

    def place(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> Request:
        """Set the pose of an entity in the world."""
        message = simulation_interfaces.srv.SetEntityState.Request(entity=name)
        message.state.header.frame_id = "world"
        message.state.pose = pose_message(position, quat_wxyz)
        if hasattr(message, "set_pose"):  # versions 2.x
            message.set_pose = True
        return self._services.submit(f"place {name}", "SetEntityState", message)

    def reset(self, name: str, values: Mapping[str, Any]) -> Request:
        """Set the initial state of an entity: values by their names in ``~/set_joints``."""
        return self._setter.set(f"reset {name}", values)

    def load_world(self, uri: str, text: str = "") -> Request:
        """Replace the world with another one; `text` is a scene or model, which `uri` names."""
        message = simulation_interfaces.srv.LoadWorld.Request()
        write_resource(message, _WORLD, "" if text else uri, text)
        name = OfferedModel(uri=uri, description="").name
        return self._services.submit(f"load world {name}", "LoadWorld", message, timeout_s=_BUILD_S)

    def _list(
        self, what: str, interface: str, attribute: str, resource: str, timeout_s: float
    ) -> Request:
        """Request a list; keep it as the attribute that the response has, by names of files."""

        def on_response(response: Any) -> None:
            found = (
                OfferedModel(uri=getattr(item, resource, item).uri, description=item.description)
                for item in getattr(response, attribute)
            )
            setattr(self, attribute, tuple(sorted(found, key=lambda model: model.file)))

        message = getattr(simulation_interfaces.srv, interface).Request()
        return self._services.submit(
            f"list {what}", interface, message, on_response, timeout_s=timeout_s
        )
