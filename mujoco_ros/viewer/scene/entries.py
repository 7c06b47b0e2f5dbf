"""What overlays add to a scene: geoms, and handles that users drag."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco

from mujoco_ros.model.pose import Pose


@dataclass(frozen=True, kw_only=True, slots=True)
class HandleControl:
    """A handle of a frame."""

    name: str  # different for each handle of a frame
    # "move" along the axis, "plane": in the plane across the axis, "view": in the plane of the
    # screen, or "turn" about the axis
    kind: str
    axis: tuple[float, float, float] = (0.0, 0.0, 0.0)  # unit vector in the frame
    colour: tuple[float, float, float] = (1.0, 1.0, 1.0)  # red, green and blue in 0..1
    faces_camera: bool = False  # whether the axis is given forwards, left and up from the camera
    is_central: bool = False  # whether a plane is gripped at the origin


_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
AXIS_COLOURS = ((0.93, 0.25, 0.25), (0.3, 0.75, 0.3), (0.3, 0.5, 0.95))
"""Of handles along x, y and z, or about them."""
FRAME_CONTROLS = (
    HandleControl(name="move", kind="view"),
    *(
        HandleControl(name=f"{name} {letter}", kind=kind, axis=axis, colour=colour)
        for name, kind in (("move", "move"), ("turn", "turn"))
        for letter, axis, colour in zip("xyz", _AXES, AXIS_COLOURS, strict=True)
    ),
)
"""The handles that move and turn a frame."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HandleEntry:
    """A frame with a name and handles."""

    name: str  # different for each frame
    label: str = ""  # what is written at it
    pose: Pose  # in the world
    controls: tuple[HandleControl, ...] = FRAME_CONTROLS

    def to_json(self) -> dict[str, Any]:
        """Return the entry for a page."""
        return {
            "name": self.name,
            "label": self.label or self.name,
            "position": [round(float(value), 5) for value in self.pose.position],
            "quat": [round(float(value), 5) for value in self.pose.quat_wxyz],
            "controls": [
                {
                    "name": c.name,
                    "kind": c.kind,
                    "axis": [round(value, 5) for value in c.axis],
                    "colour": c.colour,
                    "faces": c.faces_camera,
                    "central": c.is_central,
                }
                for c in self.controls
            ],
        }


@dataclass(kw_only=True, slots=True)
class OverlayEntries:
    """The entries of an overlay."""

    geoms: Sequence[mujoco.MjvGeom] = ()
    handles: Sequence[HandleEntry] = field(default_factory=list)
