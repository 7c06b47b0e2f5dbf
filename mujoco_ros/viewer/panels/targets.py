"""Target frames: named, dragged by their handles, and published wherever they are."""

from typing import ClassVar

import numpy as np
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.model.naming import topic_token
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.docks import DockPlace
from mujoco_ros.viewer.drag_handles import DragHandles
from mujoco_ros.viewer.gizmo import GizmoFrame
from mujoco_ros.viewer.link import SimulatorLink
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import WARNING, button, scope, text
from mujoco_ros.viewer.projection import ScreenProjection

_SPEED_M = 0.002  # per pixel
_GAP_PX = 4.0
_LEAST_M = 1e-6
"""Less is no change: ImGui's numbers are float32."""


class Targets(Panel):
    """The window "Targets", and the handles of each target in the scene.

    Attributes:
        targets: Where each is, by name, in the order in which they were added.
    """

    title: ClassVar[str] = "Targets"
    place: ClassVar[DockPlace] = DockPlace.LEFT_BELOW

    def __init__(self, state: SharedState, link: SimulatorLink) -> None:
        """Publish through `link`."""
        super().__init__(state, link)
        self.targets: dict[str, GizmoFrame] = {}
        self._grips: dict[str, DragHandles] = {}
        self._name = "target"

    def put(self, name: str, frame: GizmoFrame) -> None:
        """Put a target somewhere, one that is there or a new one, and tell where."""
        self.targets[name] = frame
        self.link.publish_target(name, frame.position, frame.quat_wxyz)

    def remove(self, name: str) -> None:
        """Remove a target, and tell no more of it."""
        del self.targets[name]
        self._grips.pop(name, None)
        self.link.remove_target(name)

    def rival(self, name: str) -> str:
        """Return the target whose topic one of that name would have as well; empty if none has."""
        token = topic_token(name)
        return next((other for other in self.targets if topic_token(other) == token), "")

    @messages.handler(priority=messages.Priority.USER)
    def on_build_handles(self, _: messages.BuildGuiEvent) -> None:
        """Build the handles over the scene."""
        if self.targets:
            self._guard("handles", self._build_handles)

    def _build_handles(self) -> None:
        viewer, size = self.viewer, imgui.GetIO().DisplaySize
        if size.x <= 0 or size.y <= 0:
            return
        lens = ScreenProjection.of(viewer.model, viewer.data, viewer.camera, size.x, size.y)
        for name, frame in list(self.targets.items()):
            moved = self._grips.setdefault(name, DragHandles(name)).build(frame, lens)
            if not moved.is_at(frame):
                self.put(name, moved)

    def build(self) -> None:
        """Build the window: a name and a button, and then where each target is."""
        imgui.SetNextItemWidth(-imgui.CalcTextSize("Add target").x - 20.0)
        _, self._name = imgui.InputText("##name", self._name)
        imgui.SameLine()
        name = self._name.strip()
        rival = self.rival(name)
        tip = "At the selected body,\nor where the camera looks."
        if button("Add target", enabled=bool(name) and not rival, tip=tip):
            self.put(name, self._start())
            self._name = self._next_name(name)
        if rival not in ("", name):
            text(f"'{rival}' has the topic of '{name}', target/{topic_token(name)}/pose.", WARNING)
        for each in list(self.targets):
            with scope(each):
                self._build_target(each)
        if not self.targets:
            text("A target is a frame to drag; its pose is\npublished on target/<name>/pose.")

    def _build_target(self, name: str) -> None:
        imgui.AlignTextToFramePadding()
        imgui.TextUnformatted(f"{name} [m]")
        imgui.SameLine()
        if button("Upright", tip="Align it with the world."):
            position = self.targets[name].position
            self.put(name, GizmoFrame(position=position, quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0])))
        imgui.SameLine()
        if button("Remove"):
            self.remove(name)
            return
        frame = self.targets[name]
        width = (imgui.GetContentRegionAvail().x - 2 * _GAP_PX) / 3
        position = frame.position.copy()
        for axis, letter in enumerate("xyz"):
            if axis:
                imgui.SameLine(0.0, _GAP_PX)
            imgui.SetNextItemWidth(width)
            label, shown = f"##{letter}", f"{letter} %.3f"
            _, position[axis] = imgui.DragFloat(label, position[axis], _SPEED_M, 0.0, 0.0, shown)
        if (np.abs(position - frame.position) > _LEAST_M).any():
            self.put(name, GizmoFrame(position=position, quat_wxyz=frame.quat_wxyz))

    def _start(self) -> GizmoFrame:
        """Return where a new target begins: at the selected body, or where the camera looks."""
        viewer = self.viewer
        body = viewer.perturb.select
        if 0 < body < viewer.model.nbody:
            data = viewer.data
            return GizmoFrame(position=data.xpos[body].copy(), quat_wxyz=data.xquat[body].copy())
        upright = np.array([1.0, 0.0, 0.0, 0.0])
        return GizmoFrame(position=np.array(viewer.camera.lookat), quat_wxyz=upright)

    def _next_name(self, name: str) -> str:
        """Return a free name that is like this one."""
        stem = name.rstrip("0123456789")
        number = 2
        while self.rival(f"{stem}{number}"):
            number += 1
        return f"{stem}{number}"
