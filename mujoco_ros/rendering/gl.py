"""Which OpenGL pictures are drawn with."""

import ctypes
import os
from collections.abc import Callable
from typing import Any, Protocol

from mujoco_ros.rendering.egl import EglContext
from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.rendering.osmesa import OsmesaContext


class GlContext(Protocol):
    """An OpenGL context of the thread that made it.

    Attributes:
        name: What made it.
        is_software: Whether the processor draws.
    """

    name: str
    is_software: bool

    def make_current(self) -> None:
        """Have OpenGL draw in this context."""

    def address(self, function: str) -> int | None:
        """Return where a function of OpenGL is."""

    def close(self) -> None:
        """Free the context."""


BACKENDS: dict[str, Callable[[], GlContext]] = {"egl": EglContext, "osmesa": OsmesaContext}
"""What ``auto`` tries, in this order: only EGL reaches a graphics card."""
AUTO = "auto"
CHOICES = (AUTO, *BACKENDS)

_MESA_THREADS = "LP_NUM_THREADS"
"""The environment variable by which Mesa knows how many threads may draw besides the caller's."""
_OTHERS = 2
"""Cores that drawing leaves alone: one is for the physics thread, one for the thread that draws."""
_MOST_THREADS = 8
_GL_RENDERER = 0x1F01
_GL_MAX_RENDERBUFFER_SIZE = 0x84E8
_REMEDY = (
    "on Debian and Ubuntu, install libegl1 and libegl-mesa0 (the driver of the graphics card "
    "brings its own), or libosmesa6"
)


def open_context(backend: str = AUTO) -> GlContext:
    """Open an OpenGL context without a window, and make it the calling thread's.

    Neither the module ``mujoco`` nor anything else has to be imported in some way, nor
    ``MUJOCO_GL`` to be set, for this; who never calls it needs no OpenGL.

    Args:
        backend: One of `CHOICES`.

    Raises:
        RenderingError: The backend does not work here, or there is no such one.
    """
    if backend not in CHOICES:
        raise RenderingError(f"there is no backend '{backend}'; choose among: {', '.join(CHOICES)}")
    os.environ.setdefault(_MESA_THREADS, str(_spare_cores()))
    complaints = []
    for name in BACKENDS if backend == AUTO else (backend,):
        try:
            context = BACKENDS[name]()
        except RenderingError as error:
            complaints.append(f"{name}: {error}")
        else:
            # Where more than one library is loaded, the engine decides by this.
            os.environ["MUJOCO_GL"] = name
            return context
    raise RenderingError(f"there is no OpenGL to draw with ({'; '.join(complaints)}); {_REMEDY}")


def device(context: GlContext) -> str:
    """Return the name of what draws in a context that is current, as its driver gives it."""
    get = _function(context, "glGetString", ctypes.c_char_p, ctypes.c_uint)
    name = get(_GL_RENDERER)
    return name.decode(errors="replace") if isinstance(name, bytes) else "unknown"


def largest_side(context: GlContext) -> int:
    """Return how wide and high pictures in a context that is current may be [pixels]."""
    get = _function(context, "glGetIntegerv", None, ctypes.c_uint, ctypes.c_void_p)
    side = ctypes.c_int()
    get(_GL_MAX_RENDERBUFFER_SIZE, ctypes.byref(side))
    return side.value


def _spare_cores() -> int:
    return min(max(len(os.sched_getaffinity(0)) - _OTHERS, 0), _MOST_THREADS)


def _function(context: GlContext, name: str, *signature: Any) -> Callable[..., object]:
    address = context.address(name)
    if not address:
        raise RenderingError(f"{context.name} has no {name}")
    return ctypes.CFUNCTYPE(*signature)(address)
