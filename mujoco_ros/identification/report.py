"""The result of a fit as text."""

from collections.abc import Iterator

from mujoco_ros.identification.confidence import Estimate
from mujoco_ros.identification.fit import Fit
from mujoco_ros.identification.parameters import DELAY
from mujoco_ros.identification.replay import Replay

LARGEST_RESIDUAL = 1.2
"""Residuals over the noise, beyond which the model lacks something."""


def fit_report(fit: Fit) -> str:
    """Return a table of all parameters, before and after, with intervals of 95 %."""
    width = max(len(it.parameter.name) for it in fit.estimates)
    lines = [f"{'parameter':{width}}  {'before':>10}  {'fitted':>10}  {'± 95 %':>8}"]
    for it in fit.estimates:
        lines.append(f"{it.parameter.name:{width}}  {_numbers(it)}")
    if not all(it.determined for it in fit.estimates):
        lines.append("the others and their intervals hold for the scene's values of these")
    lines += [f"{joint}: not fitted: {reason}" for joint, reason in fit.skipped.items()]
    lines.append(f"residuals: {fit.residual:.3f} times the noise")
    if fit.residual > LARGEST_RESIDUAL:
        lines.append(
            "warning: the model does not repeat the recording, so that the parameters contain its "
            "errors, and the intervals do not: look for contacts, other masses, backlash, lost "
            "messages, or references that are not those of the drives"
        )
    return "".join(f"{line}\n" for line in lines)


def replay_report(name: str, before: Replay, after: Replay) -> str:
    """Return a table of the errors of positions over the noise, before and after a fit.

    Args:
        name: Name of the recording.
        before: Its replay with the parameters of the scene.
        after: The same with the fitted ones.
    """
    return "".join(f"{line}\n" for line in _replay_lines(name, before, after))


def _replay_lines(name: str, before: Replay, after: Replay) -> Iterator[str]:
    width = max(len(joint) for joint in after.joints)
    yield f"replay of {name}: errors of positions over the noise"
    yield f"{'joint':{width}}  {'before':>10}  {'fitted':>10}"
    for joint, old, new in zip(after.joints, before.ratio, after.ratio, strict=True):
        yield f"{joint:{width}}  {old:>10.4g}  {new:>10.4g}"


def _numbers(it: Estimate) -> str:
    factor, unit = (1e3, " ms") if it.parameter.kind == DELAY else (1.0, "")
    before, half = f"{factor * it.before:>10.5g}", f"{factor * it.half_width:>8.2g}"
    if not it.determined:
        return f"{before}  {'':>10}  {'':>8}  not determined: {it.reason}"
    return f"{before}  {factor * it.value:>10.5g}  {half}{unit}"
