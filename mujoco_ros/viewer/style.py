"""Colours, widget sizes and flags of windows of the viewer."""

from functools import reduce
from operator import or_

from mujoco.studio.dear_imgui import dear_imgui as imgui

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity in 0..1."""

# Text and widgets; readable on a light and on a dark background.
GOOD: Colour = (0.20, 0.65, 0.32, 1.0)
WARNING: Colour = (0.87, 0.56, 0.10, 1.0)
BAD: Colour = (0.88, 0.28, 0.25, 1.0)
WHITE: Colour = (1.0, 1.0, 1.0, 1.0)

# Overlays.
CONTACT: Colour = (0.98, 0.66, 0.10, 0.9)
SENSED_FORCE: Colour = (0.16, 0.62, 0.95, 0.9)
SENSED_TORQUE: Colour = (0.56, 0.36, 0.90, 0.9)
APPLIED_FORCE: Colour = (0.92, 0.20, 0.22, 0.95)
APPLIED_TORQUE: Colour = (0.95, 0.35, 0.65, 0.95)
CURSOR_A: Colour = (0.20, 0.75, 0.85, 1.0)
CURSOR_B: Colour = (0.85, 0.35, 0.75, 1.0)
GHOST: Colour = (0.30, 0.70, 1.0, 0.35)
TRAIL: Colour = (0.95, 0.45, 0.75, 0.9)
PLAN: Colour = (0.20, 0.75, 0.30, 0.9)
CAMERA: Colour = (0.95, 0.75, 0.20, 0.9)
STABLE: Colour = (0.20, 0.75, 0.35, 0.95)
UNSTABLE: Colour = (0.92, 0.25, 0.20, 0.95)

# Drag handles.
AXES: tuple[Colour, Colour, Colour] = (
    (0.90, 0.25, 0.25, 1.0),
    (0.25, 0.70, 0.30, 1.0),
    (0.25, 0.45, 0.95, 1.0),
)
CENTRE: Colour = (1.0, 0.80, 0.25, 1.0)
GRABBED: Colour = (1.0, 1.0, 1.0, 0.6)
SHADOW: Colour = (0.0, 0.0, 0.0, 0.7)

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
