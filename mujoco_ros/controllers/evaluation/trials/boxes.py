"""Trials that move a box; in the trial of handover, it goes through two hands."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation import variations
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder, Settings, Trial
from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.controllers.library.config_checks import CheckedConfig, NotNegative
from mujoco_ros.controllers.library.pick_place.grasping import QUARTER, upright, yaw
from mujoco_ros.sim.simulation import Simulation

BOX = "box"  # name of the box, of its body and of its model


@dataclass(frozen=True)
class BoxTrial(Trial):
    """A trial that moves a box to a goal."""

    scene: str = ""  # name or file of the scene, with an object ``box``
    tolerance: float = 0.005  # largest horizontal place error of a success [m]
    idle: ClassVar[str] = "IDLE"  # full name of the state that gets the goal

    def box_pose(self, conditions: Conditions, place: str) -> Pose:
        """Return the pose of the box at its start or goal, for `place` ``start`` or ``goal``."""
        x, y, rotation = (conditions[f"{place}_{name}"] for name in ("x", "y", "yaw"))
        return upright(x, y, self.height(conditions), rotation)

    def height(self, conditions: Conditions) -> float:
        """Return the height of the centre of the box at start and goal [m]."""
        raise NotImplementedError

    def goal_settings(self, conditions: Conditions) -> Mapping[str, Any]:
        """Return the settings of the state that gets the goal."""
        position = self.box_pose(conditions, "goal").position.tolist()
        return {"goal": [*position, float(conditions["goal_yaw"])]}

    def settings(self, conditions: Conditions) -> Settings:
        changes = {state: dict(values) for state, values in self.changes.items()}
        changes[self.idle] = {**self.goal_settings(conditions), **changes.get(self.idle, {})}
        return changes

    def place_error(
        self, simulation: Simulation, conditions: Conditions
    ) -> tuple[np.ndarray, dict[str, float]]:
        """Return the place error of the box (3,) [m], and the measures that follow from it."""
        q, goal = box_joint(simulation).qpos, self.box_pose(conditions, "goal")
        box = Pose(position=q[:3].copy(), quat_wxyz=q[3:].copy())
        error, rotation = box.position - goal.position, yaw(box) - yaw(goal)
        return error, {
            "error_xy": float(np.hypot(error[0], error[1])),
            "error_z": float(error[2]),
            "error_yaw": abs(rotation - QUARTER * round(rotation / QUARTER)),
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        missed = measures["error_xy"] > self.tolerance or abs(measures["error_z"]) > self.tolerance
        return "missed_place" if missed else ""


def box_joint(simulation: Simulation) -> Any:
    """Return the free joint of the box."""
    return simulation.data.joint(f"{BOX}/{BOX}_free")


def motion_tracking(recorder: EpisodeRecorder) -> float:
    """Return the largest tracking error of the states that follow a path [rad]."""
    errors = (error for state, error in recorder.tracking.items() if state.startswith("EXEC"))
    return max(errors, default=0.0)


def effort_and_time(recorder: EpisodeRecorder) -> dict[str, float]:
    """Return the number of steps at a torque limit, and the time of the last transition [s]."""
    simulation, made = recorder.simulation, recorder.made
    return {
        "saturated_steps": float(sum(simulation.plant.saturation.steps().values())),
        "cycle": made[-1].time if made else simulation.time,
    }


def scale_box_friction(model: mujoco.MjModel, pads: Iterable[str], factor: float) -> None:
    """Multiply the friction of the box and of the fingers' pads by a factor."""
    for name in (f"{BOX}/{BOX}", *pads):
        model.geom_friction[model.geom(name).id] *= factor


def set_start(model: mujoco.MjModel, name: str, pose: Pose) -> None:
    """Set the initial pose of a box."""
    address = int(model.jnt_qposadr[int(model.body(f"{name}/{BOX}").jntadr[0])])
    model.qpos0[address : address + 7] = *pose.position, *pose.quat_wxyz


_HEIGHT = 0.335
_START, _GOAL = (0.1, 0.45), (1.1, -0.45)  # middle of the starts and of the goals [m]
_PADS = tuple(f"{arm}/{pad}_pad" for arm in ("left_arm", "right_arm") for pad in ("left", "right"))


class Perturbations(CheckedConfig):
    """Ranges of the conditions of `HandoverTrial`."""

    offset: NotNegative = 0.03  # of start and goal from their middle, at most along x and y [m]
    yaw: variations.Range = (-0.3, 0.3)  # yaw of the box at its start and at its goal [rad]
    mass: variations.PositiveRange = (0.10, 0.20)  # mass of the box [kg]
    friction: variations.PositiveRange = (0.8, 1.2)  # factor on the friction of box and finger pads
    noise: variations.Noise = variations.USUAL  # noise of the observations of each arm


PERTURBATIONS: Mapping[str, Perturbations] = {
    "small": Perturbations(),
    "table": Perturbations(offset=0.1, yaw=(-np.pi, np.pi), mass=(0.05, 0.30), friction=(0.7, 1.3)),
}


@dataclass(frozen=True)
class HandoverTrial(BoxTrial):
    """A box goes from a table to another one, in a scene with two arms."""

    idle: ClassVar[str] = "IDLE/TAKER"
    ranges: Perturbations = PERTURBATIONS["small"]
    controller: str = "handover"
    scene: str = "handover"

    def conditions(self, seed: int) -> Conditions:
        random, ranges = np.random.default_rng(seed), self.ranges
        drawn = {}
        for name, middle in (("start", _START), ("goal", _GOAL)):
            for axis, place in zip("xy", middle, strict=True):
                drawn[f"{name}_{axis}"] = place + random.uniform(-ranges.offset, ranges.offset)
            drawn[f"{name}_yaw"] = random.uniform(*ranges.yaw)
        drawn["mass"] = random.uniform(*ranges.mass)
        drawn["friction"] = random.uniform(*ranges.friction)
        return drawn

    def height(self, conditions: Conditions) -> float:
        return _HEIGHT

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        set_start(model, BOX, self.box_pose(conditions, "start"))
        body, factors = model.body(f"{BOX}/{BOX}").id, np.ones(model.nbody)
        factors[body] = conditions["mass"] / float(model.body_mass[body])
        variations.scale_masses(model, factors)
        scale_box_friction(model, _PADS, conditions["friction"])

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        return {
            **self.place_error(recorder.simulation, conditions)[1],
            "tracking": motion_tracking(recorder),
            **effort_and_time(recorder),
        }
