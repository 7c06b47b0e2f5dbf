"""Images of robots and models at their start: their visual shapes, and their collision shapes."""

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import cv2
import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.scene.asset_snapshot import restore_files, snapshot_files
from mujoco_ros.model.scene.parts import load_spec
from mujoco_ros.rendering.gl import RICH, RenderingError, grow_buffer, open_context, upload

_SIZE = 640, 640  # width and height [pixels]
_ELEVATION_DEG = -15.0
_AZIMUTHS_DEG = {"from the front right": 145.0, "from the back right": 35.0}
_VISUAL, _COLLIDES, _HIDDEN = 2, 3, 5
"""Groups of geoms."""
_COLLISION_RGBA = (0.9, 0.55, 0.2, 1.0)
_BACKGROUND = 240
_HEADLIGHT = 0.45  # light of models alone; most have no light
_MARGIN = 0.95
"""Distance in terms of the sphere around the boxes of all geoms, which robots do not fill."""


def robot_images(
    model: mujoco.MjModel, data: mujoco.MjData, layout: ModelLayout
) -> list[tuple[str, bytes]]:
    """Return caption and PNG of each image of the robots of a scene; `data` has its poses."""
    camera = _camera(model, data, layout)
    shown = {"": (model, (0, 1, _VISUAL)), ", collision shapes": (_collisions(model), (_COLLIDES,))}
    found = []
    with closing(open_context()):
        for suffix, (version, groups) in shown.items():
            with _uploaded(version, _SIZE) as resources:
                for side, azimuth in _AZIMUTHS_DEG.items():
                    camera.azimuth = azimuth
                    image = _render(version, data, camera, groups, resources, _SIZE)
                    _, encoded = cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
                    found.append((side + suffix, bytes(encoded)))
    return found


def model_image(
    path: Path,
    size: tuple[int, int],
    frame: Callable[[mujoco.MjModel, mujoco.MjData, mujoco.MjvCamera], None],
) -> np.ndarray:
    """Return an image of a model alone, in its first keyframe.  # (height, width, 3) uint8

    `size` is width and height [pixels]; `frame` moves a free camera so that it sees the model.
    """
    try:
        spec = load_spec(path, "")
        restore_files(spec, snapshot_files(spec, path.parent))
        model = spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        raise UserInputError(str(error)) from error
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    model.vis.headlight.ambient[:] = model.vis.headlight.diffuse[:] = _HEADLIGHT
    camera = mujoco.MjvCamera()
    camera.azimuth, camera.elevation = _AZIMUTHS_DEG["from the front right"], _ELEVATION_DEG
    frame(model, data, camera)
    with closing(open_context()), _uploaded(model, size) as resources:
        return _render(model, data, camera, (0, 1, _VISUAL), resources, size)


@contextmanager
def _uploaded(model: mujoco.MjModel, size: tuple[int, int]) -> Iterator[mujoco.MjrContext]:
    resources = upload(model, RICH)
    try:
        grow_buffer(resources, *size)
        yield resources
    finally:
        resources.free()


def _collisions(model: mujoco.MjModel) -> mujoco.MjModel:
    """Return a copy whose geoms that collide are in one group, and of one colour."""
    model = copy.copy(model)
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    collides &= model.geom_type != int(mujoco.mjtGeom.mjGEOM_PLANE)
    model.geom_group[:] = np.where(collides, _COLLIDES, _HIDDEN)
    model.geom_matid[:] = -1
    model.geom_rgba[:] = _COLLISION_RGBA
    return model


def _camera(model: mujoco.MjModel, data: mujoco.MjData, layout: ModelLayout) -> mujoco.MjvCamera:
    bodies = [body for robot in layout.robots for body in robot.bodies]
    geoms = np.flatnonzero(np.isin(model.geom_bodyid, bodies) & (model.geom_rbound > 0))
    camera = mujoco.MjvCamera()
    camera.elevation = _ELEVATION_DEG
    if len(geoms):
        centres, radii = data.geom_xpos[geoms], model.geom_rbound[geoms, None]
        low, high = (centres - radii).min(axis=0), (centres + radii).max(axis=0)
    else:
        low, high = data.xpos[bodies].min(axis=0) - 0.1, data.xpos[bodies].max(axis=0) + 0.1
    camera.lookat[:] = (low + high) / 2
    angle = math.radians(float(model.vis.global_.fovy)) / 2
    camera.distance = _MARGIN * float(np.linalg.norm(high - low)) / 2 / math.sin(angle)
    return camera


def _render(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    camera: mujoco.MjvCamera,
    groups: tuple[int, ...],
    resources: mujoco.MjrContext,
    size: tuple[int, int],
) -> np.ndarray:
    """Return an image on a light background.  # (height, width, 3) uint8."""
    option = mujoco.MjvOption()
    option.sitegroup[:] = 0
    option.geomgroup[:] = 0
    option.geomgroup[list(groups)] = 1
    scene = mujoco.MjvScene(model, maxgeom=model.ngeom + 2 * model.nwrap + 1000)
    every = int(mujoco.mjtCatBit.mjCAT_ALL)
    mujoco.mjv_updateScene(model, data, option, None, camera, every, scene)
    width, height = size
    rectangle = mujoco.MjrRect(0, 0, width, height)
    image, depth = np.zeros((height, width, 3), np.uint8), np.zeros((height, width), np.float32)
    try:
        mujoco.mjr_render(rectangle, scene, resources)
        mujoco.mjr_readPixels(image, depth, rectangle, resources)
    except mujoco.FatalError as error:
        raise RenderingError(f"OpenGL cannot render the model: {error}") from error
    image[depth == 0.0] = _BACKGROUND  # with ZEROFAR, zero is infinitely far away
    return image[::-1]
