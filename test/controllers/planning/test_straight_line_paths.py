import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.collision_checker import CollisionChecker
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.curve import parameter_range
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.controllers.planning.kinematics.limits import CollisionError, LineError
from mujoco_ros.controllers.planning.straight_line_paths import straight_line_path
from mujoco_ros.model.pose import Pose

WAY = np.array([0.1, -0.15, -0.1])


def test_the_tool_moves_straight_and_rotates_evenly(arm, home):
    kinematics = Kinematics(arm)
    start = kinematics.pose(home)
    turn = Pose(position=np.zeros(3), quat_wxyz=np.array([np.cos(0.3), 0.0, 0.0, np.sin(0.3)]))
    goal = Pose(position=start.position + WAY, quat_wxyz=(start @ turn).quat_wxyz)
    curve = straight_line_path(
        InverseKinematics(arm), CollisionChecker(arm, PlanningScene()), home, goal
    )
    length = np.linalg.norm(WAY)
    assert parameter_range(curve) == pytest.approx((0.0, length))
    for part in np.linspace(0.0, 1.0, 40):
        pose = kinematics.pose(curve(part * length))
        there = start.position + part * (goal.position - start.position)
        assert pose.position == pytest.approx(there, abs=1e-5)
        angle = np.arctan2(*(start.matrix.T @ pose.matrix)[[1, 0], 0])
        assert angle == pytest.approx(0.6 * part, abs=1e-4)


def test_a_line_without_length_has_no_curve(arm, home):
    checker = CollisionChecker(arm, PlanningScene())
    assert (
        straight_line_path(InverseKinematics(arm), checker, home, Kinematics(arm).pose(home))
        is None
    )


def test_a_rotation_in_place_is_a_line(arm, home):
    start = Kinematics(arm).pose(home)
    turn = Pose(position=np.zeros(3), quat_wxyz=np.array([np.cos(0.5), 0.0, 0.0, np.sin(0.5)]))
    curve = straight_line_path(
        InverseKinematics(arm), CollisionChecker(arm, PlanningScene()), home, start @ turn
    )
    assert parameter_range(curve)[1] == pytest.approx(0.2)  # 1 rad counts as 0.2 m
    assert curve(0.2) - home == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 1.0], abs=0.2)


def test_a_line_out_of_reach_names_the_first_place(arm, home, down):
    with pytest.raises(LineError, match=r"at \d+ % of the line: no configuration brings arm/grasp"):
        straight_line_path(
            InverseKinematics(arm),
            CollisionChecker(arm, PlanningScene()),
            home,
            down(1.5, 0.0, 0.5),
        )


def test_a_line_over_the_arms_own_base_fails_halfway(arm, home, down):
    checker = CollisionChecker(arm, PlanningScene(objects={"box": down(2.0, 0.0, 0.5)}))
    with pytest.raises(LineError, match="at 50 % of the line"):
        straight_line_path(InverseKinematics(arm), checker, home, down(-0.385, 0.133, 0.529))


def test_a_joint_that_would_jump_is_named(arm, home, down, monkeypatch):
    monkeypatch.setattr("mujoco_ros.controllers.planning.straight_line_paths._MAX_STEP", 0.01)
    with pytest.raises(LineError, match=r"at 25 % of the line arm/\w+ would have to jump by 0\.\d"):
        straight_line_path(
            InverseKinematics(arm),
            CollisionChecker(arm, PlanningScene()),
            home,
            down(0.385, 0.05, 0.529),
        )


def test_a_line_into_the_table_names_the_collision(arm, home, down):
    checker = CollisionChecker(arm, PlanningScene(objects={"box": down(2.0, 0.0, 0.5)}))
    with pytest.raises(CollisionError, match=r"on the line, .*table_board"):
        straight_line_path(InverseKinematics(arm), checker, home, down(0.385, 0.133, 0.3))
