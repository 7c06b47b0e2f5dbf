"""The panel "Overlays": selects and draws the overlays in the scene, and lists contacts."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

import mujoco
import numpy as np
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.observer import contact_forces
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import DrawingClient, ParameterClient, wrench_sign
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.file_request import files_of_clients
from mujoco_ros.viewer.message_shapes import MOST_DRAWN
from mujoco_ros.viewer.overlays.drawn import Frames, PlacedText, drawn, placed_texts, tf_frames
from mujoco_ros.viewer.overlays.entity_marks import EntityMarks, Ghost
from mujoco_ros.viewer.overlays.mesh_files import MeshFiles
from mujoco_ros.viewer.overlays.robot_overlays import (
    JointPaths,
    applied,
    balance,
    contacts,
    fields_of_view,
    sensed,
)
from mujoco_ros.viewer.overlays.shapes import OverlayScene, Scale, viewed_scene
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import cell, coloured, number_cell, table, text, tree
from mujoco_ros.viewer.style import SHADOW, WARNING, packed
from mujoco_ros.viewer.web.page import PanelsHidden

_MOST = 20  # contacts that are listed


def build_contacts(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Build a row per contact, with both bodies and the force between them; the largest first."""
    found = contact_forces(model, data)
    forces = np.linalg.norm(found.forces, axis=1)
    if not len(forces):
        text("No contacts.")
        return
    with table("contacts", [("Body", 1.0), ("Body", 1.0), ("Force", 0.0)]) as is_open:
        for index in np.argsort(-forces)[:_MOST] if is_open else ():
            for body in found.bodies[index]:
                cell(model.body(int(body)).name or f"body {body}")
            number_cell(f"{forces[index]:.1f} N")
    if len(forces) > _MOST:
        text(f"{len(forces) - _MOST} more")


_LOG = logging.getLogger(__name__)
_MM = 1e3
_TF = "TF frames"
_SCALE_RANGE = (0.01, 1000.0)
_MOST_NAMED = 5  # most unknown frames, and most meshes that are not drawn, that the window names

Draw = Callable[[OverlayScene, Scale], list[mujoco.MjvGeom]]


