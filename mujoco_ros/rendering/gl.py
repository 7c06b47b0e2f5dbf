"""OpenGL contexts without a window, with EGL or OSMesa, and the resources of a model."""

import ctypes
import functools
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.rendering import egl
from mujoco_ros.rendering.egl import DEVICE_VARIABLE


@dataclass(frozen=True, kw_only=True, slots=True)
class RenderQuality:
    """Quality of images."""

    shadows: bool = True  # whether shadows are rendered; their resolution is the model's
    reflections: bool = True  # whether planes and boxes of reflecting materials reflect
    antialiasing: bool = True  # whether edges are smooth; the number of samples is the model's
    fine_planes: bool = True  # whether infinite planes have enough tiles to show the spots of lamps
    skybox: bool = True  # whether the model's sky is rendered; without it, the background is black
    groups: tuple[int, ...] = (0, 1, 2)  # rendered groups of geoms, tendons, skins and flexes

    @property
    def allows_culling(self) -> bool:
        """Whether geoms out of view do not change an image."""
        return not (self.shadows or self.reflections)


RICH = RenderQuality()
"""Quality for a graphics card, which renders it at no extra cost."""
PLAIN = RenderQuality(shadows=False, reflections=False, antialiasing=False, fine_planes=False)
"""Quality for rendering on a processor: at most a tenth of the work of `RICH`."""


class RenderingError(RuntimeError):
    """An image cannot be rendered; the message gives the reason and a remedy."""


AUTO = "auto"
BACKENDS = {"egl": "EGL", "osmesa": "OSMesa"}
"""Backends in the order in which `AUTO` tries them: only EGL can use a graphics card."""
CHOICES = (AUTO, *BACKENDS)
LIBRARIES = {
    "egl": (("libEGL.so.1",), ("libOpenGL.so.0", "libGL.so.1")),
    "osmesa": (("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"),),
}
"""Libraries of each backend, with alternative names: OSMesa's depends on Mesa's version."""
_PLATFORM_VARIABLE = "PYOPENGL_PLATFORM"
_MESA_THREADS = "LP_NUM_THREADS"
"""Environment variable of Mesa: the number of render threads besides the calling thread."""
_RESERVED_CORES = 2
"""Cores without a render thread: one for the physics thread, one for the calling thread."""
_MAX_THREADS = 8
_SOFTWARE = ("llvmpipe", "softpipe", "swrast", "Software Rasterizer")
"""Names of Mesa's renderers on the processor."""
_SIDE = 16  # side of the OSMesa buffer [pixels]; images are rendered to framebuffers of their own
_GL_RENDERER = 0x1F01
_GL_MAX_RENDERBUFFER_SIZE = 0x84E8
_REMEDY = (
    "on Debian and Ubuntu, install libegl1, libopengl0 and libegl-mesa0 (the driver of a graphics "
    "card includes its own), or libosmesa6"
)


class GlContext:
    """An OpenGL context of the thread that creates it."""

    def __init__(self, backend: str) -> None:
        """Create a context of one of `BACKENDS` and make it current."""
        _load_libraries(backend)
        try:
            self._context = egl.EglContext() if backend == "egl" else _osmesa()(_SIDE, _SIDE)
        except Exception as error:  # of MuJoCo and PyOpenGL: many types
            raise RenderingError(_reason(error)) from error
        self.make_current()
        # MuJoCo's renderer selects its OpenGL library by this variable.
        os.environ["MUJOCO_GL"] = backend
        self.backend = BACKENDS[backend]  # "EGL" or "OSMesa"
        name = _function(backend, "glGetString", ctypes.c_char_p, ctypes.c_uint)(_GL_RENDERER)
        # Name of the device, as its driver reports it
        self.device = name.decode(errors="replace") if name else "unknown"
        # Whether the processor renders
        self.is_software = any(name in self.device for name in _SOFTWARE)
        side = ctypes.c_int()
        get = _function(backend, "glGetIntegerv", None, ctypes.c_uint, ctypes.c_void_p)
        get(_GL_MAX_RENDERBUFFER_SIZE, ctypes.byref(side))
        self.largest_side = side.value  # limit of the width and height of an image [pixels]

    def make_current(self) -> None:
        """Make the context current in the calling thread."""
        try:
            self._context.make_current()
        except Exception as error:  # of PyOpenGL or of MuJoCo
            raise RenderingError(f"cannot activate the OpenGL context: {error}") from error

    def close(self) -> None:
        """Free the context."""
        self._context.free()


def open_context(backend: str = AUTO) -> GlContext:
    """Open an OpenGL context of one of `CHOICES`, without a window, and make it current."""
    if backend not in CHOICES:
        raise RenderingError(
            f"backend '{backend}' does not exist; choose one of: {', '.join(CHOICES)}"
        )
    threads = min(max(len(os.sched_getaffinity(0)) - _RESERVED_CORES, 0), _MAX_THREADS)
    os.environ.setdefault(_MESA_THREADS, str(threads))
    failures = []
    for name in BACKENDS if backend == AUTO else (backend,):
        try:
            return GlContext(name)
        except RenderingError as error:
            failures.append(f"{name}: {error}")
    raise RenderingError(f"OpenGL is not available ({'; '.join(failures)}); {_REMEDY}")


def _load_libraries(backend: str) -> None:
    """Load the libraries of a backend; PyOpenGL reports a missing one as a missing attribute."""
    for names in LIBRARIES[backend]:
        failures = []
        for name in names:
            try:
                ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
                break
            except OSError as error:
                failures.append(str(error))
        else:
            raise RenderingError(f"cannot load {names[0]} ({failures[0]})")


