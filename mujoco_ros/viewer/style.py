"""Colours, widget sizes and flags of windows of the viewer."""

from functools import reduce
from operator import or_

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.colours import *  # noqa: F403  # style.GOOD and others
from mujoco_ros.viewer.colours import Colour

# Sizes [px].
FILL = -1.0
"""Width or height of an item that takes the rest of its row or window."""
LEVEL_WIDTH = 90.0
FILTER_WIDTH = 220.0
SPAN_WIDTH = 70.0
READOUT_WIDTH = 300.0
SETTING_WIDTH = 160.0
PANEL_PLOT_HEIGHT = 140.0
SIGNAL_LIST_SIZE = (340.0, 360.0)
MODEL_LIST_HEIGHT = 110.0
SENT_HEIGHT = 80.0
IMAGE_LIST_HEIGHT = 190.0
IMAGE_SIZE = (48.0, 36.0)
MIN_PLOT_HEIGHT = 100.0
MIN_LEGEND_WIDTH = 220.0
"""Narrower plots have no legend."""
PLOT_MARGIN = 8.0
MIN_THUMBNAIL_WIDTH = 150.0
SCALE_HEIGHT = 8.0
"""Height of a colour scale."""
MAX_GRAPH_HEIGHT = 320.0
"""Higher graphs scroll."""
GRAPH_MARGIN = 3.0
STATE_PADDING = 6.0
ARROW_HEAD = 7.0
POSITION_MARK_HEIGHT = 6.0
HANDLE_SIZE = 18.0
BAR_MARGIN = 4.0
BAR_OPACITY = 0.75
SAVING_WIDTH = 500.0
PAST_FRAME = 3.0
"""Width of the frame around the scene while it shows a past state."""
COORDINATE_GAP = 4.0


def window_flags(*names: str) -> int:
    """Return the sum of flags of windows of Dear ImGui."""
    return reduce(or_, (int(getattr(imgui.WindowFlags, name)) for name in names))


def vec4(colour: Colour) -> imgui.Vec4:
    """Return a colour for functions of Dear ImGui."""
    return imgui.Vec4(*colour)


def packed(colour: Colour) -> int:
    """Return a colour for draw lists of Dear ImGui."""
    return int(imgui.GetColorU32(vec4(colour)))
