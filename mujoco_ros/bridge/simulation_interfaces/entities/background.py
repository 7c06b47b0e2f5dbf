"""Work that takes too long for the executor and needs nothing of the simulation."""

import logging
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

from mujoco_ros.bridge.rclpy_ext.service import Responder
from mujoco_ros.bridge.simulation_interfaces.rejection import (
    RequestRejectedError,
    failed,
    grant,
    refuse,
)

_LOG = logging.getLogger(__name__)
_MOST_WAITING = 32
T = TypeVar("T")


class BackgroundWorker:
    """One thread that does one job after the other, begun with the first one."""

    def __init__(self) -> None:
        """Wait for jobs."""
        self._jobs: queue.Queue[Callable[[], None]] = queue.Queue(_MOST_WAITING)
        self._thread: threading.Thread | None = None

    def answer(self, answer: Responder, job: Callable[[], None]) -> None:
        """Have `job`, which fills in the response, done, and answer with what came of it.

        Raises:
            RefusedError: Too many jobs are waiting.
        """

        def work() -> None:
            try:
                job()
            except RequestRejectedError as refused:
                refuse(answer, refused)
            except Exception as error:
                _LOG.exception("a question has no answer")
                refuse(answer, failed(repr(error)))
            else:
                grant(answer)

        try:
            self._jobs.put_nowait(work)
        except queue.Full:
            raise failed(f"busy: {_MOST_WAITING} requests of this kind are waiting") from None
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="background", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            self._jobs.get()()
