"""Trials by the name of the controller."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mujoco_ros.controllers.evaluation.trial import Settings, Trial
from mujoco_ros.controllers.evaluation.trials import (
    boxes,
    legged,
    pick_place,
    trot_policy,
    walk_grasp,
)
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.scene.random_ranges import RandomRanges
from mujoco_ros.model.strict import from_dict, read_yaml

_TRIALS: Mapping[str, tuple[Any, Mapping[str, Any]]] = {
    "handover": (boxes.HandoverTrial, boxes.PERTURBATIONS),
    "pick_place": (pick_place.PickPlaceTrial, pick_place.SPREADS),
    "stand": (legged.StandTrial, legged.PUSHES),
    "trot": (legged.TrotTrial, legged.TROTS),
    "trot_policy": (trot_policy.PolicyTrotTrial, trot_policy.POLICY_TROTS),
    "walk": (legged.WalkTrial, legged.WALKS),
    "walk_grasp": (walk_grasp.WalkGraspTrial, walk_grasp.CARRIES),
}
"""Class of the trial, and its named ranges; the first ones are the default."""


def trial(
    controller: str,
    conditions: str = "",
    changes: Settings | None = None,
    randomize: Path | None = None,
) -> Trial:
    """Return the trial of a controller with changed settings.

    The `conditions` are a name or a YAML file of ranges; empty is the first name. `randomize` is a
    YAML file as the key of a scene, with or without the key; it adds random numbers of the model.
    """
    if controller not in _TRIALS:
        raise unknown("trial for a controller", controller, _TRIALS)
    cls, named = _TRIALS[controller]
    name = conditions or default_conditions(controller)
    if name not in named and not name.endswith((".yaml", ".yml")):
        raise UserInputError(f"{unknown('set of conditions', name, named)}; or give a YAML file")
    kind = type(next(iter(named.values())))
    ranges = named[name] if name in named else from_dict(kind, read_yaml(Path(name)), name)
    content = {} if randomize is None else read_yaml(randomize)
    if randomize is not None and not (isinstance(content, dict) and "randomize" in content):
        content = {"randomize": content}
    added = from_dict(RandomRanges, content, str(randomize)).randomize
    made: Trial = cls(ranges, changes or {}, randomize=added)
    return made


def default_conditions(controller: str) -> str:
    """Return the name of the default conditions of a known controller."""
    return next(iter(_TRIALS[controller][-1]))
