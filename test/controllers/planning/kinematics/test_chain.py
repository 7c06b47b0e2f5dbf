import numpy as np
import pytest

from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.model.errors import UserInputError


def test_a_chain_has_the_limits_of_its_joints(arm):
    assert arm.size == 6
    assert arm.upper[2] == pytest.approx(np.pi)
    assert arm.upper[0] == pytest.approx(2 * np.pi)
    assert arm.hinge.all()


@pytest.mark.parametrize(
    ("joints", "tool", "message"),
    [
        (["j1", "j8"], "tool", "joint 'j8' not found.*there are: j1, j2"),
        (["j1"], "tol", "site or body 'tol' not found .did you mean 'tool'"),
        ([], "tool", "a chain needs at least one joint"),
    ],
)
def test_names_that_are_not_in_the_model_are_errors(seven, joints, tool, message):
    with pytest.raises(UserInputError, match=message):
        Chain.of(seven.model, joints=joints, tool=tool)


def test_a_tool_can_be_a_body_as_in_a_urdf(arm, home):
    flange = Chain.of(arm.model, joints=arm.names, tool="arm/gripper_base")
    at_site, at_body = Kinematics(arm).pose(home), Kinematics(flange).pose(home)
    offset = at_body.inverse() @ at_site
    assert offset.position == pytest.approx([0.0, 0.0, 0.085])  # of the site in its body
    assert arm.tool_distance == pytest.approx(0.085)
    assert flange.tool_distance == 0.0
    jacobian, step = Kinematics(flange).jacobian(home), 1e-6
    for joint in range(6):
        moved = Kinematics(flange).pose(home + step * np.eye(6)[joint])
        velocity = (moved.position - at_body.position) / step
        assert jacobian[:3, joint] == pytest.approx(velocity, abs=1e-5)
    solved = InverseKinematics(flange).solve(at_body, home + 0.1)
    assert Kinematics(flange).pose(solved).distance_to(at_body) < 1e-5


def test_a_free_joint_cannot_be_part_of_a_chain(arm):
    with pytest.raises(UserInputError, match="neither a hinge nor a slide"):
        Chain.of(arm.model, joints=["box/box_free"], tool="arm/grasp")


@pytest.mark.parametrize("q", [np.zeros(5), np.full(6, np.nan), np.zeros((1, 6))])
def test_a_configuration_of_another_shape_or_with_nan_is_rejected(arm, q):
    with pytest.raises(UserInputError, match="a configuration is 6 finite numbers"):
        arm.check(q)


def test_the_joint_that_exceeds_its_limits_most_is_named(arm, home):
    assert arm.limit_violation(home) == ""
    message = "arm/elbow_joint at 3.2000 is beyond its limits -3.1416 to 3.1416"
    assert arm.limit_violation(np.where(np.arange(6) == 2, 3.2, home)) == message
