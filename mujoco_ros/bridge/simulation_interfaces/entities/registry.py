"""What entities there are, what is said of them, and how they are at present."""

from dataclasses import dataclass

import numpy as np
from rclpy.node import Node
from simulation_interfaces.msg import EntityCategory, EntityInfo

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.simulation_interfaces.entities.state_queries import StateQueries
from mujoco_ros.bridge.simulation_interfaces.rejection import not_found
from mujoco_ros.model.robot.body_frames import BodyFrame, named_frames
from mujoco_ros.model.scene.entities import Entity, EntityKind, entities
from mujoco_ros.sim.observer import Motion, Observer
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation


@dataclass(frozen=True, kw_only=True)
class EntitySnapshot:
    """Everything one model has to show.

    Attributes:
        entities: By name.
        places: What is fixed to a body, by TF frame.
        observer: Looks at states of the model.
    """

    entities: dict[str, Entity]
    places: dict[str, BodyFrame]
    observer: Observer

    def entity(self, name: str) -> Entity:
        """Return an entity.

        Raises:
            RefusedError: There is none of that name.
        """
        if name not in self.entities:
            raise not_found("entity", name, self.entities)
        return self.entities[name]

    def motion(self, entity: Entity) -> Motion:
        """Return how an entity moves in the state that `observer` has looked at."""
        return self.observer.motion(entity.root, entity.offset)

    def frame(self, name: str) -> BodyFrame | None:
        """Return the frame that a header names: an entity, or any frame of TF; None is the world.

        Raises:
            ValueError: There is none of that name.
        """
        if name in ("", "world"):
            return None
        if name in self.entities:
            it = self.entities[name]
            position, quat = it.offset[:3], it.offset[3:]
            return BodyFrame(frame=name, body=it.root, position=position, quat_wxyz=quat)
        if name not in self.places:
            known = ", ".join(["world", *self.entities])
            raise ValueError(f"frame '{name}' not found; there are: {known}, and the frames in TF")
        return self.places[name]


class EntityRegistry(Component):
    """The entities of the model that is simulated."""

    def __init__(self, node: Node, simulation: Simulation) -> None:
        """List the entities of `simulation`; `node`'s executor is where questions are answered."""
        self._simulation = simulation
        self.cast = self._cast(simulation.plant)
        self._next: EntitySnapshot | None = None
        self._infos: dict[str, EntityInfo] = {}
        self.spawned: set[str] = set()
        """Names of the entities that were spawned into this world."""
        self.questions = StateQueries(node, simulation.commands, self._note, _look)
        """Asks for the cast, whose observer has then looked at the present state.

        Whoever is told finds entities in that cast: `cast` here may be the next one already.
        """

    def build(self, plant: Plant) -> None:
        """List the entities of the next model."""
        self._next = self._cast(plant)

    def commit(self) -> None:
        """From now on, states are those of the next model."""
        if self._next is not None:
            self.cast, self._next = self._next, None

    def finish(self) -> None:
        """Forget what was said of entities that are gone."""
        self._infos = {n: info for n, info in self._infos.items() if n in self.cast.entities}
        self.spawned &= set(self.cast.entities)

    def rollback(self) -> None:
        """Forget the next model."""
        self._next = None

    def forget(self) -> None:
        """Forget what was said of all entities: this is another world."""
        self._infos.clear()
        self.spawned.clear()

    def entity(self, name: str) -> Entity:
        """Return an entity of the present cast.

        Raises:
            RefusedError: There is none of that name.
        """
        return self.cast.entity(name)

    def info(self, entity: Entity) -> EntityInfo:
        """Return what was said of an entity, or else what is plain to see."""
        return self._infos.get(entity.name) or self._plain_info(entity)

    def set_info(self, name: str, info: EntityInfo) -> None:
        """Note what somebody says of an entity."""
        self._infos[name] = info

    def _note(self) -> tuple[EntitySnapshot, np.ndarray]:
        # Looked up in the physics thread: the state of one model is nothing to another.
        return self.cast, self.cast.observer.read(self._simulation.data)

    def _cast(self, plant: Plant) -> EntitySnapshot:
        return EntitySnapshot(
            entities=entities(plant.assembly, plant.layout),
            places=named_frames(plant.model, plant.layout),
            observer=Observer(plant.model),
        )

    def _plain_info(self, entity: Entity) -> EntityInfo:
        if entity.kind is EntityKind.ROBOT:
            category = EntityCategory.CATEGORY_ROBOT
        elif entity.moves:
            category = EntityCategory.CATEGORY_DYNAMIC_OBJECT
        else:
            category = EntityCategory.CATEGORY_STATIC_OBJECT
        return EntityInfo(category=EntityCategory(category=category))


def _look(noted: tuple[EntitySnapshot, np.ndarray]) -> EntitySnapshot:
    cast, state = noted
    cast.observer.set(state)
    return cast
