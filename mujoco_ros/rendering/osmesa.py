"""OpenGL in memory, without any driver: OSMesa."""

import ctypes

from mujoco_ros.rendering.errors import RenderingError

LIBRARIES = ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so")
"""Its names, by the version of Mesa; the last one comes with its headers."""

_RGBA, _UNSIGNED_BYTE = 0x1908, 0x1401
_DEPTH_BITS, _STENCIL_BITS, _ACCUMULATION_BITS = 24, 8, 0
_SIDE = 16
"""Of the picture that a context must have [pixels]; what is drawn goes to framebuffers."""


class OsmesaContext:
    """A context that the processor draws in.

    Attributes:
        is_software: Whether the processor draws.
    """

    name = "OSMesa"
    is_software = True

    def __init__(self) -> None:
        """Make a context.

        Raises:
            RenderingError: There is no such library, or it fails.
        """
        library = _load()
        create, self._destroy = library.OSMesaCreateContextExt, library.OSMesaDestroyContext
        create.restype = ctypes.c_void_p
        create.argtypes = (*[ctypes.c_int] * 4, ctypes.c_void_p)
        self._destroy.restype, self._destroy.argtypes = None, (ctypes.c_void_p,)
        self._make_current = library.OSMesaMakeCurrent
        self._make_current.restype = ctypes.c_ubyte
        self._make_current.argtypes = (ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int] * 3)
        self._find = library.OSMesaGetProcAddress
        self._find.restype, self._find.argtypes = ctypes.c_void_p, (ctypes.c_char_p,)
        self._picture = (ctypes.c_ubyte * (4 * _SIDE * _SIDE))()
        self._context = create(_RGBA, _DEPTH_BITS, _STENCIL_BITS, _ACCUMULATION_BITS, None)
        if not self._context:
            raise RenderingError("OSMesaCreateContextExt failed")
        self.make_current()

    def make_current(self) -> None:
        """Have OpenGL draw in this context, in the calling thread.

        Raises:
            RenderingError: It cannot.
        """
        made = self._make_current(self._context, self._picture, _UNSIGNED_BYTE, _SIDE, _SIDE)
        if not made:
            raise RenderingError("OSMesaMakeCurrent failed")

    def address(self, function: str) -> int | None:
        """Return where a function of OpenGL is."""
        address: int | None = self._find(function.encode())
        return address

    def close(self) -> None:
        """Free the context; drawing in it is over."""
        if self._context:
            self._destroy(self._context)
            self._context = None


def _load() -> ctypes.CDLL:
    complaints = []
    for name in LIBRARIES:
        try:
            # MuJoCo looks for OpenGL among what is loaded for everybody.
            return ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
        except OSError as error:
            complaints.append(str(error))
    raise RenderingError(f"{LIBRARIES[0]} does not load ({complaints[0]})")
