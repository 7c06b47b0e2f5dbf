"""The window on machines without a display."""

import pytest
from still_state import StillState

from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.feed import Feed
from mujoco_ros.viewer.main_loop import NoDisplayError, open_window


def test_the_error_without_a_display_names_what_is_missing_and_an_alternative(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    state = StillState("arm")
    with pytest.raises(NoDisplayError, match=r"DISPLAY.*viewer:=web"):
        open_window(Feed(state, EntityDisplays(state)), [])
