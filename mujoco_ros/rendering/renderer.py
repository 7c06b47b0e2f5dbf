"""Images of a model's state, by cameras with given intrinsics.

MuJoCo's OpenGL renderer is used rather than its newer one, Filament. It returns depth in single
precision and the object of each pixel, accepts the frustum of any camera, and needs neither a
window nor Vulkan, without which Filament ends the process.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext

import mujoco
import numpy as np

from mujoco_ros.model.sensors.cameras import Camera
from mujoco_ros.rendering import gl
from mujoco_ros.rendering.depth import ClipPlanes


def frustum_of(camera: Camera) -> tuple[float, float, float, float]:
    """Return left, right, top and bottom of a view at 1 m, at the outer edges of pixels [m]."""
    optics = camera.intrinsics
    return (
        (-0.5 - optics.cx) / optics.fx,
        (camera.width - 0.5 - optics.cx) / optics.fx,
        (optics.cy + 0.5) / optics.fy,
        (optics.cy + 0.5 - camera.height) / optics.fy,
    )


def visible_geoms(model: mujoco.MjModel, data: mujoco.MjData, camera: Camera) -> np.ndarray:
    """Return which geoms' bounding spheres touch the camera's frustum; planes do.  # (ngeom,)"""
    left, right, top, bottom = frustum_of(camera)
    offsets = data.geom_xpos - data.cam_xpos[camera.camera]
    # The columns of a camera's orientation point to the right, up and backwards.
    x, y, back = (offsets @ data.cam_xmat[camera.camera].reshape(3, 3)).T
    ahead, radius = -back, model.geom_rbound
    outside = (
        (ahead < -radius)
        | (left * ahead - x > radius * np.hypot(1.0, left))
        | (x - right * ahead > radius * np.hypot(1.0, right))
        | (y - top * ahead > radius * np.hypot(1.0, top))
        | (bottom * ahead - y > radius * np.hypot(1.0, bottom))
    )
    return np.asarray(~outside | (radius == 0))


@contextmanager
def only(model: mujoco.MjModel, visible: np.ndarray, groups: Iterable[int]) -> Iterator[None]:
    """Hide all but the visible geoms (ngeom,) in the block, unless `groups` are all groups."""
    unused = set(range(mujoco.mjNGROUP)).difference(groups)
    if not unused:
        yield
        return
    original = model.geom_group.copy()
    model.geom_group[~visible] = unused.pop()
    try:
        yield
    finally:
        model.geom_group[:] = original


_FLAT = [int(mujoco.mjtRndFlag.mjRND_SEGMENT), int(mujoco.mjtRndFlag.mjRND_IDCOLOR)]
_NOTHING = -1


