"""Settings of `Policy` from what other software exports beside a policy.

Sources of the formats: `export_deploy_cfg.py` and the C++ headers of unitree_rl_lab
(``params/deploy.yaml``), and the metadata in ONNX files that the exporters of mjlab and of
whole_body_tracking for Isaac Lab write.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mujoco_ros.model.errors import UserInputError, counted, unknown
from mujoco_ros.model.strict import convert, parse_yaml, read_text

UNITREE_MOTORS = [
    f"{leg}_{part}_joint"
    for parts in (("hip", "thigh", "calf"), ("foot",))
    for leg in ("FR", "FL", "RR", "RL")
    for part in parts
]
"""Joints of Unitree's quadrupeds by the numbers of their motors; the last ones are wheels."""
_TERMS = {
    "base_ang_vel": "base_angular_velocity",
    "base_lin_vel": "base_linear_velocity",
    "projected_gravity": "projected_gravity",
    "velocity_commands": "command",
    "command": "command",
    "joint_pos": "joint_position",
    "joint_pos_rel": "joint_position",
    "joint_vel": "joint_velocity",
    "joint_vel_rel": "joint_velocity",
    "actions": "previous_action",
    "last_action": "previous_action",
    "gait_phase": "gait_phase",
}
"""Terms by their names there."""
_TARGETS = {"JointPositionAction": "position", "JointVelocityAction": "velocity"}
_VELOCITIES = ("lin_vel_x", "lin_vel_y", "ang_vel_z")
_VELOCITY_COMMANDS = ("twist", "base_velocity")
_SWITCHES = ("use_gym_history", "scale_first")  # keys beside the terms of an input
_ALL_JOINTS = re.compile(r"!!python/object/apply:builtins\.slice(\s*\[(null(, )?)+\]|(\s+- null)+)")
"""How PyYAML writes the Python object ``slice(None)``, which stands for all joints."""
Settings = dict[str, Any]


def read_deploy(path: Path) -> Any:
    """Read a ``deploy.yaml`` as plain data; no object in it is created."""
    return parse_yaml(_ALL_JOINTS.sub("null", read_text(path)), str(path))


class _Part:
    """A mapping in a file, whose entries are read strictly; `name` begins error messages."""

    def __init__(self, data: Any, name: str, separator: str = ".") -> None:
        if not isinstance(data, Mapping):
            raise UserInputError(f"{name}: expected a mapping, got {type(data).__name__}")
        self.data, self.name = {str(key): value for key, value in data.items()}, name
        self._separator = separator

    def at(self, key: str) -> str:
        return f"{self.name}{self._separator}{key}"

    def has(self, key: str) -> bool:
        return self.data.get(key) is not None

    def part(self, key: str, *, is_optional: bool = False) -> "_Part":
        """Return a mapping inside; an optional one that is absent or null is empty."""
        is_absent = is_optional and not self.has(key)
        return _Part({} if is_absent else self.data.get(key), self.at(key))

    def get(self, key: str, kind: Any) -> Any:
        """Return an entry of a type; a tuple as a list."""
        if key not in self.data:
            raise UserInputError(f"{self.name}: key '{key}' is missing")
        value = convert(kind, self.data[key], self.at(key))
        return list(value) if isinstance(value, tuple) else value

    def numbers(self, key: str) -> list[float]:
        numbers: list[float] = self.get(key, tuple[float, ...])
        return numbers

    def positive(self, key: str) -> float:
        number: float = self.get(key, float)
        if not number > 0.0:
            raise UserInputError(f"{self.at(key)} must be positive, got {number:g}")
        return number

    def indices(self, key: str, size: int) -> list[int]:
        indices: list[int] = self.get(key, tuple[int, ...])
        if not indices or not all(0 <= index < size for index in indices):
            raise UserInputError(
                f"{self.at(key)} must have numbers from 0 to {size - 1}, got {indices}"
            )
        return indices


_PAIR = tuple[float, float]


