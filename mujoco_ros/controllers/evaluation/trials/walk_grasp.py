"""Trial of walk_grasp: a humanoid carries a box from one table to another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation import variations
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder
from mujoco_ros.controllers.evaluation.trials.legged import LeggedRanges, LeggedTrial, base_motion
from mujoco_ros.controllers.library.base_states import tilt_of
from mujoco_ros.controllers.library.config_checks import NotNegative, Positive
from mujoco_ros.controllers.library.pick_place.grasping import upright

_CARTON = "carton/carton"
_STANDING_ON = {
    "first_table/long_table": "first_table",
    "second_table/long_table": "second_table",
    "sign/sign": "second_table",
}
"""The height of which table each body has."""
_HALF_HEIGHT, _TABLE_HEIGHT = 0.1, 0.75
_BOX_AT = (0.4, 0.0)  # middle of the places of the box [m]
_NEAR = 0.01  # largest distance of the box from the height at which it stands [m]


class Carries(LeggedRanges):
    """Ranges of the conditions of `WalkGraspTrial`."""

    x: variations.Range = (-1.6, -1.6)  # start of the robot, forwards to the first table [m]
    y: variations.Range = (0.0, 0.0)  # start of the robot, to the left [m]
    yaw: variations.Range = (0.0, 0.0)  # heading of the robot at the start [rad]
    offset: NotNegative = 0.0  # largest distance of the box from its middle, along x and y [m]
    box_yaw: variations.Range = (0.0, 0.0)  # yaw of the box [rad]
    table: variations.Range = (0.0, 0.0)  # height of each table above 0.75 m [m]
    box_mass: variations.PositiveRange = (0.5, 0.5)  # mass of the box [kg]
    push_period: Positive = 5.0


_YAW = float(np.deg2rad(15.0))
CARRIES: Mapping[str, Carries] = {
    "pushed": Carries(),
    "randomised": Carries(
        x=(-2.6, -0.5),
        y=(-1.0, 0.4),
        yaw=(-np.pi, np.pi),
        offset=0.05,
        box_yaw=(-_YAW, _YAW),
        table=(-0.03, 0.03),
        box_mass=(0.1, 0.8),
        friction=(0.6, 1.4),
        mass=(0.95, 1.05),
        delay=(0.005, 0.005),
        push=(0.0, 0.0),
    ),
}
"""From the standard start with pushes; with random places, masses and friction."""


@dataclass(frozen=True)
class WalkGraspTrial(LeggedTrial):
    """A humanoid carries a box."""

    drawn: ClassVar[tuple[str, ...]] = (
        *("x", "y", "yaw", "box_yaw", "box_mass", "friction", "delay"),
    )
    walking: ClassVar[str] = ""
    ranges: Carries = CARRIES["pushed"]
    controller: str = "walk_grasp"
    limit: float = 240.0

    @property
    def scene(self) -> str:
        return "walk_grasp"

    def draw(self, random: np.random.Generator) -> dict[str, float]:
        ranges, drawn = self.ranges, {}
        drawn["first_table"], drawn["second_table"] = random.uniform(*ranges.table, size=2)
        for axis, place in zip("xy", _BOX_AT, strict=True):
            drawn[f"box_{axis}"] = place + random.uniform(-ranges.offset, ranges.offset)
        drawn["masses"] = float(random.integers(2**31))
        pushes = ranges.push, ranges.push_period, self.limit
        return drawn | variations.draw_pushes(random, *pushes)

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        super().edit(model, conditions)
        for body_name, table in _STANDING_ON.items():
            model.body_pos[model.body(body_name).id, 2] += conditions[table]
        z = _TABLE_HEIGHT + conditions["first_table"] + _HALF_HEIGHT
        box = upright(conditions["box_x"], conditions["box_y"], z, conditions["box_yaw"])
        body = model.body(_CARTON)
        variations.set_mass(model, int(body.id), conditions["box_mass"])
        at_box = int(model.jnt_qposadr[int(body.jntadr[0])])
        at_base = int(model.jnt_qposadr[int(model.body_jntadr[variations.free_base(model)])])
        half = 0.5 * conditions["yaw"]
        for qpos in (model.qpos0, *model.key_qpos):
            qpos[at_box : at_box + 7] = *box.position, *box.quat_wxyz
            qpos[at_base : at_base + 2] = conditions["x"], conditions["y"]
            qpos[at_base + 3 : at_base + 7] = np.cos(half), 0.0, 0.0, np.sin(half)

    def mass_factors(self, model: mujoco.MjModel, conditions: Conditions) -> Mapping[int, float]:
        return {int(model.body(_CARTON).id): 1.0}

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        simulation = recorder.simulation
        data, model = simulation.data, simulation.model
        box = data.joint("carton/carton_free").qpos
        board = model.geom("second_table/long_table_board").id
        offset = data.geom_xmat[board].reshape(3, 3).T @ (box[:3] - data.geom_xpos[board])
        size = model.geom_size[board]
        made = recorder.made
        return {
            **base_motion(simulation)[1],
            "box_inside": float((size - np.abs(offset))[:2].min()),
            "box_height": float(offset[2] - size[2] - _HALF_HEIGHT),
            "place_error": float(np.hypot(*(box[:2] - data.site("sign/goal").xpos[:2]))),
            "box_tilt": tilt_of(box[3:]),
            "cycle": made[-1].time if made else simulation.time,
            **recorder.estimate.metrics(),
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        is_placed = (
            measures["box_inside"] > 0.0
            and abs(measures["box_height"]) <= _NEAR
            and measures["box_tilt"] <= self.steepest
        )
        return super().flaw(measures) or ("" if is_placed else "missed_place")
