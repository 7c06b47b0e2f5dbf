"""Warnings of starts that surprise: in the floor or in one another, or without a floor."""

import logging
from collections.abc import Collection

import mujoco

from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.parts import ScenePart

_DEEP_M = 0.005
"""Depth of a contact that no robot at rest has."""
_LOGGER = logging.getLogger(__name__)


def warn_of_penetrations(
    assembly: Assembly, data: mujoco.MjData, known: Collection[ScenePart]
) -> None:
    """Warn of the deepest contact at the start of each part with what is not its own.

    `data` has the contacts of the start. Pairs of `known` parts are left out.
    """
    model, deepest = assembly.model, dict[str, tuple[float, str]]()
    for contact in data.contact:
        if min(contact.geom) < 0 or contact.dist > -_DEEP_M:
            continue
        bodies = sorted((int(model.geom_bodyid[geom]) for geom in contact.geom), reverse=True)
        moving, other = (model.body(body).name for body in bodies)
        owner, met = assembly.part_of(moving), assembly.part_of(other)
        is_world = bodies[1] == 0
        if owner is None or (owner is met and not is_world):
            continue
        if owner in known and (is_world or met in known):
            continue
        depth = -float(contact.dist)
        text = f"{'the floor' if is_world else other}, with {moving}"
        if depth > deepest.get(owner.name, (0.0, ""))[0]:
            deepest[owner.name] = depth, text
    for name, (depth, text) in deepest.items():
        _LOGGER.warning(
            "'%s' starts %.0f mm deep in %s, and will be thrown out; give its height in `pose`, or "
            "set it down by `pose: {on_floor: true}`",
            name,
            1e3 * depth,
            text,
        )


def warn_of_falls(assembly: Assembly, known: Collection[ScenePart]) -> None:
    """Warn of robots, but `known` ones, that fall for ever: they are free, and nothing is fixed."""
    model = assembly.model
    collides = (model.geom_contype | model.geom_conaffinity) != 0
    is_fixed = model.body_weldid[model.geom_bodyid] == 0
    if (collides & is_fixed).any() or not model.opt.gravity.any():
        return
    for joint in range(model.njnt):
        body = model.jnt_bodyid[joint]
        part = assembly.part_of(model.body(body).name)
        if part is None or part in known or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
            continue
        if part in assembly.robots and model.body_gravcomp[body] < 1.0:
            known = [*known, part]  # which may have further free joints
            _LOGGER.warning(
                "robot '%s' falls: its base is free, and the scene has no floor; give it `world: "
                "package://mujoco_ros/urdf_mjcf/worlds/ground.xml`, or the robot `base: fixed`",
                part.name,
            )
