"""Services that load, unload and list worlds."""

import logging
from collections.abc import Callable
from typing import Any

import simulation_interfaces.msg
from simulation_interfaces.msg import Result, SimulationState

from mujoco_ros.bridge.model_switch import ModelSwitch
from mujoco_ros.bridge.simulation_interfaces.entities.messages import read_resource, rejection
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry
from mujoco_ros.bridge.simulation_interfaces.filters import tags_filter
from mujoco_ros.bridge.simulation_interfaces.interfaces import BackgroundWorker
from mujoco_ros.bridge.trial_builds import TrialBuilds
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene import worlds
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder
from mujoco_ros.wire.names import write_resource

_LOG = logging.getLogger(__name__)


class WorldServices:
    """Loads worlds in place of the current one."""

    def __init__(
        self,
        models: ModelSwitch,
        registry: EntityRegistry,
        background: BackgroundWorker,
        trials: TrialBuilds,
        scene: str,
    ) -> None:
        """Begin with a world that is loaded already, the `scene`, as for `load_scene`."""
        self._models, self._registry, self._background = models, registry, background
        self._trials = trials
        self.loading = False
        self.current: worlds.WorldDescription | None = worlds.describe_loaded_world(
            scene, models.simulation.assembly
        )
        self._text = ""

    @property
    def state(self) -> int | None:
        """STATE_LOADING_WORLD or STATE_NO_WORLD; None if there is a world.

        Older versions of the standard have no such states.
        """
        if self.loading:
            return getattr(SimulationState, "STATE_LOADING_WORLD", None)
        return None if self.current else getattr(SimulationState, "STATE_NO_WORLD", None)

    def spawn_obstacle(self) -> str:
        """Return why nothing can be spawned; empty if something can."""
        if self.current is None and not self.loading:
            return "no world is loaded; load one first (LoadWorld)"
        return ""

    def load_world(self, request: Any, responder: Responder) -> None:
        """Load a world; if it is invalid, the current one stays."""
        wanted = read_resource(request, "world_resource", responder.response)
        loaded: list[worlds.WorldDescription] = []

        def build(_current: Assembly) -> Assembly:
            load = worlds.load_world if wanted.uri else worlds.world_from_text
            source = wanted.uri or wanted.text
            with self._trials.after_trial(f"'{wanted.uri or 'world'}'", load, source):
                assembly = load(source)
            loaded.append(worlds.describe_loaded_world(wanted.uri, assembly))
            return assembly

        def fill() -> None:
            (self.current,) = loaded
            self._text = "" if wanted.uri else wanted.text
            responder.response.world = _resource(self.current, self._text)

        self._change(build, responder, fill, otherwise="RESOURCE_PARSE_ERROR")

    def unload_world(self, _request: Any, responder: Responder) -> None:
        """Replace the world by empty space, into which nothing can be spawned."""
        self._loaded(responder)

        def fill() -> None:
            self.current = None

        self._change(lambda _current: worlds.no_world(), responder, fill)

    def get_current_world(self, _request: Any, responder: Responder) -> None:
        """Send the loaded world."""
        responder.response.world = _resource(self._loaded(responder), self._text)
        responder.succeed()

    def get_available_worlds(self, request: Any, responder: Responder) -> None:
        """List the shipped worlds, and the worlds at the sources of a request."""
        passes = tags_filter(request.filter)
        response = responder.response

        def fill() -> None:
            found, problems = worlds.describe_shipped_worlds(), []
            if not found:
                raise RequestRejectedError(
                    "the package has no scenes: is it installed?", response.DEFAULT_SOURCES_FAILED
                )
            for source in request.additional_sources:
                try:
                    found += worlds.find_worlds(source)
                except UserInputError as error:
                    problems.append(str(error))
            if problems and not request.continue_on_error:
                raise RequestRejectedError("; ".join(problems))
            response.worlds = [
                _resource(world) for world in dict.fromkeys(found) if passes(world.tags)
            ]

        self._background.run(responder, fill)

    def _loaded(self, responder: Responder) -> worlds.WorldDescription:
        """Return the loaded world."""
        if self.current is None:
            raise RequestRejectedError("no world is loaded", responder.response.NO_WORLD_LOADED)
        return self.current

    def _change(
        self,
        build: Callable[[Assembly], Assembly],
        responder: Responder,
        fill: Callable[[], None],
        *,
        otherwise: str = "",
    ) -> None:
        if self.loading:
            raise RequestRejectedError(
                "another world is being loaded", Result.RESULT_INCORRECT_STATE
            )
        self.loading = True

        def respond(error: Exception | None) -> None:
            self.loading = False
            if error is not None:
                responder.reject(rejection(error, responder.response, otherwise=otherwise))
                return
            self._registry.clear()
            fill()
            _LOG.info("world: %s", self.current.name if self.current else "none")
            responder.succeed()

        self._models.change(build, respond, fresh=True)


def _resource(offered: worlds.WorldDescription, text: str = "") -> Any:
    world = simulation_interfaces.msg.WorldResource(
        name=offered.name, description=offered.description, tags=list(offered.tags)
    )
    write_resource(world, "world_resource", offered.uri, text)
    return world
