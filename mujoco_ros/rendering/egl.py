"""OpenGL without a window on a graphics card, or on a library that draws like one: EGL."""

import ctypes
import os
from collections.abc import Callable, Sequence

from mujoco_ros.rendering.errors import RenderingError

LIBRARY = "libEGL.so.1"
DEVICE_VARIABLE = "MUJOCO_EGL_DEVICE_ID"
"""The environment variable that MuJoCo, too, takes the number of the device from."""

# Names and numbers of the Khronos registry, without their prefix EGL_.
_PLATFORM_DEVICE_EXT = 0x313F
_EXTENSIONS = 0x3055
_SURFACE_TYPE, _PBUFFER_BIT = 0x3033, 0x0001
_RENDERABLE_TYPE, _OPENGL_BIT = 0x3040, 0x0008
_OPENGL_API = 0x30A2
_NONE = 0x3038
_CONFIG = (_SURFACE_TYPE, _PBUFFER_BIT, _RENDERABLE_TYPE, _OPENGL_BIT, _NONE)
_SOFTWARE = b"EGL_MESA_device_software"
_MOST_DEVICES = 32

_Pointer = ctypes.c_void_p
_Int = ctypes.c_int
_SIGNATURES: dict[str, tuple[object, ...]] = {
    "eglInitialize": (_Int, _Pointer, _Pointer, _Pointer),
    "eglBindAPI": (_Int, _Int),
    "eglChooseConfig": (_Int, _Pointer, _Pointer, _Pointer, _Int, _Pointer),
    "eglCreateContext": (_Pointer, _Pointer, _Pointer, _Pointer, _Pointer),
    "eglMakeCurrent": (_Int, _Pointer, _Pointer, _Pointer, _Pointer),
    "eglDestroyContext": (_Int, _Pointer, _Pointer),
    "eglGetCurrentContext": (_Pointer,),
    "eglGetError": (_Int,),
    "eglQueryDevicesEXT": (_Int, _Int, _Pointer, _Pointer),
    "eglQueryDeviceStringEXT": (ctypes.c_char_p, _Pointer, _Int),
    "eglGetPlatformDisplayEXT": (_Pointer, _Int, _Pointer, _Pointer),
}
"""What each function returns, and its arguments."""


class EglContext:
    """A context without a surface: what is drawn goes to framebuffers of its own.

    Attributes:
        is_software: Whether the processor draws.
    """

    name = "EGL"

    def __init__(self) -> None:
        """Open the first device that works, graphics cards before the processor.

        Raises:
            RenderingError: There is no such library, or no device that works.
        """
        self._find = _load()
        self._egl = _functions(self._find)
        self._context: int | None = None
        complaints = []
        for device, is_software in _devices(self._egl):
            try:
                self._display, self._context = _open(self._egl, device)
                self.is_software = is_software
                self.make_current()
            except RenderingError as error:
                complaints.append(str(error))
            else:
                return
        raise RenderingError("; ".join(dict.fromkeys(complaints)) or "EGL has no devices")

    def make_current(self) -> None:
        """Have OpenGL draw in this context, in the calling thread.

        Raises:
            RenderingError: It cannot.
        """
        if not self._egl["eglMakeCurrent"](self._display, None, None, self._context):
            raise _failure(self._egl, "eglMakeCurrent")

    def address(self, function: str) -> int | None:
        """Return where a function of OpenGL is."""
        address: int | None = self._find(function.encode())
        return address

    def close(self) -> None:
        """Free the context; drawing in it is over."""
        if self._context is not None:
            if self._egl["eglGetCurrentContext"]() == self._context:
                self._egl["eglMakeCurrent"](self._display, None, None, None)
            self._egl["eglDestroyContext"](self._display, self._context)
            self._context = None


_Functions = dict[str, Callable[..., object]]


def _functions(find: Callable[[bytes], int | None]) -> _Functions:
    """Return the functions of EGL by name; those of extensions are not in its table of symbols."""
    found: _Functions = {}
    for name, signature in _SIGNATURES.items():
        address = find(name.encode())
        if not address:
            raise RenderingError(f"{LIBRARY} has no {name}")
        found[name] = ctypes.CFUNCTYPE(*signature)(address)  # type: ignore[arg-type]
    return found


def software_device() -> int | None:
    """Return the number of the device that is the processor, for `DEVICE_VARIABLE`, if it is one.

    Raises:
        RenderingError: There is no such library, or no device.
    """
    software = [is_software for _, is_software in _all_devices(_functions(_load()))]
    return software.index(True) if True in software else None


def _load() -> Callable[[bytes], int | None]:
    """Return what finds the functions of the library."""
    try:
        # MuJoCo looks for OpenGL among what is loaded for everybody.
        library = ctypes.CDLL(LIBRARY, ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise RenderingError(f"{LIBRARY} does not load ({error})") from error
    find = library.eglGetProcAddress
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_char_p,)
    return find


def _all_devices(egl: _Functions) -> list[tuple[int, bool]]:
    """Return all devices by their numbers, and whether each is the processor."""
    handles, count = (ctypes.c_void_p * _MOST_DEVICES)(), _Int()
    if not egl["eglQueryDevicesEXT"](_MOST_DEVICES, handles, ctypes.byref(count)):
        raise _failure(egl, "eglQueryDevicesEXT")
    devices = []
    for handle in handles[: count.value]:
        extensions = egl["eglQueryDeviceStringEXT"](handle, _EXTENSIONS) or b""
        devices.append((handle or 0, isinstance(extensions, bytes) and _SOFTWARE in extensions))
    return devices


def _devices(egl: _Functions) -> Sequence[tuple[int, bool]]:
    """Return the devices to try, and whether each is the processor."""
    devices = _all_devices(egl)
    wanted = os.environ.get(DEVICE_VARIABLE)
    if wanted is None:
        return sorted(devices, key=lambda device: device[1])
    if not (wanted.isdecimal() and int(wanted) < len(devices)):
        raise RenderingError(
            f"{DEVICE_VARIABLE} must be a number from 0 to {len(devices) - 1}, got '{wanted}'"
        )
    return [devices[int(wanted)]]


def _open(egl: _Functions, device: int) -> tuple[int, int]:
    """Return the display of a device, and a new context on it."""
    display = egl["eglGetPlatformDisplayEXT"](_PLATFORM_DEVICE_EXT, device, None)
    if not isinstance(display, int) or not egl["eglInitialize"](display, None, None):
        raise _failure(egl, "eglInitialize")
    wanted, config, count = (_Int * len(_CONFIG))(*_CONFIG), ctypes.c_void_p(), _Int()
    chosen = egl["eglChooseConfig"](display, wanted, ctypes.byref(config), 1, ctypes.byref(count))
    if not (chosen and count.value):
        raise _failure(egl, "eglChooseConfig")
    egl["eglBindAPI"](_OPENGL_API)
    context = egl["eglCreateContext"](display, config, None, None)
    if not isinstance(context, int):
        raise _failure(egl, "eglCreateContext")
    return display, context


def _failure(egl: _Functions, function: str) -> RenderingError:
    return RenderingError(f"{function} failed with EGL error {egl['eglGetError']():#x}")
