"""Trials of robots with legs: stand is pushed, walk and trot move with a velocity and stop."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation import variations
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder, Settings, Trial
from mujoco_ros.controllers.fsm.table import TransitionRejectedError
from mujoco_ros.controllers.library.base_states import tilt_of
from mujoco_ros.controllers.library.config_checks import CheckedConfig, Positive
from mujoco_ros.model.scene.config import SceneConfig
from mujoco_ros.sim.simulation import Simulation

_RATE = 200.0  # ticks per second
TOLERANCE = 0.15
"""Largest difference of a motion and the commanded motion, as part of the commanded one."""


class LeggedRanges(CheckedConfig):
    """Ranges of the conditions of a robot that walks."""

    x: variations.Range  # velocity forwards [m/s]
    y: variations.Range  # velocity to the left [m/s]
    yaw: variations.Range  # angular velocity to the left [rad/s]
    push: variations.NotNegativeRange = (0.0, 0.1)  # impulses in any direction per mass [m/s]
    push_period: Positive  # mean time between two pushes [s]
    friction: variations.PositiveRange = (1.0, 1.0)  # factor on all friction
    mass: variations.PositiveRange = (1.0, 1.0)  # factor on each link, unknown to it
    delay: variations.NotNegativeRange = (0.0, 0.0)  # delay of the commands [s]
    noise: variations.Noise = variations.USUAL  # noise of the observations


@dataclass(frozen=True)
class LeggedTrial(Trial):
    """A trial with pushes, other friction and masses of the links, and delayed commands."""

    drawn: ClassVar[tuple[str, ...]] = ()  # names of the ranges that are drawn first
    walking: ClassVar[str] = "WALK"  # state that has the commanded velocity; empty for none
    lowest: ClassVar[float] = 0.8  # part of the base's initial height below which it has fallen
    steepest: ClassVar[float] = 0.1  # largest tilt of the base at the end [rad]

    @property
    def scene(self) -> str:
        name: str = self.ranges.scene
        return name

    @property
    def requests(self) -> Sequence[tuple[float, str]]:
        """Times [s] and labels of the requests."""
        return ()

    @property
    def end(self) -> float:
        """Time at which the episode ends without an outcome of the controller [s]."""
        return np.inf

    def conditions(self, seed: int) -> Conditions:
        random, ranges = np.random.default_rng(seed), self.ranges
        drawn = {name: random.uniform(*getattr(ranges, name)) for name in self.drawn}
        return drawn | self.draw(random)

    def draw(self, random: np.random.Generator) -> dict[str, float]:
        raise NotImplementedError

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        model.geom_friction[:, 0] *= conditions["friction"]

    def disturb(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Set the masses of the links; the condition ``masses`` is the seed of their factors."""
        if "masses" not in conditions:
            return
        random = np.random.default_rng(int(conditions["masses"]))
        least, largest = self.ranges.mass
        factors = random.uniform(float(least), float(largest), size=model.nbody)
        for body, factor in self.mass_factors(model, conditions).items():
            factors[body] = factor
        variations.scale_masses(model, factors)

    def mass_factors(self, model: mujoco.MjModel, conditions: Conditions) -> Mapping[int, float]:
        """Return factors on the masses of bodies that are not drawn as the others."""
        return {}

    def command_filter(self, conditions: Conditions) -> variations.CommandFilter | None:
        return variations.delayed_commands(conditions["delay"]) if "delay" in conditions else None

    def settings(self, conditions: Conditions) -> Settings:
        if not self.walking:
            return self.changes
        velocity = {f"velocity_{axis}": conditions[axis] for axis in ("x", "y", "yaw")}
        changes = self.changes.get(self.walking, {})
        return {**self.changes, self.walking: {**velocity, **changes}}

    def pushes(self, conditions: Conditions) -> Iterable[variations.Push]:
        """Return the pushes of an episode in the order of their times."""
        return variations.drawn_pushes(conditions)

    def act(
        self, simulation: Simulation, request: Callable[[str], object], conditions: Conditions
    ) -> None:
        for when, label in self.requests:
            if abs(simulation.time - when) < 0.5 / _RATE:
                with suppress(TransitionRejectedError):  # after a fall
                    request(label)
        variations.push_base(simulation, self.pushes(conditions))

    def is_over(self, simulation: Simulation, outcome: str | None) -> bool:
        return outcome is not None or simulation.time >= self.end - 0.01

    def flaw(self, measures: Mapping[str, float]) -> str:
        is_low = not measures["height"] >= self.lowest
        return "fell" if is_low or not measures.get("tilt", 0.0) <= self.steepest else ""


