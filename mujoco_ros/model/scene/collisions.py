"""Collisions of one robot or object: pairs of links that do not collide, and concave meshes.

MuJoCo collides the convex hull of a mesh, so that hollows and holes in it are solid, unless the
mesh is divided into convex parts or collides by its signed distance field.
"""

import hashlib
import io
import logging
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import combinations
from typing import Any, Literal, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from mujoco_ros.extras import require
from mujoco_ros.model.errors import UserInputError, counted, unknown
from mujoco_ros.model.file_cache import LIMIT_BYTES, FileCache, user_folder
from mujoco_ros.model.naming import matches, numbered_name
from mujoco_ros.model.reading import computed_once
from mujoco_ros.model.urdf.exporting.meshes import Triangles, mesh_triangles

T = TypeVar("T")
SelfCollision = Literal["auto", "none", "all"]

_LOGGER = logging.getLogger(__name__)


def exclude_pairs(spec: mujoco.MjSpec, pairs: Iterable[tuple[str, str]], where: str) -> None:
    """Exclude the contacts between pairs of links, given by name."""
    links = [body.name for body in spec.bodies[1:]]
    excluded = {frozenset((exclude.bodyname1, exclude.bodyname2)) for exclude in spec.excludes}
    for first, second in pairs:
        for name in (first, second):
            if name not in links:
                raise unknown("link", name, links, where=where)
        if first == second:
            raise UserInputError(f"{where}: link '{first}' is paired with itself")
        pair = frozenset((first, second))
        if pair not in excluded:
            excluded.add(pair)
            spec.add_exclude(bodyname1=first, bodyname2=second)


def exclude_all(spec: mujoco.MjSpec, where: str) -> None:
    """Exclude the contacts between all links of a robot."""
    solid = [
        body.name
        for body in spec.bodies[1:]
        if any(geom.contype or geom.conaffinity for geom in body.geoms)
    ]
    exclude_pairs(spec, combinations(solid, 2), where)


def exclude_overlaps(
    spec: mujoco.MjSpec, keyframe: str | None, where: str, model: mujoco.MjModel | None = None
) -> None:
    """Exclude the contacts between links that overlap at the start, with a warning.

    Such links push each other apart with a large force for as long as the simulation runs. The
    start is a keyframe, the first one, or zero. `model` is the compiled spec, if there is one,
    which may lack the keyframes.
    """
    start = spec.key(keyframe) if keyframe else next(iter(spec.keys), None)

    def compute() -> dict[tuple[str, str], float] | str:
        compiled = model or spec.compile()
        data = mujoco.MjData(compiled)
        if start is not None and len(start.qpos):
            data.qpos[:] = start.qpos
        try:
            return overlap_depths(compiled, data)
        except mujoco.FatalError as error:  # thousands of links need more memory than there is
            return " ".join(str(error).split())

    depths = computed_once("overlaps", compute)
    if isinstance(depths, str):
        _LOGGER.warning("%s: links that overlap at the start are not excluded: %s", where, depths)
        return
    if not depths:
        return
    exclude_pairs(spec, depths, where)
    deepest_first = sorted(depths.items(), key=lambda item: -item[1])
    _LOGGER.warning(
        "%s: links overlap at the start, and do not collide with each other: %s; "
        "`self_collision: all` keeps their contacts",
        where,
        ", ".join(f"{a} and {b} ({1e3 * depth:.1f} mm)" for (a, b), depth in deepest_first),
    )


def overlap_depths(model: mujoco.MjModel, data: mujoco.MjData) -> dict[tuple[str, str], float]:
    """Return the depth of each pair of overlapping bodies [m], without the world.

    Poses and contacts of `data` are computed, which is a FatalError if they need too much memory.
    """
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    depths: dict[tuple[str, str], float] = {}
    for contact in data.contact:
        if min(contact.geom) < 0:  # of a flex
            continue
        first, second = sorted(int(model.geom_bodyid[geom]) for geom in contact.geom)
        if first and contact.dist < 0:
            pair = (model.body(first).name, model.body(second).name)
            depths[pair] = max(depths.get(pair, 0.0), -float(contact.dist))
    return depths


