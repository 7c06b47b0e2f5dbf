"""The panel "Targets": named frames that are dragged in the scene and published."""

import numpy as np
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.pose import Pose
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import CommandClient, Request
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.drag_handles import DragHandles
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import button, drag_position, request_result, scope, text
from mujoco_ros.viewer.style import WARNING

_SPEED_M = 0.002  # motion per pixel of a dragged coordinate [m]
_MIN_CHANGE_M = 1e-6  # smaller differences are rounding errors of ImGui's float32


class TargetsPanel(Panel):
    """The window "Targets", and the handles of each target in the scene."""

    title = "Targets"
    area = DockArea.LEFT_BELOW

    def __init__(self, state: SharedState, commands: CommandClient) -> None:
        super().__init__(state)
        self.targets: dict[str, Pose] = {}  # pose of each target by its name
        self._commands = commands
        self._handles: dict[str, DragHandles] = {}
        self._name = "target"
        self._request: Request | None = None

    def put(self, name: str, frame: Pose) -> None:
        self.targets[name] = frame
        self._request = self._commands.publish_target(name, frame.position, frame.quat_wxyz)

    def remove(self, name: str) -> None:
        del self.targets[name]
        self._handles.pop(name, None)
        self._commands.remove_target(name)

    def same_topic(self, name: str) -> str:
        """Return the target whose topic a target named `name` would share; empty if none."""
        token = topic_token(name)
        return next((other for other in self.targets if topic_token(other) == token), "")

    @messages.handler(priority=messages.Priority.USER)
    def on_build_handles(self, _: messages.BuildGuiEvent) -> None:
        if self.targets:
            self._guard("handles", self._build_handles)

    def _build_handles(self) -> None:
        if (projection := self._projection()) is None:
            return
        for name, frame in list(self.targets.items()):
            moved = self._handles.setdefault(name, DragHandles(name)).build(frame, projection)
            if not moved.equals(frame):
                self.put(name, moved)

    def build(self) -> None:
        imgui.SetNextItemWidth(-imgui.CalcTextSize("Add target").x - 20.0)
        _, self._name = imgui.InputText("##name", self._name)
        imgui.SameLine()
        name = self._name.strip()
        other = self.same_topic(name)
        tip = "At the selected body, or at\nthe look-at point of the camera."
        if button("Add target", enabled=bool(name) and not other, tip=tip):
            self.put(name, self._initial_frame())
            self._name = self._next_name(name)
        if other not in ("", name):
            text(f"'{other}' has the topic of '{name}', target/{topic_token(name)}/pose.", WARNING)
        for each in list(self.targets):
            with scope(each):
                self._build_target(each)
        if not self.targets:
            text("A target is a frame to drag; its pose is\npublished on target/<name>/pose.")
        elif self._request is not None:
            request_result(self._request)

    def _build_target(self, name: str) -> None:
        imgui.AlignTextToFramePadding()
        imgui.TextUnformatted(f"{name} [m]")
        imgui.SameLine()
        if button("Upright", tip="Align it with the world."):
            self.put(name, Pose(position=self.targets[name].position))
        imgui.SameLine()
        if button("Remove"):
            self.remove(name)
            return
        frame = self.targets[name]
        position = frame.position.copy()
        drag_position(position, _SPEED_M)
        if (np.abs(position - frame.position) > _MIN_CHANGE_M).any():
            self.put(name, Pose(position=position, quat_wxyz=frame.quat_wxyz))

    def _initial_frame(self) -> Pose:
        viewer = self.viewer
        body = viewer.perturb.select
        if 0 < body < viewer.model.nbody:
            data = viewer.data
            return Pose(position=data.xpos[body].copy(), quat_wxyz=data.xquat[body].copy())
        return Pose(position=np.array(viewer.camera.lookat))

    def _next_name(self, name: str) -> str:
        stem = name.rstrip("0123456789")
        number = 2
        while self.same_topic(f"{stem}{number}"):
            number += 1
        return f"{stem}{number}"
