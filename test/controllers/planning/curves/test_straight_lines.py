import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.collisions import Collisions
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.curves.curve import ends
from mujoco_ros.controllers.planning.curves.straight_lines import line_curve
from mujoco_ros.controllers.planning.errors import CollisionError, LineError
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.model.pose import Pose

WAY = np.array([0.1, -0.15, -0.1])


def test_the_tool_goes_straight_and_turns_evenly(arm, home):
    kinematics = Kinematics(arm)
    start = kinematics.pose(home)
    turn = Pose(position=np.zeros(3), quat_wxyz=np.array([np.cos(0.3), 0.0, 0.0, np.sin(0.3)]))
    goal = Pose(position=start.position + WAY, quat_wxyz=(start @ turn).quat_wxyz)
    curve = line_curve(InverseKinematics(arm), Collisions(arm, PlanningScene()), home, goal)
    length = np.linalg.norm(WAY)
    assert ends(curve) == pytest.approx((0.0, length))
    for part in np.linspace(0.0, 1.0, 40):
        pose = kinematics.pose(curve(part * length))
        there = start.position + part * (goal.position - start.position)
        assert pose.position == pytest.approx(there, abs=1e-5)
        angle = np.arctan2(*(start.matrix.T @ pose.matrix)[[1, 0], 0])
        assert angle == pytest.approx(0.6 * part, abs=1e-4)


def test_a_line_that_is_none_has_no_curve(arm, home):
    collisions = Collisions(arm, PlanningScene())
    assert line_curve(InverseKinematics(arm), collisions, home, Kinematics(arm).pose(home)) is None


def test_turning_on_the_spot_is_a_line_as_well(arm, home):
    start = Kinematics(arm).pose(home)
    turn = Pose(position=np.zeros(3), quat_wxyz=np.array([np.cos(0.5), 0.0, 0.0, np.sin(0.5)]))
    curve = line_curve(InverseKinematics(arm), Collisions(arm, PlanningScene()), home, start @ turn)
    assert ends(curve)[1] == pytest.approx(0.2)  # 1 rad counts as 0.2 m
    assert curve(0.2) - home == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 1.0], abs=0.2)


def test_a_line_out_of_reach_says_from_where_on(arm, home, down):
    with pytest.raises(LineError, match=r"at \d+ % of the line: no posture brings arm/grasp"):
        line_curve(
            InverseKinematics(arm), Collisions(arm, PlanningScene()), home, down(1.5, 0.0, 0.5)
        )


def test_a_line_over_the_arms_own_base_is_refused_half_way(arm, home, down):
    collisions = Collisions(arm, PlanningScene(objects={"box": down(2.0, 0.0, 0.5)}))
    with pytest.raises(LineError, match="at 50 % of the line"):
        line_curve(InverseKinematics(arm), collisions, home, down(-0.385, 0.133, 0.529))


def test_a_joint_that_would_have_to_jump_is_named(arm, home, down, monkeypatch):
    monkeypatch.setattr("mujoco_ros.controllers.planning.curves.straight_lines._LONGEST_STEP", 0.01)
    with pytest.raises(LineError, match=r"at 25 % of the line arm/\w+ would have to jump by 0\.\d"):
        line_curve(
            InverseKinematics(arm), Collisions(arm, PlanningScene()), home, down(0.385, 0.05, 0.529)
        )


def test_a_line_into_the_table_says_what_touches(arm, home, down):
    collisions = Collisions(arm, PlanningScene(objects={"box": down(2.0, 0.0, 0.5)}))
    with pytest.raises(CollisionError, match=r"on the line, .*table_board"):
        line_curve(InverseKinematics(arm), collisions, home, down(0.385, 0.133, 0.3))
