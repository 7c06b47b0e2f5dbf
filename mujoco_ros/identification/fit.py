"""Least squares over the parameters of a robot, as a report and as a scene with the result."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import yaml
from scipy.optimize import OptimizeResult, least_squares

from mujoco_ros.identification.joint_record import JointRecord
from mujoco_ros.identification.parameters import (
    DELAY,
    Estimate,
    Parameter,
    ParameterSet,
    check_bounds,
    judge,
    unknowns_of,
)
from mujoco_ros.identification.replay import Interpolation, Replay, Windows, noise_of
from mujoco_ros.identification.robot_model import IdentifiedRobot
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import scene_path, shipped_scenes, split_arguments

LEAST_MOTION = 100.0
"""Range of positions over their noise, below which a joint does not move."""
_WINDOW_S = 2.0
_FEW = 4  # windows of a first fit, from which the fit of all begins
_STEP = 1e-4
_TOLERANCE = 5e-6
"""Relative reduction of the sum of squares that ends the fit: far below what noise explains."""
_MARGIN = 0.05
_ITERATIONS = 30
_RESIDUALS = 250_000  # rows of the Jacobian; more samples are thinned
_DIVERGED = 1e6
_EXACT = 0.1  # residuals of the scene over the noise below which it has no errors that can be found
_NOTHING = "there is nothing to fit; is it of a simulation of this scene?"
_WORSE = 1.1  # ratio of the residuals of the fit and of the scene from which the fit has failed


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The result of a fit."""

    robot: str
    estimates: tuple[Estimate, ...]  # of the joints that were fitted, and of the delay
    values: np.ndarray  # (5, n) parameters of all joints, rows as in `KINDS`
    delay: float  # time from the stamp of a command until it acts [s]
    residual: float  # root mean square of all residuals, over the noise
    skipped: dict[str, str]  # reasons by joint that was not fitted

    @property
    def scene_delay(self) -> float:
        """The delay of the commands in the scene [s]."""
        return next(one.before for one in self.estimates if one.parameter.kind == DELAY)


def fit(
    robot: IdentifiedRobot,
    record: JointRecord,
    joints: Sequence[str] = (),
    *,
    interpolation: Interpolation = "hold",
    progress: Callable[[str], object] = lambda _text: None,
) -> Fit:
    """Fit armature, dry friction, damping and gains of joints, and the delay of their commands.

    The parameters of the robot change. Without `joints`, all that move and have a torque motor are
    fitted. UserInputError if no robot has an estimate, or the scene repeats the recording better.
    """
    fitted, skipped = _choose(robot, record, joints)
    columns = robot.index(fitted, f"robot '{robot.name}'")
    own = record.select(fitted, "the recording")
    for signal in ("velocity", "effort"):
        missing = np.isnan(getattr(own, signal)).any(axis=0)
        if missing.any():
            names = ", ".join(joint for joint, lacks in zip(fitted, missing, strict=True) if lacks)
            progress(f"no {signal} is measured of {names}")
    speeds = np.gradient(own.position, own.times, axis=0)
    velocity = np.where(np.isfinite(own.velocity), own.velocity, speeds)
    start = unknowns_of(robot, columns, velocity.std(axis=0))

    def residuals_of(most: int | None) -> _Residuals:
        measured = _noise(record)[:2]
        windows = Windows(robot, record, measured, _WINDOW_S, interpolation, most)
        return _Residuals(robot, windows, own, columns)

    residuals = residuals_of(None)
    before = residuals.over_noise(start)
    if before < _EXACT:
        raise UserInputError(
            f"the scene repeats the recording within {before:.2g} times its noise: {_NOTHING}"
        )
    rough, _ = _minimize(residuals_of(_FEW), start, progress)
    best, minimum = _minimize(residuals, rough, progress)
    estimates: dict[Parameter, Estimate] = {}
    while True:
        scale = float(np.mean(minimum.fun**2))
        judged = judge(best, minimum.jac, scale, start, residuals.has_effort)
        estimates |= {estimate.parameter: estimate for estimate in judged}
        unsure = [estimate.parameter for estimate in judged if not estimate.determined]
        if len(unsure) in (0, len(judged)):
            break
        # The others depend on the values of these, and may not be determined with those either.
        progress(f"{len(unsure)} parameters are not determined; fitting the others again")
        best, minimum = _minimize(residuals, best.without(unsure, start), progress)
    found = best.without(unsure, start)
    after = residuals.over_noise(found)
    if after > _WORSE * before:
        raise UserInputError(
            f"the scene repeats the recording with {before:.2g} times its noise, and the fit with "
            f"{after:.2g}: {_NOTHING}"
        )
    check_bounds(found, estimates)
    found = replace(found, delay=max(found.delay, 0.0))
    return Fit(
        robot=robot.name,
        estimates=tuple(replace(one, value=max(one.value, 0.0)) for one in estimates.values()),
        values=found.values,
        delay=found.delay,
        residual=residuals.over_noise(found),
        skipped=skipped,
    )


