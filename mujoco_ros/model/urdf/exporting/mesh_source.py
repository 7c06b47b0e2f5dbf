"""The source file of a compiled mesh, and whether the two are equal."""

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from mujoco_ros.model.file_access import read_file
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.urdf.exporting.triangles import STL_FACET

Points = NDArray[np.float64]

_SAMPLES = 32
_TOLERANCE = 1e-5  # of the mesh's size; its vertices are in single precision
_STL_HEADER = 84


def mesh_file(model: mujoco.MjModel, mesh: int) -> Path | None:
    """Return the absolute path of a mesh's file, which need not exist; None if it has none."""
    address = int(model.mesh_pathadr[mesh])
    if address < 0:
        return None
    name = model.paths[address : model.paths.index(b"\0", address)].decode()
    return Path(name).resolve()


def file_pose(model: mujoco.MjModel, mesh: int) -> Pose:
    """Return the pose of a mesh's file in a geom; the compiler moves meshes to their centre."""
    return Pose(position=model.mesh_pos[mesh], quat_wxyz=model.mesh_quat[mesh]).inverse()


def equals_file(model: mujoco.MjModel, mesh: int, path: Path) -> bool:
    """Whether a mesh's file, scaled and at `file_pose`, equals the mesh of the model.

    It differs if the model moves the mesh (``refpos``, ``refquat``), which a compiled model does
    not contain; if the file has changed; or if only MuJoCo reads its format.
    """
    read = _READERS.get(path.suffix.lower())
    if read is None:
        return False
    try:
        points = read(read_file(path))
    except ValueError:  # also UserInputError
        return False
    if not len(points):
        return False
    pose = file_pose(model, mesh)
    drawn = points * model.mesh_scale[mesh] @ pose.matrix.T + pose.position
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    vertices = model.mesh_vert[first : first + count].astype(np.float64)
    reach = _TOLERANCE * float(np.linalg.norm(np.ptp(vertices, axis=0)))
    squares = (drawn**2).sum(axis=1)[:, None] + (vertices**2).sum(axis=1)
    nearest = (squares - 2 * drawn @ vertices.T).min(axis=1)  # squared distances
    return bool((nearest <= reach**2).all())


def _stl_points(content: bytes) -> Points:
    facets = np.frombuffer(content, STL_FACET, offset=_STL_HEADER)
    points = facets["corners"].reshape(-1, 3)
    return points[_chosen(len(points))].astype(np.float64)


def _obj_points(content: bytes) -> Points:
    lines = [line for line in content.splitlines() if line.startswith((b"v ", b"v\t"))]
    chosen = [lines[i] for i in _chosen(len(lines))]
    return np.array([[float(word) for word in line.split()[1:4]] for line in chosen])


def _chosen(count: int) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, count - 1, _SAMPLES).astype(np.intp)) if count else _NONE


_NONE = np.zeros(0, dtype=np.intp)
_READERS: dict[str, Callable[[bytes], Points]] = {".stl": _stl_points, ".obj": _obj_points}