def base_motion(simulation: Simulation) -> tuple[np.ndarray, dict[str, float]]:
    """Return the displacement of the base (3,) [m], and measures of its posture at the end."""
    address = simulation.layout.robots[0].bases[0].qpos
    start, now = simulation.plant.start.qpos[address:], simulation.data.qpos[address:]
    posture = {"height": float(now[2] / start[2]), "tilt": tilt_of(now[3:7])}
    return now[:3] - start[:3], posture


def relative_flaw(
    measures: Mapping[str, float], rows: Iterable[tuple[str, float, str, float]]
) -> str:
    """Return the first flaw that is too large; "" if none is.

    A row has the name of the flaw, its size, the measure of the commanded size, of which
    `TOLERANCE` is allowed, and the size that is allowed besides.
    """
    for flaw, size, commanded, slack in rows:
        if not abs(size) <= TOLERANCE * abs(measures[commanded]) + slack:
            return flaw
    return ""


class Pushes(CheckedConfig):
    """Ranges of the conditions of `StandTrial`."""

    scene: str = "humanoid"  # name or file of the scene
    push: variations.NotNegativeRange = (0.0, 0.1)  # impulse in any direction per mass [m/s]
    at: variations.NotNegativeRange = (1.0, 15.0)  # time of the push [s]
    mass: variations.NotNegativeRange = (0.9, 1.1)  # factor on the mass of the base
    friction: variations.NotNegativeRange = (0.7, 1.3)  # factor on all friction
    noise: variations.Noise = variations.USUAL  # noise of the observations


PUSHES: Mapping[str, Pushes] = {
    "humanoid": Pushes(),
    "quadruped": Pushes(scene="quadruped", push=(0.0, 0.2)),
}


@dataclass(frozen=True)
class StandTrial(LeggedTrial):
    """A robot squats, sways, and is pushed once."""

    walking: ClassVar[str] = ""
    lowest: ClassVar[float] = 0.6
    ranges: Pushes = PUSHES["humanoid"]
    controller: str = "stand"
    limit: float = 18.0

    @property
    def requests(self) -> Sequence[tuple[float, str]]:
        return (3.0, "squat"), (10.0, "sway")

    @property
    def end(self) -> float:
        return self.limit

    def draw(self, random: np.random.Generator) -> dict[str, float]:
        ranges = self.ranges
        return {
            "push": random.uniform(*ranges.push),
            "direction": random.uniform(-np.pi, np.pi),
            "at": random.uniform(*ranges.at),
            "base_mass": random.uniform(*ranges.mass),
            "friction": random.uniform(*ranges.friction),
        }

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        super().edit(model, conditions)
        factors = np.ones(model.nbody)
        factors[variations.free_base(model)] = conditions["base_mass"]
        variations.scale_masses(model, factors)

    def pushes(self, conditions: Conditions) -> Iterable[variations.Push]:
        return [(conditions["push"], conditions["direction"], conditions["at"])]

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        moved, posture = base_motion(recorder.simulation)
        return {
            "height": posture["height"],
            "moved": float(np.hypot(*moved[:2])),
            "tracking": max(recorder.tracking.values(), default=0.0),
        }


_WALK_AT = 1.0  # time of the request to walk [s]
_STOPPING = 4.0  # time from the request to stop until the end of the episode [s]
_SLACK, _TURN_SLACK = 0.15, 0.2
"""Difference of distance [m], because a push displaces the robot, and of turn [rad]."""


class Walks(LeggedRanges):
    """Ranges of the conditions of `WalkTrial`."""

    scene: str = "humanoid"  # name or file of the scene
    world: str = ""  # file of the world; empty for the scene's world
    x: variations.Range = (0.1, 0.3)
    y: variations.Range = (-0.05, 0.05)
    yaw: variations.Range = (-0.1, 0.1)
    duration: Positive = 15.0  # time from the request to walk to the request to stop [s]
    push_period: Positive = 3.0
    slope: variations.Range = (0.0, 0.0)  # angle of the floor, which rises in any direction [rad]

    def constant(self, x: float, y: float, yaw: float) -> "Walks":
        """Return a walk of a minute with a constant velocity, without pushes."""
        return self.changed(duration=60.0, push=(0.0, 0.0), x=(x, x), y=(y, y), yaw=(yaw, yaw))


