"""Poses of robots and objects that stand on the floor at the start."""

from collections.abc import Iterator
from dataclasses import replace

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import ORIGIN, Pose, quaternion_wxyz
from mujoco_ros.model.scene.asset_snapshot import AssetFile, restore_files
from mujoco_ros.model.scene.mjcf_files import ENGINE_ERRORS, engine_error
from mujoco_ros.model.scene.parts import ScenePart

_ABOVE_M = 1.0
"""Height above the origin of a pose from which the floor is searched, below a ceiling."""
_FAR_M = 1000.0
"""Distance of a plane to which the nearest point of a shape is its lowest one."""
_DOWN = np.array([0.0, 0.0, -1.0])


def put_on_floor(
    world: mujoco.MjSpec, files: tuple[AssetFile, ...], parts: tuple[ScenePart, ...]
) -> tuple[ScenePart, ...]:
    """Return parts in which poses with ``on_floor`` have their height in the world.

    A robot that is free by the content of its URDF stands on a floor, too, if it has no pose.
    """
    if not any(map(_stands, parts)):
        return parts
    spec = world.copy()
    restore_files(spec, files)
    model = _compiled(spec, "the world")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return tuple(_on_floor(model, data, part) if _stands(part) else part for part in parts)


def _stands(part: ScenePart) -> bool:
    return part.config.pose.on_floor or (part.is_freed and part.config.pose is ORIGIN)


def _on_floor(world: mujoco.MjModel, data: mujoco.MjData, part: ScenePart) -> ScenePart:
    config, clearances = part.config.pose, []
    pose = Pose(position=np.array(config.xyz), quat_wxyz=quaternion_wxyz(config))
    for point in _lowest_points(part, pose.matrix):
        lowest = pose.position + pose.matrix @ point
        start = np.array([*lowest[:2], config.xyz[2] + _ABOVE_M])
        geom = np.zeros(1, np.int32)
        distance = mujoco.mj_ray(world, data, start, _DOWN, None, 1, -1, geom)
        if geom[0] >= 0:
            clearances.append(float(lowest[2] - (start[2] - distance)))
    if not clearances and not config.on_floor:
        return part
    if not clearances:
        raise UserInputError(
            f"'{part.name}': 'on_floor: true' needs a floor in the world below it, and "
            "collision shapes that stand on it"
        )
    x, y, z = config.xyz
    standing = replace(config, xyz=(x, y, 2 * z - min(clearances)), on_floor=False)
    return replace(part, config=replace(part.config, pose=standing))


def _lowest_points(part: ScenePart, turn: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the lowest point of each collision shape at the start, in the frame of the part [m].

    `turn` has the axes of this frame in the world.  # (3, 3)
    """
    assert part.spec is not None
    spec = part.spec.copy()
    restore_files(spec, part.files)
    down = turn.T @ _DOWN
    plane = spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], pos=_FAR_M * down, zaxis=-down
    )
    plane.contype = plane.conaffinity = 0
    model = _compiled(spec, f"'{part.name}'")
    data, ends = mujoco.MjData(model), np.zeros(6)
    if model.nkey:
        keys = [model.key(key).name for key in range(model.nkey)]
        keyframe = getattr(part.config, "keyframe", None)
        data.qpos[:] = model.key_qpos[keys.index(keyframe) if keyframe in keys else 0]
    mujoco.mj_kinematics(model, data)
    (floor,) = np.flatnonzero(model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE))[-1:]
    for geom in np.flatnonzero(model.geom_contype | model.geom_conaffinity):
        if model.geom_type[geom] not in _NO_DISTANCE:
            mujoco.mj_geomDistance(model, data, int(geom), int(floor), 2 * _FAR_M, ends)
            yield ends[:3].copy()


_NO_DISTANCE = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))


def _compiled(spec: mujoco.MjSpec, where: str) -> mujoco.MjModel:
    try:
        return spec.compile()
    except ENGINE_ERRORS as error:
        raise engine_error(f"{where} does not compile", error) from error
