"""Whole-body postures over feet that stay where they are."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.planning.kinematics.stance import Shift, Stance
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.plant import Plant

FEET = {
    "humanoid": ("left_foot", "right_foot"),
    "quadruped": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
}


@pytest.fixture(scope="module", params=FEET)
def robot(request):
    return robot_model(Plant(assemble(load_scene(request.param)), lambda _event: None), 0)


def stand(robot, feet=None) -> Stance:
    feet = feet or [robot.prefix + foot for foot in FEET[robot.name]]
    return Stance(robot.model, robot.qpos, robot.dof, robot.home, feet)


def seen_from_feet(robot, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return feet, base and centre of mass relative to the mean of the feet, base upright."""
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[robot.qpos] = q
    data.qpos[3:7] = 1.0, 0.0, 0.0, 0.0
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    feet = np.array([data.body(robot.prefix + foot).xpos for foot in FEET[robot.name]])
    base = 1
    middle = feet.mean(axis=0)
    return feet - middle, data.xpos[base] - middle, data.subtree_com[base] - middle


def whole(robot, stance: Stance, legs: np.ndarray) -> np.ndarray:
    q = robot.home.copy()
    q[stance.legs] = legs
    return q


def test_a_squat_lowers_the_base_upright_over_feet_and_weight_that_stay(robot):
    stance = stand(robot)
    depths = np.arange(0.0, 0.2 * stance.height, 0.01)
    postures = stance.sweep([Shift(down=depth) for depth in depths])
    assert len(postures) == len(depths)
    feet, base, weight = seen_from_feet(robot, robot.home)
    for depth, legs in zip(depths, postures, strict=True):
        feet_now, base_now, weight_now = seen_from_feet(robot, whole(robot, stance, legs))
        np.testing.assert_allclose(feet_now, feet, atol=3e-4)
        assert base[2] - base_now[2] == pytest.approx(depth, abs=3e-4)
        np.testing.assert_allclose(weight_now[:2], weight[:2], atol=3e-4)
    assert (np.abs(np.diff(postures, axis=0)) < 0.2).all(), "no posture jumps to another branch"


def test_a_sway_moves_the_weight_aside_and_not_the_feet(robot):
    stance = stand(robot)
    shifts = np.arange(0.0, 0.5 * stance.half_width, 0.01)
    postures = stance.sweep([Shift(aside=shift) for shift in shifts])
    feet, _, weight = seen_from_feet(robot, robot.home)
    feet_now, _, weight_now = seen_from_feet(robot, whole(robot, stance, postures[-1]))
    np.testing.assert_allclose(feet_now, feet, atol=3e-4)
    assert weight_now[1] - weight[1] == pytest.approx(shifts[-1], abs=3e-4)


def test_a_sweep_ends_where_the_legs_do(robot):
    stance = stand(robot)
    far = np.arange(0.0, 2.0 * stance.height, 0.05)
    assert 1 < len(stance.sweep([Shift(down=depth) for depth in far])) < len(far)


def test_legs_are_the_joints_between_base_and_feet(robot):
    names = [robot.joints[joint] for joint in stand(robot).legs]
    assert len(names) == 12
    assert not any(part in name for name in names for part in ("waist", "elbow", "gripper"))


def test_what_does_not_float_has_no_balance():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="foot"><joint name="j"/><geom size="0.1"/></body>'
        "</worldbody></mujoco>"
    )
    with pytest.raises(UserInputError, match="foot carry no floating base"):
        Stance(model, np.array([0]), np.array([0]), np.zeros(1), ["foot"])
