"""Titles and legends of plots."""

from mujoco_ros.viewer.page.chart import shortened


def test_what_all_names_share_is_in_the_title():
    names = ["left_knee_joint position", "left_hip_joint position"]
    assert shortened("rad", names) == ("left joint position [rad]", ["knee", "hip"])
    assert shortened("rad", ["knee position", "knee_2 position"])[1] == ["knee", "knee_2"]


def test_names_that_share_nothing_or_are_alone_stay():
    for names in (["com", "zmp"], ["left_knee"], ["x", "x y"]):
        assert shortened("m", names) == ("m", names)
