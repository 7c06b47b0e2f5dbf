"""What is drawn over the scene: selected overlays, marks of entities, and messages of topics."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import mujoco

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.file_request import files_of_clients
from mujoco_ros.viewer.message_shapes import MOST_DRAWN, Shape
from mujoco_ros.viewer.overlays import robot_overlays
from mujoco_ros.viewer.overlays.drawn import Frames, drawn, tf_frames
from mujoco_ros.viewer.overlays.entity_marks import EntityMarks, Ghost
from mujoco_ros.viewer.overlays.heat_map import HeatMap
from mujoco_ros.viewer.overlays.mesh_files import MeshFiles
from mujoco_ros.viewer.overlays.shapes import Scale
from mujoco_ros.viewer.ros.drawn_topics import DrawnTopics
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters, wrench_sign
from mujoco_ros.viewer.scene.entries import OverlayEntries

_LOG = logging.getLogger(__name__)
_MOST_NAMED = 5  # most unknown frames, and most meshes that are not drawn, that are named
TF_FRAMES, CAMERAS, IMAGES = "TF frames", "Cameras", "Camera images"
LENGTHS = (1e-5, 1.0)
"""Shortest and longest length of a unit of a force or a torque [m]."""
TIPS = {
    "External wrenches": "Wrenches of external_wrench, at the centre of mass",
    "Contact forces": "On the second body of each contact",
    "Force-torque sensors": "As published on wrench/<name>",
    "References": "The robots at their joint references, as ghosts",
    "Balance": "Centre of mass and support polygon of floating robots",
    CAMERAS: "The field of view of each camera",
    IMAGES: "The newest image of each camera, in its field of view",
    TF_FRAMES: "All frames of /tf and /tf_static, and of all bodies",
}
"""What each overlay draws, by its name."""

Draw = Callable[[SharedState, Scale], list[mujoco.MjvGeom]]


class DrawnOverlays:
    """The overlays of all pages of a viewer, and which of them are drawn."""

    def __init__(
        self,
        state: SharedState,
        parameters: SimulatorParameters,
        drawings: DrawnTopics,
        displays: EntityDisplays,
        temperatures: Callable[[], Mapping[tuple[str, str], float]] = dict,
    ) -> None:
        # Whether each overlay is drawn, by its name
        self.shown = {name: name == "External wrenches" for name in TIPS}
        self.scale = Scale()  # lengths of the arrows
        self.heat = HeatMap(state, displays, temperatures)
        self.drawings = drawings
        self._state, self._parameters = state, parameters
        self._marks = EntityMarks(state, displays)
        self._meshes = MeshFiles(files_of_clients(lambda: parameters.known))
        self._joint_paths = robot_overlays.JointPaths()
        self._topics: dict[str, bool] = {}
        self._frames: Frames | None = None  # of the present frame, if something needs them
        self._unknown: set[str] = set()
        self._failed: dict[str, str] = {}  # what cannot be drawn, and why
        self._is_full = False
        self._draw: dict[str, Draw] = {
            "External wrenches": robot_overlays.applied,
            "Contact forces": robot_overlays.contacts,
            "Force-torque sensors": robot_overlays.sensed,
            "References": Ghost(),
            "Balance": robot_overlays.balance,
            CAMERAS: robot_overlays.fields_of_view,
            IMAGES: robot_overlays.camera_images,
            TF_FRAMES: self._tf_frames,
        }

    @property
    def problems(self) -> list[str]:
        """Why something is not drawn."""
        frames = [f"Frame '{frame}' is not known." for frame in sorted(self._unknown)]
        meshes = [f"Mesh '{uri}': {reason}" for uri, reason in self._meshes.problems.items()]
        failed = [f"{name} cannot be drawn: {reason}" for name, reason in self._failed.items()]
        full = [f"More than {MOST_DRAWN} shapes are not drawn."] if self._is_full else []
        return [*failed, *frames[:_MOST_NAMED], *meshes[:_MOST_NAMED], *full]

    def entries(self) -> OverlayEntries:
        """Return what is drawn of the present state, after ``mj_forward``."""
        self.heat.update()
        self.scale.sensor_sign = wrench_sign(self._parameters)
        self._frames = None
        geoms: list[mujoco.MjvGeom] = []
        for name, draw in self._draw.items():
            if self.shown[name] and not self._add(
                name, geoms, partial(draw, self._state, self.scale)
            ):
                self.shown[name] = False
        self._add("marks of entities", geoms, partial(self._marks, self.scale))
        self._draw_topics(geoms)
        return OverlayEntries(geoms=geoms)

    def pause(self) -> None:
        """Need no frame of /tf: no page shows the scene."""
        self.drawings.need_frames(())

    def set_shown(self, name: str, shown: bool) -> None:
        """Draw an overlay, or no longer."""
        self.shown[name] = shown
        self._failed.pop(name, None)

    def choose(self, topic: str, shown: bool) -> None:
        """Draw the messages of a topic, or no longer."""
        self._topics[topic] = shown
        self._failed.pop(topic, None)
        self.drawings.show(topic, shown)

    def settings(self) -> dict[str, Any]:
        """Return which overlays are drawn, and the lengths [m/N, m/Nm]."""
        return {
            "shown": dict(self.shown),
            "force": self.scale.force,
            "torque": self.scale.torque,
            "topics": dict(self._topics),
        }

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Set what is valid among kept settings."""
        shown, topics = settings.get("shown"), settings.get("topics")
        if isinstance(shown, dict):
            self.shown = {name: shown.get(name) is True for name in self.shown}
        for topic, is_shown in topics.items() if isinstance(topics, dict) else ():
            self.choose(str(topic), is_shown is True)
        for name in ("force", "torque"):
            length = settings.get(name)
            if isinstance(length, float) and LENGTHS[0] <= length <= LENGTHS[1]:
                setattr(self.scale, name, length)

    def close(self) -> None:
        """End the process that reads meshes."""
        self._meshes.close()

    def _add(
        self,
        name: str,
        geoms: list[mujoco.MjvGeom],
        draw: Callable[[], Sequence[mujoco.MjvGeom]],
    ) -> bool:
        """Add what a function draws; return whether it could."""
        try:
            geoms += draw()
        except Exception as exception:  # would end the viewer
            reason = f"{type(exception).__name__}: {exception}"
            if self._failed.get(name) != reason:
                self._failed[name] = reason
                _LOG.exception("%s cannot be drawn", name)
            return False
        return True

    def _draw_topics(self, geoms: list[mujoco.MjvGeom]) -> None:
        self._unknown, self._is_full = set(), False
        found = self.drawings.shapes()
        self._meshes.follow(found)
        for topic, shapes in found.items():
            left = MOST_DRAWN - len(geoms)
            if not self._add(topic, geoms, partial(self._of_topic, topic, shapes, left)):
                self._topics[topic] = False
                self.drawings.show(topic, False)
        paths = self.drawings.joint_paths()
        self._add("trajectories", geoms, partial(self._joint_paths, self._state, paths, self.scale))
        self._is_full |= len(geoms) > MOST_DRAWN
        others = self._frames.others if self._frames is not None else ()
        self.drawings.need_frames(None if self.shown[TF_FRAMES] else others)

    def _of_topic(self, topic: str, shapes: Sequence[Shape], left: int) -> list[mujoco.MjvGeom]:
        """Return the geoms of a topic, at most as many as are `left`."""
        frames = self._all_frames()
        if self._parameters.known:  # with the folders of files
            shapes = self._meshes.triangles(topic, shapes)
        self._is_full |= len(shapes) > left
        return drawn(shapes, frames, self._unknown, self.scale, most=left)

    def _tf_frames(self, state: SharedState, _scale: Scale) -> list[mujoco.MjvGeom]:
        return tf_frames(state, self._all_frames())

    def _all_frames(self) -> Frames:
        if self._frames is None:
            self._frames = Frames(self._state, self.drawings.frames)
        return self._frames
