"""Links to the page."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from mujoco_ros.viewer.page.link import LinkedView
from mujoco_ros.viewer.page.scene_view import linked_camera


@pytest.mark.parametrize(
    "link",
    [
        LinkedView(),
        LinkedView(time=12.345),
        LinkedView(view="a b&c", time=0.0),
        LinkedView(view="top"),
    ],
)
def test_a_link_is_read_as_it_was_written(link):
    assert LinkedView.parse(dict(parse_qsl(urlsplit(link.text).query))) == link


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf", "1e999"])
def test_a_wrong_time_is_named(text):
    link = LinkedView.parse({"view": "top", "t": text})
    assert (link.view, link.time) == ("top", None)
    assert f"'{text}'" in link.problem


def test_a_view_is_a_pose_or_a_camera_of_the_model():
    pose = linked_camera("0.1 -2 0.5 3 90 -20")["pose"]
    assert pose == {
        "lookat": [0.1, -2.0, 0.5],
        "distance": 3.0,
        "azimuth": 90.0,
        "elevation": -20.0,
    }
    for name in ("top", "1 2 3", "1 2 3 4 5 6 7"):
        assert linked_camera(name) == {"fixed": name}
