"""Services that report entities, their states, bounds and descriptions."""

from typing import Any

from simulation_interfaces.msg import EntityCategory

from mujoco_ros.bridge.simulation_interfaces.entities.messages import bounds_message
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry, EntitySnapshot
from mujoco_ros.bridge.simulation_interfaces.filters.filters import EntityFilter
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder

_CATEGORIES = {
    EntityCategory.CATEGORY_OBJECT: "object",
    EntityCategory.CATEGORY_ROBOT: "robot",
    EntityCategory.CATEGORY_HUMAN: "human",
    EntityCategory.CATEGORY_DYNAMIC_OBJECT: "dynamic object",
    EntityCategory.CATEGORY_STATIC_OBJECT: "static object",
}


class EntityQueries:
    """Handles requests for entities and their properties."""

    def __init__(self, registry: EntityRegistry) -> None:
        """Report the entities of `registry`."""
        self._registry = registry

    def get_entities(self, request: Any, responder: Responder) -> None:
        """Send the names that pass a filter; only bounds need the current state."""
        wanted = EntityFilter(request.filters)

        def fill(snapshot: EntitySnapshot) -> None:
            responder.response.entities = self._passing(snapshot, wanted)

        if wanted.overlaps is None:
            responder.complete(lambda: fill(self._registry.snapshot))
        else:
            self._registry.observe(responder, fill)

    def get_entities_states(self, request: Any, responder: Responder) -> None:
        """Send the states of the entities that pass a filter, all at one instant."""
        wanted = EntityFilter(request.filters)

        def fill(snapshot: EntitySnapshot) -> None:
            names = self._passing(snapshot, wanted)
            responder.response.entities = names
            responder.response.states = [snapshot.state(name) for name in names]

        self._registry.observe(responder, fill)

    def get_entity_state(self, request: Any, responder: Responder) -> None:
        """Send the state of one entity."""
        self._registry.entity(request.entity)

        def fill(snapshot: EntitySnapshot) -> None:
            responder.response.state = snapshot.state(request.entity)

        self._registry.observe(responder, fill)

    def get_entity_bounds(self, request: Any, responder: Responder) -> None:
        """Send the box around an entity at its current pose, along the axes of its frame."""
        self._registry.entity(request.entity)

        def fill(snapshot: EntitySnapshot) -> None:
            entity = snapshot.entity(request.entity)
            box = snapshot.observer.box(entity.geoms, entity.root, entity.offset)
            responder.response.bounds = bounds_message(box)

        self._registry.observe(responder, fill)

    def get_entity_info(self, request: Any, responder: Responder) -> None:
        """Send the category, description and tags of an entity."""
        responder.response.info = self._registry.info(self._registry.entity(request.entity))
        responder.succeed()

    def set_entity_info(self, request: Any, responder: Responder) -> None:
        """Set the category, description and tags of an entity."""
        self._registry.entity(request.entity)
        category = request.info.category.category
        if category not in _CATEGORIES:
            known = ", ".join(f"{number} ({name})" for number, name in _CATEGORIES.items())
            raise RequestRejectedError(f"category {category} is unknown; there are: {known}")
        self._registry.set_info(request.entity, request.info)
        responder.succeed()

    def _passing(self, snapshot: EntitySnapshot, wanted: EntityFilter) -> list[str]:
        """Return the names that pass a filter; one with bounds needs an evaluated state."""
        return [
            name
            for name, entity in snapshot.entities.items()
            if wanted.passes(name, self._registry.info(entity))
            and (wanted.overlaps is None or wanted.holds(snapshot.observer.box(entity.geoms)))
        ]
