"""Frames, trails and ghosts of the entities for which they are switched on."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.colours import GHOST, TRAIL
from mujoco_ros.viewer.entity_displays import VISIBLE_GROUPS, EntityDisplays
from mujoco_ros.viewer.overlays.shapes import (
    Scale,
    axes_at,
    frame_length,
    line,
    solid,
)

_MIN_DISTANCE_M = 1e-3
_MIN_ROTATION = 2e-3  # geoms closer to their reference are not drawn: they would flicker
_MESH, *_PRIMITIVES = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}"))
    for name in ("MESH", "ELLIPSOID", "SPHERE", "CAPSULE", "CYLINDER", "BOX")
)


class Ghost:
    """Draws robots at their joint references."""

    def __init__(self, wants: Callable[[str], bool] = lambda _name: True) -> None:
        """Draw the robots whose names `wants` returns True for."""
        self._wants = wants
        self._model: mujoco.MjModel | None = None
        self._data: mujoco.MjData

    def __call__(self, state: SharedState, _scale: Scale) -> list[mujoco.MjvGeom]:
        """Return the geoms of robots that differ from their references."""
        model = state.model
        if model is not self._model:
            self._model, self._data = model, mujoco.MjData(model)
        data = self._data
        data.qpos[:] = state.data.qpos
        data.mocap_pos[:], data.mocap_quat[:] = state.data.mocap_pos, state.data.mocap_quat
        for robot, columns in zip(state.layout.robots, state.layout.columns, strict=True):
            references = state.references.q[columns]
            finite = np.isfinite(references)
            data.qpos[robot.joints.qpos[finite]] = references[finite]
        mujoco.mj_kinematics(model, data)
        differs = np.abs(data.geom_xpos - state.data.geom_xpos).max(axis=1) > _MIN_DISTANCE_M
        differs |= np.abs(data.geom_xmat - state.data.geom_xmat).max(axis=1) > _MIN_ROTATION
        return [
            self._shape(geom)
            for robot in state.layout.robots
            if self._wants(robot.name)
            for geom in _visible(state, robot)
            if differs[geom]
        ]

    def _shape(self, geom: int) -> mujoco.MjvGeom:
        assert self._model is not None
        model, data = self._model, self._data
        axes, position = data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom]
        kind = int(model.geom_type[geom])
        shape = solid(kind, model.geom_size[geom], position, axes, GHOST)
        if kind == _MESH:
            shape.dataid = 2 * int(model.geom_dataid[geom])  # the mesh itself, not its hull
        return shape


def _visible(state: SharedState, robot: RobotLayout) -> list[int]:
    model = state.model
    of_robot = np.isin(model.geom_bodyid, robot.bodies) & (model.geom_group < VISIBLE_GROUPS)
    drawable = np.isin(model.geom_type, [_MESH, *_PRIMITIVES])
    return [int(geom) for geom in np.flatnonzero(of_robot & drawable)]


_SPAN_S, _POINTS = 10.0, 150
"""Length of a trail, and its points."""
_LEAST_M = 0.002  # shortest distance between two points of a trail
_TRAIL_RADIUS = 0.04  # radius, as a share of the length of the axes


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
        self._state, self._displays = state, displays
        self._model: mujoco.MjModel | None = None
        self._trails: dict[tuple[str, str], _Trail] = {}
        self._ghost = Ghost(lambda name: displays.display_of(name).references)

    def __call__(self, scale: Scale) -> list[mujoco.MjvGeom]:
        """Return the geoms of all entities."""
        state = self._state
        if state.model is not self._model:
            self._model, self._trails = state.model, {}
        geoms: list[mujoco.MjvGeom] = []
        has_ghost = False
        length = frame_length(state.model)
        for name, entity in self._displays.entities.items():
            display = self._displays.display_of(name)
            has_ghost |= display.references
            if display.frames:
                for body in entity.bodies or (entity.root,):
                    axes = state.data.xmat[body].reshape(3, 3)
                    geoms += axes_at(state.data.xpos[body], axes, length)
            if display.trail:
                geoms += self._trail(name, display.trail, _TRAIL_RADIUS * length)
        return geoms + self._ghost(state, scale) if has_ghost else geoms

    def _trail(self, name: str, body: str, radius: float) -> list[mujoco.MjvGeom]:
        state = self._state
        found = mujoco.mj_name2id(state.model, int(mujoco.mjtObj.mjOBJ_BODY), body)
        if found < 0:  # of another model
            return []
        trail = self._trails.setdefault((name, body), _Trail())
        position = state.data.xpos[found]
        if state.shown is None:
            trail.add(state.time, position)
        points = [*(point for _, point in trail.points), position]
        return [geom for start, end in pairwise(points) for geom in line(start, end, radius, TRAIL)]
