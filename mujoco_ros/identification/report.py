"""The result of a fit, as text and as a scene that extends the scene of the robot."""

import json
from collections.abc import Mapping
from typing import Any

import yaml

from mujoco_ros.identification.fit import Fit
from mujoco_ros.identification.parameters import DELAY, Estimate
from mujoco_ros.identification.replay import Replay
from mujoco_ros.identification.robot_model import IdentifiedRobot
from mujoco_ros.model.scene.config import scene_path, shipped_scenes

SCENE_SUFFIXES = (".yaml", ".yml")
_DIGITS = 6


def overlay_text(fit: Fit, scene: str, robot: IdentifiedRobot) -> str:
    """Return the YAML of a scene that extends `scene` by the determined parameters of a robot."""
    determined = [estimate for estimate in fit.estimates if estimate.determined]
    joints: dict[str, dict[str, float]] = {}
    for estimate in determined:
        joint, kind = estimate.parameter.joint, estimate.parameter.kind
        if joint:
            joints.setdefault(joint, {})[kind] = _rounded(estimate.value)
    content: dict[str, Any] = {"name": fit.robot}
    if joints:
        content["joints"] = joints
    delays = [estimate for estimate in determined if estimate.parameter.kind == DELAY]
    if delays:
        fitted = list(dict.fromkeys(estimate.parameter.joint for estimate in fit.estimates))
        entries = robot.realism.delayed(fitted, _rounded(delays[0].value))
        content["realism"] = {"actuators": entries}
    extends = scene if scene in shipped_scenes() else str(scene_path(scene).absolute())
    data = {"extends": extends, "robots": [content]}
    head = "".join(f"# {line}\n" for line in _comment(fit))
    return head + yaml.dump(_plain(data), sort_keys=False, default_flow_style=None, width=100)


def _comment(fit: Fit) -> list[str]:
    lines = [
        "Written by fit. ± is the half width of the interval of 95 %; parameters that are not",
        "determined have the values of the scene, for which the others hold.",
    ]
    for one in sorted(fit.estimates, key=lambda one: not one.determined):
        found = f"{one.value:.5g} ± {one.half_width:.2g}, before {one.before:.5g}"
        text = found if one.determined else f"not determined: {one.reason}"
        lines.append(f"{one.parameter.name}: {text}")
    return [*lines, *_skipped(fit)]


def _skipped(fit: Fit) -> list[str]:
    return [f"{joint}: not fitted: {reason}" for joint, reason in fit.skipped.items()]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _plain(data: Any) -> Any:
    """Return data of plain types without shared parts, which YAML would write as aliases."""

    def converted(value: object) -> object:
        return dict(value) if isinstance(value, Mapping) else str(value)

    return json.loads(json.dumps(data, default=converted))


LARGEST_RESIDUAL = 1.2
"""Residuals over the noise, beyond which the model lacks something."""


def fit_report(fit: Fit) -> str:
    """Return a table of all parameters, before and after, with intervals of 95 %."""
    width = max(len(estimate.parameter.name) for estimate in fit.estimates)
    lines = [f"{'parameter':{width}}  {'before':>10}  {'fitted':>10}  {'± 95 %':>8}"]
    for estimate in fit.estimates:
        lines.append(f"{estimate.parameter.name:{width}}  {_numbers(estimate)}")
    if not all(estimate.determined for estimate in fit.estimates):
        lines.append("the others and their intervals hold for the scene's values of these")
    lines += _skipped(fit)
    lines.append(f"residuals: {fit.residual:.3f} times the noise")
    if fit.residual > LARGEST_RESIDUAL:
        lines.append(
            "warning: the model does not repeat the recording, so that the parameters contain its "
            "errors, and the intervals do not: look for contacts, other masses, backlash, lost "
            "messages, or other references than the drives have"
        )
    return "".join(f"{line}\n" for line in lines)


def replay_report(name: str, before: Replay, after: Replay) -> str:
    """Return a table of the errors of positions of a recording, before and after a fit."""
    width = max(len(joint) for joint in after.joints)
    lines = [
        f"replay of {name}: errors of positions over the noise",
        f"{'joint':{width}}  {'before':>10}  {'fitted':>10}",
    ]
    for joint, old, new in zip(after.joints, before.ratio, after.ratio, strict=True):
        lines.append(f"{joint:{width}}  {old:>10.4g}  {new:>10.4g}")
    return "".join(f"{line}\n" for line in lines)


def _numbers(estimate: Estimate) -> str:
    factor, unit = (1e3, " ms") if estimate.parameter.kind == DELAY else (1.0, "")
    before, half = f"{factor * estimate.before:>10.5g}", f"{factor * estimate.half_width:>8.2g}"
    if not estimate.determined:
        return f"{before}  {'':>10}  {'':>8}  not determined: {estimate.reason}"
    return f"{before}  {factor * estimate.value:>10.5g}  {half}{unit}"
