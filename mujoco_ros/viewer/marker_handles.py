"""The interactive marker that is selected, with the handles that its controls give it."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.marker_descriptions import (
    ControlOrientation,
    InteractiveMarkerInfo,
    MarkerControl,
    MarkerKey,
)
from mujoco_ros.viewer.marker_motion import FREE, LINES, PLANES, TURNS, control_axes
from mujoco_ros.viewer.message_shapes import printable
from mujoco_ros.viewer.overlays.drawn import Frames
from mujoco_ros.viewer.ros.drawn_topics import DrawnTopics
from mujoco_ros.viewer.ros.interactive_markers.marker_servers import MarkerServers
from mujoco_ros.viewer.scene.entries import AXIS_COLOURS, HandleControl, HandleEntry

MOST_HANDLES = 40
"""Handles of a marker that are shown."""
_FRAME = "marker"  # name of its handles
_CENTRE = (0.95, 0.8, 0.2)  # colour of handles that belong to no axis


class MarkerHandles:
    """One marker is selected, for all pages of a viewer."""

    def __init__(self, state: SharedState, markers: MarkerServers, drawings: DrawnTopics) -> None:
        self.selected: MarkerKey | None = None  # the selected marker
        self.is_unplaced = False  # whether the TF frame of the marker is not known
        self.has_more = False  # whether it has more handles than are shown
        self._state, self._markers, self._drawings = state, markers, drawings
        self._reference = Pose()
        self._is_moving = False

    @property
    def marker(self) -> InteractiveMarkerInfo | None:
        """The selected marker; None if none is selected, or if it is gone."""
        if self.selected is None:
            return None
        server = self._markers.known.get(self.selected.server)
        return None if server is None else server.markers.get(self.selected.name)

    def select(self, key: MarkerKey | None) -> None:
        """Select a marker; a motion of another one ends."""
        if key != self.selected:
            self.release()
            self.selected = key

    def entries(self) -> Iterator[HandleEntry]:
        """Yield the marker with its handles, if it can be placed."""
        marker, state = self.marker, self._state
        if marker is None:
            self.release()
            return
        reference = Frames(state, self._drawings.frames).pose(marker.frame)
        self.is_unplaced = reference is None
        if reference is None or state.shown is not None:
            self.release()  # frames of a past state are elsewhere now
            return
        self._reference = reference
        pose = reference @ marker.pose
        found = marker_controls(marker, reference)
        controls = tuple(islice(found, MOST_HANDLES))
        self.has_more = next(found, None) is not None
        label = printable(marker.name)
        yield HandleEntry(name=_FRAME, label=label, pose=pose, controls=controls)

    def drag(self, _frame: str, handle: str, pose: Pose) -> None:
        """Move the marker; its client repeats the motion until `release`."""
        marker, key = self.marker, self.selected
        number = handle.rpartition(" ")[2]
        if marker is None or key is None or not number.isdigit():
            return
        if int(number) < len(marker.controls):
            self._is_moving = True
            control = marker.controls[int(number)]
            self._markers.drag(key, control.name, self._reference.inverse() @ pose)

    def release(self) -> None:
        """End the motion."""
        if self._is_moving:
            self._is_moving = False
            self._markers.release()


def marker_controls(marker: InteractiveMarkerInfo, reference: Pose) -> Iterator[HandleControl]:
    """Yield the handles of a marker whose TF frame has the pose `reference` in the world.

    Their names end with the number of the control.
    """
    is_centre_free = not any(control.mode in FREE for control in marker.controls)
    frame = reference @ marker.pose
    turn = frame.matrix.T
    for number, control in enumerate(marker.controls):
        own = Pose(quat_wxyz=control.quat_wxyz).matrix
        faces = control.orientation is ControlOrientation.VIEW_FACING
        axes = own if faces else turn @ control_axes(marker, control, reference, frame)
        for name, kind, i in _handles(control):
            is_plane = kind == "plane"
            axis = (0.0, 0.0, 0.0) if kind == "view" else tuple(map(float, axes[:, i]))
            yield HandleControl(
                name=f"{name} {number}",
                kind=kind,
                axis=(axis[0], axis[1], axis[2]),
                colour=_CENTRE
                if kind in ("view", "plane")
                else AXIS_COLOURS[int(np.abs(own[:, i]).argmax())],
                faces_camera=faces,
                is_central=is_plane and faces and is_centre_free,
            )


def _handles(control: MarkerControl) -> Iterator[tuple[str, str, int]]:
    """Yield name, kind and axis of the handles of a control."""
    if control.mode in FREE:
        yield "move", "view", 0
    for i in LINES.get(control.mode, ()):
        yield f"move {'xyz'[i]}", "move", i
    if control.mode in PLANES:
        yield "slide", "plane", 0
    for i in TURNS.get(control.mode, ()):
        yield f"turn {'xyz'[i]}", "turn", i
