"""Self-collision: the pairs of links of one robot that do not collide with each other."""

import logging
from collections.abc import Iterable
from itertools import combinations
from typing import Literal

import mujoco

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.reading import computed_once

SelfCollision = Literal["auto", "none", "all"]

_LOGGER = logging.getLogger(__name__)


def exclude_pairs(spec: mujoco.MjSpec, pairs: Iterable[tuple[str, str]], where: str) -> None:
    """Exclude the contacts between pairs of links.

    Args:
        pairs: Names of two links each.

    Raises:
        UserInputError: A link does not exist, or both are the same.
    """
    links = [body.name for body in spec.bodies[1:]]
    excluded = {frozenset((exclude.bodyname1, exclude.bodyname2)) for exclude in spec.excludes}
    for first, second in pairs:
        for name in (first, second):
            if name not in links:
                raise unknown("link", name, links, where=where)
        if first == second:
            raise UserInputError(f"{where}: link '{first}' is paired with itself")
        pair = frozenset((first, second))
        if pair not in excluded:
            excluded.add(pair)
            spec.add_exclude(bodyname1=first, bodyname2=second)


def exclude_all(spec: mujoco.MjSpec, where: str) -> None:
    """Exclude the contacts between all links of a robot."""
    solid = [
        body.name
        for body in spec.bodies[1:]
        if any(geom.contype or geom.conaffinity for geom in body.geoms)
    ]
    exclude_pairs(spec, combinations(solid, 2), where)


def exclude_overlaps(
    spec: mujoco.MjSpec, keyframe: str | None, where: str, model: mujoco.MjModel | None = None
) -> None:
    """Exclude the contacts between links that overlap at the start, with a warning.

    Such links push each other apart with a large force for as long as the simulation runs.

    Args:
        keyframe: Keyframe of the start; None for the first of the model, or else its zero.
        model: The compiled spec, if there is one, which may lack the keyframes.
    """
    start = spec.key(keyframe) if keyframe else next(iter(spec.keys), None)

    def compute() -> dict[tuple[str, str], float] | str:
        compiled = model or spec.compile()
        data = mujoco.MjData(compiled)
        if start is not None and len(start.qpos):
            data.qpos[:] = start.qpos
        try:
            return overlap_depths(compiled, data)
        except mujoco.FatalError as error:  # thousands of links need more memory than there is
            return " ".join(str(error).split())

    depths = computed_once("overlaps", compute)
    if isinstance(depths, str):
        _LOGGER.warning("%s: links that overlap at the start are not excluded: %s", where, depths)
        return
    if not depths:
        return
    exclude_pairs(spec, depths, where)
    deepest_first = sorted(depths.items(), key=lambda item: -item[1])
    _LOGGER.warning(
        "%s: links overlap at the start, and do not collide with each other: %s; "
        "`self_collision: all` keeps their contacts",
        where,
        ", ".join(f"{a} and {b} ({1e3 * depth:.1f} mm)" for (a, b), depth in deepest_first),
    )


def overlap_depths(model: mujoco.MjModel, data: mujoco.MjData) -> dict[tuple[str, str], float]:
    """Return the depth of each pair of overlapping bodies [m], without the world.

    Args:
        data: State whose positions count; its poses and contacts are computed.

    Raises:
        mujoco.FatalError: The contacts need more memory than the model has.
    """
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    depths: dict[tuple[str, str], float] = {}
    for contact in data.contact:
        if min(contact.geom) < 0:  # of a flex
            continue
        first, second = sorted(int(model.geom_bodyid[geom]) for geom in contact.geom)
        if first and contact.dist < 0:
            pair = (model.body(first).name, model.body(second).name)
            depths[pair] = max(depths.get(pair, 0.0), -float(contact.dist))
    return depths
