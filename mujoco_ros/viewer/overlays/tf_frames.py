"""The frames of /tf and /tf_static, and those of all bodies, with their names."""

import mujoco

from mujoco_ros.viewer.overlays.drawn import Frames, PlacedText
from mujoco_ros.viewer.overlays.overlay_scene import OverlayScene
from mujoco_ros.viewer.overlays.shapes import axes_at, frame_length
from mujoco_ros.viewer.printable_text import printable
from mujoco_ros.viewer.style import WHITE

_MOST, _LONGEST = 200, 60
"""Frames that are drawn, and characters of a name."""


def tf_frames(scene: OverlayScene, frames: Frames) -> tuple[list[mujoco.MjvGeom], list[PlacedText]]:
    """Return the axes and the names of all frames whose poses are known."""
    geoms: list[mujoco.MjvGeom] = []
    texts: list[PlacedText] = []
    length = frame_length(scene.model)
    for name in frames.names[:_MOST]:
        pose = frames.pose(name)
        if pose is not None:
            geoms += axes_at(pose.position, pose.matrix, length)
            texts.append(PlacedText(pose.position, printable(name[:_LONGEST]), WHITE))
    return geoms, texts
