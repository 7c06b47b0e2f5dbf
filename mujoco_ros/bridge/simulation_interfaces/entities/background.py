"""A thread for slow requests that do not need the simulation."""

import queue
import threading
from collections.abc import Callable
from functools import partial

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
