"""Pictures of a model's state, through cameras with given intrinsics.

They are drawn by MuJoCo's OpenGL renderer rather than by Filament, its newer one: it gives depth in
single precision and the number of what each pixel shows, takes the frustum of any camera, and needs
neither a window nor Vulkan. Where Filament finds none of these, it ends the process.
"""

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Self

import mujoco
import numpy as np

from mujoco_ros.model.sensors.cameras import Camera, Intrinsics
from mujoco_ros.rendering.culling import Frustum, in_sight, only
from mujoco_ros.rendering.depth import Planes
from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.rendering.frame import Frame
from mujoco_ros.rendering.gl import AUTO, open_context
from mujoco_ros.rendering.ground_plane import GroundPlane
from mujoco_ros.rendering.quality import PLAIN, RICH, RenderQuality
from mujoco_ros.rendering.resources import make_room, upload

_THINGS = int(mujoco.mjtCatBit.mjCAT_STATIC | mujoco.mjtCatBit.mjCAT_DYNAMIC)
"""What is there, and none of the marks and arrows that a viewer adds."""
_SPARE_GEOMS = 100
_CATENARY = 31
"""Parts that the engine draws a slack tendon in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """What is pictured: by which camera of the model, in which size [pixels], projected how."""

    camera: int
    width: int
    height: int
    intrinsics: Intrinsics

    @classmethod
    def of(cls, camera: Camera) -> Self:
        """Return the view of a camera as it is configured."""
        return cls(
            camera=camera.camera,
            width=camera.width,
            height=camera.height,
            intrinsics=camera.intrinsics,
        )

    @property
    def frustum(self) -> Frustum:
        """What is seen at a distance of 1 m; pixels reach half a pixel beyond their middles."""
        optics = self.intrinsics
        return (
            (-0.5 - optics.cx) / optics.fx,
            (self.width - 0.5 - optics.cx) / optics.fx,
            (optics.cy + 0.5) / optics.fy,
            (optics.cy + 0.5 - self.height) / optics.fy,
        )


class Renderer:
    """Draws pictures; belongs to the thread that made it. What it returns it overwrites later.

    Cameras see things: geoms, tendons, skins and flexes; not sites, which are marks. Curved shapes
    are polyhedra, as fine as the model's ``visual/quality`` says: by default a sphere is up to 1 %
    of its radius too small.

    Attributes:
        backend: What made the OpenGL context, "EGL" or "OSMesa".
        device: What draws, as its driver names it.
        is_software: Whether that is the processor.
    """

    def __init__(
        self, model: mujoco.MjModel, backend: str = AUTO, looks: RenderQuality | None = None
    ) -> None:
        """Open OpenGL, and upload a model's meshes and textures.

        Args:
            model: The model.
            backend: What to draw with: auto, egl or osmesa.
            looks: How pictures are to look; None is rich on a graphics card, plain without one.

        Raises:
            RenderingError: The backend does not work here.
        """
        self._resources: mujoco.MjrContext | None = None
        self._context = open_context(backend)
        self.backend = self._context.backend
        self.device = self._context.device
        self.is_software = self._context.is_software
        self._largest = self._context.largest_side
        self._looks = looks or (PLAIN if self.is_software else RICH)
        self._camera = mujoco.MjvCamera()
        self._camera.type = int(mujoco.mjtCamera.mjCAMERA_FIXED)
        self.resize(model)

    def resize(self, model: mujoco.MjModel) -> None:
        """Draw another model from now on; what was uploaded of the last one is freed.

        Raises:
            RenderingError: The driver refuses.
        """
        self._context.make_current()
        self._free()
        self._model = model
        self._ground = None if self._looks.fine_planes else GroundPlane(model)
        with self._ground.as_large() if self._ground else nullcontext():
            self._resources = upload(model, self._looks)
        self._scene = mujoco.MjvScene(model, maxgeom=_most_geoms(model))
        extent = model.stat.extent
        self._planes = Planes.around(model.vis.map.znear * extent, model.vis.map.zfar * extent)
        self._option = _option(self._looks)

    @property
    def looks(self) -> RenderQuality:
        """How pictures look."""
        return self._looks

    @looks.setter
    def looks(self, looks: RenderQuality) -> None:
        if looks != self._looks:
            self._looks = looks
            self.resize(self._model)

    def shot(self, data: mujoco.MjData, view: View) -> Frame:
        """Look at a state; pictures of it are drawn when they are asked for.

        Args:
            data: A state with its kinematics computed: positions, cameras, lights, tendons, flexes.
            view: What to look at.

        Returns:
            What is seen, until the next shot.

        Raises:
            RenderingError: The picture is too large for the device.
        """
        self._context.make_current()
        if self._resources is None:  # they could not be made when they were wanted last
            self.resize(self._model)
        self._fit(view)
        if self._looks.are_local:
            seen = in_sight(self._model, data, view.camera, view.frustum)
            with only(self._model, seen, self._looks.groups):
                self._update(data, view)
        else:
            self._update(data, view)
        size = view.width, view.height
        if size not in self._shots:
            self._shots[size] = Frame(
                size, self._context, self._scene, self._resources, self._planes
            )
        shot = self._shots[size]
        shot.begin()
        return shot

    def colour(self, data: mujoco.MjData, view: View) -> np.ndarray:
        """Return red, green and blue.  # (height, width, 3) uint8."""
        return self.shot(data, view).colour

    def depth(self, data: mujoco.MjData, view: View) -> np.ndarray:
        """Return the distance along the optical axis [m], or inf.  # (height, width) float32."""
        return self.shot(data, view).depth

    def segmentation(self, data: mujoco.MjData, view: View) -> np.ndarray:
        """Return what is seen: its number and mjtObj, -1 if none.  # (height, width, 2) int32."""
        return self.shot(data, view).objects

    def close(self) -> None:
        """Free everything; drawing is over."""
        if self._resources is not None:
            self._context.make_current()
            self._free()
        self._context.close()

    def __enter__(self) -> Self:
        """Return the renderer."""
        return self

    def __exit__(self, *_: object) -> None:
        """Free everything."""
        self.close()

    def __del__(self) -> None:
        """Free everything; the engine would free it in whatever context is current by then."""
        if hasattr(self, "_context") and not sys.is_finalizing():  # MuJoCo has closed EGL by then
            self.close()

    def _update(self, data: mujoco.MjData, view: View) -> None:
        """Put into the scene what there is to see, and the camera that sees it."""
        scene, near = self._scene, self._planes.near
        self._camera.fixedcamid = view.camera
        mujoco.mjv_updateScene(self._model, data, self._option, None, self._camera, _THINGS, scene)
        if self._ground:
            self._ground.adapt(scene)
        flags = mujoco.mjtRndFlag
        scene.flags[flags.mjRND_SHADOW] = self._looks.shadows
        scene.flags[flags.mjRND_REFLECTION] = self._looks.reflections
        scene.flags[flags.mjRND_SKYBOX] = self._looks.skybox
        left, right, top, bottom = (near * side for side in view.frustum)
        for eye in scene.camera:
            eye.frustum_near, eye.frustum_far = near, self._planes.far
            eye.frustum_center, eye.frustum_width = (left + right) / 2, (right - left) / 2
            eye.frustum_top, eye.frustum_bottom = top, bottom

    def _fit(self, view: View) -> None:
        """Make room for the pictures of a view."""
        size = f"a picture of {view.width} x {view.height} pixels"
        if max(view.width, view.height) > self._largest:
            raise RenderingError(
                f"{size} is too large for {self.device}, whose limit is {self._largest}"
            )
        try:
            make_room(self._resources, view.width, view.height)
        except mujoco.FatalError as error:
            self.resize(self._model)
            raise RenderingError(f"{size} is too large for {self.device}: {error}") from error

    def _free(self) -> None:
        self._shots: dict[tuple[int, int], Frame] = {}
        if self._resources is not None:
            self._resources.free()
            self._resources = None


def _option(looks: RenderQuality) -> mujoco.MjvOption:
    """Return what the engine is to put into a scene."""
    option = mujoco.MjvOption()
    option.sitegroup[:] = 0
    for groups in (option.geomgroup, option.tendongroup, option.skingroup, option.flexgroup):
        groups[:] = 0
        groups[list(looks.groups)] = 1
    return option


def _most_geoms(model: mujoco.MjModel) -> int:
    """Return how many geoms a scene can have."""
    tendons = 2 * model.nwrap + (_CATENARY + 1) * model.ntendon
    return int(model.ngeom + model.nflex + model.nskin + tendons + _SPARE_GEOMS)
