"""EGL contexts without a window, by calls of libEGL alone.

MuJoCo's own module imports PyOpenGL for them: a sixth of the processor time of the first image.
"""

import ctypes
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

DEVICE_VARIABLE = "MUJOCO_EGL_DEVICE_ID"
"""Environment variable with the number of the EGL device, counted in CUDA_VISIBLE_DEVICES."""

_MOST_DEVICES = 64
_CUDA_DEVICE, _PLATFORM_DEVICE = 0x323A, 0x313F  # of EGL_NV_device_cuda, EGL_EXT_platform_device
_OPENGL = 0x30A2
_ATTRIBUTES = {
    **dict.fromkeys((0x3024, 0x3023, 0x3022, 0x3021), 8),  # red, green, blue, alpha [bit]
    0x3025: 24,  # depth
    0x3026: 8,  # stencil
    0x303F: 0x308E,  # buffer: red, green and blue
    0x3033: 0x0001,  # surface: a buffer
    0x3040: 0x0008,  # renderable by OpenGL
}
_END = 0x3038
_HANDLE = ctypes.c_void_p


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL("libEGL.so.1")
    library.eglGetProcAddress.restype = _HANDLE
    return library


def function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """Return a function of EGL or OpenGL; LookupError if the driver has none of that name."""
    address = _library().eglGetProcAddress(name.encode())
    if not address:
        raise LookupError(f"the driver has no {name}")
    signature: Callable[[int], Callable[..., Any]] = ctypes.CFUNCTYPE(result, *arguments)
    return signature(address)


def ordered(
    devices: Sequence[int], cuda: Mapping[int, int], visible: Sequence[int], number: int | None
) -> list[int]:
    """Return the devices to try, in this order; LookupError for a `number` that does not exist.

    `cuda` has the devices by their numbers in CUDA, as far as they are known, and `visible` the
    numbers of CUDA_VISIBLE_DEVICES, of all devices or of those that the system lets this process
    see.
    """
    if not all(each in cuda for each in visible):
        visible = range(len(visible)) if all(n in cuda for n in range(len(visible))) else ()
    first = [cuda[each] for each in visible or sorted(cuda)]
    found = [*first, *(device for device in devices if device not in first)]
    if number is None:
        return found
    if number in visible and number >= len(visible):
        return [cuda[number]]
    if not 0 <= number < len(found):
        raise LookupError(f"{DEVICE_VARIABLE} must be from 0 to {len(found) - 1}, got {number}")
    return [found[number]]


def _devices() -> list[int]:
    """Return the devices to try, by the environment."""
    found, count = (_HANDLE * _MOST_DEVICES)(), ctypes.c_int()
    query = function("eglQueryDevicesEXT", ctypes.c_int, ctypes.c_int, _HANDLE, _HANDLE)
    if not query(_MOST_DEVICES, found, ctypes.byref(count)):
        raise LookupError("EGL lists no devices")
    devices = [device for device in found[: count.value] if device]
    ask = function("eglQueryDeviceAttribEXT", ctypes.c_int, _HANDLE, ctypes.c_int, _HANDLE)
    cuda, value = {}, ctypes.c_ssize_t()
    for device in devices:
        if ask(device, _CUDA_DEVICE, ctypes.byref(value)):
            cuda[value.value] = device
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").replace(" ", "").split(",")
    numbers = [int(each) for each in visible] if all(n.isdecimal() for n in visible) else []
    chosen = os.environ.get(DEVICE_VARIABLE)
    return ordered(devices, cuda, numbers, None if chosen is None else int(chosen))


@functools.cache
def _display() -> int:
    """Return the display of a device; there is one for a process."""
    open_display = function(
        "eglGetPlatformDisplayEXT", _HANDLE, ctypes.c_uint, _HANDLE, ctypes.c_void_p
    )
    for device in _devices():
        display: int | None = open_display(_PLATFORM_DEVICE, device, None)
        if display and _library().eglInitialize(_HANDLE(display), None, None):
            return display
    raise LookupError("EGL opens no device without a window")


class EglContext:
    """A context of OpenGL, which only `free` destroys."""

    def __init__(self) -> None:
        """Create a context; LookupError or ValueError if that is impossible."""
        egl, display = _library(), _HANDLE(_display())
        egl.eglReleaseThread()
        pairs = [number for pair in _ATTRIBUTES.items() for number in pair]
        attributes = (ctypes.c_int * (len(pairs) + 1))(*pairs, _END)
        config, count = _HANDLE(), ctypes.c_int()
        egl.eglChooseConfig(display, attributes, ctypes.byref(config), 1, ctypes.byref(count))
        if not count.value:
            raise LookupError("EGL has no buffer of the needed format")
        egl.eglBindAPI(_OPENGL)
        egl.eglCreateContext.restype = _HANDLE
        context = egl.eglCreateContext(display, config, None, None)
        if not context:
            raise LookupError("EGL creates no context of OpenGL")
        self._display, self._context = display, _HANDLE(context)

    def make_current(self) -> None:
        """Make it the context of the calling thread."""
        if not _library().eglMakeCurrent(self._display, None, None, self._context):
            raise LookupError("EGL does not accept the context")

    def free(self) -> None:
        """Destroy it, unless that was done."""
        if self._context:
            egl, self._context, context = _library(), _HANDLE(), self._context
            egl.eglGetCurrentContext.restype = _HANDLE
            if egl.eglGetCurrentContext() in (None, context.value):
                egl.eglMakeCurrent(self._display, None, None, None)
                egl.eglReleaseThread()
            egl.eglDestroyContext(self._display, context)