Hull = NDArray[np.float32]
"""Vertices of a convex part [m].  # (n, 3)"""


_MESH = mujoco.mjtGeom.mjGEOM_MESH
_SHELL = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
_COLLISION_GROUP = 3
_DETAILED = 2000  # triangles from which a shorter search finds the cuts
_SHORT_SEARCH = {"mcts_nodes": 10, "mcts_iterations": 40}
_NOISE = 1e-6  # of the vertices of a mesh, as a share of its size
_EMPTY_SHARE = 0.2  # share of a convex hull that is empty if the mesh has a hollow
_KEPT = (
    *("contype", "conaffinity", "condim", "friction", "gap", "margin", "priority"),
    *("solimp", "solmix", "solref", "surfacevel", "rgba", "material"),
)
"""Attributes of a geom that its convex parts share."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConvexDecomposition:
    """How the collision meshes of a link are decomposed."""

    # Concavity up to which a part remains whole, as a share of the mesh's size, from 0.01 (many
    # parts) to 1
    threshold: float = 0.05
    max_parts: int | None = None  # largest number of parts of a mesh; None is no limit

    def __post_init__(self) -> None:
        if not 0.01 <= self.threshold <= 1:
            raise UserInputError(f"'threshold' must be from 0.01 to 1, got {self.threshold:g}")
        if self.max_parts is not None and self.max_parts < 1:
            raise UserInputError(f"'max_parts' must be at least 1, got {self.max_parts}")


def decompose_meshes(
    spec: mujoco.MjSpec, options: Mapping[str, ConvexDecomposition], where: str
) -> None:
    """Replace concave collision meshes of a robot or object by convex parts.

    A mesh that gives its link mass, or is in a group that is visible, remains without contacts. The
    settings are by link, or by pattern of the shell (``*_finger``), of which the last one counts.
    """
    if not options:
        return
    require("decomposition", f"{where}: 'convex_decomposition'")
    chosen = _chosen_links(spec, options, f"{where}: convex_decomposition")
    model = spec.compile()
    meshes = [  # with their poses now: the numbers of geoms change below
        (
            geom,
            chosen[body.name],
            {"pos": model.geom_pos[geom.id].copy(), "quat": model.geom_quat[geom.id].copy()},
        )
        for body, geom in _collision_meshes(spec, chosen)
    ]
    keys = list(dict.fromkeys((geom.meshname, option) for geom, option, _ in meshes))
    parts: dict[tuple[str, ConvexDecomposition], list[Hull]] = {}
    cache = FileCache(user_folder("convex_parts"), ".npz", LIMIT_BYTES)
    for number, key in enumerate(keys, start=1):
        mesh = mesh_triangles(model, model.mesh(key[0]).id)
        progress = f"{where}: mesh '{key[0]}' ({number} of {len(keys)})"
        parts[key] = computed_once(
            "convex parts", partial(_cached_parts, mesh, key[1], cache, progress)
        )
    for geom, option, pose in meshes:
        found = parts[geom.meshname, option]
        if len(found) > 1:
            _check_references(spec, geom, where)
            _replace(spec, geom, pose, found)


def collide_by_distance(spec: mujoco.MjSpec, patterns: tuple[str, ...], where: str) -> None:
    """Have the collision meshes of links, by pattern of the shell, collide as they are.

    MuJoCo computes their signed distance fields when it compiles the model.
    """
    if not patterns:
        return
    chosen = _chosen_links(spec, dict.fromkeys(patterns), f"{where}: sdf")
    for _, geom in list(_collision_meshes(spec, chosen)):
        geom.type = mujoco.mjtGeom.mjGEOM_SDF


def report_hollows(model: mujoco.MjModel, prefix: str, where: str, level: int) -> None:
    """Log the collision meshes of a robot or object whose convex hulls fill a hole or a hollow.

    `prefix` is the prefix of its names in the model.
    """
    solid = (model.geom_type == _MESH) & ((model.geom_contype | model.geom_conaffinity) != 0)
    meshes = {model.mesh(int(mesh)).name: int(mesh) for mesh in model.geom_dataid[solid]}
    own = {name: mesh for name, mesh in meshes.items() if name.startswith(prefix)}
    hollow = computed_once(
        "hollows", lambda: [name for name, mesh in own.items() if _is_hollow(model, mesh)]
    )
    if hollow:
        _LOGGER.log(
            level,
            "%s: meshes collide as their convex hulls, so their holes and hollows are solid: %s; "
            "`convex_decomposition` or `sdf` keeps them open",
            where,
            ", ".join(name.removeprefix(prefix) for name in hollow),
        )


def _is_hollow(model: mujoco.MjModel, mesh: int) -> bool:
    """Return whether a closed mesh has a hole, or leaves much of its convex hull empty."""
    triangles = mesh_triangles(model, mesh)
    faces = _places(triangles.vertices)[triangles.faces]
    if len(faces) % 2:  # it is not closed
        return False
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    # Sorting one number each is several times faster than sorting pairs.
    edges, same = np.sort(edges[:, 0] * (1 + faces.max()) + edges[:, 1]).reshape(-1, 2).T
    if (edges != same).any() or (edges[1:] == edges[:-1]).any():  # it is not closed
        return False
    corners = np.count_nonzero(np.bincount(faces.ravel()))
    if corners - len(edges) + len(faces) <= 0:  # Euler's characteristic
        return True
    graph = model.mesh_graph[int(model.mesh_graphadr[mesh]) :]
    count, hull_faces = int(graph[0]), int(graph[1])
    start = 2 + 3 * count + 3 * hull_faces
    hull = graph[start : start + 3 * hull_faces].reshape(-1, 3)
    volume, of_hull = (_volume(triangles.vertices, part) for part in (triangles.faces, hull))
    return volume < (1 - _EMPTY_SHARE) * of_hull


def _places(vertices: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return a number for each vertex, the same for vertices at the same place."""
    x, y, z = (vertices + np.float32(0.0)).view(np.uint32).astype(np.uint64).T  # -0 becomes 0
    lines = np.unique(x << 32 | y, return_inverse=True)[1].astype(np.uint64)
    return np.unique(lines << 32 | z, return_inverse=True)[1]