class OverlaysPanel(Panel):
    """Draws the selected overlays over the scene."""

    title = "Overlays"
    area = DockArea.LEFT_BELOW

    def __init__(
        self,
        state: SharedState,
        parameters: ParameterClient,
        drawings: DrawingClient,
        displays: EntityDisplays,
    ) -> None:
        super().__init__(state)
        self._marks = EntityMarks(state, displays)
        self._parameters, self._drawings = parameters, drawings
        self._meshes = MeshFiles(files_of_clients(parameters))
        self._joint_paths = JointPaths()
        self._topics: dict[str, bool] = {}
        self._texts: list[PlacedText] = []
        self._unknown: set[str] = set()
        self._is_full = False
        self._overlays: dict[str, tuple[Draw, str]] = {
            "External wrenches": (applied, "Wrenches of external_wrench,\nat the centre of mass."),
            "Contact forces": (contacts, "On the second body of each contact."),
            "Force-torque sensors": (sensed, "As published on wrench/<name>."),
            "References": (Ghost(), "The robot at its joint references,\nas a ghost."),
            "Balance": (balance, "Centre of mass and support polygon\nof floating robots."),
            "Cameras": (
                fields_of_view,
                "What each camera shows, with the images\nof those that are selected in Cameras.",
            ),
            _TF: (self._tf_frames, "All frames of /tf and /tf_static,\nand of all bodies."),
        }
        # Whether each overlay is drawn, by its name
        self.shown = {name: name == "External wrenches" for name in self._overlays}
        self.scale = Scale()  # lengths of the arrows

    def update(self) -> None:
        """Draw into the viewer's list of geoms, empty at the start of each frame."""
        geoms = self.viewer.extra_geoms
        geoms.clear()
        self._texts = []
        scene = self._scene()
        if scene is None:
            return
        self._frames = Frames(scene, self._drawings.frames)
        for name, (draw, _tip) in self._overlays.items():
            if not self.shown[name]:
                continue
            try:
                geoms += draw(scene, self.scale)
            except Exception:  # would terminate the viewer
                self.shown[name] = False
                _LOG.exception("the overlay '%s' failed and is switched off", name)
        self._guard("marks of entities", lambda: geoms.extend(self._marks(scene, self.scale)))
        self._draw_topics(scene)

    def _draw_topics(self, scene: OverlayScene) -> None:
        geoms, self._unknown, self._is_full = self.viewer.extra_geoms, set(), False
        frames = self._frames
        found = self._drawings.shapes()
        self._meshes.follow(found)
        for topic, each in found.items():
            left = MOST_DRAWN - len(geoms) - len(self._texts)
            try:
                shapes = each
                if self._parameters.known:  # with the folders of files
                    shapes = self._meshes.triangles(topic, each)
                self._is_full |= len(shapes) > left
                geoms += drawn(shapes, frames, self._unknown, self.scale, most=left)
                self._texts += placed_texts(shapes, frames, most=left)
            except Exception:  # would terminate the viewer
                self._choose(topic, False)
                _LOG.exception("topic '%s' cannot be drawn and is switched off", topic)
        paths = self._drawings.joint_paths()
        self._guard(
            "trajectories", lambda: geoms.extend(self._joint_paths(scene, paths, self.scale))
        )
        self._is_full |= len(geoms) > MOST_DRAWN
        self._drawings.need_frames(None if self.shown[_TF] else frames.others)

    def _tf_frames(self, scene: OverlayScene, _scale: Scale) -> list[mujoco.MjvGeom]:
        """Return the axes of all frames; their names are drawn with the texts."""
        geoms, texts = tf_frames(scene, self._frames)
        self._texts += texts
        return geoms

    @property
    def shows_cameras(self) -> bool:
        return self.shown["Cameras"]

    @messages.handler(priority=messages.Priority.USER)
    def on_build_texts(self, _: messages.BuildGuiEvent) -> None:
        """Write the texts of the shown topics over the scene and below all windows."""
        if self._texts:
            self._guard("texts", self._build_texts)

    def _build_texts(self) -> None:
        canvas, projection = imgui.GetBackgroundDrawList(), self._projection()
        if projection is None:
            return
        for position, words, colour in self._texts:
            pixel = projection.project(position)
            if pixel is None:
                continue
            extent = imgui.CalcTextSize(words)
            corner = pixel - 0.5 * np.array([extent.x, extent.y])
            for offset, each in ((1.0, SHADOW), (0.0, colour)):
                canvas.AddText(imgui.Vec2(*(corner + offset)), packed(each), words)

    def _choose(self, topic: str, shown: bool) -> None:
        self._topics[topic] = shown
        self._drawings.show(topic, shown)

    @messages.handler
    def on_panels_hidden(self, _: PanelsHidden) -> None:
        """Draw nothing: geoms would show a past state. No frame is needed, either."""
        self.viewer.extra_geoms.clear()
        self._drawings.need_frames(())

    @messages.handler
    def on_exit(self, _: messages.ExitEvent) -> None:
        self._meshes.close()

    def settings(self) -> dict[str, Any]:
        """Return which overlays are drawn, and the lengths [m/N, m/Nm]."""
        return {
            "shown": dict(self.shown),
            "force": self.scale.force,
            "torque": self.scale.torque,
            "topics": dict(self._topics),
        }

    def restore(self, settings: Mapping[str, Any]) -> None:
        shown = settings.get("shown")
        if isinstance(shown, dict):
            self.shown = {name: shown.get(name) is True for name in self.shown}
        topics = settings.get("topics")
        if isinstance(topics, dict):
            for topic, is_shown in topics.items():
                self._choose(str(topic), is_shown is True)
        low, high = (limit / _MM for limit in _SCALE_RANGE)
        for name in ("force", "torque"):
            length = settings.get(name)
            if isinstance(length, float) and low <= length <= high:
                setattr(self.scale, name, length)

    def build(self) -> None:
        for name, (_draw, tip) in self._overlays.items():
            _, self.shown[name] = imgui.Checkbox(name, self.shown[name])
            imgui.SetItemTooltip(tip)
        self.scale.force = _scale_slider("Force", self.scale.force, "N")
        self.scale.torque = _scale_slider("Torque", self.scale.torque, "Nm")
        with tree("Contacts") as is_open:
            if is_open:
                build_contacts(self.viewer.model, self.viewer.data)
        imgui.SeparatorText("Topics")
        if not self._drawings.topics:
            imgui.TextUnformatted("None that can be drawn.")
        for topic, kind in self._drawings.topics.items():
            changed, shown = imgui.Checkbox(topic, self._drawings.is_shown(topic))
            imgui.SetItemTooltip(kind)
            if changed:
                self._choose(topic, shown)
        with coloured(WARNING):
            for frame in sorted(self._unknown)[:_MOST_NAMED]:
                imgui.TextUnformatted(f"Frame '{frame}' is not known.")
            for uri, problem in list(self._meshes.problems.items())[:_MOST_NAMED]:
                text(f"Mesh '{uri}': {problem}")
            if self._is_full:
                imgui.TextUnformatted(f"More than {MOST_DRAWN} shapes are not drawn.")

    def _scene(self) -> OverlayScene | None:
        self.scale.sensor_sign = wrench_sign(self._parameters)
        return viewed_scene(self.viewer.model, self.viewer.data, self.state)


def _scale_slider(label: str, scale: float, unit: str) -> float:
    """Build a slider of the length per unit; return it [m per unit]."""
    imgui.SetNextItemWidth(-imgui.CalcTextSize("Torque").x - 12.0)
    logarithmic, text_format = int(imgui.SliderFlags.Logarithmic), f"%.3g mm/{unit}"
    changed, value = imgui.SliderFloat(label, scale * _MM, *_SCALE_RANGE, text_format, logarithmic)
    return value / _MM if changed else scale
