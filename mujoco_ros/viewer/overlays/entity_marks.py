"""Frames, trails and ghosts of the entities for which they are switched on."""

from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise

import mujoco
import numpy as np

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.overlays.ghost import Ghost
from mujoco_ros.viewer.overlays.overlay_scene import OverlayScene, Scale
from mujoco_ros.viewer.overlays.shapes import axes_at, frame_length, line
from mujoco_ros.viewer.style import TRAIL

_SPAN_S, _POINTS = 10.0, 150
"""Length of a trail, and its points."""
_LEAST_M = 0.002
"""Shortest distance between two points of a trail."""
_TRAIL_RADIUS = 0.04
"""Radius, as a share of the length of the axes."""


@dataclass
class _Trail:
    """Past positions of a body [m], and the time of each [s]."""

    points: deque[tuple[float, np.ndarray]] = field(default_factory=deque)

    def add(self, time: float, position: np.ndarray) -> None:
        """Add a position unless it is too close to the last one in time or space."""
        points = self.points
        if points and time < points[-1][0]:
            points.clear()
        while points and time - points[0][0] > _SPAN_S:
            points.popleft()
        if points and (
            time - points[-1][0] < _SPAN_S / _POINTS
            or np.linalg.norm(position - points[-1][1]) < _LEAST_M
        ):
            return
        points.append((time, position.copy()))


class EntityMarks:
    """Draws what is switched on for the entities."""

    def __init__(self, state: SharedState, displays: EntityDisplays) -> None:
        """Draw what `displays` shows of the entities of a state."""
        self._state, self._displays = state, displays
        self._model: mujoco.MjModel | None = None
        self._trails: dict[tuple[str, str], _Trail] = {}
        self._ghost = Ghost(lambda name: displays.of(name).references)

    def __call__(self, scene: OverlayScene, scale: Scale) -> list[mujoco.MjvGeom]:
        """Return the geoms of all entities."""
        if self._state.model is not self._model:
            self._model, self._trails = self._state.model, {}
        geoms: list[mujoco.MjvGeom] = []
        has_ghost = False
        length = frame_length(scene.model)
        for name, entity in self._displays.entities.items():
            display = self._displays.of(name)
            has_ghost |= display.references
            if display.frames:
                for body in entity.bodies or (entity.root,):
                    axes = scene.data.xmat[body].reshape(3, 3)
                    geoms += axes_at(scene.data.xpos[body], axes, length)
            if display.trail:
                geoms += self._trail(scene, name, display.trail, _TRAIL_RADIUS * length)
        return geoms + self._ghost(scene, scale) if has_ghost else geoms

    def _trail(
        self, scene: OverlayScene, name: str, body: str, radius: float
    ) -> list[mujoco.MjvGeom]:
        found = mujoco.mj_name2id(scene.model, int(mujoco.mjtObj.mjOBJ_BODY), body)
        if found < 0:  # of another model
            return []
        trail = self._trails.setdefault((name, body), _Trail())
        position = scene.data.xpos[found]
        if self._state.shown is None:
            trail.add(self._state.time, position)
        points = [*(point for _, point in trail.points), position]
        return [geom for start, end in pairwise(points) for geom in line(start, end, radius, TRAIL)]
