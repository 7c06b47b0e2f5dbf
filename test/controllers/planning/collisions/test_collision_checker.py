import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.collision_checker import CollisionChecker, _bisected
from mujoco_ros.controllers.planning.collisions.planning_scene import HeldObject, PlanningScene
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose

IN_HAND = HeldObject(
    object="box", pose=Pose(position=np.zeros(3), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]))
)
INVALID_POSE = Pose(position=np.array([0.4, np.nan, 0.3]), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]))


@pytest.fixture(scope="module")
def above(arm, home, down):
    """Configurations with the grasp at a height above the table's top."""
    inverse = InverseKinematics(arm)
    return lambda height: inverse.solve(down(0.5, 0.0, 0.315 + height), home)


def test_a_collision_is_named_with_its_distance(arm, above):
    checker = CollisionChecker(arm, PlanningScene())
    # the pads end 8 mm below the grasp
    touch = checker.deepest_pair(above(0.0))
    assert {touch.first, touch.second} <= {"arm/left_pad", "arm/right_pad", "table/table_board"}
    assert touch.distance == pytest.approx(-0.008, abs=1e-5)
    assert "overlap by 8.0 mm" in str(touch)
    assert checker.deepest_pair(above(0.1)) is None


def test_the_margin_applies_to_everything_but_the_chain_itself(arm, above):
    q = above(0.012)  # 4 mm are left
    assert CollisionChecker(arm, PlanningScene(margin=0.003)).is_free(q)
    checker = CollisionChecker(arm, PlanningScene(margin=0.005))
    assert "are only 4.0 mm apart" in str(checker.deepest_pair(q))
    assert CollisionChecker(arm, PlanningScene(margin=0.05)).is_free(
        above(0.1)
    )  # the palm is near the wrist


def test_allowed_pairs_may_touch(arm, above):
    assert CollisionChecker(arm, PlanningScene(allowed=(("table", "arm/left_pad"),))).deepest_pair(
        above(0.0)
    ).first in ("arm/right_pad", "table/table_board")
    assert CollisionChecker(arm, PlanningScene(allowed=(("table", "arm"),))).is_free(above(0.0))


def test_an_object_has_its_pose_of_the_scene(arm, above, down):
    q = above(0.3)
    tool = Kinematics(arm).pose(q).position
    seen = PlanningScene(objects={"box": down(*tool)}, joints={"arm/left_finger_joint": 0.0})
    assert "box/box" in CollisionChecker(arm, seen).deepest_pair(q)
    assert CollisionChecker(arm, PlanningScene(objects={"box": down(2.0, 0.0, 0.5)})).is_free(q)


def test_a_held_object_moves_with_the_tool_and_may_touch_the_hand(arm, above):
    checker = CollisionChecker(arm, PlanningScene(held=IN_HAND))
    assert checker.is_free(above(0.3))
    assert checker.deepest_pair(above(0.015))[:2] in (
        ("box/box", "table/table_board"),
        ("table/table_board", "box/box"),
    )
    on_table = PlanningScene(held=IN_HAND, allowed=(("box", "table"),))
    assert CollisionChecker(arm, on_table).is_free(above(0.0205))


def test_a_chain_collides_with_itself(arm, home):
    folded = home.copy()
    folded[2], folded[3] = 2.9, 0.0
    touch = CollisionChecker(arm, PlanningScene()).deepest_pair(folded)
    assert touch is not None
    assert {touch.first.partition("/")[0], touch.second.partition("/")[0]} == {"arm"}


def test_a_thin_wall_between_two_free_configurations_is_detected(seven):
    checker = CollisionChecker(seven, PlanningScene())
    start = np.array([-1.2, 1.2, 0.0, 0.6, 0.0, 0.3, 0.0])
    goal = start * (-1, 1, 1, 1, 1, 1, 1)
    assert checker.is_free(start)
    assert checker.is_free(goal)
    assert not checker.is_line_free(start, goal)


def test_between_two_checks_no_point_moves_farther_than_twice_the_margin(arm, home):
    checker = CollisionChecker(arm, PlanningScene())
    way = np.array([1.0, -0.3, 0.2, 0.1, 0.5, -1.0])
    count = checker.step_count(home, home + way)
    kinematics = Kinematics(arm)
    steps = [kinematics.pose(home + i / count * way).position for i in range(count + 1)]
    assert np.linalg.norm(np.diff(steps, axis=0), axis=1).max() <= 2 * 0.005


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 100])
def test_every_step_of_a_line_is_checked_once(count):
    assert sorted(round(part * count) for part in _bisected(count)) == list(range(1, count + 1))


def test_the_shared_model_does_not_change(arm, above):
    before = arm.model.geom_margin.copy(), arm.model.geom_contype.copy()
    CollisionChecker(arm, PlanningScene(held=IN_HAND)).is_free(above(0.1))
    assert (arm.model.geom_margin == before[0]).all()
    assert (arm.model.geom_contype == before[1]).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"objects": {"bix": IN_HAND.pose}},
        {"joints": {"arm/finger": 0.0}},
        {"allowed": (("box", "tabel"),)},
        {"held": HeldObject(object="table", pose=IN_HAND.pose)},
    ],
)
def test_names_that_are_not_in_the_model_are_errors(arm, wrong):
    with pytest.raises(UserInputError, match="not found"):
        CollisionChecker(arm, PlanningScene(**wrong))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"objects": {"box": INVALID_POSE}}, "'box' needs a valid pose"),
        (
            {"held": HeldObject(object="brick", pose=INVALID_POSE)},
            "'brick' in the hand needs a valid pose",
        ),
        ({"joints": {"finger": np.inf}}, "joint 'finger' must be a finite number, got inf"),
    ],
)
def test_nan_and_infinity_are_rejected(wrong, message):
    with pytest.raises(UserInputError, match=message):
        PlanningScene(**wrong)


@pytest.mark.parametrize("margin", [0.0, -0.1, np.nan, 1.0])
def test_a_margin_is_a_small_distance(margin):
    with pytest.raises(UserInputError, match="margin must be"):
        PlanningScene(margin=margin)
