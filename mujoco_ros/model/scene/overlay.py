"""Scenes that extend another one: other parameters of its robots, as `fit` writes them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.realism_config import RealismConfig, merged
from mujoco_ros.model.scene.joint_options import JointOptions
from mujoco_ros.model.scene.random_ranges import RandomRange

EXTENDS = "extends"
"""Key of a scene YAML that makes it an overlay."""
MAX_OVERLAYS = 10
"""Scenes that extend one another."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RobotOverlay:
    """Other parameters of a robot of the extended scene."""

    name: str
    # Settings by joint or pattern; they override the scene
    joints: dict[str, JointOptions] = field(default_factory=dict)
    # Entries of realism; their values override entries with the same name
    realism: RealismConfig | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SceneOverlay:
    """The keys of a scene YAML that extends another scene."""

    # The scene, as for `load_scene`; relative paths start from the folder of this file
    extends: str
    robots: tuple[RobotOverlay, ...] = ()
    # Further ranges, as in `RandomRanges`
    randomize: dict[str, RandomRange] = field(default_factory=dict)


R = TypeVar("R", bound=Any)
"""`RobotConfig`, whose module needs this one."""


def overlaid(robots: Sequence[R], overlays: Sequence[RobotOverlay]) -> tuple[R, ...]:
    """Return robots with the parameters of overlays."""
    names, changed = [robot.name for robot in robots], list(robots)
    for number, overlay in enumerate(overlays):
        if overlay.name not in names:
            raise unknown("robot", overlay.name, names)
        if any(overlay.name == other.name for other in overlays[:number]):
            raise UserInputError(f"robot '{overlay.name}' is given twice")
        if overlay.realism is not None and overlay.realism.profile:
            raise UserInputError(f"robot '{overlay.name}': 'profile' belongs into the scene itself")
        index = names.index(overlay.name)
        changed[index] = _overlaid(changed[index], overlay)
    return tuple(changed)


def _overlaid(robot: R, overlay: RobotOverlay) -> R:
    joints = {**robot.joints}
    for pattern, options in overlay.joints.items():
        _set(joints, pattern, options)
    realism = overlay.realism
    if robot.realism is not None and realism is not None:
        realism = merged(robot.realism, realism)
    if realism is None:
        realism = robot.realism
    changed: R = replace(robot, joints=joints, realism=realism)
    return changed


def _set(joints: dict[str, JointOptions], pattern: str, options: JointOptions) -> None:
    """Give settings precedence over all others of the joints of a pattern; the others stay.

    The last entry with a value counts, and a pattern has one entry.
    """
    before, changed = joints.get(pattern, JointOptions()), _given(options)
    names = list(joints)
    later = names[names.index(pattern) + 1 :] if pattern in joints else []
    if not any(character in pattern for character in "*?["):
        # Values that later entries replace have no effect, and must not get one.
        for other in later:
            if fnmatchcase(pattern, other):
                before = replace(before, **dict.fromkeys(_given(joints[other])))
    else:
        replaced = {name for other in later for name in _given(joints[other])}
        if replaced & (_given(before) - changed):
            if replaced & changed:
                raise UserInputError(
                    f"joints: '{pattern}' is in the scene too, with later entries of the same "
                    "values; name the joints instead"
                )
            joints[pattern] = before.updated(options)
            return
    joints.pop(pattern, None)
    joints[pattern] = before.updated(options)


def _given(options: JointOptions) -> set[str]:
    return {field.name for field in fields(options) if getattr(options, field.name) is not None}