def _volume(vertices: NDArray[np.float32], faces: NDArray[Any]) -> float:
    a, b, c = (vertices[corner].astype(float) for corner in faces.T)
    return abs(float(np.vdot(np.cross(a, b), c))) / 6


def _chosen_links(spec: mujoco.MjSpec, options: Mapping[str, T], place: str) -> dict[str, T]:
    names = [body.name for body in spec.bodies]
    solid = list(dict.fromkeys(body.name for body, _ in _collision_meshes(spec, names)))
    chosen = {}
    for pattern, option in options.items():
        found = [name for name in solid if matches(name, pattern)]
        if not found:
            if any(matches(name, pattern) for name in names):
                raise UserInputError(
                    f"{place}: '{pattern}' has no collision mesh; these links have: "
                    f"{', '.join(solid) or 'none'}"
                )
            raise unknown("link with a collision mesh", pattern, solid, where=place)
        chosen.update(dict.fromkeys(found, option))
    return chosen


def _collision_meshes(
    spec: mujoco.MjSpec, links: Mapping[str, object] | list[str]
) -> Iterator[tuple[mujoco.MjsBody, mujoco.MjsGeom]]:
    for body in spec.bodies:
        if body.name in links:
            for geom in body.geoms:
                if geom.type == _MESH and (geom.contype or geom.conaffinity):
                    yield body, geom


