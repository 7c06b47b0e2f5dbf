"""Flags of the display that are kept for the next viewer of the scene."""

from types import SimpleNamespace
from typing import Any

import mujoco
import pytest
from mujoco.studio import plugin, ux

from mujoco_ros.viewer.display_flags import DisplayFlags

CONTACT_POINT = int(mujoco.mjtVisFlag.mjVIS_CONTACTPOINT)
STATIC = int(mujoco.mjtVisFlag.mjVIS_STATIC)
WIREFRAME = int(mujoco.mjtRndFlag.mjRND_WIREFRAME)
SHADOW = int(mujoco.mjtRndFlag.mjRND_SHADOW)
KEPT = {
    "mjVIS_CONTACTPOINT": True,
    "mjVIS_STATIC": False,
    "mjRND_WIREFRAME": True,
    "mjRND_SHADOW": False,
    "geomgroup 1": False,
    "sitegroup 5": True,
    "label": "mjLABEL_BODY",
    "frame": "mjFRAME_WORLD",
}


def start(kept: dict[str, Any]) -> tuple[DisplayFlags, Any]:
    """Return the flags of a viewer that starts with kept settings, and the viewer."""
    flags, rendering = DisplayFlags(), ux.RenderFlags()
    rendering.flags = [1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1]  # those of Studio
    viewer = SimpleNamespace(vis_options=mujoco.MjvOption(), render_flags=rendering)
    flags.restore(kept)
    flags.viewer = viewer
    flags.on_viewer_init(plugin.ViewerInitEvent(viewer=viewer))
    return flags, viewer


def test_only_what_differs_from_the_start_is_kept_by_name():
    flags, viewer = start({})
    assert flags.settings() == {}
    options, rendering = viewer.vis_options, viewer.render_flags.flags
    options.flags[CONTACT_POINT], options.flags[STATIC] = 1, 0
    options.geomgroup[1], options.sitegroup[5] = 0, 1
    options.label = int(mujoco.mjtLabel.mjLABEL_BODY)
    options.frame = int(mujoco.mjtFrame.mjFRAME_WORLD)
    rendering[WIREFRAME], rendering[SHADOW] = 1, 0
    viewer.render_flags.flags = rendering
    assert flags.settings() == KEPT


def test_the_next_viewer_starts_with_what_is_kept():
    flags, viewer = start(KEPT)
    assert flags.settings() == KEPT
    options, rendering = viewer.vis_options, viewer.render_flags.flags
    assert (options.flags[CONTACT_POINT], options.flags[STATIC]) == (1, 0)
    assert options.geomgroup.tolist() == [1, 0, 1, 0, 0, 0]
    assert options.sitegroup.tolist() == [1, 1, 1, 0, 0, 1]
    assert options.label == mujoco.mjtLabel.mjLABEL_BODY
    assert options.frame == mujoco.mjtFrame.mjFRAME_WORLD
    assert (rendering[WIREFRAME], rendering[SHADOW]) == (1, 0)
    options.flags[CONTACT_POINT] = 0
    assert "mjVIS_CONTACTPOINT" not in flags.settings(), "it is as at the start again"


def test_what_is_kept_is_the_same_before_the_viewer_starts():
    flags = DisplayFlags()
    flags.restore(KEPT)
    assert flags.settings() == KEPT


@pytest.mark.parametrize(
    "invalid",
    [
        {"mjVIS_JOINT": 1},
        {"mjVIS_JOINT": "true"},
        {"mjVIS_OF_ANOTHER_VERSION": True},
        {"mjNVISFLAG": True},
        {"mjRND_FOG": None},
        {"mjRND_FOG": [True]},
        {"mjNRNDFLAG": True},
        {"geomgroup 6": True},
        {"geomgroup -1": True},
        {"geomgroup": [True]},
        {"label": 3},
        {"label": "mjNLABEL"},
        {"label": True},
        {"frame": "mjLABEL_BODY"},
        {"frame": ["mjFRAME_WORLD"]},
        {"__class__": True},
        {"": {}},
    ],
    ids=str,
)
def test_what_is_not_valid_is_ignored_and_the_rest_is_set(invalid):
    flags, viewer = start({"mjVIS_CONTACTPOINT": True, **invalid})
    assert flags.settings() == {"mjVIS_CONTACTPOINT": True}
    assert viewer.vis_options.flags[CONTACT_POINT] == 1
