"""Links to the page."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from mujoco_ros.viewer.page.link import LinkedView


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
