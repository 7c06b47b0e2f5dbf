"""The entities of the model, their descriptions, and their current state."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache, partial
from typing import Generic, TypeVar

import mujoco
import numpy as np
from rclpy.node import Node
from simulation_interfaces.msg import EntityCategory, EntityInfo, EntityState, Result

from mujoco_ros.bridge.component import Component, NodeContext, PerPlant
from mujoco_ros.bridge.simulation_interfaces.entities.messages import state_message
from mujoco_ros.control.events import QueueFullError
from mujoco_ros.model.errors import unknown
from mujoco_ros.model.robot.body_frames import BodyFrame, named_frames
from mujoco_ros.model.scene.entities import Entity, EntityKind, entities
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder
from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.sim.observer import Observer, Placement
from mujoco_ros.sim.plant import Plant

C = TypeVar("C")
S = TypeVar("S")
_Request = tuple[Responder, Callable[[S], object], bool]


class StateQueries(Generic[C, S]):
    """Captures the state in the physics thread, and responds in the executor's thread.

    There, `evaluate` computes the argument of `fill` from what `capture` copied. Requests that
    arrive while a state is captured share the next one.
    """

    def __init__(
        self,
        node: Node,
        commands: CommandQueue,
        capture: Callable[[], C],
        evaluate: Callable[[C], S],
    ) -> None:
        self._node, self._commands = node, commands
        self._capture, self._evaluate = capture, evaluate
        self._waiting: list[_Request[S]] = []
        self._capturing = False

    def observe(
        self, responder: Responder, fill: Callable[[S], object], *, finish: bool = True
    ) -> None:
        """Have `fill` fill in the response from the current state, in the executor's thread.

        With `finish`, the response is sent after it; otherwise `fill` sends it.
        """
        self._waiting.append((responder, fill, finish))
        if not self._capturing:
            self._submit()

    def _submit(self) -> None:
        batch, self._waiting = self._waiting, []
        try:
            future = self._commands.submit(self._capture)
        except QueueFullError as error:
            for responder, *_ in batch:
                responder.fail(f"busy: {error}")
            return
        self._capturing = True
        future.add_done_callback(lambda captured: later(self._node, self._respond, captured, batch))

    def _respond(self, captured: "Future[C]", batch: list[_Request[S]]) -> None:
        self._capturing = False
        state = cache(lambda: self._evaluate(captured.result()))
        for responder, fill, finish in batch:
            respond = responder.complete if finish else responder.attempt
            respond(partial(_call, fill, state))
        if self._waiting:
            self._submit()


def _call(fill: Callable[[S], object], state: Callable[[], S]) -> None:
    fill(state())


@dataclass(frozen=True, kw_only=True)
class EntitySnapshot:
    """The entities of one model."""

    entities: dict[str, Entity]
    frames: dict[str, BodyFrame]  # the frames that are fixed to a body, by TF frame
    observer: Observer

    def entity(self, name: str) -> Entity:
        """Return an entity."""
        if name not in self.entities:
            raise not_found("entity", name, self.entities)
        return self.entities[name]

    def state(self, name: str) -> EntityState:
        """Return the pose and motion of an entity in the state that was evaluated last."""
        entity = self.entity(name)
        motion = self.observer.motion(entity.root, entity.offset)
        return state_message(motion, self.observer.time)

    def frame(self, name: str) -> BodyFrame | None:
        """Return the frame that a header names, an entity or a frame of TF; None is the world."""
        if name in ("", "world"):
            return None
        if name in self.entities:
            entity = self.entities[name]
            position, quat = entity.offset[:3], entity.offset[3:]
            return BodyFrame(frame=name, body=entity.root, position=position, quat_wxyz=quat)
        if name not in self.frames:
            known = ", ".join(["world", *self.entities])
            raise ValueError(f"frame '{name}' not found; there are: {known}, and the frames in TF")
        return self.frames[name]

    def in_world(self, placement: Placement, reference: BodyFrame, body: int) -> Placement:
        """Return the placement in the world of a body, given in the current frame `reference`."""
        offset = np.concatenate([reference.position, reference.quat_wxyz])
        frame = self.observer.motion(reference.body, offset)
        pose = twist = None
        position = self.observer.motion(body).position
        if placement.pose is not None:
            pose = np.zeros(7)
            operands = (frame.position, frame.quat_wxyz, placement.pose[:3], placement.pose[3:])
            mujoco.mju_mulPose(pose[:3], pose[3:], *operands)
            position = pose[:3]
        if placement.twist is not None:
            twist = np.zeros(6)
            mujoco.mju_rotVecQuat(twist[:3], placement.twist[:3], frame.quat_wxyz)
            mujoco.mju_rotVecQuat(twist[3:], placement.twist[3:], frame.quat_wxyz)
            twist[:3] += frame.linear + np.cross(frame.angular, position - frame.position)
            twist[3:] += frame.angular
        return Placement(pose=pose, twist=twist)


class EntityRegistry(Component):
    """The entities of the current model.

    `observe` fills in from the entities of the model of the state; `snapshot` may be newer.
    """

    def __init__(self, context: NodeContext) -> None:
        self._simulation = context.simulation
        self._snapshots = PerPlant(_snapshot)
        self._infos: dict[str, EntityInfo] = {}
        self.spawned: set[str] = set()  # names of the entities that were spawned into this world
        self.build(context.simulation.plant)
        self.observe = StateQueries(
            context.node, context.simulation.commands, self._capture, _evaluate
        ).observe

    @property
    def snapshot(self) -> EntitySnapshot:
        """The entities."""
        return self._snapshots[self._simulation.plant]

    def build(self, plant: Plant) -> None:
        """List the entities of the next model."""
        self._snapshots.build(plant)

    def finish(self) -> None:
        """Delete the descriptions of entities that are gone."""
        present = self.snapshot.entities
        self._infos = {name: info for name, info in self._infos.items() if name in present}
        self.spawned &= present.keys()

    def clear(self) -> None:
        """Delete all descriptions, as another world was loaded."""
        self._infos.clear()
        self.spawned.clear()

    def entity(self, name: str) -> Entity:
        """Return an entity of the current model."""
        return self.snapshot.entity(name)

    def info(self, entity: Entity) -> EntityInfo:
        """Return the description that a client set, or a default."""
        if entity.name in self._infos:
            return self._infos[entity.name]
        if entity.kind is EntityKind.ROBOT:
            category = EntityCategory.CATEGORY_ROBOT
        elif entity.moves:
            category = EntityCategory.CATEGORY_DYNAMIC_OBJECT
        else:
            category = EntityCategory.CATEGORY_STATIC_OBJECT
        return EntityInfo(category=EntityCategory(category=category))

    def set_info(self, name: str, info: EntityInfo) -> None:
        """Set the description of an entity."""
        self._infos[name] = info

    def _capture(self) -> tuple[EntitySnapshot, np.ndarray]:
        snapshot = self.snapshot
        return snapshot, snapshot.observer.read(self._simulation.data)


def not_found(kind: str, name: str, known: Iterable[str]) -> RequestRejectedError:
    """Return the rejection of a name that is not among `known`."""
    return RequestRejectedError(str(unknown(kind, name, known)), Result.RESULT_NOT_FOUND)


def _snapshot(plant: Plant) -> EntitySnapshot:
    return EntitySnapshot(
        entities=entities(plant.assembly, plant.layout),
        frames=named_frames(plant.model, plant.layout),
        observer=Observer(plant.model),
    )


def _evaluate(captured: tuple[EntitySnapshot, np.ndarray]) -> EntitySnapshot:
    snapshot, state = captured
    snapshot.observer.set(state)
    return snapshot
