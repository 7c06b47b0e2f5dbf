"""The window, on machines that have no screen."""

import pytest
from still_state import StillState

from mujoco_ros.viewer.feed import Feed
from mujoco_ros.viewer.native import NoDisplayError, open_window


def test_without_a_display_it_says_what_is_missing_and_what_needs_none(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NoDisplayError, match=r"DISPLAY.*viewer:=web"):
        open_window(Feed(StillState("arm")), [])