_SLOPE = float(np.deg2rad(3.0))


def named_walks(pushed: Walks, plates: str) -> dict[str, Walks]:
    """Return named conditions: pushes alone, all perturbations, a minute on plates or a slope.

    The world has unknown plates 1 cm high; the slope is 3°.
    """
    world, slope = f"package://mujoco_ros/urdf_mjcf/worlds/{plates}.xml", (_SLOPE, _SLOPE)
    directions = {
        "forwards": pushed.constant(0.3, 0.0, 0.0),
        "sideways": pushed.constant(0.0, 0.1, 0.0),
        "turning": pushed.constant(0.0, 0.0, float(np.deg2rad(20.0))),
    }
    randomised = pushed.changed(friction=(0.6, 1.4), mass=(0.95, 1.05), delay=(0.005, 0.005))
    return {
        "pushed": pushed,
        "randomised": randomised,
        **{f"{name}_on_plates": ways.changed(world=world) for name, ways in directions.items()},
        **{f"{name}_on_slope": ways.changed(slope=slope) for name, ways in directions.items()},
    }


WALKS: Mapping[str, Walks] = named_walks(Walks(), "plates")


@dataclass(frozen=True)
class WalkTrial(LeggedTrial):
    """A humanoid walks, and stops."""

    drawn: ClassVar[tuple[str, ...]] = ("x", "y", "yaw", "friction", "delay", "slope")
    label: ClassVar[str] = "walk"  # request for the state that walks
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

    def draw(self, random: np.random.Generator) -> dict[str, float]:
        ranges = self.ranges
        drawn = {
            "slope_direction": random.uniform(-np.pi, np.pi),
            "masses": float(random.integers(2**31)),
        }
        for number in range(int(ranges.duration / ranges.push_period)):
            drawn[f"push_{number}"] = random.uniform(*ranges.push)
            drawn[f"push_direction_{number}"] = random.uniform(-np.pi, np.pi)
            begin = _WALK_AT + number * ranges.push_period
            drawn[f"push_at_{number}"] = begin + random.uniform(0.5, 1.0) * ranges.push_period
        return drawn

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        super().edit(model, conditions)
        variations.tilt_floor(model, conditions["slope"], conditions["slope_direction"])

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        """Measure the base at the end against the commanded motion, and the estimated base.

        The distance is from start to end in a straight line: the chord of a circle.
        """
        simulation = recorder.simulation
        moved, posture = base_motion(simulation)
        angle, slope = conditions["slope_direction"], np.tan(conditions["slope"])
        rise = slope * float(moved[0] * np.cos(angle) + moved[1] * np.sin(angle))
        z = simulation.layout.robots[0].bases[0].qpos + 2
        posture["height"] = float((simulation.data.qpos[z] - rise) / simulation.plant.start.qpos[z])
        half_turn = 0.5 * conditions["yaw"] * self.ranges.duration
        arc = float(np.hypot(conditions["x"], conditions["y"])) * self.ranges.duration
        return {
            **posture,
            "walked": float(np.hypot(*moved[:2])),
            "commanded": arc * abs(float(np.sinc(half_turn / np.pi))),
            "turned": recorder.turned,
            "commanded_turn": 2.0 * half_turn,
            **recorder.estimate.metrics(),
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        missed = measures["walked"] - measures["commanded"]
        turn = measures["turned"] - measures["commanded_turn"]
        rows = (
            ("distance", missed, "commanded", _SLACK),
            ("turn", turn, "commanded_turn", _TURN_SLACK),
        )
        return super().flaw(measures) or relative_flaw(measures, rows)


class Trots(Walks):
    """Ranges of the conditions of `TrotTrial`: as of `Walks`, for the quadruped."""

    scene: str = "quadruped"
    x: variations.Range = (0.1, 0.6)
    y: variations.Range = (-0.1, 0.1)
    yaw: variations.Range = (-0.2, 0.2)


TROTS: Mapping[str, Walks] = {
    **named_walks(Trots(), "small_plates"),
    "fast": Trots().constant(0.6, 0.0, 0.0),
}
"""As for walk, and a minute with the greatest velocity."""


@dataclass(frozen=True)
class TrotTrial(WalkTrial):
    """A quadruped trots, and stops."""

    walking: ClassVar[str] = "TROT"
    label: ClassVar[str] = "trot"
    ranges: Walks = TROTS["pushed"]
    controller: str = "trot"