def _choose(
    robot: IdentifiedRobot, record: JointRecord, joints: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Return the joints to fit, and why the others are not."""
    where = f"robot '{robot.name}'"
    driven = robot.driven[robot.index(record.joints, where)]
    noise = _noise(record)[0]
    motion = np.ptp(record.position, axis=0)
    chosen, skipped = [], {}
    for column, joint in enumerate(record.joints):
        if not record.commanded[column]:
            skipped[joint] = "it has no position references in the bag"
        elif not driven[column]:
            skipped[joint] = "no torque motor drives it alone"
        elif motion[column] <= LEAST_MOTION * noise[column]:
            skipped[joint] = (
                f"it does not move: its positions span {motion[column]:.2g}, with a noise of "
                f"{noise[column]:.2g}"
            )
        else:
            chosen.append(joint)
    for joint in joints:
        robot.index([joint], where)
        if joint not in record.joints:
            raise UserInputError(f"joint '{joint}' is not in the bag")
        if joint in skipped:
            raise UserInputError(f"joint '{joint}' cannot be fitted: {skipped[joint]}")
    if joints:
        skipped |= {joint: "it is not among --joints" for joint in chosen if joint not in joints}
        chosen = list(joints)
    if not chosen:
        reasons = "; ".join(f"'{joint}': {reason}" for joint, reason in skipped.items())
        raise UserInputError(f"no joint of {where} can be fitted: {reasons}")
    return chosen, skipped


def _noise(record: JointRecord) -> np.ndarray:
    return np.stack([noise_of(one) for one in (record.position, record.velocity, record.effort)])


class _Residuals:
    """Differences between simulated and measured signals, over their noise."""

    def __init__(
        self, robot: IdentifiedRobot, windows: Windows, own: JointRecord, columns: np.ndarray
    ) -> None:
        """Compare the joints of a record, whose indices in the robot are `columns`."""
        self._robot, self._windows = robot, windows
        self._columns = columns
        noise = _noise(own)
        measured = np.stack([own.position, own.velocity, own.effort])[:, windows.counted]
        usable = np.isfinite(measured).all(axis=1) & np.isfinite(noise)
        self._usable = usable & ~np.isnan(self._predict(robot.values, 0.0)).all(axis=1)
        self.has_effort = bool(self._usable[2].all())
        rows = measured.shape[1] * int(self._usable.sum())
        self._stride = max(1, int(np.ceil(rows / _RESIDUALS)))
        self._measured = self._flat(measured)
        self._noise = self._flat(np.broadcast_to(noise[:, None], measured.shape))

    def __call__(self, parameters: ParameterSet) -> np.ndarray:
        predicted = self._flat(self._predict(parameters.values, parameters.delay))
        error = (predicted - self._measured) / self._noise
        large = _DIVERGED
        return np.asarray(np.nan_to_num(error, nan=large, posinf=large, neginf=-large))

    def over_noise(self, parameters: ParameterSet) -> float:
        """Return the root mean square of the residuals."""
        return float(np.sqrt(np.mean(self(parameters) ** 2)))

    def _predict(self, values: np.ndarray, delay: float) -> np.ndarray:
        """Return the signals of the compared joints.  # (3, m, k)"""
        self._robot.apply(values)
        return self._windows.simulate(delay, self._columns)

    def _flat(self, signals: np.ndarray) -> np.ndarray:
        """Return the usable signals among signals (3, m, k), thinned."""
        thinned = signals[:, :: self._stride].transpose(0, 2, 1)
        return np.ravel(thinned[self._usable])


def _minimize(
    residuals: _Residuals, start: ParameterSet, progress: Callable[[str], object]
) -> tuple[ParameterSet, OptimizeResult]:
    """Return the parameters with the least sum of squares, and the result of the optimiser.

    `mujoco.sysid.optimize` finds the same numbers with 3.2 times the simulations, or 1.1 times with
    its SciPy back end, and installs six packages that nothing else here needs.
    """
    low, high = np.transpose([unknown.bounds for unknown in start.unknowns])
    kept: dict[bytes, np.ndarray] = {}

    def at(vector: np.ndarray) -> np.ndarray:
        if vector.tobytes() not in kept:
            kept.clear()
            kept[vector.tobytes()] = residuals(start.with_vector(vector))
        return kept[vector.tobytes()]

    def derivatives(vector: np.ndarray) -> np.ndarray:
        here = at(vector)
        progress(f"{np.sqrt(np.mean(here**2)):.4g} times the noise")
        steps = _STEP * np.maximum(1.0, np.abs(vector))
        moved = vector + np.diag(steps)
        columns = [residuals(start.with_vector(row)) - here for row in moved]
        return np.asarray(np.stack(columns, axis=1) / steps)

    # Away from the bounds, where its steps would be short.
    first = np.clip(start.vector, low + _MARGIN, high - _MARGIN)
    limits = {"ftol": _TOLERANCE, "xtol": None, "gtol": None, "max_nfev": _ITERATIONS}
    result = least_squares(at, first, derivatives, bounds=(low, high), x_scale="jac", **limits)
    return start.with_vector(result.x), result


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
    file, arguments = split_arguments(scene)
    extends = file if file in shipped_scenes() else str(scene_path(file).absolute())
    extends = " ".join([extends, *(f"{name}:={value}" for name, value in arguments.items())])
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