def _cached_parts(
    mesh: Triangles, option: ConvexDecomposition, cache: FileCache, progress: str
) -> list[Hull]:
    """Return the convex parts of a mesh, from the cache if it has them."""
    search = _SHORT_SEARCH if len(mesh.faces) > _DETAILED else {}
    digest = hashlib.sha256(f"coacd {version('coacd')} {option} {search} {_NOISE}".encode())
    digest.update(mesh.vertices.tobytes())
    digest.update(mesh.faces.tobytes())
    name = digest.hexdigest()[:32]
    path = cache.find(name)
    if path is not None:
        try:
            with np.load(path, allow_pickle=False) as file:
                return [file[key] for key in file.files]
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
            _LOGGER.warning("'%s' cannot be read, and is made again", path)
    _LOGGER.info("%s: convex decomposition of %s", progress, counted(len(mesh.faces), "triangle"))
    began = time.monotonic()
    parts = _decompose(mesh, option, search)
    took = time.monotonic() - began
    _LOGGER.info("%s: %d convex parts, after %.1f s", progress, len(parts), took)
    content = io.BytesIO()
    np.savez(content, *parts)
    try:
        cache.write(name, content.getvalue())
    except OSError as error:
        _LOGGER.warning(
            "convex parts cannot be written to '%s' (%s), so each start computes them again; set "
            "XDG_CACHE_HOME to a folder that can be written to",
            cache.folder,
            error.strerror,
        )
    return parts


def _decompose(
    triangles: Triangles, option: ConvexDecomposition, search: Mapping[str, int]
) -> list[Hull]:
    import coacd  # loads a library, which few models need

    coacd.set_log_level("error")
    limit = -1 if option.max_parts is None else option.max_parts
    # It takes triangles that share a plane for a surface that crosses itself, and replaces that by
    # one with thicker walls and many times the triangles.
    noise = np.random.default_rng(0).normal(size=triangles.vertices.shape)
    vertices = triangles.vertices + _NOISE * np.ptp(triangles.vertices) * noise
    found = coacd.run_coacd(
        coacd.Mesh(vertices, triangles.faces),
        threshold=option.threshold,
        max_convex_hull=limit,
        seed=0,
        **search,
    )
    return [np.asarray(hull, dtype=np.float32) for hull, _ in found]


def _check_references(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, where: str) -> None:
    if not geom.name:
        return
    for pair in spec.pairs:
        if geom.name in (pair.geomname1, pair.geomname2):
            raise UserInputError(
                f"{where}: convex_decomposition: a contact pair of the model names '{geom.name}', "
                "which would be replaced"
            )
    for sensor in spec.sensors:
        objects = ((sensor.objtype, sensor.objname), (sensor.reftype, sensor.refname))
        if (mujoco.mjtObj.mjOBJ_GEOM, geom.name) in objects:
            raise UserInputError(
                f"{where}: convex_decomposition: sensor '{sensor.name}' names '{geom.name}', "
                "which would be replaced"
            )


def _replace(
    spec: mujoco.MjSpec,
    geom: mujoco.MjsGeom,
    pose: Mapping[str, NDArray[np.float64]],
    parts: list[Hull],
) -> None:
    body = geom.parent
    group = max(int(geom.group), _COLLISION_GROUP)
    names = {mesh.name for mesh in spec.meshes}
    for hull in parts:
        name = numbered_name(f"{geom.meshname}_part", names)
        names.add(name)
        spec.add_mesh(name=name, uservert=hull.ravel(), inertia=_SHELL)  # may be thin
        part = body.add_geom(type=_MESH, meshname=name, group=group, density=0.0, **pose)
        for attribute in _KEPT:
            setattr(part, attribute, getattr(geom, attribute))
    always = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    if body.explicitinertial and not always and geom.group >= _COLLISION_GROUP:
        spec.delete(geom)
    else:
        geom.contype = geom.conaffinity = 0
