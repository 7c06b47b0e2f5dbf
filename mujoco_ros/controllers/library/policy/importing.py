"""Settings of `Policy` from what other software exports beside a policy.

Sources of the formats: `export_deploy_cfg.py` and the C++ headers of unitree_rl_lab
(``params/deploy.yaml``), and the metadata in ONNX files that the exporters of mjlab and of
whole_body_tracking for Isaac Lab write.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mujoco_ros.model.errors import UserInputError, unknown
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
_SWITCHES = ("use_gym_history", "scale_first")
"""Keys beside the terms of an input."""
_ALL_JOINTS = re.compile(r"!!python/object/apply:builtins\.slice(\s*\[(null(, )?)+\]|(\s+- null)+)")
"""How PyYAML writes the Python object ``slice(None)``, which stands for all joints."""
Settings = dict[str, Any]


def read_deploy(path: Path) -> Any:
    """Read a ``deploy.yaml`` as plain data; no object in it is created.

    Raises:
        UserInputError: It cannot be read, or is not valid YAML.
    """
    return parse_yaml(_ALL_JOINTS.sub("null", read_text(path)), str(path))


def settings_of_deploy(data: Any, motors: Sequence[str], where: str) -> tuple[Settings, float]:
    """Return the settings of a ``deploy.yaml``, and the period of the policy [s].

    Args:
        motors: Names of the joints in the order of the motors, into which it has indices.
        where: Beginning of error messages.

    Raises:
        UserInputError: It is malformed, or contains what `Policy` does not have.
    """
    period = _number(_get(data, "step_dt", where), f"{where}: step_dt")
    ids = _integers(_get(data, "joint_ids_map", where), f"{where}: joint_ids_map")
    if not ids or min(ids) < 0 or max(ids) >= len(motors) or len(set(ids)) < len(ids):
        raise UserInputError(
            f"{where}: joint_ids_map must have different numbers below {len(motors)}, the number "
            "of joints"
        )
    joints = [motors[motor] for motor in ids]
    pose = _numbers(_get(data, "default_joint_pos", where), f"{where}: default_joint_pos")
    if len(pose) != len(joints):
        raise UserInputError(f"{where}: default_joint_pos has not {len(joints)} numbers")
    gains = {
        key: _of_motors(_get(data, name, where), ids, f"{where}: {name}")
        for key, name in (("kp", "stiffness"), ("kd", "damping"))
    }
    actions = []
    for name, given in _mapping(_get(data, "actions", where), f"{where}: actions").items():
        at = f"{where}: actions.{name}"
        if name not in _TARGETS:
            raise unknown("action", name, _TARGETS, where=where)
        given = _mapping(given, at)
        own = list(range(len(joints)))
        if given.get("joint_ids") is not None:
            own = _indices(given["joint_ids"], len(joints), f"{at}.joint_ids")
        action = {
            "joints": [joints[joint] for joint in own],
            "target": _TARGETS[name],
            "scale": _numbers(_get(given, "scale", at), f"{at}.scale"),
            "offset": _numbers(_get(given, "offset", at), f"{at}.offset"),
            **{key: [values[joint] for joint in own] for key, values in gains.items()},
        }
        if given.get("clip") is not None:
            pairs = convert(tuple[tuple[float, float], ...], given["clip"], f"{at}.clip")
            action["clip"] = [list(limit) for limit in zip(*pairs, strict=True)]
        actions.append(action)
    settings: Settings = {
        "joints": joints,
        "default_pose": dict(zip(joints, pose, strict=True)),
        "inputs": _inputs(data, joints, period, where),
        "actions": actions,
    }
    return settings, period


def settings_of_metadata(metadata: Mapping[str, str], where: str) -> Settings:
    """Return the settings in the metadata of an ONNX file, which lack the period of the policy.

    Raises:
        UserInputError: The metadata lack an entry, or contain what `Policy` does not have.
    """
    needed = ("joint_names", "default_joint_pos", "observation_names", "action_scale")
    for key in needed:
        if key not in metadata:
            known = ", ".join(metadata) or "nothing"
            raise UserInputError(f"{where}: the metadata lack '{key}'; they have: {known}")
    joints = _words(metadata["joint_names"])
    pose = _csv(metadata["default_joint_pos"], f"{where}: default_joint_pos")
    if len(pose) != len(joints):
        raise UserInputError(f"{where}: default_joint_pos has not {len(joints)} numbers")
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
        "default_pose": dict(zip(joints, pose, strict=True)),
        "inputs": {"obs": {"terms": terms}},
        "actions": [action],
    }


def table(settings: Settings, *, file: str, period: float, decimation: int, imu: str) -> Settings:
    """Return a table whose only motion is the policy.

    Args:
        settings: Settings of the policy.
        period: Period of the policy [s].
        decimation: Ticks of the controller for each run of the network.
        imu: Name of the IMU; empty for the floating base.
    """
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


def _inputs(data: Any, joints: Sequence[str], period: float, where: str) -> Settings:
    file, where = where, f"{where}: observations"
    observations = _mapping(data.get("observations"), where)
    groups = {
        name: _mapping(group, f"{where}.{name}")
        for name, group in observations.items()
        if name not in _SWITCHES
    }
    if all("history_length" in group or "scale" in group for group in groups.values()):
        groups = {"obs": observations}
    inputs = {}
    for name, group in groups.items():
        switches = {key: bool(group.get(key, False)) for key in _SWITCHES}
        terms = [
            _deployed_term(key, value, data, joints, period, switches["scale_first"], file)
            for key, value in group.items()
            if key not in _SWITCHES
        ]
        inputs[name] = {"terms": terms}
        if switches["use_gym_history"]:  # frames of all terms
            lengths = {term.pop("history", 1) for term in terms}
            if len(lengths) != 1:
                raise UserInputError(f"{where}: with use_gym_history, history_length must be one")
            inputs[name]["history"] = lengths.pop()
    return inputs


def _deployed_term(
    name: str,
    data: Any,
    source: Any,
    joints: Sequence[str],
    period: float,
    scale_first: bool,
    file: str,
) -> Settings:
    where = f"{file}: observations"
    at = f"{where}.{name}"
    data = _mapping(data, at)
    limits: list[Any]
    term: Settings = {"term": _term(name, where)}
    scale = None if data.get("scale") is None else _numbers(data["scale"], f"{at}.scale")
    if scale == []:
        raise UserInputError(f"{at}.scale must not be empty")
    if scale is not None and any(factor != 1.0 for factor in scale):
        term["scale"] = scale if len(set(scale)) > 1 else scale[0]
    if data.get("clip") is not None:
        limits = _pair(data["clip"], f"{at}.clip")
        if scale_first and scale is not None:
            if min(scale) <= 0.0:
                raise UserInputError(f"{at}.scale must be positive with scale_first and a clip")
            term["clip"] = [[limit / factor for factor in scale] for limit in limits]
        else:
            term["clip"] = limits
    history = convert(int, data.get("history_length", 1), f"{at}.history_length")
    term |= _term_with_history(term["term"], history)
    params = _optional(data, "params", at)
    if term["term"] == "command":
        commands = _optional(source, "commands", file)
        velocity = _optional(commands, "base_velocity", f"{file}: commands")
        if velocity.get("ranges") is not None:
            ranges, at = velocity["ranges"], f"{file}: commands.base_velocity.ranges"
            limits = [_pair(_get(ranges, key, at), f"{at}.{key}") for key in _VELOCITIES]
            term["clip"] = [list(limit) for limit in zip(*limits, strict=True)]
    elif term["term"] == "gait_phase":
        term["period"] = _number(_get(params, "period", at), f"{at}.period")
        term["phases"] = [period / term["period"]]  # the phase advances before each run
    elif term["term"].startswith("joint_"):
        ids = _optional(params, "asset_cfg", f"{at}.params").get("joint_ids")
        if ids is not None:
            ids_at = f"{at}.params.asset_cfg.joint_ids"
            term["joints"] = [joints[index] for index in _indices(ids, len(joints), ids_at)]
    return term


def _term_with_history(name: str, length: int) -> Settings:
    """Return a term; Isaac Lab counts a single value as a history of 0 or 1."""
    return {"term": name} if length in (0, 1) else {"term": name, "history": length}


def _term(name: str, where: str) -> str:
    if name not in _TERMS:
        raise unknown("observation", name, _TERMS, where=where)
    return _TERMS[name]


def _of_motors(data: Any, ids: Sequence[int], where: str) -> list[float]:
    """Return values that are in the order of all or the used motors in the policy's order."""
    values = _numbers(data, where)
    places = ids if len(values) > max(ids) else [sorted(ids).index(motor) for motor in ids]
    if len(values) <= max(places):
        raise UserInputError(f"{where} has {len(values)} numbers, too few for {len(ids)} joints")
    return [values[place] for place in places]


