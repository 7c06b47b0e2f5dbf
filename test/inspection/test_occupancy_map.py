"""A map has the cells that shapes reach into, at the heights of its slice."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.inspection.occupancy_map import FREE, OCCUPIED, UNKNOWN, OccupancyMap, occupancy_map
from mujoco_ros.model.errors import UserInputError


def mapped(
    geoms: str,
    heights: tuple[float, float] = (0.2, 0.2),
    seed: tuple[float, float] | None = None,
    resolution: float = 0.1,
) -> OccupancyMap:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><asset><hfield name='hill' nrow='2' ncol='2' size='1 1 1 0.1' "
        "elevation='0 0 1 1'/></asset><worldbody><geom type='plane' size='0 0 1'/>"
        f"{geoms}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return occupancy_map(model, data, bodies=[0], heights=heights, resolution=resolution, seed=seed)


def pixel(found: OccupancyMap, x: float, y: float) -> int:
    """Return the pixel at a point, as nav2_map_server reads it."""
    column = int((x - found.origin[0]) / found.resolution)
    row = len(found.pixels) - 1 - int((y - found.origin[1]) / found.resolution)
    return int(found.pixels[row, column])


WALL = "<geom type='box' size='1 0.05 0.5' pos='2 1.05 0.5'/>"


def test_a_box_occupies_exactly_its_cells():
    found = mapped(WALL)
    assert np.count_nonzero(found.pixels == OCCUPIED) == 20
    assert pixel(found, 1.05, 1.05) == pixel(found, 2.95, 1.05) == OCCUPIED
    assert pixel(found, 2.0, 1.15) == pixel(found, 2.0, 0.95) == FREE
    assert pixel(found, 0.95, 1.05) == FREE


def test_a_slice_has_what_is_at_its_height():
    board = WALL + "<geom type='box' size='0.1 0.1 0.05' pos='2 1.3 0.7'/>"
    assert pixel(mapped(board), 2.0, 1.3) == FREE
    assert pixel(mapped(board, (0.2, 0.7)), 2.0, 1.3) == OCCUPIED
    with pytest.raises(UserInputError, match="nothing is at 3 m"):
        mapped(board, (3.0, 3.0))
    with pytest.raises(UserInputError, match="nothing is between 3 and 4 m"):
        mapped(board, (3.0, 4.0))


@pytest.mark.parametrize(
    ("geom", "area"),
    [
        ("type='cylinder' size='0.5 0.5' pos='0 0 0.5'", np.pi * 0.25),
        ("type='sphere' size='0.5' pos='0 0 0.2'", np.pi * 0.25),
        ("type='ellipsoid' size='0.8 0.4 0.5' pos='0 0 0.2'", np.pi * 0.32),
        ("type='capsule' size='0.3 0.5' pos='0 0 0.2' euler='90 0 0'", 0.6 + np.pi * 0.09),
        ("type='box' size='0.5 0.5 0.5' pos='0 0 0.2' euler='0 0 45'", 1.0),
    ],
)
def test_the_area_of_other_shapes_is_right(geom, area):
    found = mapped(f"<geom {geom}/>", resolution=0.01)
    occupied = np.count_nonzero(found.pixels == OCCUPIED) * 1e-4
    assert occupied == pytest.approx(area, rel=0.04)


def test_a_ramp_is_occupied_where_it_is_as_high_as_the_slice():
    ramp = "<geom type='box' size='2 0.5 0.01' pos='0 0 0' euler='0 -20 0'/>"
    found = mapped(ramp, (0.3, 5.0))
    assert pixel(found, 1.0, 0.0) == OCCUPIED
    assert pixel(found, 0.65, 0.0) == FREE


def test_a_height_field_is_solid_below_its_surface():
    found = mapped("<geom type='hfield' hfield='hill'/>", (0.75, 0.75), resolution=0.05)
    assert pixel(found, 0.0, -0.9) == OCCUPIED
    assert pixel(found, 0.0, -0.1) == FREE


ROOM = "".join(
    f"<geom type='box' size='{sx} {sy} 0.5' pos='{x} {y} 0.5'/>"
    for sx, sy, x, y in ((1, 0.05, 0, 1), (1, 0.05, 0, -1), (0.05, 1, 1, 0), (0.05, 1, -1, 0))
)


def test_what_is_outside_of_a_room_with_an_open_door_is_unknown():
    door = ROOM.replace("size='0.05 1 0.5' pos='1 0 0.5'", "size='0.05 0.3 0.5' pos='1 0.7 0.5'")
    found = mapped(door, seed=(0.0, 0.0))
    assert pixel(found, 0.0, 0.0) == pixel(found, 0.95, 0.0) == FREE
    assert pixel(found, 1.3, 0.0) == pixel(found, -1.3, 0.0) == UNKNOWN
    outside = mapped(door, seed=(1.3, 0.0))
    assert pixel(outside, 1.3, 0.0) == pixel(outside, 0.0, 0.0) == FREE


def test_what_the_robot_cannot_reach_is_unknown():
    found = mapped(ROOM, seed=(0.0, 0.0))
    assert pixel(found, 0.5, 0.5) == FREE
    assert pixel(found, 1.3, 0.5) == UNKNOWN
    assert pixel(mapped(ROOM), 1.3, 0.5) == FREE
    with pytest.raises(UserInputError, match=r"\(1, 0\) is not free"):
        mapped(ROOM, seed=(1.0, 0.0))


def test_a_map_beyond_the_limit_is_an_error():
    with pytest.raises(UserInputError, match="use a larger resolution"):
        mapped(WALL, resolution=1e-4)
