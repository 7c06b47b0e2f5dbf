"""Loading and unloading worlds, and telling which there are."""

import logging
from collections.abc import Callable
from typing import Any

import simulation_interfaces.msg
from simulation_interfaces.msg import Result, SimulationState

from mujoco_ros.bridge.model_switch import ModelSwitch
from mujoco_ros.bridge.rclpy_ext.service import Responder
from mujoco_ros.bridge.simulation_interfaces.entities.background import BackgroundWorker
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry
from mujoco_ros.bridge.simulation_interfaces.entities.resources import name_source, refusal, source
from mujoco_ros.bridge.simulation_interfaces.filters.filters import tags_filter
from mujoco_ros.bridge.simulation_interfaces.rejection import (
    RequestRejectedError,
    failed,
    grant,
    granting,
    refuse,
)
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.worlds import (
    WorldDescription,
    describe_loaded_world,
    describe_shipped_worlds,
    find_worlds,
    load_world,
    no_world,
    world_from_text,
)

_LOG = logging.getLogger(__name__)


class WorldServices:
    """Loads worlds in place of the present one, and knows which that is.

    Attributes:
        current: What is loaded; None if nothing is.
        loading: Whether a world is being loaded.
    """

    def __init__(
        self, world: ModelSwitch, registry: EntityRegistry, background: BackgroundWorker, scene: str
    ) -> None:
        """Begin with a world that is loaded already.

        Args:
            world: Changes the model.
            registry: Knows what is said of entities, which goes with their world.
            background: Reads the files of worlds that are only listed.
            scene: The scene that is simulated, given as for `load_scene`.
        """
        self._world, self._registry, self._background = world, registry, background
        self.loading = False
        self.current: WorldDescription | None = describe_loaded_world(
            scene, world.simulation.assembly
        )
        self._text = ""

    @property
    def state(self) -> int | None:
        """What the absence of a world makes the state of the simulation; None if it is there.

        Older versions of the standard have no such states.
        """
        if self.loading:
            return getattr(SimulationState, "STATE_LOADING_WORLD", None)
        return None if self.current else getattr(SimulationState, "STATE_NO_WORLD", None)

    def closed(self) -> str:
        """Return why nothing can be spawned, if so."""
        if self.current is None and not self.loading:
            return "no world is loaded; load one first (LoadWorld)"
        return ""

    @granting
    def load_world(self, request: Any, answer: Responder) -> None:
        """Load a world; if it is broken, the present one goes on."""
        wanted = source(request, "world_resource", answer.response)
        offers_read: list[WorldDescription] = []

        def build(_present: Assembly) -> Assembly:
            assembly = load_world(wanted.uri) if wanted.uri else world_from_text(wanted.text)
            offers_read.append(describe_loaded_world(wanted.uri, assembly))
            return assembly

        def loaded() -> None:
            (self.current,) = offers_read
            self._text = "" if wanted.uri else wanted.text
            answer.response.world = _resource(self.current, self._text)

        self._change(build, answer, loaded, otherwise="RESOURCE_PARSE_ERROR")

    @granting
    def unload_world(self, _request: Any, answer: Responder) -> None:
        """Leave nothing but empty space, in which nothing can be spawned."""
        self._need_world(answer)

        def unloaded() -> None:
            self.current = None

        self._change(lambda _present: no_world(), answer, unloaded)

    @granting
    def get_current_world(self, _request: Any, answer: Responder) -> None:
        """Tell which world is loaded."""
        answer.response.world = _resource(self._need_world(answer), self._text)
        grant(answer)

    @granting
    def get_available_worlds(self, request: Any, answer: Responder) -> None:
        """List the shipped worlds, and those at the sources a request gives."""
        passes = tags_filter(request.filter)
        response = answer.response

        def look() -> None:
            found, problems = describe_shipped_worlds(), []
            if not found:
                raise RequestRejectedError(
                    response.DEFAULT_SOURCES_FAILED, "the package has no scenes: is it installed?"
                )
            for place in request.additional_sources:
                try:
                    found += find_worlds(place)
                except UserInputError as error:
                    problems.append(str(error))
            if problems and not request.continue_on_error:
                raise failed("; ".join(problems))
            response.worlds = [_resource(it) for it in dict.fromkeys(found) if passes(it.tags)]

        self._background.answer(answer, look)

    def _need_world(self, answer: Responder) -> WorldDescription:
        if self.current is None:
            raise RequestRejectedError(answer.response.NO_WORLD_LOADED, "no world is loaded")
        return self.current

    def _change(
        self,
        build: Callable[[Assembly], Assembly],
        answer: Responder,
        changed: Callable[[], None],
        *,
        otherwise: str = "",
    ) -> None:
        if self.loading:
            raise RequestRejectedError(
                Result.RESULT_INCORRECT_STATE, "another world is being loaded"
            )
        self.loading = True

        def done(error: Exception | None) -> None:
            self.loading = False
            if error is not None:
                refuse(answer, refusal(error, answer.response, otherwise=otherwise))
                return
            self._registry.forget()
            changed()
            _LOG.info("world: %s", self.current.name if self.current else "none")
            grant(answer)

        self._world.change(build, done, fresh=True)


def _resource(offered: WorldDescription, text: str = "") -> Any:
    world = simulation_interfaces.msg.WorldResource(
        name=offered.name, description=offered.description, tags=list(offered.tags)
    )
    name_source(world, "world_resource", offered.uri, text)
    return world
