"""Trial of walk: a humanoid walks with a constant velocity, and stops."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.conditions import (
    CommandFilter,
    check_ranges,
    delayed_commands,
    drawn_pushes,
    push_base,
    scale_masses,
    tilt_floor,
)
from mujoco_ros.controllers.evaluation.observation_noise import USUAL, Noise
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder, Settings, Trial
from mujoco_ros.controllers.fsm.transition import TransitionRejectedError
from mujoco_ros.controllers.library.config_checks import check_positive
from mujoco_ros.model.scene.config import SceneConfig
from mujoco_ros.sim.simulation import Simulation

Range = tuple[float, float]
_WALK_AT = 1.0
"""Time of the request to walk [s]."""
_RATE = 200.0
"""Ticks per second."""
_STOPPING = 4.0
"""Time from the request to stop until the end of the episode [s]."""
_FALLEN = 0.8
"""Part of the initial height of the base above the ground, below which the robot has fallen."""
_TOLERANCE = 0.15
"""Largest difference of the walked and the commanded distance or turn, as part of the latter."""
_SLACK = 0.15
"""The same, in metres; a push displaces the robot."""
_TURN_SLACK = 0.2
"""The same, in radians."""
_UPRIGHT = 0.1
"""Largest tilt of the base at the end [rad]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Walks:
    """Ranges of the conditions, with uniform distributions.

    Attributes:
        scene: Name or file of the scene.
        world: File of the world; empty for that of the scene.
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
    duration: float = 15.0
    push: Range = (0.0, 0.1)
    push_period: float = 3.0
    friction: Range = (1.0, 1.0)
    mass: Range = (1.0, 1.0)
    delay: Range = (0.0, 0.0)
    slope: Range = (0.0, 0.0)
    noise: Noise = USUAL

    def __post_init__(self) -> None:
        check_ranges(self, positive=("friction", "mass"), not_negative=("push", "delay"))
        check_positive(self, "duration", "push_period")


def _constant(walks: Walks, x: float, y: float, yaw: float) -> Walks:
    """Return a walk of a minute with a constant velocity, without pushes."""
    velocity: dict[str, Any] = {"x": (x, x), "y": (y, y), "yaw": (yaw, yaw)}
    return replace(walks, duration=60.0, push=(0.0, 0.0), **velocity)


_SLOPE = float(np.deg2rad(3.0))


def named_walks(pushed: Walks, plates: str) -> dict[str, Walks]:
    """Return the conditions of a walking robot by name.

    Pushes alone; with all perturbations; a minute over unknown plates 1 cm high, and on a floor
    with a slope of 3°.

    Args:
        pushed: Those with pushes alone.
        plates: File of the world with the plates.
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
        **{f"{name}_on_plates": replace(it, world=plates) for name, it in directions.items()},
        **{f"{name}_on_slope": replace(it, slope=slope) for name, it in directions.items()},
    }


WALKS: Mapping[str, Walks] = named_walks(
    Walks(), "package://mujoco_ros/urdf_mjcf/worlds/plates.xml"
)