class Frame:
    """Renders a scene when one of its images is first requested.

    Colour takes one pass. Depth and objects share another, in which each geom has one plain colour
    that encodes its index. The next frame of the same size overwrites the images.
    """

    def __init__(
        self,
        size: tuple[int, int],
        context: gl.GlContext,
        scene: mujoco.MjvScene,
        resources: mujoco.MjrContext,
        planes: ClipPlanes,
    ) -> None:
        """Allocate images of a size: width and height [pixels]."""
        width, height = size
        self._context, self._scene, self._resources = context, scene, resources
        self._planes = planes
        self._geoms = scene.geoms
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        # OpenGL begins with the lowest row.
        self._rgb = np.empty((height, width, 3), np.uint8)
        self._buffer = np.empty((height, width), np.float32)
        self._indices = np.zeros((height, width, 4), np.uint8)
        self._colour = np.empty((height, width, 3), np.uint8)
        self._depth = np.empty((height, width), np.float32)
        self._objects = np.empty((height, width, 2), np.int32)
        self.invalidate()

    def invalidate(self) -> None:
        """Discard the images, after a change of the scene."""
        self._is_flat = self._has_colour = self._has_depth = self._has_objects = False

    @property
    def colour(self) -> np.ndarray:
        """Red, green and blue.  # (height, width, 3) uint8."""
        if not self._has_colour:
            self._context.make_current()
            mujoco.mjr_render(self._rectangle, self._scene, self._resources)
            mujoco.mjr_readPixels(self._rgb, None, self._rectangle, self._resources)
            np.copyto(self._colour, self._rgb[::-1])
            self._has_colour, self._is_flat = True, False
        return self._colour

    @property
    def depth(self) -> np.ndarray:
        """Distance along the optical axis [m]; inf if no surface.  # (height, width) float32."""
        if not self._has_depth:
            self._render_flat()
            mujoco.mjr_readPixels(None, self._buffer, self._rectangle, self._resources)
            self._planes.to_metres(self._buffer[::-1], out=self._depth)
            self._has_depth = True
        return self._depth

    @property
    def objects(self) -> np.ndarray:
        """Index in the model and mjtObj, both -1 without an object.  # (height, width, 2) int32."""
        if not self._has_objects:
            self._render_flat()
            mujoco.mjr_readPixels(self._rgb, None, self._rectangle, self._resources)
            self._indices[..., :3] = self._rgb[::-1]
            indices = self._indices.view("<u4")[..., 0]
            np.take(self._table(indices), indices, axis=0, out=self._objects, mode="clip")
            self._has_objects = True
        return self._objects

    def _render_flat(self) -> None:
        """Render indices as colours, without blending of edges or depth."""
        self._context.make_current()
        if not self._is_flat:
            self._scene.flags[_FLAT] = 1
            mujoco.mjr_render(self._rectangle, self._scene, self._resources)
            self._scene.flags[_FLAT] = 0
            self._is_flat = True

    def _table(self, indices: np.ndarray) -> np.ndarray:
        """Return the object of each index; the index of a geom of the scene is one less."""
        table = np.full((self._scene.ngeom + 1, 2), _NOTHING, np.int32)
        # Few of the geoms are visible, and access to each from Python is slow.
        for index in np.flatnonzero(np.bincount(indices.ravel())):
            if index:
                geom = self._geoms[index - 1]
                table[index] = geom.objid, geom.objtype
        return table


_BODIES = int(mujoco.mjtCatBit.mjCAT_STATIC | mujoco.mjtCatBit.mjCAT_DYNAMIC)
"""Geoms of bodies, without the decoration of a viewer."""
_SPARE_GEOMS = 100
_CATENARY = 31  # segments in which the engine draws a slack tendon


