"""Whole-body configurations over feet that stay in place."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.library.stand.stance import Shift, Stance
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


def relative_to_feet(robot, q: np.ndarray) -> tuple[np.ndarray, ...]:
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


def test_a_squat_lowers_the_upright_base_and_keeps_feet_and_centre_of_mass(robot):
    stance = stand(robot)
    depths = np.arange(0.0, 0.2 * stance.height, 0.01)
    configurations = stance.sweep([Shift(down=depth) for depth in depths])
    assert len(configurations) == len(depths)
    feet, base, weight = relative_to_feet(robot, robot.home)
    for depth, legs in zip(depths, configurations, strict=True):
        feet_now, base_now, weight_now = relative_to_feet(robot, whole(robot, stance, legs))
        np.testing.assert_allclose(feet_now, feet, atol=3e-4)
        assert base[2] - base_now[2] == pytest.approx(depth, abs=3e-4)
        np.testing.assert_allclose(weight_now[:2], weight[:2], atol=3e-4)
    assert (np.abs(np.diff(configurations, axis=0)) < 0.2).all(), "no jump to another branch"


def test_a_sway_moves_the_centre_of_mass_and_not_the_feet(robot):
    stance = stand(robot)
    shifts = np.arange(0.0, 0.5 * stance.half_width, 0.01)
    configurations = stance.sweep([Shift(aside=shift) for shift in shifts])
    feet, _, weight = relative_to_feet(robot, robot.home)
    feet_now, _, weight_now = relative_to_feet(robot, whole(robot, stance, configurations[-1]))
    np.testing.assert_allclose(feet_now, feet, atol=3e-4)
    assert weight_now[1] - weight[1] == pytest.approx(shifts[-1], abs=3e-4)


def test_a_sweep_ends_at_the_range_of_the_legs(robot):
    stance = stand(robot)
    far = np.arange(0.0, 2.0 * stance.height, 0.05)
    assert 1 < len(stance.sweep([Shift(down=depth) for depth in far])) < len(far)


def test_legs_are_the_joints_between_base_and_feet(robot):
    names = [robot.joints[joint] for joint in stand(robot).legs]
    assert len(names) == 12
    assert not any(part in name for name in names for part in ("waist", "elbow", "gripper"))


def test_a_robot_without_a_floating_base_is_rejected():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="foot"><joint name="j"/><geom size="0.1"/></body>'
        "</worldbody></mujoco>"
    )
    with pytest.raises(UserInputError, match="foot do not belong to one floating base"):
        Stance(model, np.array([0]), np.array([0]), np.zeros(1), ["foot"])