@dataclass(frozen=True)
class WalkTrial(Trial):
    """The trial.

    Attributes:
        walking: State of the controller that walks.
        label: Request for it.
    """

    walking: ClassVar[str] = "WALK"
    label: ClassVar[str] = "walk"
    ranges: Walks = WALKS["pushed"]
    controller: str = "walk"
    limit: float = 600.0

    @property
    def scene(self) -> str:
        """Name or file of the scene."""
        return self.ranges.scene

    def scene_config(self) -> SceneConfig:
        """Return the scene, with another world if there is one."""
        scene = Trial.scene_config(self)
        return replace(scene, world=self.ranges.world) if self.ranges.world else scene

    @property
    def _stop_at(self) -> float:
        return _WALK_AT + self.ranges.duration

    def conditions(self, seed: int) -> Conditions:
        """Draw the conditions; each push has a strength, a direction and a time."""
        random, ranges = np.random.default_rng(seed), self.ranges
        names = ("x", "y", "yaw", "friction", "delay", "slope")
        drawn = {name: random.uniform(*getattr(ranges, name)) for name in names}
        drawn["slope_direction"] = random.uniform(-np.pi, np.pi)
        drawn["masses"] = float(random.integers(2**31))  # seed of the factors
        for number in range(int(ranges.duration / ranges.push_period)):
            drawn[f"push_{number}"] = random.uniform(*ranges.push)
            drawn[f"push_direction_{number}"] = random.uniform(-np.pi, np.pi)
            begin = _WALK_AT + number * ranges.push_period
            drawn[f"push_at_{number}"] = begin + random.uniform(0.5, 1.0) * ranges.push_period
        return drawn

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Set friction and slope."""
        model.geom_friction[:, 0] *= conditions["friction"]
        tilt_floor(model, conditions["slope"], conditions["slope_direction"])

    def disturb(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Set the masses of the links."""
        random = np.random.default_rng(int(conditions["masses"]))
        scale_masses(model, random.uniform(*self.ranges.mass, size=model.nbody))

    def command_filter(self, conditions: Conditions) -> CommandFilter:
        """Return a function that delays commands."""
        return delayed_commands(conditions["delay"])

    def settings(self, conditions: Conditions) -> Settings:
        """Return the velocity as settings of the state that walks."""
        velocity = {f"velocity_{axis}": conditions[axis] for axis in ("x", "y", "yaw")}
        return {
            **self.changes,
            self.walking: {**velocity, **self.changes.get(self.walking, {})},
        }

    def act(
        self, simulation: Simulation, request: Callable[[str], object], conditions: Conditions
    ) -> None:
        """Request to walk, and to stop, and push."""
        for when, label in ((_WALK_AT, self.label), (self._stop_at, "stop")):
            if abs(simulation.time - when) < 0.5 / _RATE:
                with suppress(TransitionRejectedError):  # after a fall
                    request(label)
        push_base(simulation, drawn_pushes(conditions))

    def is_over(self, simulation: Simulation, outcome: str | None) -> bool:
        """Return whether the time is over, or the robot has fallen."""
        return outcome is not None or simulation.time >= self._stop_at + _STOPPING - 0.01

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        """Measure the base at the end against the commanded motion, and the estimated base.

        The distance is from start to end in a straight line; of a constant velocity, that is the
        chord of a circle.
        """
        simulation = recorder.simulation
        start = simulation.plant.start.qpos
        address = simulation.layout.robots[0].bases[0].qpos
        now = simulation.data.qpos[address : address + 7]
        moved = now[:3] - start[address : address + 3]
        angle, slope = conditions["slope_direction"], np.tan(conditions["slope"])
        rise = slope * float(moved[0] * np.cos(angle) + moved[1] * np.sin(angle))
        half_turn = 0.5 * conditions["yaw"] * self.ranges.duration
        arc = float(np.hypot(conditions["x"], conditions["y"])) * self.ranges.duration
        up = 1.0 - 2.0 * float(now[4] ** 2 + now[5] ** 2)
        return {
            "height": float((now[2] - rise) / start[address + 2]),
            "tilt": float(np.arccos(np.clip(up, -1.0, 1.0))),
            "walked": float(np.hypot(*moved[:2])),
            "commanded": arc * abs(float(np.sinc(half_turn / np.pi))),
            "turned": recorder.turned,
            "commanded_turn": 2.0 * half_turn,
            **recorder.estimate.metrics(),
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return ``fell`` for a low or tilted base, ``distance`` or ``turn`` for a wrong one."""
        if not (measures["height"] >= _FALLEN and measures["tilt"] <= _UPRIGHT):
            return "fell"
        for name, made, commanded, slack in (
            ("distance", "walked", "commanded", _SLACK),
            ("turn", "turned", "commanded_turn", _TURN_SLACK),
        ):
            error = abs(measures[made] - measures[commanded])
            if error > _TOLERANCE * abs(measures[commanded]) + slack:
                return name
        return ""