@functools.cache
def _osmesa() -> Any:
    """Return MuJoCo's class of a context, which only `free` destroys."""
    # PyOpenGL has one platform, which it selects when it is imported.
    for name in [name for name in sys.modules if name.partition(".")[0] == "OpenGL"]:
        del sys.modules[name]
    selected = os.environ.get(_PLATFORM_VARIABLE)
    os.environ[_PLATFORM_VARIABLE] = "osmesa"
    try:
        context = importlib.import_module("mujoco.osmesa").GLContext
        # The garbage collector could destroy a context before what was created in it.
        return type(context.__name__, (context,), {"__del__": lambda _self: None})
    finally:
        del os.environ[_PLATFORM_VARIABLE]
        if selected is not None:
            os.environ[_PLATFORM_VARIABLE] = selected


def _reason(error: Exception) -> str:
    """Return why a context cannot be created, with the device if the user selects one."""
    number = os.environ.get(DEVICE_VARIABLE)
    if number is None or DEVICE_VARIABLE in str(error):
        return str(error)
    return f"{error} ({DEVICE_VARIABLE} is '{number}')"


def _function(backend: str, name: str, *signature: Any) -> Any:
    if backend == "egl":
        return egl.function(name, *signature)
    platform = importlib.import_module("OpenGL.platform").PLATFORM
    return ctypes.CFUNCTYPE(*signature)(platform.getExtensionProcedure(name.encode()))


_OFFSCREEN = int(mujoco.mjtFramebuffer.mjFB_OFFSCREEN)
_SMALLEST_FONT = int(mujoco.mjtFontScale.mjFONTSCALE_50)
_INITIAL_SIDE = 64  # side of the buffer that is rendered into [pixels]; it grows with the images


def upload(model: mujoco.MjModel, quality: RenderQuality) -> mujoco.MjrContext:
    """Upload a model to the current OpenGL context."""
    try:
        with _settings(model, quality):
            resources = mujoco.MjrContext(model, _SMALLEST_FONT)
    except mujoco.FatalError as error:
        raise RenderingError(f"OpenGL cannot render the model: {error}") from error
    resources.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
    mujoco.mjr_setBuffer(_OFFSCREEN, resources)
    return resources


def grow_buffer(resources: mujoco.MjrContext, width: int, height: int) -> None:
    """Enlarge the buffer for images of a size [pixels]; an error makes `resources` unusable."""
    present = resources.offWidth, resources.offHeight
    needed = max(width, present[0]), max(height, present[1])
    if needed != present:
        mujoco.mjr_resizeOffscreen(*needed, resources)
        mujoco.mjr_setBuffer(_OFFSCREEN, resources)


@contextmanager
def _settings(model: mujoco.MjModel, quality: RenderQuality) -> Iterator[None]:
    """Write into the model, for the upload, the settings that the engine allocates by."""
    visual, whole = model.vis.quality, model.vis.global_
    original = visual.shadowsize, visual.offsamples, whole.offwidth, whole.offheight
    visual.shadowsize *= quality.shadows
    visual.offsamples *= quality.antialiasing
    whole.offwidth = whole.offheight = _INITIAL_SIDE
    try:
        yield
    finally:
        visual.shadowsize, visual.offsamples, whole.offwidth, whole.offheight = original


_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)
_TILES = 32  # tiles along the side of a plane


class GroundPlane:
    """Replaces infinite planes by large finite ones of the same appearance.

    Light is computed at the corners of the tiles, so large tiles do not show a lamp's light spot.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        """Find the infinite planes of a model."""
        self._model = model
        self._half_sizes = {
            int(geom): _half_size(model, int(geom))
            for geom in np.flatnonzero(model.geom_type == _PLANE)
            if not model.geom_size[geom, :2].any()
        }

    @contextmanager
    def as_finite(self) -> Iterator[None]:
        """Make the planes of the model finite while it is uploaded."""
        sizes = self._model.geom_size
        original = sizes.copy()
        for geom, half in self._half_sizes.items():
            sizes[geom] = *half, half.max() / _TILES
        try:
            yield
        finally:
            sizes[:] = original

    def scale_textures(self, scene: mujoco.MjvScene) -> None:
        """Repeat textures as often as on the infinite planes, in a scene that was updated."""
        remaining = len(self._half_sizes)
        for geom in scene.geoms[: scene.ngeom] if remaining else ():
            if geom.type == _PLANE and geom.objid in self._half_sizes:
                # Textures span a finite plane once, and two metres of an infinite one.
                geom.texrepeat = geom.texrepeat * self._half_sizes[geom.objid].astype(np.float32)
                remaining -= 1
                if not remaining:
                    return


def _half_size(model: mujoco.MjModel, geom: int) -> np.ndarray:
    """Return the half size of a finite plane, in whole periods of its texture.  # (2,)."""
    horizon = model.vis.map.zfar * model.stat.extent
    material = model.geom_matid[geom]
    repeats = model.mat_texrepeat[material] if material >= 0 else np.zeros(2)
    periods = np.where(repeats > 0, 2.0 / np.where(repeats > 0, repeats, 1.0), 0.01 * horizon)
    # One more, as the plane follows the camera in whole periods.
    return np.asarray(periods * np.ceil(1.05 * horizon / periods + 1.0))
