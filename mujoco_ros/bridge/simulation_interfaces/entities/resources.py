"""Models and worlds that a request names, and the thread that reads them."""

import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from mujoco_ros.bridge.simulation_interfaces.entities.entity_models import ResourceSource
from mujoco_ros.model.errors import (
    MissingAssetError,
    MissingFileError,
    NameInvalidError,
    NamespaceError,
    NameTakenError,
    NativeCodeError,
    ParseError,
    UnsupportedFormatError,
    UserInputError,
)
from mujoco_ros.model.file_access import ALL_FILES, FileAccess
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder

_MOST_WAITING = 32


class BackgroundWorker:
    """One thread that handles one request after the other; the first request starts it."""

    def __init__(self, files: FileAccess = ALL_FILES) -> None:
        """Create the queue of requests, which may name `files`."""
        self._files = files
        self._jobs: queue.Queue[Callable[[], None]] = queue.Queue(_MOST_WAITING)
        self._thread: threading.Thread | None = None

    def run(self, responder: Responder, fill: Callable[[], None]) -> None:
        """Have the thread call `fill`, which fills in the response, and send it.

        Raises:
            RequestRejectedError: Too many requests are waiting.
        """
        try:
            self._jobs.put_nowait(partial(responder.complete, fill))
        except queue.Full:
            message = f"busy: {_MOST_WAITING} requests of this kind are waiting"
            raise RequestRejectedError(message) from None
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="background", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            with self._files.for_client():
                job()


_CODES: tuple[tuple[type[UserInputError], str], ...] = (
    (NameTakenError, "NAME_NOT_UNIQUE"),
    (NameInvalidError, "NAME_INVALID"),
    (NamespaceError, "NAMESPACE_INVALID"),
    (UnsupportedFormatError, "UNSUPPORTED_FORMAT"),
    (MissingFileError, "NO_RESOURCE"),
    (MissingAssetError, "MISSING_ASSETS"),
    (NativeCodeError, "UNSUPPORTED_ELEMENTS"),
    (ParseError, "RESOURCE_PARSE_ERROR"),
)
"""The standard's codes for the errors of a resource."""


def read_resource(message: Any, field: str, codes: Any) -> ResourceSource:
    """Return the resource that a message names; the URI takes precedence over a text.

    Args:
        message: A request; older versions contain the URI and the text themselves.
        field: The field that contains them in newer versions.
        codes: The response, which has the result codes.

    Raises:
        RequestRejectedError: Neither a URI nor a text is given.
    """
    resource = getattr(message, field, message)
    if not resource.uri and not resource.resource_string.strip():
        raise RequestRejectedError(
            "there is neither a uri nor a resource_string", codes.NO_RESOURCE
        )
    return ResourceSource(uri=resource.uri, text=resource.resource_string)


def rejection(error: Exception, codes: Any, *, otherwise: str = "") -> RequestRejectedError:
    """Return the rejection for an error, with the code of the standard if there is one.

    Args:
        error: The error that prevented a change of the model.
        codes: A type with the codes to choose from.
        otherwise: Name of the code for a `UserInputError` that has none of its own.
    """
    if isinstance(error, RequestRejectedError):
        return error
    names = [name for kind, name in _CODES if isinstance(error, kind) and hasattr(codes, name)]
    if otherwise and isinstance(error, UserInputError):
        names.append(otherwise)
    code = getattr(codes, names[0]) if names else None
    return RequestRejectedError(str(error) or repr(error), code)