def _mapping(data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise UserInputError(f"{where}: expected a mapping, got {type(data).__name__}")
    return {str(key): value for key, value in data.items()}


def _get(data: Any, key: str, where: str) -> Any:
    mapping = _mapping(data, where)
    if key not in mapping:
        raise UserInputError(f"{where}: key '{key}' is missing")
    return mapping[key]


def _optional(data: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    """Return a mapping; an absent or null one is empty."""
    return {} if data.get(key) is None else _mapping(data[key], f"{where}.{key}")


def _number(value: Any, where: str) -> float:
    number: float = convert(float, value, where)
    if not number > 0.0:
        raise UserInputError(f"{where} must be positive, got {number:g}")
    return number


def _numbers(value: Any, where: str) -> list[float]:
    return list(convert(tuple[float, ...], value, where))


def _integers(value: Any, where: str) -> list[int]:
    return list(convert(tuple[int, ...], value, where))


def _indices(value: Any, size: int, where: str) -> list[int]:
    indices = _integers(value, where)
    if not indices or not all(0 <= index < size for index in indices):
        raise UserInputError(f"{where} must have numbers from 0 to {size - 1}, got {indices}")
    return indices


def _pair(value: Any, where: str) -> list[float]:
    return list(convert(tuple[float, float], value, where))


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _csv(text: str, where: str) -> list[float]:
    try:
        return _numbers([float(word) for word in _words(text.strip("[]"))], where)
    except ValueError as error:
        raise UserInputError(f"{where}: {error}") from error
