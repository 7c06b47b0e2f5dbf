"""Work that takes too long for the executor and needs nothing of the simulation."""

import logging
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

from mujoco_ros.ros.entities.refusal import RefusedError, failed, grant, refuse
from mujoco_ros.ros.service import Answer

_LOG = logging.getLogger(__name__)
_MOST_WAITING = 32
T = TypeVar("T")


class Background:
    """One thread that does one job after the other, begun with the first one."""

    def __init__(self) -> None:
        """Wait for jobs."""
        self._jobs: queue.Queue[Callable[[], None]] = queue.Queue(_MOST_WAITING)
        self._thread: threading.Thread | None = None

    def answer(self, answer: Answer, job: Callable[[], None]) -> None:
        """Have `job`, which fills in the response, done, and answer with what came of it.

        Raises:
            RefusedError: Too many jobs are waiting.
        """

        def work() -> None:
            try:
                job()
            except RefusedError as refused:
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
