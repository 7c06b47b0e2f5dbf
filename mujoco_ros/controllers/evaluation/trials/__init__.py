"""Trials by the name of the controller."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mujoco_ros.controllers.evaluation.trial import Settings, Trial
from mujoco_ros.controllers.evaluation.trials.boxes import (
    PERTURBATIONS,
    HandoverTrial,
    Perturbations,
)
from mujoco_ros.controllers.evaluation.trials.legged import PUSHES, Pushes, StandTrial
from mujoco_ros.controllers.evaluation.trials.pick_place import SPREADS, PickPlaceTrial, Spread
from mujoco_ros.controllers.evaluation.trials.trot_policy import (
    POLICY_TROTS,
    PolicyTrots,
    PolicyTrotTrial,
)
from mujoco_ros.controllers.evaluation.trials.walk import (
    TROTS,
    WALKS,
    Trots,
    TrotTrial,
    Walks,
    WalkTrial,
)
from mujoco_ros.controllers.evaluation.trials.walk_grasp import CARRIES, Carries, WalkGraspTrial
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.strict import from_dict, read_yaml

_TRIALS: Mapping[str, tuple[Any, type[Any], Mapping[str, Any]]] = {
    "handover": (HandoverTrial, Perturbations, PERTURBATIONS),
    "pick_place": (PickPlaceTrial, Spread, SPREADS),
    "stand": (StandTrial, Pushes, PUSHES),
    "trot": (TrotTrial, Trots, TROTS),
    "trot_policy": (PolicyTrotTrial, PolicyTrots, POLICY_TROTS),
    "walk": (WalkTrial, Walks, WALKS),
    "walk_grasp": (WalkGraspTrial, Carries, CARRIES),
}
"""Class of the trial, class of its ranges, and named ranges."""


def trial(controller: str, conditions: str = "", changes: Settings | None = None) -> Trial:
    """Return the trial of a controller with changed settings.

    Args:
        conditions: Name or YAML file of the ranges of conditions; empty is the first name.

    Raises:
        UserInputError: The trial or the name does not exist, or the file is invalid.
    """
    if controller not in _TRIALS:
        raise unknown("trial for a controller", controller, _TRIALS)
    cls, ranges, named = _TRIALS[controller]
    made: Trial = cls(_ranges(conditions, named, ranges), changes or {})
    return made


def default_conditions(controller: str) -> str:
    """Return the name of the default conditions of a known controller."""
    return next(iter(_TRIALS[controller][-1]))


def _ranges(name: str, named: Mapping[str, Any], cls: type[Any]) -> Any:
    if not name:
        return next(iter(named.values()))
    if name in named:
        return named[name]
    if not name.endswith((".yaml", ".yml")):
        raise UserInputError(f"{unknown('set of conditions', name, named)}; or give a YAML file")
    return from_dict(cls, read_yaml(Path(name)), name)
