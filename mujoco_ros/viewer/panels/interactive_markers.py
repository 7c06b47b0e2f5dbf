"""The panel "Interactive markers": selects, moves and presses markers of other nodes."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import DrawingClient
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.drag_handles import DragHandles, Handle
from mujoco_ros.viewer.framing import ScreenProjection
from mujoco_ros.viewer.marker_constraints import control_handles
from mujoco_ros.viewer.marker_descriptions import (
    InteractionMode,
    InteractiveMarkerClient,
    InteractiveMarkerInfo,
    MarkerKey,
    MarkerMenuEntry,
)
from mujoco_ros.viewer.marker_motion import allowed, moving_control
from mujoco_ros.viewer.message_shapes import printable
from mujoco_ros.viewer.overlays.drawn import Frames
from mujoco_ros.viewer.overlays.shapes import viewed_scene
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.style import BAD, MODEL_LIST_HEIGHT, WARNING
from mujoco_ros.viewer.web.page import PageHalted, PanelsHidden

_MOST_HANDLES = 40  # handles that are built; each is a window


class InteractiveMarkersPanel(Panel):
    """Lists the markers of all servers, and moves the selected one by its handles."""

    title = "Interactive markers"
    area = DockArea.RIGHT_BELOW

    def __init__(
        self, state: SharedState, markers: InteractiveMarkerClient, drawings: DrawingClient
    ) -> None:
        super().__init__(state)
        self.selected: MarkerKey | None = None  # the selected marker
        self._markers, self._drawings = markers, drawings
        self._fields = widgets.PoseFields()
        self._handles: DragHandles | None = None
        self._reference = Pose()
        self._is_moving = self._is_unplaced = self._has_more_handles = False
        self._refusal = ""

    def windows(self) -> Iterator[tuple[str, Callable[[], None]]]:
        if self._markers.known:
            yield from super().windows()

    @messages.handler
    def on_panels_hidden(self, _: PanelsHidden) -> None:
        """End a motion: no browser controls the mouse."""
        self._release()

    @messages.handler
    def on_page_halted(self, _: PageHalted) -> None:
        """End a motion: the page does not follow the mouse."""
        self._release()

    def select(self, key: MarkerKey) -> None:
        """Select a marker; a motion of another one ends."""
        self._release()
        self.selected, self._refusal = key, ""
        self._fields = widgets.PoseFields()
        self._handles = DragHandles(printable(key.name), self._handles_of)

    @messages.handler(priority=messages.Priority.USER)
    def on_build_handles(self, _: messages.BuildGuiEvent) -> None:
        if self.selected is not None:
            self._guard("handles", self._build_handles)

    def _build_handles(self) -> None:
        viewer, key, projection = self.viewer, self.selected, self._projection()
        marker, scene = self._marker(), viewed_scene(viewer.model, viewer.data, self.state)
        if key is None or self._handles is None or scene is None or projection is None:
            return
        frames = Frames(scene, self._drawings.frames)
        reference = None if marker is None else frames.pose(marker.frame)
        self._is_unplaced = reference is None
        if marker is None or reference is None or self.state.shown is not None:
            self._release()  # frames of a past state are elsewhere now
            return
        self._reference = reference
        frame = reference @ marker.pose
        moved = self._handles.build(frame, projection)
        held = self._handles.held
        if held is None:
            self._release()
        else:
            self._is_moving = True
            is_still = moved.equals(frame)
            pose = marker.pose if is_still else reference.inverse() @ moved
            self._markers.drag(key, held.control, pose)

    def _handles_of(self, frame: Pose, projection: ScreenProjection) -> Iterator[Handle]:
        marker = self._marker()
        if marker is not None:
            found = control_handles(marker, self._reference, frame, projection)
            yield from islice(found, _MOST_HANDLES)
            self._has_more_handles = next(found, None) is not None

    def build(self) -> None:
        rows = [
            MarkerKey(server, name)
            for server, info in sorted(self._markers.known.items())
            for name in sorted(info.markers)
        ]
        for server, info in sorted(self._markers.known.items()):
            for problem in info.problems:
                widgets.text(f"{server or '/'}: {problem}", WARNING)
        if self._markers.left_out:
            widgets.text(f"{self._markers.left_out} more servers are not shown.", WARNING)
        if not rows:
            widgets.text("The servers have no markers.")
            return
        height = min(len(rows) * imgui.GetTextLineHeightWithSpacing(), MODEL_LIST_HEIGHT)
        with widgets.child("markers", height=height) as is_visible:
            for row in widgets.visible_rows(len(rows)) if is_visible else ():
                self._build_row(rows[row], row)
        marker = self._marker()
        if marker is None:
            widgets.text("Select a marker to move it.")
        elif self.selected is not None:
            with widgets.scope(f"{self.selected.server} {self.selected.name}"):
                self._build_marker(self.selected, marker)

    def _build_row(self, key: MarkerKey, row: int) -> None:
        with widgets.scope(str(row)):
            label = f"{key.server}: {key.name}"
            if imgui.Selectable(f"##{label}", key == self.selected):
                self.select(key)
            imgui.SameLine(0.0, 0.0)
            imgui.TextUnformatted(printable(label))

    def _build_marker(self, key: MarkerKey, marker: InteractiveMarkerInfo) -> None:
        imgui.SeparatorText("Marker")
        widgets.text(printable(marker.name))
        if marker.description and marker.description != marker.name:
            widgets.text(marker.description)
        frame = printable(marker.frame)
        widgets.text(f"Pose in '{frame}'")
        if self._is_unplaced:
            widgets.text(f"Frame '{frame}' is not known.", WARNING)
        elif self._has_more_handles:
            widgets.text(f"Only the first {_MOST_HANDLES} handles are shown.", WARNING)
        self._build_pose(key, marker)
        for index, control in enumerate(marker.controls):
            if control.mode is InteractionMode.BUTTON:
                with widgets.scope(str(index)):
                    label = control.description or control.name or "Press"
                    if widgets.button(label, tip=control.name):
                        self._markers.click(key, control.name)
        if marker.menu:
            imgui.SeparatorText("Menu")
            name = next(
                (
                    control.name
                    for control in marker.controls
                    if control.mode is InteractionMode.MENU
                ),
                marker.controls[0].name if marker.controls else "",
            )
            self._build_menu(marker.menu, partial(self._markers.select, key, name))

    def _build_pose(self, key: MarkerKey, marker: InteractiveMarkerInfo) -> None:
        is_fixed = moving_control(marker) is None
        w, x, y, z = marker.pose.quat_wxyz
        with widgets.disabled(is_fixed):
            numbers, is_done = self._fields.build("pose", (*marker.pose.position, x, y, z, w))
        if is_done and not is_fixed:
            self._place(key, marker, numbers)
        if self._refusal:
            widgets.text(self._refusal, BAD)

    def _place(
        self, key: MarkerKey, marker: InteractiveMarkerInfo, numbers: Sequence[float]
    ) -> None:
        px, py, pz, x, y, z, w = numbers
        wanted = Pose(position=np.array([px, py, pz]), quat_wxyz=np.array([w, x, y, z]))
        try:
            wanted.check("The marker")
        except UserInputError as error:
            self._refusal = str(error)
            return
        self._refusal = ""
        pose = allowed(marker, wanted)
        if (control := moving_control(marker, pose)) is not None:
            self._markers.place(key, control.name, pose)

    def _build_menu(
        self, entries: Sequence[MarkerMenuEntry], choose: Callable[[int], object]
    ) -> None:
        for entry in entries:
            with widgets.scope(str(entry.number)):
                if entry.entries:
                    with widgets.tree(entry.title) as is_open:
                        if is_open:
                            self._build_menu(entry.entries, choose)
                elif widgets.button(entry.title, enabled=entry.is_selectable, tip=_tip(entry)):
                    choose(entry.number)

    def _marker(self) -> InteractiveMarkerInfo | None:
        if self.selected is None:
            return None
        server = self._markers.known.get(self.selected.server)
        return None if server is None else server.markers.get(self.selected.name)

    def _release(self) -> None:
        if self._is_moving:
            self._is_moving = False
            self._markers.release()


def _tip(entry: MarkerMenuEntry) -> str:
    return "" if entry.is_selectable else "The viewer runs no commands."