class Renderer:
    """Renders images; belongs to the thread that creates it.

    Cameras see geoms, tendons, skins and flexes, but no sites. Curved shapes are polyhedra, whose
    resolution is the model's ``visual/quality``: by default a sphere is up to 1 % of its radius too
    small. `device` is the name that the driver of the `backend` reports.
    """

    def __init__(
        self, model: mujoco.MjModel, backend: str = gl.AUTO, quality: gl.RenderQuality | None = None
    ) -> None:
        """Open an OpenGL context; the default quality is `RICH` on graphics cards, else `PLAIN`."""
        self._resources: mujoco.MjrContext | None = None
        self._context = gl.open_context(backend)
        self.backend, self.device = self._context.backend, self._context.device
        self.is_software = self._context.is_software  # whether the processor renders
        self._quality = quality or (gl.PLAIN if self.is_software else gl.RICH)
        self._camera = mujoco.MjvCamera()
        self._camera.type = int(mujoco.mjtCamera.mjCAMERA_FIXED)
        self.set_model(model)

    def set_model(self, model: mujoco.MjModel) -> None:
        """Upload another model and free the resources of the previous one."""
        self._context.make_current()
        self._free()
        self._model = model
        self._ground = None if self._quality.fine_planes else gl.GroundPlane(model)
        with self._ground.as_finite() if self._ground else nullcontext():
            self._resources = gl.upload(model, self._quality)
        tendons = 2 * model.nwrap + (_CATENARY + 1) * model.ntendon
        geoms = model.ngeom + model.nflex + model.nskin + tendons + _SPARE_GEOMS
        self._scene = mujoco.MjvScene(model, maxgeom=geoms)
        extent = model.stat.extent
        near, far = model.vis.map.znear * extent, model.vis.map.zfar * extent
        self._planes = ClipPlanes.enclosing(near, far)
        self._option = _option(self._quality)

    @property
    def quality(self) -> gl.RenderQuality:
        """Quality of images; a change uploads the model again."""
        return self._quality

    @quality.setter
    def quality(self, quality: gl.RenderQuality) -> None:
        if quality != self._quality:
            self._quality = quality
            self.set_model(self._model)

    def frame(self, data: mujoco.MjData, camera: Camera) -> Frame:
        """Return the images of a state whose poses are computed, valid until the next call."""
        self._context.make_current()
        if self._resources is None:  # the driver failed before
            self.set_model(self._model)
        self._fit(camera.width, camera.height)
        if self._quality.allows_culling:
            with only(self._model, visible_geoms(self._model, data, camera), self._quality.groups):
                self._update(data, camera)
        else:
            self._update(data, camera)
        size = camera.width, camera.height
        if size not in self._frames:
            self._frames[size] = Frame(
                size, self._context, self._scene, self._resources, self._planes
            )
        frame = self._frames[size]
        frame.invalidate()
        return frame

    def view(
        self, data: mujoco.MjData, camera: mujoco.MjvCamera, width: int, height: int
    ) -> np.ndarray:
        """Return RGB (height, width, 3) of any camera of the engine: free, tracking or fixed."""
        self._context.make_current()
        if self._resources is None:  # the driver failed before
            self.set_model(self._model)
        self._fit(width, height)
        self._update_scene(data, camera)
        rectangle = mujoco.MjrRect(0, 0, width, height)
        pixels = np.empty((height, width, 3), np.uint8)
        mujoco.mjr_render(rectangle, self._scene, self._resources)
        mujoco.mjr_readPixels(pixels, None, rectangle, self._resources)
        return np.ascontiguousarray(pixels[::-1])  # OpenGL begins with the lowest row

    def close(self) -> None:
        """Free all resources."""
        if self._resources is not None:
            self._context.make_current()
            self._free()
        self._context.close()

    def __del__(self) -> None:
        """Free all resources in their own context; the engine would use the current one."""
        if hasattr(self, "_context") and not sys.is_finalizing():  # MuJoCo has closed EGL by then
            self.close()

    def _update(self, data: mujoco.MjData, camera: Camera) -> None:
        scene, near = self._scene, self._planes.near
        self._camera.fixedcamid = camera.camera
        self._update_scene(data, self._camera)
        left, right, top, bottom = (near * edge for edge in frustum_of(camera))
        for gl_camera in scene.camera:
            gl_camera.frustum_near, gl_camera.frustum_far = near, self._planes.far
            gl_camera.frustum_center = (left + right) / 2
            gl_camera.frustum_width = (right - left) / 2
            gl_camera.frustum_top, gl_camera.frustum_bottom = top, bottom

    def _update_scene(self, data: mujoco.MjData, camera: mujoco.MjvCamera) -> None:
        scene = self._scene
        mujoco.mjv_updateScene(self._model, data, self._option, None, camera, _BODIES, scene)
        if self._ground:
            self._ground.scale_textures(scene)
        flags = mujoco.mjtRndFlag
        scene.flags[flags.mjRND_SHADOW] = self._quality.shadows
        scene.flags[flags.mjRND_REFLECTION] = self._quality.reflections
        scene.flags[flags.mjRND_SKYBOX] = self._quality.skybox

    def _fit(self, width: int, height: int) -> None:
        """Make the buffer large enough for images of a size [pixels]."""
        size = f"an image of {width} x {height} pixels"
        limit = self._context.largest_side
        if max(width, height) > limit:
            raise gl.RenderingError(
                f"{size} is too large for {self.device}, whose limit is {limit}"
            )
        try:
            gl.grow_buffer(self._resources, width, height)
        except mujoco.FatalError as error:
            self.set_model(self._model)
            raise gl.RenderingError(f"{size} is too large for {self.device}: {error}") from error

    def _free(self) -> None:
        self._frames: dict[tuple[int, int], Frame] = {}
        if self._resources is not None:
            self._resources.free()
            self._resources = None


def _option(quality: gl.RenderQuality) -> mujoco.MjvOption:
    option = mujoco.MjvOption()
    option.sitegroup[:] = 0
    for groups in (option.geomgroup, option.tendongroup, option.skingroup, option.flexgroup):
        groups[:] = 0
        groups[list(quality.groups)] = 1
    return option
