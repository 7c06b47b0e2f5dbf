"""Services that ask for entities, their bounds and descriptions, or describe them."""

from typing import Any

from simulation_interfaces.msg import EntityCategory

from mujoco_ros.bridge.rclpy_ext.service import Responder
from mujoco_ros.bridge.simulation_interfaces.entities.messages import bounds_message, state_message
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry, EntitySnapshot
from mujoco_ros.bridge.simulation_interfaces.filters.filters import EntityFilter
from mujoco_ros.bridge.simulation_interfaces.rejection import failed, grant, granting

_CATEGORIES = {
    EntityCategory.CATEGORY_OBJECT: "object",
    EntityCategory.CATEGORY_ROBOT: "robot",
    EntityCategory.CATEGORY_HUMAN: "human",
    EntityCategory.CATEGORY_DYNAMIC_OBJECT: "dynamic object",
    EntityCategory.CATEGORY_STATIC_OBJECT: "static object",
}


class EntityQueries:
    """Answers what there is, how it is and what it is called."""

    def __init__(self, registry: EntityRegistry) -> None:
        """Answer questions about what `registry` knows."""
        self._registry = registry

    @granting
    def get_entities(self, request: Any, answer: Responder) -> None:
        """Name the entities that pass a filter; the physics is asked if they must be somewhere."""
        wanted = EntityFilter(request.filters)
        if wanted.overlaps is None:
            answer.response.entities = self._passing(self._registry.cast, wanted)
            grant(answer)
            return

        def tell(cast: EntitySnapshot) -> None:
            answer.response.entities = self._passing(cast, wanted)
            grant(answer)

        self._registry.questions.observe(answer, tell)

    @granting
    def get_entities_states(self, request: Any, answer: Responder) -> None:
        """Tell the states of the entities that pass a filter, all at one instant."""
        wanted = EntityFilter(request.filters)

        def tell(cast: EntitySnapshot) -> None:
            names, look = self._passing(cast, wanted), cast.observer
            answer.response.entities = names
            answer.response.states = [
                state_message(cast.motion(cast.entities[name]), look.time) for name in names
            ]
            grant(answer)

        self._registry.questions.observe(answer, tell)

    @granting
    def get_entity_state(self, request: Any, answer: Responder) -> None:
        """Tell the state of one entity."""
        self._registry.entity(request.entity)

        def tell(cast: EntitySnapshot) -> None:
            entity, look = cast.entity(request.entity), cast.observer
            answer.response.state = state_message(cast.motion(entity), look.time)
            grant(answer)

        self._registry.questions.observe(answer, tell)

    @granting
    def get_entity_bounds(self, request: Any, answer: Responder) -> None:
        """Tell the box around an entity, as it is posed now, along the axes of its frame."""
        self._registry.entity(request.entity)

        def tell(cast: EntitySnapshot) -> None:
            entity = cast.entity(request.entity)
            box = cast.observer.box(entity.geoms, entity.root, entity.offset)
            answer.response.bounds = bounds_message(box)
            grant(answer)

        self._registry.questions.observe(answer, tell)

    @granting
    def get_entity_info(self, request: Any, answer: Responder) -> None:
        """Tell the category, description and tags of an entity."""
        answer.response.info = self._registry.info(self._registry.entity(request.entity))
        grant(answer)

    @granting
    def set_entity_info(self, request: Any, answer: Responder) -> None:
        """Note the category, description and tags of an entity."""
        self._registry.entity(request.entity)
        category = request.info.category.category
        if category not in _CATEGORIES:
            known = ", ".join(f"{number} ({name})" for number, name in _CATEGORIES.items())
            raise failed(f"category {category} is unknown; there are: {known}")
        self._registry.set_info(request.entity, request.info)
        grant(answer)

    def _passing(self, cast: EntitySnapshot, wanted: EntityFilter) -> list[str]:
        """Return the names of those that pass; `cast` must have been looked at for bounds."""
        return [
            name
            for name, entity in cast.entities.items()
            if wanted.passes(name, self._registry.info(entity))
            and (wanted.overlaps is None or wanted.holds(cast.observer.box(entity.geoms)))
        ]
