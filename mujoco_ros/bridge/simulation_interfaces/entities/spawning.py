"""Spawning and deleting entities while the simulation runs."""

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import simulation_interfaces.msg
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import SpawnEntity

from mujoco_ros.bridge.model_switch import ModelSwitch, OnDone
from mujoco_ros.bridge.simulation_interfaces.entities.entity_models import (
    SpawnRequest,
    build_alone,
    read_entity,
)
from mujoco_ros.bridge.simulation_interfaces.entities.messages import (
    read_pose,
    read_resource,
    rejection,
)
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry, EntitySnapshot
from mujoco_ros.bridge.trial_builds import TrialBuilds
from mujoco_ros.model.errors import UnsupportedFormatError, UserInputError
from mujoco_ros.model.naming import check_name
from mujoco_ros.model.scene.assembly import Assembly, rebuild
from mujoco_ros.model.scene.config import RobotConfig
from mujoco_ros.model.scene.entities import EntityKind
from mujoco_ros.model.scene.limits import MAX_OBJECTS, MAX_ROBOTS, too_large
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder
from mujoco_ros.sim.observer import Placement

_LOG = logging.getLogger(__name__)

CODES = SpawnEntity.Response
"""Has the result codes of spawning one entity."""
SpawnOutcome = str | RequestRejectedError
"""The name of an entity that was spawned, or why it was not."""
SpawnAttempt = SpawnRequest | RequestRejectedError
"""An entity to spawn, or why it cannot be."""


class EmptySpawnError(Exception):
    """None of the entities can be added; each has its own reason."""


def add_all(
    assembly: Assembly,
    spawns: Sequence[SpawnAttempt],
    taken: frozenset[str],
    outcomes: list[SpawnOutcome],
    trials: TrialBuilds,
) -> Assembly:
    """Add all entities that can be added, and append an outcome for each to `outcomes`.

    Each one is built alone by `trials` before its model is read here; a rejected one stays so. If
    none can be added, that is an `EmptySpawnError`.
    """
    parts: dict[int, ScenePart] = {}
    for index, spawn in enumerate(spawns):
        if isinstance(spawn, RequestRejectedError):
            outcomes.append(spawn)
            continue
        names = taken | {part.name for part in parts.values()}
        try:
            with trials.after_trial(spawn.label, build_alone, spawn, names, assembly.config.name):
                part = read_entity(spawn, names)
            _check_room(assembly, parts.values(), part)
            parts[index] = part
        except UserInputError as error:
            outcomes.append(rejection(error, CODES, otherwise="RESOURCE_PARSE_ERROR"))
        else:
            outcomes.append(parts[index].name)
    added = _rebuild(assembly, parts, outcomes)
    if added is assembly:
        raise EmptySpawnError
    return added


def _check_room(assembly: Assembly, others: Iterable[ScenePart], part: ScenePart) -> None:
    added = [part, *others]
    robots = sum(isinstance(part.config, RobotConfig) for part in added)
    for kind, count, limit in (
        ("robots", len(assembly.config.robots) + robots, MAX_ROBOTS),
        ("objects", len(assembly.config.objects) + len(added) - robots, MAX_OBJECTS),
    ):
        if count > limit:
            raise too_large(f"'{part.name}'", f"with it the scene has {count} {kind}", limit)


def _rebuild(
    assembly: Assembly, parts: dict[int, ScenePart], outcomes: list[SpawnOutcome]
) -> Assembly:
    """Add all parts at once, or else one by one, to find out which cannot be added."""
    if not parts:
        return assembly
    try:
        return rebuild(assembly, add=parts.values())
    except UserInputError as error:
        if len(parts) == 1:
            (index,) = parts
            # Not the format of the part, which was read: nothing can be added to a compiled world.
            world = isinstance(error, UnsupportedFormatError)
            outcomes[index] = RequestRejectedError(str(error)) if world else rejection(error, CODES)
            return assembly
    for index, part in parts.items():
        assembly = _rebuild(assembly, {index: part}, outcomes)
    return assembly


_NAMESPACE = re.compile(r"[A-Za-z_]\w*(/[A-Za-z_]\w*)*\Z", re.ASCII)
_LONGEST_NAMESPACE = 128  # topics in it may have 255 characters
_MAX_SPAWNS = 1000  # entities of one request
_Outcomes = Sequence[SpawnOutcome]


