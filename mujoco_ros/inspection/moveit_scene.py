"""What robots can collide with, as the text of a planning scene of MoveIt, a file ``.scene``."""

from collections.abc import Iterable, Iterator

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from mujoco_ros.model.naming import unique_name
from mujoco_ros.model.robot.body_frames import body_frames
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.entities import EntityKind, entities
from mujoco_ros.model.urdf.exporting.meshes import (
    Triangles,
    height_field_triangles,
    mesh_triangles,
    unit_sphere,
)

FLOOR_CLEARANCE_M = 0.01
"""Distance by which planes are lowered: links that stand on them would collide."""
_ENVIRONMENT = "environment"  # name of the shapes of the world itself
_Shape = tuple[str, np.ndarray]  # its text, and its position in the frame of its geom [m] (3,)


def moveit_scene(assembly: Assembly, layout: ModelLayout, data: mujoco.MjData) -> tuple[str, int]:
    """Return the text of the shapes outside all robots that collide, and the number of objects.

    Each body is an object, with its pose in `data` in the frame `world`.
    """
    model = assembly.model
    found = entities(assembly, layout).values()
    of_robots = {g for entity in found if entity.kind == EntityKind.ROBOT for g in entity.geoms}
    frames = {body: frame for frame, body in body_frames(model, layout).items()}
    lines, taken = [assembly.config.name], set[str]()
    for body in range(model.nbody):
        first = int(model.body_geomadr[body])
        geoms = set(range(first, first + int(model.body_geomnum[body]))) - of_robots
        if shapes := [shape for geom in sorted(geoms) for shape in _shapes(model, geom)]:
            frame = frames.get(body, f"body{body}") if body else _ENVIRONMENT
            owner, _, link = frame.partition("/")
            # MoveIt reads a slash as the beginning of a part of the object.
            name = unique_name(owner if link == owner else frame.replace("/", "_"), taken)
            taken.add(name)
            pose = _pose(data.xpos[body], data.xquat[body])
            lines += [f"* {name}", *pose, str(len(shapes)), *shapes, "0"]
    return "\n".join([*lines, ".", ""]), len(taken)


def _shapes(model: mujoco.MjModel, geom: int) -> Iterator[str]:
    if not (model.geom_contype[geom] or model.geom_conaffinity[geom]):
        return
    quat, turned = model.geom_quat[geom], np.empty(3)
    for text, offset in _primitives(model, geom):
        mujoco.mju_rotVecQuat(turned, offset, quat)
        # The last line is the colour: MoveIt's own.
        yield "\n".join([text, *_pose(model.geom_pos[geom] + turned, quat), "0 0 0 0"])


def _primitives(model: mujoco.MjModel, geom: int) -> Iterator[_Shape]:
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    kinds, up = mujoco.mjtGeom, np.array([0.0, 0.0, 1.0])
    origin = 0.0 * up
    if kind == kinds.mjGEOM_PLANE:
        yield f"plane\n{_numbers([*up, FLOOR_CLEARANCE_M])}", origin
    elif kind == kinds.mjGEOM_BOX:
        yield f"box\n{_numbers(2.0 * size)}", origin
    elif kind == kinds.mjGEOM_SPHERE:
        yield f"sphere\n{_numbers(size[:1])}", origin
    elif kind in (kinds.mjGEOM_CYLINDER, kinds.mjGEOM_CAPSULE):
        yield f"cylinder\n{_numbers([size[0], 2.0 * size[1]])}", origin
        if kind == kinds.mjGEOM_CAPSULE:
            for end in (-1.0, 1.0):
                yield f"sphere\n{_numbers(size[:1])}", end * size[1] * up
    elif kind == kinds.mjGEOM_ELLIPSOID:
        ball = unit_sphere()
        yield _mesh(Triangles(vertices=ball.vertices * size, faces=ball.faces)), origin
    elif kind == kinds.mjGEOM_MESH:
        yield _mesh(mesh_triangles(model, int(model.geom_dataid[geom]))), origin
    elif kind == kinds.mjGEOM_HFIELD:
        yield _mesh(height_field_triangles(model, int(model.geom_dataid[geom]))), origin


def _mesh(triangles: Triangles) -> str:
    rows = [_numbers(vertex) for vertex in triangles.vertices]
    rows += [" ".join(map(str, face)) for face in triangles.faces]
    return "\n".join(["mesh", f"{len(triangles.vertices)} {len(triangles.faces)}", *rows])


def _pose(position: ArrayLike, quat_wxyz: ArrayLike) -> tuple[str, str]:
    return _numbers(np.asarray(position)), _numbers(np.roll(quat_wxyz, -1))


def _numbers(values: Iterable[float]) -> str:
    return " ".join(f"{value:.9g}" for value in values)
