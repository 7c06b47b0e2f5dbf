"""The positions of a robot's joints at the start."""

import logging
from collections.abc import Mapping

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


def start_within_limits(spec: mujoco.MjSpec, where: str) -> None:
    """Start joints whose limits exclude zero in the middle of their limits, as RViz shows them.

    A model with keyframes is not changed. The rule is that of the joint_state_publisher.

    Args:
        spec: The model of the robot.
        where: Begins the message.
    """
    if spec.keys:
        return
    model = spec.compile()
    mimics = {it.name1 for it in spec.equalities if it.type == mujoco.mjtEq.mjEQ_JOINT}
    middle = {
        joint.name: float(joint.range.mean())
        for joint in map(model.joint, range(model.njnt))
        if joint.type[0] in SCALAR
        and joint.limited[0]
        and joint.name not in mimics
        and not joint.range[0] <= joint.qpos0[0] <= joint.range[1]
    }
    if middle:
        add_keyframe(spec, START, middle)
        listing = ", ".join(f"{name} ({position:.3g})" for name, position in middle.items())
        _LOGGER.info("%s: joints whose limits exclude zero start in the middle: %s", where, listing)
