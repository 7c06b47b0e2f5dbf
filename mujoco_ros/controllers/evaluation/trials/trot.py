"""Trial of trot: a quadruped trots with a constant velocity, and stops."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from mujoco_ros.controllers.evaluation.trials.walk import Walks, WalkTrial, named_walks


@dataclass(frozen=True, kw_only=True)
class Trots(Walks):
    """Ranges of the conditions, those of `Walks` for the quadruped."""

    scene: str = "quadruped"
    x: tuple[float, float] = (0.1, 0.6)
    y: tuple[float, float] = (-0.1, 0.1)
    yaw: tuple[float, float] = (-0.2, 0.2)


_TROT = Trots()
_FAST = replace(_TROT, x=(0.6, 0.6), y=(0.0, 0.0), yaw=(0.0, 0.0), duration=60.0, push=(0.0, 0.0))
TROTS: Mapping[str, Walks] = {
    **named_walks(_TROT, "package://mujoco_ros/urdf_mjcf/worlds/small_plates.xml"),
    "fast": _FAST,
}
"""As for walk, and a minute with the greatest velocity."""


@dataclass(frozen=True)
class TrotTrial(WalkTrial):
    """The trial."""

    walking: ClassVar[str] = "TROT"
    label: ClassVar[str] = "trot"
    ranges: Walks = TROTS["pushed"]
    controller: str = "trot"
