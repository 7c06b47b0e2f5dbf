"""Boxes on a table that are to be brought elsewhere on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.episode_recorder import EpisodeRecorder
from mujoco_ros.controllers.evaluation.observation_noise import USUAL, Noise, noisy
from mujoco_ros.controllers.evaluation.trial import Conditions, Senses
from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.controllers.library.pick_place.task import QUARTER, TASK, upright, yaw
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.simulation import Simulation

Range = tuple[float, float]
Place = tuple[float, float]
_BOX, _HALF, _TOP = "box", 0.020, 0.315
_MASS = 0.150
_APART = 0.08
"""Start and goal lie so far apart at least [m]: a box and its fingers."""
_MOST_DRAWS = 1000
"""So many in vain mean that there is nothing to be drawn."""
LAB_START, LAB_GOAL = (0.35, 0.20), (0.35, -0.20)
"""Of "MuJoCo Robotics Lab, Part 9" [m]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """From where to where the conditions of episodes are drawn, evenly.

    Attributes:
        x: Of start and goal in world [m]; None for the lab's own places.
        y: Of start and goal [m].
        reach: Distance of both from the arm's axis [m].
        yaw: Of the box at its start, and at its goal [rad].
        mass: Of the box [kg].
        friction: Factor on the friction of box and finger pads.
        noise: Of the senses.
    """

    x: Range | None = None
    y: Range = (-0.35, 0.35)
    reach: Range = (0.30, 0.70)
    yaw: Range = (0.0, 0.0)
    mass: Range = (_MASS, _MASS)
    friction: Range = (1.0, 1.0)
    noise: Noise = USUAL

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn from."""
        for name in ("x", "y", "reach", "yaw", "mass", "friction"):
            pair = getattr(self, name)
            if pair is not None and not pair[0] <= pair[1]:
                raise UserInputError(f"{name} goes from {pair[0]:g} to {pair[1]:g}: the wrong way")
        if self.mass[0] <= 0.0 or self.friction[0] <= 0.0:
            raise UserInputError("mass and friction must be positive")


SPREADS: Mapping[str, Spread] = {
    "lab": Spread(),
    "table": Spread(
        x=(0.28, 0.65),
        yaw=(-np.pi, np.pi),
        mass=(0.05, 0.30),
        friction=(0.7, 1.3),
    ),
}
"""The lab's own start and goal; and all of the table that the arm reaches from above."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PickPlaceTrial:
    """The box is brought from one place to another.

    Attributes:
        spread: What differs from episode to episode.
        changes: Settings of the controller's states.
        controller: Name or file of the controller.
        scene: Name or file of the scene: one with an object ``box`` on a table as in ``arm``.
        limit: Simulated time after which an episode ends [s].
        tolerance: Distance from the goal, seen from above, up to which a box is placed [m].
    """

    spread: Spread = SPREADS["lab"]
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    controller: str = "pick_place"
    scene: str = "arm"
    limit: float = 60.0
    tolerance: float = 0.005

    def conditions(self, seed: int) -> Conditions:
        """Draw where the box is, where it shall go, and what it is like."""
        random, spread = np.random.default_rng(seed), self.spread
        start, goal = LAB_START, LAB_GOAL
        if spread.x is not None:
            start, goal = self._places(random)
        return {
            "start_x": start[0],
            "start_y": start[1],
            "start_yaw": random.uniform(*spread.yaw),
            "goal_x": goal[0],
            "goal_y": goal[1],
            "goal_yaw": random.uniform(*spread.yaw),
            "mass": random.uniform(*spread.mass),
            "friction": random.uniform(*spread.friction),
        }

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Put the box at its start, and make it as heavy and as slippery as it shall be."""
        body = model.body(f"{_BOX}/{_BOX}")
        address = int(model.jnt_qposadr[int(body.jntadr[0])])
        start = _stands(conditions, "start")
        model.qpos0[address : address + 7] = *start.position, *start.quat_wxyz
        scale = conditions["mass"] / float(body.mass[0])
        model.body_mass[body.id] *= scale
        model.body_inertia[body.id] *= scale
        for geom in range(model.ngeom):
            if model.geom(geom).name in (f"{_BOX}/{_BOX}", "arm/left_pad", "arm/right_pad"):
                model.geom_friction[geom] *= conditions["friction"]

    def settings(self, conditions: Conditions) -> Mapping[str, Mapping[str, Any]]:
        """Return the order, and what else was asked for."""
        goal = _stands(conditions, "goal")
        order = [*map(float, goal.position), conditions["goal_yaw"]]
        changes = {state: dict(values) for state, values in self.changes.items()}
        changes["IDLE"] = {"goal": order, **changes.get("IDLE", {})}
        return changes

    def senses(self, conditions: Conditions, seed: int) -> Senses:
        """Return senses with noise."""
        return noisy(self.spread.noise, seed)

    def act(
        self,
        simulation: Simulation,
        request: Callable[[str], object],
        conditions: Conditions,
    ) -> None:
        """Leave it alone."""

    def over(self, simulation: Simulation, outcome: str | None) -> bool:
        """Return whether the controller came to an end."""
        return outcome is not None

    def measure(
        self,
        simulation: Simulation,
        store: Store,
        recorder: EpisodeRecorder,
        conditions: Conditions,
    ) -> Mapping[str, float]:
        """Measure where the box is, and how the joints followed."""
        q = simulation.data.joint(f"{_BOX}/{_BOX}_free").qpos
        box, goal = Pose(position=q[:3].copy(), quat_wxyz=q[3:].copy()), _stands(conditions, "goal")
        off = box.position - goal.position
        turned = yaw(box) - yaw(goal)
        moves = [it for state, it in recorder.tracking.items() if state.startswith("EXEC")]
        figures = store.get(TASK).figures if TASK in store else {}
        return {
            "error_x": float(off[0]),
            "error_y": float(off[1]),
            "error_xy": float(np.hypot(off[0], off[1])),
            "error_z": float(off[2]),
            "error_yaw": abs(turned - QUARTER * round(turned / QUARTER)),
            "tracking": max(moves, default=0.0),
            "ik_error": figures.get("ik_error", 0.0),
            "ik_turn": figures.get("ik_turn", 0.0),
            "corners": figures.get("corners", 0.0),
            "payload_error": figures.get("payload", np.nan) - conditions["mass"],
            "saturated_steps": float(sum(simulation.saturation.steps().values())),
            "cycle": recorder.made[-1].time if recorder.made else simulation.time,
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return ``missed_place`` if the box is not where it shall be."""
        missed = measures["error_xy"] > self.tolerance or abs(measures["error_z"]) > self.tolerance
        return "missed_place" if missed else ""

    def _places(self, random: np.random.Generator) -> tuple[Place, Place]:
        start = self._place(random)
        for _ in range(_MOST_DRAWS):
            goal = self._place(random)
            if np.hypot(goal[0] - start[0], goal[1] - start[1]) >= _APART:
                return start, goal
        raise UserInputError(f"x and y leave no room for a start and a goal {_APART:g} m apart")

    def _place(self, random: np.random.Generator) -> Place:
        spread = self.spread
        assert spread.x is not None, "called only if places are drawn"
        for _ in range(_MOST_DRAWS):
            x, y = random.uniform(*spread.x), random.uniform(*spread.y)
            if spread.reach[0] <= np.hypot(x, y) <= spread.reach[1]:
                return x, y
        raise UserInputError(
            f"reach from {spread.reach[0]:g} to {spread.reach[1]:g} m: (almost) no place within x "
            f"and y is that far from the arm"
        )


def _stands(conditions: Conditions, what: str) -> Pose:
    x, y, turned = (conditions[f"{what}_{name}"] for name in ("x", "y", "yaw"))
    return upright(x, y, _TOP + _HALF, turned)