class SpawnServices:
    """Adds entities to the model, and removes them."""

    def __init__(
        self,
        registry: EntityRegistry,
        models: ModelSwitch,
        trials: TrialBuilds,
        obstacle: Callable[[], str],
    ) -> None:
        """Spawn into the model what `trials` build, unless there is an `obstacle`, a reason in
        words.
        """
        self._registry = registry
        self._models = models
        self._trials = trials
        self._obstacle = obstacle

    def spawn_entity(self, request: Any, responder: Responder) -> None:
        """Spawn one entity."""

        def fill(outcomes: _Outcomes) -> None:
            (outcome,) = outcomes
            if isinstance(outcome, RequestRejectedError):
                raise outcome
            responder.response.entity_name = outcome

        self._spawn([self._read(request)], responder, fill)

    def spawn_entities(self, request: Any, responder: Responder) -> None:
        """Spawn several entities in one change of the model; each that can be is spawned."""
        count = len(request.spawn_requests)
        if count > _MAX_SPAWNS:
            raise RequestRejectedError(f"too large: {count} entities, limit {_MAX_SPAWNS}")
        spawns: list[SpawnAttempt] = []
        for single in request.spawn_requests:
            try:
                spawns.append(self._read(single))
            except RequestRejectedError as error:
                spawns.append(error)
        self._spawn(spawns, responder, lambda outcomes: _report(responder.response, outcomes))

    def delete_entity(self, request: Any, responder: Responder) -> None:
        """Delete an entity."""
        entity = self._registry.entity(request.entity)
        if entity.kind is EntityKind.BODY:
            raise RequestRejectedError(
                f"'{entity.name}' is part of the world or of a robot's or object's model; "
                "only robots and objects as a whole can be deleted"
            )

        def build(assembly: Assembly) -> Assembly:
            self._registry.entity(entity.name)  # may be gone by now
            return rebuild(assembly, remove=[entity.name])

        def respond(error: Exception | None) -> None:
            if error is None:
                _LOG.info("deleted %s", entity.name)
                responder.succeed()
            else:
                responder.reject(rejection(error, Result))

        self._models.change(build, respond)

    def delete_spawned(self, on_done: OnDone) -> None:
        """Delete all entities that were spawned into this world; call in the executor's thread."""
        if not self._registry.spawned and not self._models.busy:
            on_done(None)
            return

        def build(assembly: Assembly) -> Assembly:
            present = {part.name for part in assembly.parts}
            return rebuild(assembly, remove=present & self._registry.spawned)

        self._models.change(build, on_done)

    def _read(self, request: Any) -> SpawnRequest:
        """Return the content of a request of SpawnEntity or of a part of SpawnEntities."""
        self._check_possible()
        namespace = request.entity_namespace.strip("/") or None
        if namespace is not None and (
            len(namespace) > _LONGEST_NAMESPACE or not _NAMESPACE.match(namespace)
        ):
            raise RequestRejectedError(
                f"'{request.entity_namespace}' is no namespace: letters, digits and underscores "
                f"between slashes, {_LONGEST_NAMESPACE} characters at most",
                CODES.NAMESPACE_INVALID,
            )
        try:
            if request.name:
                check_name(request.name)
            pose = read_pose(request.initial_pose.pose)
        except UserInputError as error:
            raise RequestRejectedError(str(error), CODES.NAME_INVALID) from error
        except ValueError as error:
            raise _invalid_pose(error) from error
        return SpawnRequest(
            name=request.name,
            allow_renaming=request.allow_renaming,
            source=read_resource(request, "entity_resource", CODES),
            namespace=namespace,
            frame=request.initial_pose.header.frame_id,
            pose=pose,
        )

    def _check_possible(self) -> None:
        if reason := self._obstacle():
            raise RequestRejectedError(reason, Result.RESULT_INCORRECT_STATE)

    def _spawn(
        self,
        spawns: Sequence[SpawnAttempt],
        responder: Responder,
        fill: Callable[[_Outcomes], None],
    ) -> None:
        """Spawn entities; `fill` gets an outcome for each, and rejections as they are."""

        def change(spawns: Sequence[SpawnAttempt]) -> None:
            rejected = [spawn for spawn in spawns if isinstance(spawn, RequestRejectedError)]
            if len(rejected) == len(spawns):
                responder.complete(partial(fill, rejected))
            else:
                self._change(spawns, lambda outcomes: responder.complete(partial(fill, outcomes)))

        if all(isinstance(spawn, RequestRejectedError) or spawn.in_world for spawn in spawns):
            change(spawns)
        else:
            self._registry.observe(
                responder,
                lambda snapshot: change([_in_world(spawn, snapshot) for spawn in spawns]),
                finish=False,
            )

    def _change(self, spawns: Sequence[SpawnAttempt], report: Callable[[_Outcomes], None]) -> None:
        outcomes: list[SpawnOutcome] = []

        def build(assembly: Assembly) -> Assembly:
            self._check_possible()  # the world may have been unloaded meanwhile
            snapshot = self._registry.snapshot
            names = frozenset([*snapshot.entities, *snapshot.frames, "world"])
            return add_all(assembly, spawns, names, outcomes, self._trials)

        def changed(error: Exception | None) -> None:
            if error is not None and not isinstance(error, EmptySpawnError):
                failed = rejection(error, CODES)
                outcomes[:] = [
                    spawn if isinstance(spawn, RequestRejectedError) else failed for spawn in spawns
                ]
            names = [name for name in outcomes if isinstance(name, str)]
            if names:
                _LOG.info("spawned %s", ", ".join(names))
            self._registry.spawned.update(names)
            report(outcomes)

        self._models.change(build, changed)


def _report(response: Any, outcomes: _Outcomes) -> None:
    failed = 0
    for outcome in outcomes:
        report = simulation_interfaces.msg.SpawnResult()
        if isinstance(outcome, RequestRejectedError):
            code = Result.RESULT_OPERATION_FAILED if outcome.code is None else outcome.code
            report.result.result, report.result.error_message = code, str(outcome)
            failed += 1
        else:
            report.result.result, report.entity_name = Result.RESULT_OK, outcome
        response.results.append(report)
    if failed:
        raise RequestRejectedError(
            f"{failed} of {len(response.results)} entities could not be spawned; the reasons are "
            "in the results",
            response.ENTITIES_SPAWN_FAILED,
        )


def _in_world(spawn: SpawnAttempt, snapshot: EntitySnapshot) -> SpawnAttempt:
    """Return a request with its pose in the world, given the current pose of its frame."""
    if isinstance(spawn, RequestRejectedError):
        return spawn
    try:
        reference = snapshot.frame(spawn.frame)
    except ValueError as error:
        return _invalid_pose(error)
    if reference is None:
        return spawn
    placed = snapshot.in_world(Placement(pose=spawn.pose), reference, reference.body)
    assert placed.pose is not None
    return replace(spawn, frame="", pose=placed.pose)


def _invalid_pose(error: ValueError) -> RequestRejectedError:
    return RequestRejectedError(f"initial_pose: {error}", CODES.INVALID_POSE)
