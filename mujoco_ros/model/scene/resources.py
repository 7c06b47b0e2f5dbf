"""What a model names by URIs of the engine's resource providers, such as ``data:``; no files."""

import base64
import binascii
import ctypes
import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from mujoco_ros.model.errors import MissingAssetError
from mujoco_ros.model.file_access import LARGEST_FILE, SizeLimit
from mujoco_ros.model.scene.engine_plugins import ENGINE
from mujoco_ros.model.scene.limits import too_large

_VOID, _TEXT, _INT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_DATA = "data:"
_MESSAGE_LENGTH = 1000
_SUFFIXES = {
    "text/xml": ".xml",
    "application/xml": ".xml",
    "model/obj": ".obj",
    "model/stl": ".stl",
    "model/vnd.mujoco.msh": ".msh",
    "image/png": ".png",
    "image/ktx": ".ktx",
    "image/vnd.mujoco.texture": ".tex",
    "image/vnd.mujoco.hfield": ".hf",
}


class _Resource(ctypes.Structure):
    """``mjResource``."""

    _fields_ = (
        ("name", _TEXT),
        ("data", _VOID),
        ("vfs", _VOID),
        ("timestamp", ctypes.c_char * 512),
        ("provider", _VOID),
        ("args", _TEXT),
    )


_Handle = ctypes.POINTER(_Resource)
_OPEN = ctypes.CFUNCTYPE(_INT, _Handle)
_READ = ctypes.CFUNCTYPE(_INT, _Handle, ctypes.POINTER(_VOID))
_CLOSE = ctypes.CFUNCTYPE(None, _Handle)


class _Provider(ctypes.Structure):
    """``mjpResourceProvider``."""

    _fields_ = (
        ("prefix", _TEXT),
        ("open", _OPEN),
        ("read", _READ),
        ("close", _CLOSE),
        *((name, _VOID) for name in ("mount", "unmount", "modified", "write", "data")),
    )


ENGINE.mjp_findProvider.restype = _VOID
ENGINE.mjp_findProvider.argtypes = (_TEXT,)
ENGINE.mju_openResource.restype = _Handle
ENGINE.mju_openResource.argtypes = (_TEXT, _TEXT, _VOID, _TEXT, ctypes.c_size_t)
ENGINE.mju_readResource.argtypes = (_Handle, ctypes.POINTER(_VOID))
ENGINE.mju_closeResource.argtypes = (_Handle,)
ENGINE.mjp_findDecoder.restype = _VOID
ENGINE.mjp_findDecoder.argtypes = (_Handle, _TEXT)


def is_provided(uri: str) -> bool:
    """Return whether a provider that is registered in this process delivers a URI."""
    return ":" in uri and bool(ENGINE.mjp_findProvider(uri.encode()))


def path_of(uri: str, content_type: str = "") -> str:
    """Return a path for the content of a URI, with the suffix that its type has in files.

    `content_type` is stated apart; a ``data:`` URI states its own. The engine's decoders go by the
    suffix.
    """
    suffix = "" if uri.startswith(_DATA) else Path(uri).suffix
    if uri.startswith(_DATA):
        content_type = content_type or uri.removeprefix(_DATA).partition(",")[0].partition(";")[0]
    digest = hashlib.sha256(uri.encode()).hexdigest()[:16]
    return f"/provided/{digest}{_SUFFIXES.get(content_type, suffix)}"


def with_suffix(uri: str, content_type: str = "") -> str:
    """Return a ``data:`` URI with the suffix of its type as its fragment, for the decoders."""
    if not uri.startswith(_DATA) or "#" in uri:
        return uri
    return f"{uri}#{Path(path_of(uri, content_type)).suffix}"


def read_resource(uri: str, largest: SizeLimit = LARGEST_FILE) -> bytes:
    """Return the content that a provider delivers, of a limited size [byte]."""
    name = uri.partition("#")[0][:80]
    reason = ctypes.create_string_buffer(_MESSAGE_LENGTH)
    resource = ENGINE.mju_openResource(b"", uri.encode(), None, reason, len(reason))
    if not resource:
        raise MissingAssetError(f"'{name}' cannot be read: {reason.value.decode()}")
    try:
        start = _VOID()
        size = ENGINE.mju_readResource(resource, ctypes.byref(start))
        if size < 0:
            raise MissingAssetError(f"'{name}' cannot be read: its provider failed")
        if size > largest.value:
            raise too_large(f"'{name}'", f"{size} bytes", largest)
        return ctypes.string_at(start, size) if size else b""
    finally:
        ENGINE.mju_closeResource(resource)


def is_decoded(path: Path) -> bool:
    """Return whether a decoder that is registered in this process reads a file."""
    resource = ENGINE.mju_openResource(b"", str(path).encode(), None, None, 0)
    if not resource:
        return False
    try:
        return bool(ENGINE.mjp_findDecoder(resource, None))
    finally:
        ENGINE.mju_closeResource(resource)


_contents: dict[int, bytes] = {}  # of the open resources


def _open(resource: Any) -> int:
    uri, _, _ = resource.contents.name.decode().partition("#")
    header, comma, text = uri.removeprefix(_DATA).partition(",")
    content = unquote_to_bytes(text)
    if not comma:
        return 0
    if header.endswith(";base64"):
        try:
            content = base64.b64decode(content, validate=True)
        except binascii.Error:
            return 0
    _contents[ctypes.addressof(resource.contents)] = content
    return 1


def _read(resource: Any, start: Any) -> int:
    content = _contents[ctypes.addressof(resource.contents)]
    start[0] = ctypes.cast(ctypes.c_char_p(content), _VOID)
    return len(content)


def _close(resource: Any) -> None:
    _contents.pop(ctypes.addressof(resource.contents), None)


if not is_provided(_DATA):
    _OWN = _Provider(prefix=b"data", open=_OPEN(_open), read=_READ(_read), close=_CLOSE(_close))
    ENGINE.mjp_registerProvider(ctypes.byref(_OWN))
