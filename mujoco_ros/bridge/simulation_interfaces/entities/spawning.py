"""Spawning and deleting entities beside the running physics."""

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import simulation_interfaces.msg
from simulation_interfaces.msg import Result

from mujoco_ros.bridge.model_switch import Done, ModelSwitch
from mujoco_ros.bridge.rclpy_ext.service import Responder
from mujoco_ros.bridge.simulation_interfaces.entities.adding import (
    CODES,
    EmptySpawnError,
    Outcome,
    SpawnRequest,
    add_all,
)
from mujoco_ros.bridge.simulation_interfaces.entities.messages import read_pose
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry, EntitySnapshot
from mujoco_ros.bridge.simulation_interfaces.entities.resources import refusal, source
from mujoco_ros.bridge.simulation_interfaces.entities.setting import from_frame
from mujoco_ros.bridge.simulation_interfaces.rejection import (
    RequestRejectedError,
    failed,
    grant,
    granting,
    refuse,
)
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import check_name
from mujoco_ros.model.scene.assembly import Assembly, rebuild
from mujoco_ros.model.scene.entities import EntityKind
from mujoco_ros.sim.placement import Placement

_LOG = logging.getLogger(__name__)
_NAMESPACE = re.compile(r"[A-Za-z_]\w*(/[A-Za-z_]\w*)*\Z", re.ASCII)