def settings_of_deploy(data: Any, motors: Sequence[str], where: str) -> tuple[Settings, float]:
    """Return the settings of a ``deploy.yaml``, and the period of the policy [s].

    It has indices of joints in the order of the `motors`; `where` begins error messages.
    """
    source = _Part(data, where, ": ")
    period, ids = source.positive("step_dt"), source.get("joint_ids_map", tuple[int, ...])
    if not ids or min(ids) < 0 or max(ids) >= len(motors) or len(set(ids)) < len(ids):
        raise UserInputError(
            f"{where}: joint_ids_map must have different numbers below {len(motors)}, the number "
            "of joints"
        )
    joints = [motors[motor] for motor in ids]
    gains = {
        key: _of_motors(source.numbers(name), ids, source.at(name))
        for key, name in (("kp", "stiffness"), ("kd", "damping"))
    }
    actions = []
    for name in (every := source.part("actions")).data:
        if name not in _TARGETS:
            raise unknown("action", name, _TARGETS, where=where)
        given, own = every.part(name), list(range(len(joints)))
        if given.has("joint_ids"):
            own = given.indices("joint_ids", len(joints))
        action = {
            "joints": [joints[joint] for joint in own],
            "target": _TARGETS[name],
            "scale": given.numbers("scale"),
            "offset": given.numbers("offset"),
            **{key: [values[joint] for joint in own] for key, values in gains.items()},
        }
        if given.has("clip"):
            action["clip"] = _transposed(given.get("clip", tuple[_PAIR, ...]))
        actions.append(action)
    pose = _pose(joints, source.numbers("default_joint_pos"), where)
    inputs = _inputs(source, joints, period)
    return {"joints": joints, "default_pose": pose, "inputs": inputs, "actions": actions}, period


def _transposed(pairs: Iterable[Sequence[float]]) -> list[list[float]]:
    """Return lower and upper limits of pairs of both."""
    return [list(limit) for limit in zip(*pairs, strict=True)]


def _pose(joints: Sequence[str], positions: Sequence[float], where: str) -> dict[str, float]:
    if len(positions) != len(joints):
        raise UserInputError(f"{where}: default_joint_pos has not {len(joints)} numbers")
    return dict(zip(joints, positions, strict=True))


def settings_of_metadata(metadata: Mapping[str, str], where: str) -> Settings:
    """Return the settings in the metadata of an ONNX file, which lack the period of the policy."""
    needed = ("joint_names", "default_joint_pos", "observation_names", "action_scale")
    for key in needed:
        if key not in metadata:
            known = ", ".join(metadata) or "nothing"
            raise UserInputError(f"{where}: the metadata lack '{key}'; they have: {known}")
    joints = _words(metadata["joint_names"])
    positions = _csv(metadata["default_joint_pos"], f"{where}: default_joint_pos")
    pose = _pose(joints, positions, where)
    action: Settings = {
        "joints": _words(metadata.get("action_joint_names", metadata["joint_names"])),
    }
    for joint in action["joints"]:
        if joint not in joints:
            raise unknown(f"{where}: action_joint_names: joint", joint, joints)
    scale = _csv(metadata["action_scale"], f"{where}: action_scale")
    action["scale"] = scale[0] if len(scale) == 1 else scale
    for key, name in (("kp", "joint_stiffness"), ("kd", "joint_damping")):
        if name in metadata:
            values = _csv(metadata[name], f"{where}: {name}")
            if len(values) != len(joints):
                raise UserInputError(f"{where}: {name} has not {len(joints)} numbers")
            action[key] = [values[joints.index(joint)] for joint in action["joints"]]
    terms, names = [], _words(metadata["observation_names"])
    key = "observation_history_lengths"
    lengths = _csv(metadata[key], f"{where}: {key}") if key in metadata else [1] * len(names)
    if len(lengths) != len(names) or any(
        length < 0 or length != round(length) for length in lengths
    ):
        raise UserInputError(f"{where}: {key} has not {len(names)} whole numbers")
    for name, length in zip(names, lengths, strict=True):
        terms.append(_term_with_history(_term(name, where), round(length)))
        if terms[-1]["term"] == "command":
            for command in _words(metadata.get("command_names", "")):
                if command not in _VELOCITY_COMMANDS:
                    raise unknown("command", command, _VELOCITY_COMMANDS, where=where)
    return {
        "joints": joints,
        "default_pose": pose,
        "inputs": {"obs": {"terms": terms}},
        "actions": [action],
    }


