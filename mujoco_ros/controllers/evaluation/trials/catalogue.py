"""Trials by the name of the controller that is put to them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.controllers.evaluation.trials.pick_place import SPREADS, PickPlaceTrial, Spread
from mujoco_ros.controllers.evaluation.trials.stand import PUSHES, Pushes, StandTrial
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.strict import from_dict, read_yaml

Changes = Mapping[str, Mapping[str, Any]]
"""Settings of states, by state."""


def trial(controller: str, conditions: str = "", changes: Changes | None = None) -> Trial:
    """Return what a controller is put to.

    Args:
        controller: Its name.
        conditions: Name of conditions, or a YAML file that says what they are drawn from; empty for
            the first of the names.
        changes: Settings of the controller's states.

    Raises:
        ModelError: There is no trial for it, no such conditions, or the file is wrong.
    """
    if controller not in _TRIALS:
        raise unknown("trial for a controller", controller, _TRIALS)
    return _TRIALS[controller](conditions, changes or {})


def usual_conditions(controller: str) -> str:
    """Return the name of the conditions that a known controller is put to by default."""
    return next(iter(_NAMED[controller]))


def _pick_place(conditions: str, changes: Changes) -> Trial:
    return PickPlaceTrial(spread=_drawn_from(conditions, SPREADS, Spread), changes=changes)


def _drawn_from(name: str, named: Mapping[str, Any], cls: type[Any]) -> Any:
    if not name:
        return next(iter(named.values()))
    if name in named:
        return named[name]
    if not name.endswith((".yaml", ".yml")):
        raise UserInputError(f"{unknown('set of conditions', name, named)}; or give a YAML file")
    return from_dict(cls, read_yaml(Path(name)), name)


def _stand(conditions: str, changes: Changes) -> Trial:
    return StandTrial(pushes=_drawn_from(conditions, PUSHES, Pushes), changes=changes)


_NAMED: Mapping[str, Mapping[str, Any]] = {"pick_place": SPREADS, "stand": PUSHES}
_TRIALS: Mapping[str, Callable[[str, Changes], Trial]] = {
    "pick_place": _pick_place,
    "stand": _stand,
}
