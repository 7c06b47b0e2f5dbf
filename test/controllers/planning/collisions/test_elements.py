import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.planning_scene import free_body, geoms_of
from mujoco_ros.controllers.planning.kinematics.chain import joint_id
from mujoco_ros.model.errors import UserInputError


@pytest.mark.parametrize("name", ["box", "box/box"])
def test_an_object_is_found_by_its_frame_and_by_its_body(arm, name):
    assert arm.model.body(free_body(arm.model, name)).name == "box/box"


def test_an_object_without_a_prefix_is_found(seven):
    assert seven.model.body(free_body(seven.model, "brick")).name == "brick"


@pytest.mark.parametrize(
    ("name", "some"),
    [
        ("arm/left_pad", {"arm/left_pad"}),
        ("arm/left_finger", {"arm/left_pad"}),
        ("table", {"table/table_board", "table/table_leg_1"}),
    ],
)
def test_geoms_are_found_by_their_name_their_bodys_or_their_objects(arm, name, some):
    meant = {arm.model.geom(g).name for g in np.flatnonzero(geoms_of(arm.model, name))}
    assert some <= meant
    assert "arm/right_pad" not in meant


@pytest.mark.parametrize(
    ("find", "message"),
    [
        (lambda model: free_body(model, "bix"), "free object 'bix' not found.*'box'"),
        (lambda model: free_body(model, "table"), "free object 'table' not found"),
        (lambda model: geoms_of(model, "tabel"), "geom, body or object 'tabel'.*'table'"),
        (lambda model: joint_id(model, "arm/finger"), "joint 'arm/finger' not found"),
    ],
)
def test_names_that_are_not_in_the_model_are_errors_with_the_valid_names(arm, find, message):
    with pytest.raises(UserInputError, match=message):
        find(arm.model)
