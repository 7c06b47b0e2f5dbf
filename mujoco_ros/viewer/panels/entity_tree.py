"""The node of an entity: what is shown of it, its pose, its links and its sensors."""

from typing import Any

import numpy as np
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.model.scene.entities import Entity, EntityKind
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.client_set import EntityClient
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.entity_parts import depth, initial_values, sensors_of, trail_body
from mujoco_ros.viewer.framing import CameraFollows, followed
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.widgets import Numbers, PoseFields

_INDENT = "  "
_SWITCHES = (
    ("Visual", "visual", "Its shapes, and its sites."),
    ("Collision", "collision", "Shapes that can collide."),
    ("Frames", "frames", "Frames of its links."),
)
_GHOST_TIP = "The robot at its joint references,\nas a ghost."
_TRAIL_TIP = "The path of the last 10 s: of the selected link,\nelse of its base or last link."


class EntityTree:
    """Builds the nodes of entities."""

    def __init__(self, state: SharedState, client: EntityClient, displays: EntityDisplays) -> None:
        self.latest: Request | None = None  # the latest request
        self._state, self._client, self._displays = state, client, displays
        self._edited: dict[str, Numbers] = {}
        self._fields: dict[str, PoseFields] = {}

    def build(self, entity: Entity, viewer: Any, *, acts: bool) -> None:
        """Build the node of an entity, which can be changed if it `acts`."""
        with widgets.tree(f"{entity.name} ({entity.kind})###{entity.name}") as is_open:
            if not is_open:
                return
            self._build_switches(entity, viewer)
            if acts:
                self._build_pose(entity, viewer)
                self._build_actions(entity)
            with widgets.tree(f"Links##{entity.name}") as is_inner_open:
                if is_inner_open:
                    self._build_links(entity, viewer)
            sensors = list(sensors_of(self._state, entity))
            if not sensors:
                return
            with widgets.tree(f"Sensors##{entity.name}") as is_inner_open:
                for label, body in sensors if is_inner_open else ():
                    self._build_selectable(label, body, viewer)

    def _build_switches(self, entity: Entity, viewer: Any) -> None:
        name, display = entity.name, self._displays.display_of(entity.name)
        for label, switch, tip in _SWITCHES:
            if _check_box(f"{label}##{name}", getattr(display, switch), tip):
                self._displays.set(name, **{switch: not getattr(display, switch)})
        if entity.kind is EntityKind.ROBOT and _check_box(
            f"References##{name}", display.references, _GHOST_TIP
        ):
            self._displays.set(name, references=not display.references)
        if _check_box(f"Trail##{name}", bool(display.trail), _TRAIL_TIP):
            body = (
                ""
                if display.trail
                else trail_body(self._state.model, entity, int(viewer.perturb.select))
            )
            self._displays.set(name, trail=body)
        is_followed = entity.root > 0 and followed(viewer.camera) == entity.root
        if _check_box(f"Follow##{name}", is_followed, "The camera moves with it."):
            viewer.dispatch(CameraFollows(body=0 if is_followed else entity.root))
        imgui.NewLine()

    def _build_pose(self, entity: Entity, viewer: Any) -> None:
        name, data = entity.name, viewer.data
        if entity.free is None and entity.mocap is None:
            return
        x, y, z = map(float, data.xpos[entity.root])
        qw, qx, qy, qz = map(float, data.xquat[entity.root])
        edited = self._edited.get(name)
        fields = self._fields.setdefault(name, PoseFields())
        shown = (x, y, z, qx, qy, qz, qw) if edited is None else edited
        pose, _ = fields.build(name, shown)
        if pose != shown:
            self._edited[name] = pose
        tip = "Set this pose in the world.\nWhile paused, drag it: double-click, Ctrl and drag."
        if widgets.button(f"Place##{name}", enabled=edited is not None, tip=tip):
            self._edited.pop(name, None)
            quat = np.array([pose[6], *pose[3:6]])
            self.latest = self._client.place(name, np.array(pose[:3]), quat)
        imgui.SameLine()
        if widgets.button(f"Present##{name}", enabled=edited is not None, tip="Its present pose."):
            self._edited.pop(name, None)
        imgui.SameLine()

    def _build_actions(self, entity: Entity) -> None:
        name, state = entity.name, self._state
        tip = "Set its initial state; others, and the time, stay."
        if widgets.button(f"Reset##{name}", enabled=entity.moves, tip=tip):
            values = initial_values(state.assembly, state.layout, entity)
            self.latest = self._client.reset(name, values)
        if entity.kind is EntityKind.BODY:
            return
        imgui.SameLine()
        question = f"delete {name}"
        if widgets.button(f"Delete##{name}"):
            imgui.OpenPopup(question)
        with widgets.popup(question) as is_open:
            if is_open and widgets.button(f"Delete {name}"):
                self.latest = self._client.delete(name)
                imgui.CloseCurrentPopup()

    def _build_links(self, entity: Entity, viewer: Any) -> None:
        model = self._state.model
        for body in entity.bodies:
            label = model.body(body).name.removeprefix(f"{entity.name}/")
            self._build_selectable(f"{_INDENT * depth(model, body)}{label}", body, viewer)

    def _build_selectable(self, label: str, body: int, viewer: Any) -> None:
        if imgui.Selectable(f"{label}##{body}", viewer.perturb.select == body):
            viewer.perturb.select = body


def _check_box(label: str, is_on: bool, tip: str) -> bool:
    """Build a check box in the present row or the next one; return whether it was switched."""
    if imgui.GetContentRegionAvail().x < imgui.CalcTextSize(label.partition("##")[0]).x + 2.5 * (
        imgui.GetFrameHeight()
    ):
        imgui.NewLine()
    changed, _ = imgui.Checkbox(label, is_on)
    imgui.SetItemTooltip(tip)
    imgui.SameLine()
    return bool(changed)
