import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.collision_checker import CollisionChecker
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.controllers.planning.kinematics.limits import BlockedError, IkError
from mujoco_ros.model.errors import UserInputError

BENT = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.6, 0.0])
REACHING = np.array([0.0, 0.9, 0.0, 1.0, 0.0, 0.6, 0.0])


def off(kinematics, q, pose):
    reached = kinematics.pose(q)
    turn = reached.matrix.T @ pose.matrix
    angle = np.linalg.norm(
        [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
    )
    return np.linalg.norm(reached.position - pose.position), angle / 2


@pytest.mark.parametrize(("name", "near", "reach"), [("arm", None, 1.2), ("seven", BENT, 0.8)])
def test_a_hundred_reachable_poses_are_reached(request, home, name, near, reach):
    chain = request.getfixturevalue(name)
    near = home if near is None else near
    random = np.random.default_rng(7)
    kinematics, inverse = Kinematics(chain), InverseKinematics(chain)
    for _ in range(100):
        there = np.clip(near + random.uniform(-reach, reach, chain.size), chain.lower, chain.upper)
        pose = kinematics.pose(there)
        q = inverse.solve(pose, near)
        position, rotation = off(kinematics, q, pose)
        assert position < 1e-5
        assert rotation < 1e-5
        assert chain.limit_violation(q) == ""


def test_the_solution_nearest_to_the_given_configuration_wins(arm, home, down):
    inverse = InverseKinematics(arm)
    q = inverse.solve(down(0.35, 0.2, 0.485), home)
    turned = home + np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2 * np.pi])
    again = inverse.solve(down(0.35, 0.2, 0.485), turned)
    assert again - q == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 2 * np.pi], abs=1e-4)


def test_a_redundant_chain_stays_near_the_given_configuration(seven):
    kinematics, inverse = Kinematics(seven), InverseKinematics(seven)
    pose = kinematics.pose(BENT)
    swung = BENT + np.array([0.3, 0.0, 0.4, 0.0, -0.4, 0.0, 0.2])
    q = inverse.solve(pose, swung)
    assert off(kinematics, q, pose)[0] < 1e-5
    assert np.linalg.norm(q - swung) < 0.8 * np.linalg.norm(BENT - swung)


def test_a_solution_without_collision_replaces_one_with_a_collision(seven):
    checker = CollisionChecker(seven, PlanningScene())
    plain, clear = InverseKinematics(seven), InverseKinematics(seven, checker)
    kinematics, random = Kinematics(seven), np.random.default_rng(0)
    avoided = 0
    for _ in range(20):
        there = REACHING + random.uniform(-0.8, 0.8, 7)
        if checker.is_free(there):
            pose = kinematics.pose(there)
            avoided += not checker.is_free(plain.solve(pose, BENT))
            q = clear.solve(pose, BENT)
            assert checker.is_free(q)
            assert off(kinematics, q, pose)[0] < 1e-5
    assert avoided > 0


def test_a_finger_measured_beyond_its_limit_is_tolerated(arm, home, down):
    checker = CollisionChecker(arm, PlanningScene(joints={"arm/left_finger_joint": 0.0301}))
    q = InverseKinematics(arm, checker).solve(down(0.35, 0.2, 0.485), home)
    assert Kinematics(arm).pose(q).position == pytest.approx([0.35, 0.2, 0.485], abs=1e-5)


def test_the_same_request_has_the_same_bits(arm, home, down):
    solutions = {
        InverseKinematics(arm).solve(down(-0.4, 0.3, 0.5), home, seed=3).tobytes() for _ in range(3)
    }
    assert len(solutions) == 1


def test_a_pose_out_of_reach_is_an_error_with_the_distance(arm, home, down):
    with pytest.raises(IkError, match=r"arm/grasp to \(2.000, 0.000, 0.500\): the closest is"):
        InverseKinematics(arm).solve(down(2.0, 0.0, 0.5), home)


def test_a_pose_out_of_reach_because_of_a_limit_names_the_joint(seven):
    pose = Kinematics(seven).pose(np.array([0.0, 0.6, 0.0, 2.9, 0.0, 0.6, 0.0]))
    with pytest.raises(IkError, match=r"at the limit of .*j4"):
        InverseKinematics(seven).solve(pose, BENT, starts=1)


def test_a_pose_with_collisions_alone_names_the_pair(arm, home, down):
    inverse = InverseKinematics(arm, CollisionChecker(arm, PlanningScene()))
    with pytest.raises(
        IkError, match=r"no collision-free .*pad and table/table_board overlap by 23.0 mm"
    ):
        inverse.solve(down(0.6, 0.0, 0.3), home, starts=2)


@pytest.mark.parametrize(("starts", "most"), [(1, 9), (4, 36)])
def test_a_pose_with_only_colliding_solutions_fails_after_a_number_of_descents(
    arm, home, down, monkeypatch, starts, most
):
    made = []
    descend = InverseKinematics._descend
    monkeypatch.setattr(
        InverseKinematics, "_descend", lambda self, *how: made.append(how) or descend(self, *how)
    )
    inverse = InverseKinematics(arm, CollisionChecker(arm, PlanningScene()))
    with pytest.raises(BlockedError, match="table_board"):
        inverse.solve(down(0.6, 0.0, 0.3), home, starts=starts)
    assert len(made) <= most
    assert sum(len(how) > 2 for how in made) <= starts, "descents with collision avoidance are slow"


def test_collisions_can_be_ignored(arm, home, down):
    inverse = InverseKinematics(arm, CollisionChecker(arm, PlanningScene()))
    q = inverse.solve(down(0.6, 0.0, 0.3), home, ignore_collisions=True)
    assert inverse.pose(q).position == pytest.approx([0.6, 0.0, 0.3], abs=1e-5)


def test_a_configuration_of_another_size_is_rejected(arm, down):
    with pytest.raises(UserInputError, match="6 finite numbers"):
        InverseKinematics(arm).solve(down(0.4, 0.0, 0.5), np.zeros(7))
