"""Adds spawned entities to a scene, in the thread that builds the next model."""

from collections.abc import Iterable, Sequence

from simulation_interfaces.srv import SpawnEntity

from mujoco_ros.bridge.simulation_interfaces.entities.entity_models import (
    SpawnRequest,
    build_alone,
    read_entity,
)
from mujoco_ros.bridge.simulation_interfaces.entities.resources import rejection
from mujoco_ros.bridge.trial_builds.trial_builds import TrialBuilds
from mujoco_ros.model.errors import UnsupportedFormatError, UserInputError
from mujoco_ros.model.scene.assembly import Assembly, rebuild
from mujoco_ros.model.scene.config import RobotConfig
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.model.scene.size_limits import MAX_OBJECTS, MAX_ROBOTS, too_large
from mujoco_ros.rclpy_ext.service import RequestRejectedError

CODES = SpawnEntity.Response
"""Has the result codes of spawning one entity."""
SpawnOutcome = str | RequestRejectedError
"""The name of an entity that was spawned, or why it was not."""


class EmptySpawnError(Exception):
    """None of the entities can be added; each has its own reason."""


def add_all(
    assembly: Assembly,
    spawns: Sequence[SpawnRequest],
    taken: frozenset[str],
    outcomes: list[SpawnOutcome],
    trials: TrialBuilds,
) -> Assembly:
    """Add all entities that can be added, and append an outcome for each to `outcomes`.

    Each one is built alone by `trials` before its model is read here.

    Raises:
        EmptySpawnError: Nothing can be added.
    """
    parts: dict[int, Part] = {}
    for index, spawn in enumerate(spawns):
        names = taken | {part.name for part in parts.values()}
        try:
            with trials.passed(spawn.label, build_alone, spawn, names, assembly.config.name):
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


def _check_room(assembly: Assembly, others: Iterable[Part], part: Part) -> None:
    """Reject a robot or object beyond the limits of a scene."""
    added = [part, *others]
    robots = sum(isinstance(it.config, RobotConfig) for it in added)
    for kind, count, limit in (
        ("robots", len(assembly.config.robots) + robots, MAX_ROBOTS),
        ("objects", len(assembly.config.objects) + len(added) - robots, MAX_OBJECTS),
    ):
        if count > limit:
            raise too_large(f"'{part.name}'", f"with it the scene has {count} {kind}", limit)


def _rebuild(assembly: Assembly, parts: dict[int, Part], outcomes: list[SpawnOutcome]) -> Assembly:
    """Add all parts at once, or else one by one, to find those that cannot be added."""
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
