"""The positions of a robot's joints at the start."""

import logging
from collections.abc import Collection, Mapping

import mujoco

from mujoco_ros.model.keyframes import SCALAR, add_keyframe, move_keyframe

START = "start"
"""Name of the keyframe of a robot whose model has none."""

_LOGGER = logging.getLogger(__name__)


def move_start(spec: mujoco.MjSpec, positions: Mapping[str, float], keyframe: str | None) -> None:
    """Change the start positions of joints [rad or m].

    Args:
        spec: The model of the robot.
        positions: Positions by joint.
        keyframe: The keyframe of the start, which is changed; None for the first one.
    """
    names = [key.name for key in spec.keys]
    if not positions:
        return
    if not names:
        add_keyframe(spec, START, positions)
    elif keyframe is None or keyframe in names:
        move_keyframe(spec, names.index(keyframe) if keyframe else 0, positions)


def add_start(spec: mujoco.MjSpec, positions: Mapping[str, float], where: str) -> None:
    """Add a keyframe of the start positions that a URDF has, within the limits of its joints.

    Other joints start as by `start_within_limits`. A model with keyframes is not changed.

    Args:
        spec: The model of the robot.
        positions: Positions by joint [rad or m].
        where: Begins the messages.
    """
    if not positions:
        return
    if spec.keys:
        _LOGGER.warning(
            "%s: the start positions of the URDF (initial_value) have no effect, because it has "
            "the keyframe '%s'",
            where,
            spec.keys[0].name,
        )
        return
    model = spec.compile()
    start = _middle_of_limits(model)
    outside = []
    for name, position in positions.items():
        joint = model.joint(name)
        lower, upper = joint.range
        within = min(max(position, lower), upper) if joint.limited[0] else position
        start[name] = float(within)
        if within != position:
            outside.append(f"{name} ({position:g} becomes {within:g})")
    if outside:
        _LOGGER.warning("%s: start positions outside the limits: %s", where, ", ".join(outside))
    add_keyframe(spec, START, start, model)


def start_within_limits(spec: mujoco.MjSpec, where: str, given: Collection[str] = ()) -> None:
    """Start joints whose limits exclude zero in the middle of their limits, as RViz shows them.

    A model with keyframes is not changed. The rule is that of the joint_state_publisher.

    Args:
        spec: The model of the robot.
        where: Begins the message.
        given: Names of joints whose start is given, which the message leaves out.
    """
    if spec.keys or not any(_may_exclude_zero(joint) for joint in spec.joints):
        return
    model = spec.compile()
    middle = _middle_of_limits(model)
    if middle:
        add_keyframe(spec, START, middle, model)
        moved = [f"{name} ({at:.3g})" for name, at in middle.items() if name not in given]
        if moved:
            text = "%s: joints whose limits exclude zero start in the middle: %s"
            _LOGGER.info(text, where, ", ".join(moved))


def _may_exclude_zero(joint: mujoco.MjsJoint) -> bool:
    """Return whether the limits of a joint may exclude its zero, by the spec alone."""
    lower, upper = joint.range
    return int(joint.type) in SCALAR and not lower <= joint.ref <= upper


def _middle_of_limits(model: mujoco.MjModel) -> dict[str, float]:
    """Return the middle of the limits of each joint whose limits exclude zero [rad or m]."""
    mimics = model.eq_obj1id[model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT)]
    return {
        joint.name: float(joint.range.mean())
        for joint in map(model.joint, range(model.njnt))
        if joint.type[0] in SCALAR
        and joint.limited[0]
        and joint.id not in mimics
        and not joint.range[0] <= joint.qpos0[0] <= joint.range[1]
    }
