import numpy as np
import pytest

from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics


def test_the_tool_has_the_pose_of_the_arms_drawing(arm, home):
    pose = Kinematics(arm).pose(home)
    # tool0 at (0.385, 0.133, 0.634) by arm.xml; the grasp is 0.105 m below
    assert pose.position == pytest.approx([0.385, 0.133, 0.529], abs=5e-4)
    assert pose.matrix[:, 2] == pytest.approx([0.0, 0.0, -1.0], abs=1e-12)


def test_the_jacobian_is_the_derivative_of_the_pose(arm, home):
    kinematics = Kinematics(arm)
    rate, step = np.linspace(-1.0, 1.0, 6), 1e-6
    twist = kinematics.jacobian(home) @ rate
    before, after = (kinematics.pose(home + s * step * rate) for s in (-1.0, 1.0))
    assert twist[:3] == pytest.approx((after.position - before.position) / (2 * step), abs=1e-8)
    turned = after.matrix @ before.matrix.T / (2 * step)
    assert twist[3:] == pytest.approx([turned[2, 1], turned[0, 2], turned[1, 0]], abs=1e-5)
