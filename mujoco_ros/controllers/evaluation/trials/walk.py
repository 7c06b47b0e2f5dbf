"""Trials of walk and trot: a robot moves with a constant velocity, and stops."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.conditions import (
    USUAL,
    Noise,
    NotNegativeRange,
    PositiveRange,
    Range,
    tilt_floor,
)
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder, Trial
from mujoco_ros.controllers.evaluation.trials.legged import (
    LeggedTrial,
    base_poses,
    relative_flaw,
    tilt,
)
from mujoco_ros.controllers.library.config_checks import CheckedConfig, Positive
from mujoco_ros.model.scene.config import SceneConfig

_WALK_AT = 1.0
"""Time of the request to walk [s]."""
_STOPPING = 4.0
"""Time from the request to stop until the end of the episode [s]."""
_TOLERANCE = 0.15
"""Largest difference of walked and commanded distance or turn, as part of the commanded one."""
_SLACK, _TURN_SLACK = 0.15, 0.2
"""The same in metres, because a push displaces the robot; and in radians."""


class Walks(CheckedConfig):
    """Ranges of the conditions of `WalkTrial`.

    Attributes:
        scene: Name or file of the scene.
        world: File of the world; empty for the scene's world.
        x: Velocity forwards [m/s].
        y: Velocity to the left [m/s].
        yaw: Angular velocity to the left [rad/s].
        duration: Time from the request to walk to that to stop [s].
        push: Horizontal impulses on the base in any direction, per mass of the robot [m/s].
        push_period: Mean time between two pushes [s].
        friction: Factor on all friction.
        mass: Factor on the mass of each link, which the controller does not know.
        delay: Delay of the commands [s].
        slope: Angle of the floor, which rises in any direction [rad].
        noise: Noise of the observations.
    """

    scene: str = "humanoid"
    world: str = ""
    x: Range = (0.1, 0.3)
    y: Range = (-0.05, 0.05)
    yaw: Range = (-0.1, 0.1)
    duration: Positive = 15.0
    push: NotNegativeRange = (0.0, 0.1)
    push_period: Positive = 3.0
    friction: PositiveRange = (1.0, 1.0)
    mass: PositiveRange = (1.0, 1.0)
    delay: NotNegativeRange = (0.0, 0.0)
    slope: Range = (0.0, 0.0)
    noise: Noise = USUAL


def _constant(walks: Walks, x: float, y: float, yaw: float) -> Walks:
    """Return a walk of a minute with a constant velocity, without pushes."""
    velocity: dict[str, Any] = {"x": (x, x), "y": (y, y), "yaw": (yaw, yaw)}
    return replace(walks, duration=60.0, push=(0.0, 0.0), **velocity)


_SLOPE = float(np.deg2rad(3.0))


def named_walks(pushed: Walks, plates: str) -> dict[str, Walks]:
    """Return named conditions: pushes alone, all perturbations, a minute on plates or a slope.

    Args:
        pushed: The conditions with pushes alone.
        plates: File of a world with unknown plates 1 cm high; the slope is 3°.
    """
    directions = {
        "forwards": _constant(pushed, 0.3, 0.0, 0.0),
        "sideways": _constant(pushed, 0.0, 0.1, 0.0),
        "turning": _constant(pushed, 0.0, 0.0, float(np.deg2rad(20.0))),
    }
    slope = (_SLOPE, _SLOPE)
    return {
        "pushed": pushed,
        "randomised": replace(pushed, friction=(0.6, 1.4), mass=(0.95, 1.05), delay=(0.005, 0.005)),
        **{f"{name}_on_plates": replace(walks, world=plates) for name, walks in directions.items()},
        **{f"{name}_on_slope": replace(walks, slope=slope) for name, walks in directions.items()},
    }


WALKS: Mapping[str, Walks] = named_walks(
    Walks(), "package://mujoco_ros/urdf_mjcf/worlds/plates.xml"
)


@dataclass(frozen=True)
class WalkTrial(LeggedTrial):
    """A humanoid walks, and stops.

    Attributes:
        label: Request for the state that walks.
    """

    lowest: ClassVar[float] = 0.8
    steepest: ClassVar[float] = 0.1
    label: ClassVar[str] = "walk"
    ranges: Walks = WALKS["pushed"]
    controller: str = "walk"
    limit: float = 600.0

    def scene_config(self) -> SceneConfig:
        scene = Trial.scene_config(self)
        return replace(scene, world=self.ranges.world) if self.ranges.world else scene

    @property
    def requests(self) -> Sequence[tuple[float, str]]:
        return (_WALK_AT, self.label), (_WALK_AT + self.ranges.duration, "stop")

    @property
    def end(self) -> float:
        return _WALK_AT + self.ranges.duration + _STOPPING

    def conditions(self, seed: int) -> Conditions:
        random, ranges = np.random.default_rng(seed), self.ranges
        names = ("x", "y", "yaw", "friction", "delay", "slope")
        drawn = {name: random.uniform(*getattr(ranges, name)) for name in names}
        drawn["slope_direction"] = random.uniform(-np.pi, np.pi)
        drawn["masses"] = float(random.integers(2**31))
        for number in range(int(ranges.duration / ranges.push_period)):
            drawn[f"push_{number}"] = random.uniform(*ranges.push)
            drawn[f"push_direction_{number}"] = random.uniform(-np.pi, np.pi)
            begin = _WALK_AT + number * ranges.push_period
            drawn[f"push_at_{number}"] = begin + random.uniform(0.5, 1.0) * ranges.push_period
        return drawn

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        LeggedTrial.edit(self, model, conditions)
        tilt_floor(model, conditions["slope"], conditions["slope_direction"])

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        """Measure the base at the end against the commanded motion, and the estimated base.

        The distance is from start to end in a straight line; of a constant velocity, that is the
        chord of a circle.
        """
        start, now = base_poses(recorder.simulation)
        moved = now[:3] - start[:3]
        angle, slope = conditions["slope_direction"], np.tan(conditions["slope"])
        rise = slope * float(moved[0] * np.cos(angle) + moved[1] * np.sin(angle))
        half_turn = 0.5 * conditions["yaw"] * self.ranges.duration
        arc = float(np.hypot(conditions["x"], conditions["y"])) * self.ranges.duration
        return {
            "height": float((now[2] - rise) / start[2]),
            "tilt": tilt(now[3:]),
            "walked": float(np.hypot(*moved[:2])),
            "commanded": arc * abs(float(np.sinc(half_turn / np.pi))),
            "turned": recorder.turned,
            "commanded_turn": 2.0 * half_turn,
            **recorder.estimate.metrics(),
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        rows = (
            ("distance", measures["walked"] - measures["commanded"], "commanded", _SLACK),
            (
                "turn",
                measures["turned"] - measures["commanded_turn"],
                "commanded_turn",
                _TURN_SLACK,
            ),
        )
        return LeggedTrial.flaw(self, measures) or relative_flaw(measures, rows, _TOLERANCE)


class Trots(Walks):
    """Ranges of the conditions of `TrotTrial`: as of `Walks`, for the quadruped."""

    scene: str = "quadruped"
    x: Range = (0.1, 0.6)
    y: Range = (-0.1, 0.1)
    yaw: Range = (-0.2, 0.2)


_TROT = Trots()
TROTS: Mapping[str, Walks] = {
    **named_walks(_TROT, "package://mujoco_ros/urdf_mjcf/worlds/small_plates.xml"),
    "fast": _constant(_TROT, 0.6, 0.0, 0.0),
}
"""As for walk, and a minute with the greatest velocity."""


@dataclass(frozen=True)
class TrotTrial(WalkTrial):
    """A quadruped trots, and stops."""

    walking: ClassVar[str] = "TROT"
    label: ClassVar[str] = "trot"
    ranges: Walks = TROTS["pushed"]
    controller: str = "trot"