def table(settings: Settings, *, file: str, period: float, decimation: int, imu: str) -> Settings:
    """Return a table whose only motion is the policy, with a period [s]; `imu` may be empty."""
    first: Settings = {"class": "Policy", "file": file, "decimation": decimation}
    return {
        "rate": round(decimation / period, 9),
        "initial": "RUN",
        "states": {
            "RUN": first | ({"imu": imu} if imu else {}) | settings,
            "STOPPED": {"class": "Hold", "outcome": "stopped", "failure": True},
        },
        "transitions": {"RUN": {"fell": "STOPPED", "invalid": "STOPPED"}},
    }


def _inputs(source: _Part, joints: Sequence[str], period: float) -> Settings:
    observations = source.part("observations")
    names = [name for name in observations.data if name not in _SWITCHES]
    groups = {name: observations.part(name) for name in names}
    if all("history_length" in group.data or "scale" in group.data for group in groups.values()):
        groups = {"obs": observations}  # its entries are terms
    inputs = {}
    for name, group in groups.items():
        terms = [
            _deployed_term(group, key, source, joints, period)
            for key in group.data
            if key not in _SWITCHES
        ]
        inputs[name] = {"terms": terms}
        if group.data.get("use_gym_history"):  # frames of all terms
            lengths = {term.pop("history", 1) for term in terms}
            if len(lengths) != 1:
                raise UserInputError(
                    f"{observations.name}: with use_gym_history, history_length must be one"
                )
            inputs[name]["history"] = lengths.pop()
    return inputs


def _deployed_term(
    group: _Part, name: str, source: _Part, joints: Sequence[str], period: float
) -> Settings:
    data, where = _Part(group.data[name], f"{source.at('observations')}.{name}"), source.at("")
    kind = _term(name, f"{where}observations")
    history = convert(int, data.data.get("history_length", 1), data.at("history_length"))
    term = _term_with_history(kind, history)
    scale = data.numbers("scale") if data.has("scale") else None
    if scale == []:
        raise UserInputError(f"{data.at('scale')} must not be empty")
    if scale is not None and any(factor != 1.0 for factor in scale):
        term["scale"] = scale if len(set(scale)) > 1 else scale[0]
    if data.has("clip"):
        term["clip"] = limits = data.get("clip", _PAIR)
        if group.data.get("scale_first") and scale is not None:
            if min(scale) <= 0.0:
                raise UserInputError(
                    f"{data.at('scale')} must be positive with scale_first and a clip"
                )
            term["clip"] = [[limit / factor for factor in scale] for limit in limits]
    params = data.part("params", is_optional=True)
    if kind == "command":
        commands = source.part("commands", is_optional=True)
        velocity = commands.part("base_velocity", is_optional=True)
        if velocity.has("ranges"):
            ranges = velocity.part("ranges")
            term["clip"] = _transposed([ranges.get(key, _PAIR) for key in _VELOCITIES])
    elif kind == "gait_phase":
        term["period"] = params.positive("period")
        term["phases"] = [period / term["period"]]  # the phase advances before each run
    elif kind.startswith("joint_"):
        asset = params.part("asset_cfg", is_optional=True)
        if asset.has("joint_ids"):
            term["joints"] = [joints[index] for index in asset.indices("joint_ids", len(joints))]
    return term


def _term_with_history(name: str, length: int) -> Settings:
    """Return a term; Isaac Lab counts a single value as a history of 0 or 1."""
    return {"term": name} if length in (0, 1) else {"term": name, "history": length}


def _term(name: str, where: str) -> str:
    if name not in _TERMS:
        raise unknown("observation", name, _TERMS, where=where)
    return _TERMS[name]


def _of_motors(values: Sequence[float], ids: Sequence[int], where: str) -> list[float]:
    """Return values that are in the order of all or the used motors in the policy's order."""
    places = ids if len(values) > max(ids) else [sorted(ids).index(motor) for motor in ids]
    if len(values) <= max(places):
        raise UserInputError(
            f"{where} has {counted(len(values), 'number')}, too few for "
            f"{counted(len(ids), 'joint')}"
        )
    return [values[place] for place in places]


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _csv(text: str, where: str) -> list[float]:
    try:
        numbers = [float(word) for word in _words(text.strip("[]"))]
        return list(convert(tuple[float, ...], numbers, where))
    except ValueError as error:
        raise UserInputError(f"{where}: {error}") from error
