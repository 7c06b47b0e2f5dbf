"""What is left out of a picture."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.rendering.culling import in_sight, only

FRUSTUM = (-1.0, 0.5, 0.8, -0.4)  # left, right, top, bottom
BALL = """
<mujoco><worldbody>
  <geom size="0.5" pos="{} {} {}" group="1"/>
  <geom type="plane" size="0 0 1" pos="0 0 9"/>
  <camera/>
</worldbody></mujoco>"""


def made(x: float, y: float, z: float) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(BALL.format(x, y, z))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize(
    ("side", "normal"),
    [
        ((-1.0, 0), (-1, 0, 1.0)),
        ((0.5, 0), (1, 0, 0.5)),
        ((0, 0.8), (0, 1, 0.8)),
        ((0, -0.4), (0, -1, 0.4)),
    ],
    ids=["left", "right", "top", "bottom"],
)
@pytest.mark.parametrize(("distance", "seen"), [(0.499, True), (0.501, False)])
def test_a_ball_is_in_sight_until_it_touches_the_frustum_no_more(side, normal, distance, seen):
    # The camera looks along -z: the normal points outwards from a point on that side at 4 m.
    outwards = np.array(normal) / np.linalg.norm(normal)
    place = np.array([4 * side[0], 4 * side[1], -4]) + distance * outwards
    model, data = made(*place)
    assert in_sight(model, data, 0, FRUSTUM).tolist() == [seen, True], "planes always are"


@pytest.mark.parametrize(("z", "seen"), [(0.499, True), (0.501, False), (-5.0, True)])
def test_what_is_behind_the_camera_is_out_of_sight(z, seen):
    model, data = made(0, 0, z)
    assert in_sight(model, data, 0, FRUSTUM)[0] == seen


def test_what_is_left_out_is_in_a_group_that_is_not_drawn_for_the_time_being():
    model, _ = made(0, 0, -5)
    with only(model, np.array([False, True]), (0, 1, 2)):
        assert model.geom_group[0] not in (0, 1, 2)
        assert model.geom_group[1] == 0
    assert model.geom_group.tolist() == [1, 0]
    with only(model, np.array([False, True]), range(6)):
        assert model.geom_group.tolist() == [1, 0], "every group is drawn"
