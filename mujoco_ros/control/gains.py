"""PD gains and their file formats."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from reprlib import repr

import numpy as np

from mujoco_ros.model.errors import UserInputError, counted, unknown
from mujoco_ros.model.strict import parse_yaml, read_text

LARGEST_GAIN = 1e6
"""Largest accepted gain [Nm/rad, N/m, Nms/rad or Ns/m]."""


@dataclass(frozen=True, kw_only=True)
class Gains:
    """PD gains in joint order: kp [Nm/rad or N/m], kd [Nms/rad or Ns/m].  # (n,) each."""

    kp: np.ndarray
    kd: np.ndarray


def load_gains(path: Path, joints: tuple[str, ...], required: tuple[str, ...]) -> Gains:
    """Read a gains file: YAML (``joint: {kp: …, kd: …}``), or "kp kd" lines in joint order.

    Args:
        path: ``.yaml``/``.yml``, or any other suffix for mc-mujoco's text format: one line for each
            of `joints`, or for each of `required`, comments after ``#``.
        joints: All joints of the robot.
        required: The joints that need gains (those driven by torque motors).

    Returns:
        Gains over `joints`, zero where the file has none.

    Raises:
        UserInputError: The file is malformed, names an unknown joint or lacks a required one.
    """
    text, where = read_text(path), str(path)
    is_yaml = path.suffix in (".yaml", ".yml")
    pairs = _from_yaml(text, where) if is_yaml else _from_text(text, where, joints, required)
    kp, kd = np.zeros(len(joints)), np.zeros(len(joints))
    for joint, (p, d) in pairs.items():
        if joint not in joints:
            raise unknown("joint", joint, joints, where=str(path))
        kp[joints.index(joint)], kd[joints.index(joint)] = p, d
    missing = [joint for joint in required if joint not in pairs]
    if missing:
        raise UserInputError(f"{path}: no gains for the motor-driven joints {', '.join(missing)}")
    return Gains(kp=kp, kd=kd)


@lru_cache(maxsize=16)  # repeated loads of one scene parse its gains once
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
    text: str, path: str, joints: tuple[str, ...], required: tuple[str, ...]
) -> Mapping[str, tuple[float, float]]:
    lines = text.splitlines()
    rows = [(i, row) for i, line in enumerate(lines, 1) if (row := line.partition("#")[0].split())]
    if len(rows) not in (len(required), len(joints)):
        raise UserInputError(
            f"{path}: has {len(rows)} lines of 'kp kd', the robot has {len(required)} motor-driven "
            f"joints: {', '.join(required)}; and {counted(len(joints), 'joint')} in all"
        )
    pairs = {}
    names = required if len(rows) == len(required) else joints
    for (number, row), joint in zip(rows, names, strict=True):
        if len(row) != 2:
            raise UserInputError(
                f"{path}: line {number}: expected 'kp kd', got {counted(len(row), 'value')}"
            )
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
