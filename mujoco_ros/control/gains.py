"""PD gains: their file formats, and what is derived where nobody gave any."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from reprlib import repr

import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.strict import parse_yaml, read_text

LARGEST_GAIN = 1e6
"""Beyond this no gain is meant seriously [Nm/rad, N/m, Nms/rad or Ns/m]."""


@dataclass(frozen=True, kw_only=True)
class Gains:
    """PD gains in joint order: kp [Nm/rad or N/m], kd [Nms/rad or Ns/m].  # (n,) each."""

    kp: np.ndarray
    kd: np.ndarray


def load_gains(path: Path, joints: tuple[str, ...], required: tuple[str, ...]) -> Gains:
    """Read a gains file: YAML (``joint: {kp: …, kd: …}``), or "kp kd" lines in joint order.

    Args:
        path: ``.yaml``/``.yml``, or anything else for the text form, which mc-mujoco introduced;
            there a line stands for each of `required`, ``#`` starts a comment.
        joints: Every joint of the robot; others in the file are an error.
        required: The joints that need gains (those driven by torque motors).

    Returns:
        Gains over `joints`, zero where none are given.

    Raises:
        ModelError: The file is broken, has a joint the robot has not, or lacks one it has.
    """
    text, where = read_text(path), str(path)
    is_yaml = path.suffix in (".yaml", ".yml")
    pairs = _from_yaml(text, where) if is_yaml else _from_text(text, where, required)
    kp, kd = np.zeros(len(joints)), np.zeros(len(joints))
    for joint, (p, d) in pairs.items():
        if joint not in joints:
            raise unknown("joint", joint, joints, where=str(path))
        kp[joints.index(joint)], kd[joints.index(joint)] = p, d
    missing = [joint for joint in required if joint not in pairs]
    if missing:
        raise UserInputError(f"{path}: no gains for the motor-driven joints {', '.join(missing)}")
    return Gains(kp=kp, kd=kd)


def derive_gains(inertia: np.ndarray, torque_limit: np.ndarray, timestep: float) -> Gains:
    """Choose gains that hold a pose, for motors whose gains nobody gave.

    Stiffness spends the torque limit on an error of 0.1 rad (or m), up to what explicit integration
    of the spring bears; without a limit it gives 5 Hz. Damping is critical on the joint's own
    inertia.

    Args:
        inertia: What each joint feels with all others free: 1 / diagonal of the inverse of the
            joint-space inertia, armature included [kg m² or kg].  # (n,)
        torque_limit: Largest torque at the joint, inf where unlimited [Nm or N].  # (n,)
        timestep: Simulated seconds per step.

    Returns:
        Gains over the same joints.
    """
    stiff = np.where(np.isfinite(torque_limit), torque_limit / 0.1, inertia * (2 * np.pi * 5) ** 2)
    # Joints that lie in line share a lighter mode than each has alone, hence the margin.
    kp = np.minimum(stiff, inertia * (0.25 / timestep) ** 2)
    kp = np.minimum(kp, LARGEST_GAIN)
    return Gains(kp=kp, kd=np.minimum(2.0 * np.sqrt(kp * inertia), LARGEST_GAIN))


@lru_cache(maxsize=16)  # who simulates the same scene again and again, parses its gains once
def _from_yaml(text: str, where: str) -> Mapping[str, tuple[float, float]]:
    data = parse_yaml(text, where)
    if not isinstance(data, dict):
        raise UserInputError(f"{where}: expected 'joint: {{kp: …, kd: …}}' lines")
    pairs = {}
    for joint, pair in data.items():
        if not isinstance(pair, dict) or set(pair) != {"kp", "kd"}:
            raise UserInputError(f"{where}: {joint}: expected the keys kp and kd, got {repr(pair)}")
        pairs[str(joint)] = (
            _gain(pair["kp"], f"{where}: {joint}.kp"),
            _gain(pair["kd"], f"{where}: {joint}.kd"),
        )
    return pairs


def _from_text(
    text: str, path: str, required: tuple[str, ...]
) -> Mapping[str, tuple[float, float]]:
    lines = text.splitlines()
    rows = [(i, row) for i, line in enumerate(lines, 1) if (row := line.partition("#")[0].split())]
    if len(rows) != len(required):
        raise UserInputError(
            f"{path}: has {len(rows)} lines of 'kp kd', the robot has {len(required)} motor-driven "
            f"joints: {', '.join(required)}"
        )
    pairs = {}
    for (number, row), joint in zip(rows, required, strict=True):
        if len(row) != 2:
            raise UserInputError(f"{path}: line {number}: expected 'kp kd', got {len(row)} values")
        where = f"{path}: line {number}"
        pairs[joint] = (_gain(row[0], where), _gain(row[1], where))
    return pairs


def _gain(value: object, where: str) -> float:
    try:
        gain = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise UserInputError(f"{where}: expected a number, got {repr(value)}") from None
    if not 0 <= gain <= LARGEST_GAIN or isinstance(value, bool):
        raise UserInputError(
            f"{where}: a gain must be from 0 to {LARGEST_GAIN:g}, got {repr(value)}"
        )
    return gain
