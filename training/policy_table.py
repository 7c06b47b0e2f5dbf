"""What the table of the controller determines: inputs, default pose, gains and period."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "mujoco_ros" / "controllers" / "library" / "trot_policy" / "trot_policy.yaml"
_STATE = "WALK"


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyTable:
    """The settings of the state `Policy` that the training needs.

    Attributes:
        tick: Time in which a simulator reaches a target [s].
        period: Period of the policy [s].
        terms: Terms of the input in order, with their settings.
        default_pose: Positions by joint that differ from the initial keyframe [rad].
        scale: Factor of the actions [rad].
        kp: Proportional gain [Nm/rad].
        kd: Derivative gain [Nm s/rad].
    """

    tick: float
    period: float
    terms: tuple[Mapping[str, Any], ...]
    default_pose: Mapping[str, float]
    scale: float
    kp: float
    kd: float

    def setting(self, term: str, name: str) -> Any:
        """Return a setting of a term."""
        return next(row[name] for row in self.terms if row["term"] == term)


def load_policy_table(path: Path = TABLE) -> PolicyTable:
    """Read the table of the controller."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    state, tick = data["states"][_STATE], 1.0 / data["rate"]
    (action,) = state["actions"]
    return PolicyTable(
        tick=tick,
        period=tick * state["decimation"],
        terms=tuple(state["inputs"]["obs"]["terms"]),
        default_pose=state["default_pose"],
        scale=action["scale"],
        kp=action["kp"],
        kd=action["kd"],
    )