class SpawnServices:
    """Adds entities to the world and takes them away."""

    def __init__(
        self, registry: EntityRegistry, world: ModelSwitch, closed: Callable[[], str]
    ) -> None:
        """Spawn into the model.

        Args:
            registry: The entities.
            world: Changes the model.
            closed: Returns why nothing can be spawned at present; empty if something can.
        """
        self._registry = registry
        self._world = world
        self._closed = closed

    @granting
    def spawn_entity(self, request: Any, answer: Responder) -> None:
        """Spawn one entity."""
        wish = self._wish(request)

        def done(outcomes: Sequence[Outcome]) -> None:
            (outcome,) = outcomes
            if isinstance(outcome, RequestRejectedError):
                refuse(answer, outcome)
                return
            answer.response.entity_name = outcome
            grant(answer)

        self._spawn([wish], answer, done)

    @granting
    def spawn_entities(self, request: Any, answer: Responder) -> None:
        """Spawn several entities in one change of the model; each that can be is spawned."""
        wishes: list[SpawnRequest | RequestRejectedError] = []
        for single in request.spawn_requests:
            try:
                wishes.append(self._wish(single))
            except RequestRejectedError as refused:
                wishes.append(refused)

        def done(outcomes: Sequence[Outcome]) -> None:
            self._tell_all(answer, wishes, outcomes)

        possible = [wish for wish in wishes if isinstance(wish, SpawnRequest)]
        if possible:
            self._spawn(possible, answer, done)
        else:
            done([])

    @granting
    def delete_entity(self, request: Any, answer: Responder) -> None:
        """Delete an entity."""
        entity = self._registry.entity(request.entity)
        if entity.kind is EntityKind.BODY:
            raise failed(
                f"'{entity.name}' is part of the world or of a robot's or object's model; "
                "only robots and objects as a whole can be deleted"
            )

        def build(assembly: Assembly) -> Assembly:
            self._registry.entity(entity.name)  # may be gone by now
            return rebuild(assembly, remove=[entity.name])

        def done(error: Exception | None) -> None:
            if error is None:
                _LOG.info("deleted %s", entity.name)
                grant(answer)
            else:
                refuse(answer, refusal(error, Result))

        self._world.change(build, done)

    def delete_spawned(self, done: Done) -> None:
        """Delete everything that was spawned into this world; call in the executor's thread."""
        if not self._registry.spawned and not self._world.busy:
            done(None)
            return

        def build(assembly: Assembly) -> Assembly:
            there = {part.name for part in assembly.parts}
            return rebuild(assembly, remove=there & self._registry.spawned)

        self._world.change(build, done)

    def _wish(self, request: Any) -> SpawnRequest:
        """Read a request, a message SpawnEntity of either kind."""
        self._need_open()
        namespace = request.entity_namespace.strip("/") or None
        if namespace is not None and not _NAMESPACE.match(namespace):
            raise RequestRejectedError(
                CODES.NAMESPACE_INVALID,
                f"'{request.entity_namespace}' is no namespace: letters, digits and underscores "
                "between slashes",
            )
        try:
            if request.name:
                check_name(request.name)
            pose = read_pose(request.initial_pose.pose)
        except UserInputError as error:
            raise RequestRejectedError(CODES.NAME_INVALID, str(error)) from error
        except ValueError as error:
            raise RequestRejectedError(CODES.INVALID_POSE, f"initial_pose: {error}") from error
        return SpawnRequest(
            name=request.name,
            renames=request.allow_renaming,
            source=source(request, "entity_resource", CODES),
            namespace=namespace,
            frame=request.initial_pose.header.frame_id,
            pose=pose,
        )

    def _need_open(self) -> None:
        reason = self._closed()
        if reason:
            raise RequestRejectedError(Result.RESULT_INCORRECT_STATE, reason)

    def _spawn(
        self,
        wishes: Sequence[SpawnRequest],
        answer: Responder,
        done: Callable[[Sequence[Outcome]], None],
    ) -> None:
        if all(wish.frame in ("", "world") for wish in wishes):
            self._change(wishes, done)
            return

        def tell(cast: EntitySnapshot) -> None:
            placed = [_in_world(wish, cast) for wish in wishes]
            possible = [wish for wish in placed if isinstance(wish, SpawnRequest)]

            def complete(outcomes: Sequence[Outcome]) -> None:
                rest = iter(outcomes)
                done([it if isinstance(it, RequestRejectedError) else next(rest) for it in placed])

            if possible:
                self._change(possible, complete)
            else:
                complete([])

        self._registry.questions.observe(answer, tell)

    def _change(
        self, wishes: Sequence[SpawnRequest], done: Callable[[Sequence[Outcome]], None]
    ) -> None:
        outcomes: list[Outcome] = []

        def build(assembly: Assembly) -> Assembly:
            self._need_open()  # the world may have been unloaded meanwhile
            cast = self._registry.cast
            names = frozenset([*cast.entities, *cast.places, "world"])
            return add_all(assembly, wishes, names, outcomes)

        def changed(error: Exception | None) -> None:
            if error is not None and not isinstance(error, EmptySpawnError):
                outcomes[:] = [refusal(error, CODES)] * len(wishes)
            names = [name for name in outcomes if isinstance(name, str)]
            if names:
                _LOG.info("spawned %s", ", ".join(names))
            self._registry.spawned.update(names)
            done(outcomes)

        self._world.change(build, changed)

    def _tell_all(
        self,
        answer: Responder,
        wishes: Iterable[SpawnRequest | RequestRejectedError],
        outcomes: Iterable[Outcome],
    ) -> None:
        response, rest, bad = answer.response, iter(outcomes), 0
        for wish in wishes:
            outcome = wish if isinstance(wish, RequestRejectedError) else next(rest)
            told = simulation_interfaces.msg.SpawnResult()
            if isinstance(outcome, RequestRejectedError):
                told.result.result, told.result.error_message = outcome.code, str(outcome)
                bad += 1
            else:
                told.result.result, told.entity_name = Result.RESULT_OK, outcome
            response.results.append(told)
        if bad:
            refuse(
                answer,
                RequestRejectedError(
                    response.ENTITIES_SPAWN_FAILED,
                    f"{bad} of {len(response.results)} entities could not be spawned; "
                    "results tell which, and why",
                ),
            )
        else:
            grant(answer)


def _in_world(wish: SpawnRequest, cast: EntitySnapshot) -> SpawnRequest | RequestRejectedError:
    """Return a wish with its pose in the world, as its frame stands now."""
    try:
        reference = cast.frame(wish.frame)
    except ValueError as error:
        return RequestRejectedError(CODES.INVALID_POSE, f"initial_pose: {error}")
    if reference is None:
        return wish
    seen = from_frame(cast.observer, reference, reference.body, Placement(pose=wish.pose))
    assert seen.pose is not None
    return replace(wish, frame="", pose=seen.pose)
