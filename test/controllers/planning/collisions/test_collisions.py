import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.collisions import Collisions, _spread
from mujoco_ros.controllers.planning.collisions.planning_scene import HeldObject, PlanningScene
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose

IN_HAND = HeldObject(
    object="box", pose=Pose(position=np.zeros(3), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]))
)
NOWHERE = Pose(position=np.array([0.4, np.nan, 0.3]), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]))


@pytest.fixture(scope="module")
def above(arm, home, down):
    """Postures with the grasp so far above the table's top."""
    inverse = InverseKinematics(arm)
    return lambda height: inverse.solve(down(0.5, 0.0, 0.315 + height), home)


def test_what_touches_is_named_with_its_distance(arm, above):
    collisions = Collisions(arm, PlanningScene())
    # the pads end 8 mm below the grasp
    touch = collisions.touching(above(0.0))
    assert {touch.first, touch.second} <= {"arm/left_pad", "arm/right_pad", "table/table_board"}
    assert touch.distance == pytest.approx(-0.008, abs=1e-5)
    assert "overlap by 8.0 mm" in str(touch)
    assert collisions.touching(above(0.1)) is None


def test_the_margin_is_kept_from_everything_but_itself(arm, above):
    q = above(0.012)  # 4 mm are left
    assert Collisions(arm, PlanningScene(margin=0.003)).free(q)
    collisions = Collisions(arm, PlanningScene(margin=0.005))
    assert "are only 4.0 mm apart" in str(collisions.touching(q))
    assert Collisions(arm, PlanningScene(margin=0.05)).free(
        above(0.1)
    )  # the palm is near the wrist


def test_pairs_that_may_touch_do_so(arm, above):
    assert Collisions(arm, PlanningScene(allowed=(("table", "arm/left_pad"),))).touching(
        above(0.0)
    ).first in ("arm/right_pad", "table/table_board")
    assert Collisions(arm, PlanningScene(allowed=(("table", "arm"),))).free(above(0.0))


def test_an_object_is_where_it_was_seen(arm, above, down):
    q = above(0.3)
    tool = Kinematics(arm).pose(q).position
    seen = PlanningScene(objects={"box": down(*tool)}, joints={"arm/left_finger_joint": 0.0})
    assert "box/box" in Collisions(arm, seen).touching(q)
    assert Collisions(arm, PlanningScene(objects={"box": down(2.0, 0.0, 0.5)})).free(q)


def test_what_is_held_goes_along_and_may_touch_the_hand(arm, above):
    collisions = Collisions(arm, PlanningScene(held=IN_HAND))
    assert collisions.free(above(0.3))
    assert collisions.touching(above(0.015))[:2] in (
        ("box/box", "table/table_board"),
        ("table/table_board", "box/box"),
    )
    on_table = PlanningScene(held=IN_HAND, allowed=(("box", "table"),))
    assert Collisions(arm, on_table).free(above(0.0205))


def test_a_chain_does_not_go_through_itself(arm, home):
    folded = home.copy()
    folded[2], folded[3] = 2.9, 0.0
    touch = Collisions(arm, PlanningScene()).touching(folded)
    assert touch is not None
    assert {touch.first.partition("/")[0], touch.second.partition("/")[0]} == {"arm"}


def test_a_thin_wall_between_two_free_postures_is_seen(seven):
    collisions = Collisions(seven, PlanningScene())
    start = np.array([-1.2, 1.2, 0.0, 0.6, 0.0, 0.3, 0.0])
    goal = start * (-1, 1, 1, 1, 1, 1, 1)
    assert collisions.free(start)
    assert collisions.free(goal)
    assert not collisions.way_free(start, goal)


def test_between_two_checks_nothing_moves_farther_than_twice_the_margin(arm, home):
    collisions = Collisions(arm, PlanningScene())
    way = np.array([1.0, -0.3, 0.2, 0.1, 0.5, -1.0])
    count = collisions.steps(home, home + way)
    kinematics = Kinematics(arm)
    steps = [kinematics.pose(home + i / count * way).position for i in range(count + 1)]
    assert np.linalg.norm(np.diff(steps, axis=0), axis=1).max() <= 2 * 0.005


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 100])
def test_every_step_of_a_way_is_looked_at_once(count):
    assert sorted(round(part * count) for part in _spread(count)) == list(range(1, count + 1))


def test_the_model_that_others_use_stays_as_it_is(arm, above):
    before = arm.model.geom_margin.copy(), arm.model.geom_contype.copy()
    Collisions(arm, PlanningScene(held=IN_HAND)).free(above(0.1))
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
def test_names_of_nothing_are_errors(arm, wrong):
    with pytest.raises(UserInputError, match="not found"):
        Collisions(arm, PlanningScene(**wrong))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"objects": {"box": NOWHERE}}, "'box' needs a valid pose"),
        (
            {"held": HeldObject(object="brick", pose=NOWHERE)},
            "'brick' in the hand needs a valid pose",
        ),
        ({"joints": {"finger": np.inf}}, "joint 'finger' must be a finite number, got inf"),
    ],
)
def test_what_is_nowhere_is_not_taken_for_out_of_the_way(wrong, message):
    with pytest.raises(UserInputError, match=message):
        PlanningScene(**wrong)


@pytest.mark.parametrize("margin", [0.0, -0.1, np.nan, 1.0])
def test_a_margin_is_a_small_distance(margin):
    with pytest.raises(UserInputError, match="margin must be"):
        PlanningScene(margin=margin)
