"""Trial of walk: a humanoid walks with a constant velocity, and stops."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.episode_recorder import EpisodeRecorder
from mujoco_ros.controllers.evaluation.observation_noise import USUAL, Noise
from mujoco_ros.controllers.evaluation.trial import Conditions, Settings, Trial
from mujoco_ros.controllers.fsm.transition import TransitionRejectedError
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.simulation import Simulation

Range = tuple[float, float]
_WALK_AT, _STOP_AT = 1.0, 16.0
"""Times of the requests [s]."""
_RATE = 200.0
"""Ticks per second."""
_FALLEN = 0.8
"""Part of the initial height of the base, below which the robot has fallen."""
_TOLERANCE = 0.1
"""Largest difference of the walked and the commanded distance, as part of the latter."""
_UPRIGHT = 0.1
"""Largest tilt of the base at the end [rad]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Velocities:
    """Ranges of the conditions, with uniform distributions.

    Attributes:
        scene: Name or file of the scene.
        x: Velocity forwards [m/s].
        y: Velocity to the left [m/s].
        yaw: Angular velocity to the left [rad/s].
        friction: Factor on all friction.
        noise: Noise of the observations.
    """

    scene: str = "humanoid"
    x: Range = (0.1, 0.3)
    y: Range = (-0.05, 0.05)
    yaw: Range = (-0.1, 0.1)
    friction: Range = (0.7, 1.3)
    noise: Noise = USUAL

    def __post_init__(self) -> None:
        for name in ("x", "y", "yaw", "friction"):
            low, high = getattr(self, name)
            if not low <= high:
                raise UserInputError(f"{name} from {low:g} to {high:g} is reversed")
        if not self.friction[0] > 0.0:
            raise UserInputError(f"friction must be positive, got {self.friction[0]:g}")


VELOCITIES: Mapping[str, Velocities] = {"humanoid": Velocities()}


@dataclass(frozen=True)
class WalkTrial(Trial):
    """The trial."""

    ranges: Velocities = VELOCITIES["humanoid"]
    controller: str = "walk"
    limit: float = 20.0

    @property
    def scene(self) -> str:
        """Name or file of the scene."""
        return self.ranges.scene

    def conditions(self, seed: int) -> Conditions:
        """Draw the velocity and the friction."""
        random, ranges = np.random.default_rng(seed), self.ranges
        names = ("x", "y", "yaw", "friction")
        return {name: random.uniform(*getattr(ranges, name)) for name in names}

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Set the friction."""
        model.geom_friction[:, 0] *= conditions["friction"]

    def settings(self, conditions: Conditions) -> Settings:
        """Return the velocity as settings of WALK."""
        velocity = {f"velocity_{axis}": conditions[axis] for axis in ("x", "y", "yaw")}
        return {**self.changes, "WALK": {**velocity, **self.changes.get("WALK", {})}}

    def act(
        self, simulation: Simulation, request: Callable[[str], object], conditions: Conditions
    ) -> None:
        """Request to walk, and to stop."""
        for when, label in ((_WALK_AT, "walk"), (_STOP_AT, "stop")):
            if abs(simulation.time - when) < 0.5 / _RATE:
                with suppress(TransitionRejectedError):  # after a fall
                    request(label)

    def is_over(self, simulation: Simulation, outcome: str | None) -> bool:
        """Return whether the time limit is reached, or the robot has fallen."""
        return outcome is not None or simulation.time >= self.limit - 0.01

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        """Measure the base at the end against the commanded motion.

        The distance is from start to end in a straight line; of a constant velocity, that is the
        chord of a circle.
        """
        simulation = recorder.simulation
        start = simulation.plant.start.qpos
        address = simulation.layout.robots[0].bases[0].qpos
        now = simulation.data.qpos[address : address + 7]
        half_turn = 0.5 * conditions["yaw"] * (_STOP_AT - _WALK_AT)
        arc = float(np.hypot(conditions["x"], conditions["y"])) * (_STOP_AT - _WALK_AT)
        up = 1.0 - 2.0 * float(now[4] ** 2 + now[5] ** 2)
        return {
            "height": float(now[2] / start[address + 2]),
            "tilt": float(np.arccos(np.clip(up, -1.0, 1.0))),
            "walked": float(np.hypot(*(now[:2] - start[address : address + 2]))),
            "commanded": arc * float(np.sinc(half_turn / np.pi)),
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return ``fell`` if the base is too low or tilted, ``distance`` if that is wrong."""
        if not (measures["height"] >= _FALLEN and measures["tilt"] <= _UPRIGHT):
            return "fell"
        error = abs(measures["walked"] - measures["commanded"])
        return "" if error <= _TOLERANCE * measures["commanded"] else "distance"
