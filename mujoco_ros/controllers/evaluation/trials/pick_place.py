"""Trial of pick_place: a box is moved from one position on a table to another."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation import variations
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder, Trial
from mujoco_ros.controllers.evaluation.trials import boxes
from mujoco_ros.controllers.evaluation.trials.boxes import BOX, BoxTrial
from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.controllers.library.config_checks import CheckedConfig
from mujoco_ros.controllers.library.pick_place import arm as arms
from mujoco_ros.controllers.library.pick_place.grasping import QUARTER, upright
from mujoco_ros.controllers.library.pick_place.task import TASK
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.config import ObjectConfig, SceneConfig
from mujoco_ros.sim.simulation import Simulation

Position = tuple[float, float]
_SIZE, _TOP = 0.040, 0.315
_MASS = 0.150
_OBSTACLE, _OBSTACLE_EDGE, _OBSTACLE_MASS = "obstacle", 0.060, 1.0
_BOX_MODEL = "package://mujoco_ros/urdf_mjcf/objects/box.xml"
_AWAY = (0.62, 0.36)  # position of the obstacle in the scene [m], before it is drawn
_PADS = ("arm/left_pad", "arm/right_pad")
_FINGER = "arm/left_finger_joint"
_AXES = 6
_MOTION_SPEED = 0.1  # speed of a box that is moved [m/s]
_MOTION_AT = (0.1, 0.9)  # time at which the motion of the box begins [s]: during the approach
_HIT = 0.005  # displacement of the obstacle that counts as a collision [m]
_MIN_DISTANCE = 0.08  # minimum distance between start and goal [m]: a box and its fingers
_OBSTACLE_DISTANCE = 0.16
"""Minimum distance of the obstacle from start and goal [m]: the hand and half of a box."""
_MAX_DRAWS = 1000  # of a position
_MAX_LAYOUTS = 200  # draws of start, goal and obstacle, some of which leave no space for another
_LAB_START, _LAB_GOAL = (0.35, 0.20), (0.35, -0.20)  # of "MuJoCo Robotics Lab, Part 9" [m]
_LAB_X = _LAB_START[0] - 0.1, _LAB_START[0] + 0.3  # of an obstacle beside them [m]


class Spread(CheckedConfig):
    """Ranges of the conditions of `PickPlaceTrial`."""

    x: variations.OptionalRange = None  # start and goal [m]; None: of the lab
    y: variations.Range = (-0.35, 0.35)  # start and goal [m]
    reach: variations.Range = (0.30, 0.70)  # distance of both from the arm's axis [m]
    yaw: variations.Range = (0.0, 0.0)  # yaw of the box at its start and at its goal [rad]
    size: variations.Range = (_SIZE, _SIZE)  # edge of the box [m]
    mass: variations.PositiveRange = (_MASS, _MASS)  # mass of the box [kg]
    friction: variations.PositiveRange = (1.0, 1.0)  # factor on the friction of box and finger pads
    offset: variations.Range = (0.0, 0.0)  # offset of the encoder of each axis [rad]
    delay: variations.Range = (0.0, 0.0)  # delay of the poses of objects [s]
    obstacle: variations.OptionalRange = None  # height of a box on the table [m]; None without
    motion: variations.Range = (0.0, 0.0)  # of the box in the approach, towards the goal ± 90° [m]
    noise: variations.Noise = variations.USUAL  # noise of the observations

    def check(self) -> None:
        for name, (least, most), unit in _LIMITS:
            pair = getattr(self, name)
            if pair is not None and not least <= pair[0] <= pair[1] <= most:
                raise UserInputError(
                    f"{name} from {pair[0]:g} to {pair[1]:g} {unit} is not within {least:g} to "
                    f"{most:g} {unit}"
                )


_LIMITS = (
    ("size", (0.039, 0.095), "m"),  # between the closed and the open fingers
    ("offset", (-0.1, 0.1), "rad"),
    ("delay", (0.0, 1.0), "s"),
    ("obstacle", (0.01, 0.5), "m"),
    ("motion", (0.0, 0.1), "m"),
)
"""Allowed ranges of conditions, and their units."""
SPREADS: Mapping[str, Spread] = {
    "lab": Spread(),
    "table": Spread(
        x=(0.28, 0.65),
        yaw=(-np.pi, np.pi),
        mass=(0.05, 0.30),
        friction=(0.7, 1.3),
    ),
    "perturbed": Spread(
        x=(0.28, 0.65),
        yaw=(-np.pi, np.pi),
        size=(0.04, 0.06),
        mass=(0.05, 1.2),
        friction=(0.5, 1.5),
        offset=(-0.005, 0.005),
        delay=(0.0, 0.1),
        obstacle=(0.05, 0.2),
        noise=variations.scaled(variations.USUAL, 10.0),
    ),
}
"""The lab's start and goal; all positions on the table that are reachable from above; the same
with all perturbations at once."""


class _NoSpaceError(UserInputError):
    """The drawn positions leave no space for another one."""


@dataclass(frozen=True)
class PickPlaceTrial(BoxTrial):
    """A box is moved from one position on a table, as in the scene ``arm``, to another."""

    ranges: Spread = SPREADS["lab"]
    controller: str = "pick_place"
    scene: str = "arm"

    def scene_config(self) -> SceneConfig:
        scene = Trial.scene_config(self)
        if self.ranges.obstacle is None:
            return scene
        pose = PoseConfig(xyz=(*_AWAY, _TOP))
        obstacle = ObjectConfig(name=_OBSTACLE, model=_BOX_MODEL, pose=pose)
        return replace(scene, objects=(*scene.objects, obstacle))

    def conditions(self, seed: int) -> Conditions:
        random = np.random.default_rng(seed)
        problem: Exception
        for _ in range(_MAX_LAYOUTS):
            try:
                return self._drawn(random)
            except _NoSpaceError as error:
                problem = error
        raise UserInputError(f"seed {seed}: {problem}")

    def _drawn(self, random: np.random.Generator) -> Conditions:
        ranges = self.ranges
        start, goal = _LAB_START, _LAB_GOAL
        if ranges.x is not None:
            start, goal = self._positions(ranges.x, random)
        drawn = {
            "start_x": start[0],
            "start_y": start[1],
            "start_yaw": random.uniform(*ranges.yaw),
            "goal_x": goal[0],
            "goal_y": goal[1],
            "goal_yaw": random.uniform(*ranges.yaw),
            "mass": random.uniform(*ranges.mass),
            "friction": random.uniform(*ranges.friction),
            "size": random.uniform(*ranges.size),
        }
        if ranges.offset != (0.0, 0.0):
            for axis in range(1, _AXES + 1):
                drawn[f"offset_{axis}"] = random.uniform(*ranges.offset)
        if ranges.delay != (0.0, 0.0):
            drawn["delay"] = random.uniform(*ranges.delay)
        if ranges.obstacle is not None:
            drawn["obstacle"] = random.uniform(*ranges.obstacle)
            clear = self._clear_position((start, goal), random)
            drawn["obstacle_x"], drawn["obstacle_y"] = clear
        if ranges.motion != (0.0, 0.0):
            drawn["motion"] = random.uniform(*ranges.motion)
            towards = np.arctan2(goal[1] - start[1], goal[0] - start[0])
            drawn["motion_direction"] = towards + random.uniform(-QUARTER, QUARTER)
            drawn["motion_at"] = random.uniform(*_MOTION_AT)
        return drawn

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        size = conditions["size"]
        _place(model, BOX, (size, size, size), self.box_pose(conditions, "start"))
        if "obstacle" in conditions:
            height, edge = conditions["obstacle"], _OBSTACLE_EDGE
            x, y = conditions["obstacle_x"], conditions["obstacle_y"]
            pose = upright(x, y, _TOP + 0.5 * height, 0.0)
            variations.set_mass(model, model.body(f"{_OBSTACLE}/{BOX}").id, _OBSTACLE_MASS)
            _place(model, _OBSTACLE, (edge, edge, height), pose)

    def goal(self, conditions: Conditions) -> Conditions:
        return {name: conditions[name] for name in ("goal_x", "goal_y", "goal_yaw")}

    def disturb(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        variations.set_mass(model, model.body(f"{BOX}/{BOX}").id, conditions["mass"])
        boxes.scale_box_friction(model, _PADS, conditions["friction"])
        hinges = np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_HINGE))
        for axis, joint in enumerate(hinges, 1):
            variations.offset_hinge(model, int(joint), conditions.get(f"offset_{axis}", 0.0))

    def impossible(self, model: mujoco.MjModel) -> str:
        box = model.body(f"{BOX}/{BOX}").id
        pads, (face,) = [model.geom(name).id for name in _PADS], arms.collision_geoms(model, [box])
        data, vector = mujoco.MjData(model), np.empty(6)
        mujoco.mj_kinematics(model, data)  # with closed fingers
        gap = mujoco.mj_geomDistance(model, data, *pads, 1.0, vector)
        opening = 0.5 * (2.0 * float(model.geom_size[face, 1]) - gap)
        force = arms.closing_force(model, model.joint(_FINGER).id, opening)
        friction = arms.sliding_friction(model, pads, [face])
        return "too_heavy" if model.body_mass[box] > arms.largest_mass(force, friction) else ""

    def observation_filter(self, seed: int, conditions: Conditions) -> variations.ObservationFilter:
        noise = Trial.observation_filter(self, seed, conditions)
        return variations.delayed_poses(conditions.get("delay", 0.0), noise)

    def act(
        self, simulation: Simulation, request: Callable[[str], object], conditions: Conditions
    ) -> None:
        distance = conditions.get("motion", 0.0)
        since = simulation.time - conditions.get("motion_at", 0.0)
        if 0.0 <= since < distance / _MOTION_SPEED:
            angle = conditions["motion_direction"]
            velocity = boxes.box_joint(simulation).qvel
            velocity[:2] = _MOTION_SPEED * np.cos(angle), _MOTION_SPEED * np.sin(angle)

    def height(self, conditions: Conditions) -> float:
        return _TOP + 0.5 * conditions["size"]

    def goal_settings(self, conditions: Conditions) -> Mapping[str, Any]:
        x, y, yaw_angle = (float(conditions[f"goal_{name}"]) for name in ("x", "y", "yaw"))
        return {"goal": [x, y, _TOP, yaw_angle], "goal_height": "surface"}

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        simulation, store = recorder.simulation, recorder.store
        error, errors = self.place_error(simulation, conditions)
        metrics = store.get(TASK).metrics if TASK in store else {}
        return {
            "error_x": float(error[0]),
            "error_y": float(error[1]),
            **errors,
            "tracking": boxes.motion_tracking(recorder),
            **{name: metrics.get(name, 0.0) for name in ("ik_error", "ik_turn", "corners")},
            "payload_error": metrics.get("payload", np.nan) - conditions["mass"],
            **boxes.effort_and_time(recorder),
            **_obstacle_moved(simulation, conditions),
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        missed = BoxTrial.flaw(self, measures)
        return missed or ("hit_obstacle" if measures.get("obstacle_moved", 0.0) > _HIT else "")

    def _positions(self, x: variations.Range, random: np.random.Generator) -> Sequence[Position]:
        start = self._position(x, random)
        problem = f"x and y have no space for a start and a goal {_MIN_DISTANCE:g} m apart"
        draw = partial(self._position, x, random)
        return start, _first(draw, (start,), _MIN_DISTANCE, _NoSpaceError(problem))

    def _clear_position(self, places: Sequence[Position], random: np.random.Generator) -> Position:
        draw = partial(self._position, self.ranges.x or _LAB_X, random)
        problem = (
            f"x and y have no space for an obstacle {_OBSTACLE_DISTANCE:g} m from start and goal"
        )
        return _first(draw, places, _OBSTACLE_DISTANCE, _NoSpaceError(problem))

    def _position(self, x: variations.Range, random: np.random.Generator) -> Position:
        least, most = self.ranges.reach
        for _ in range(_MAX_DRAWS):
            position = random.uniform(*x), random.uniform(*self.ranges.y)
            if least <= np.hypot(*position) <= most:
                return position
        raise UserInputError(
            f"reach from {least:g} to {most:g} m: (almost) no position within x and y is at that "
            "distance from the arm"
        )


def _first(
    draw: Callable[[], Position], others: Sequence[Position], least: float, problem: Exception
) -> Position:
    """Draw positions until one has a least distance from others [m]."""
    for _ in range(_MAX_DRAWS):
        position = draw()
        if min(np.hypot(*np.subtract(position, other)) for other in others) >= least:
            return position
    raise problem


def _place(model: mujoco.MjModel, name: str, size: tuple[float, float, float], pose: Pose) -> None:
    boxes.set_start(model, name, pose)
    variations.set_box_size(model, model.body(f"{name}/{BOX}").id, size)


def _obstacle_moved(simulation: Simulation, conditions: Conditions) -> dict[str, float]:
    if "obstacle" not in conditions:
        return {}
    x, y, _ = simulation.data.joint(f"{_OBSTACLE}/{BOX}_free").qpos[:3]
    moved = np.hypot(x - conditions["obstacle_x"], y - conditions["obstacle_y"])
    return {"obstacle_moved": float(moved)}
