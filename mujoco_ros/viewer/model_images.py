"""Images of models that can be spawned, rendered once by a process with limits."""

import logging
import threading
from collections.abc import Mapping, Sequence
from queue import SimpleQueue

import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.process.limits import (
    WorkerDiedError,
    WorkerLimitError,
    WorkerLimits,
    share_of_memory,
)
from mujoco_ros.process.worker_process import WorkerProcess
from mujoco_ros.viewer.file_request import FileRequest
from mujoco_ros.viewer.message_shapes import printable

_LOG = logging.getLogger(__name__)
SIZE = 96, 72
"""Width and height [pixels]."""
LIMITS = WorkerLimits(
    processor_s=60.0, wall_s=300.0, memory_bytes=share_of_memory(4, largest=4 << 30)
)
"""Limits of one model."""
_RENDERER = "mujoco_ros.cli.model_images"


class NoImagesError(RuntimeError):
    """This machine cannot render."""


class ModelImages:
    """Images of models, from the cache or rendered, both by a process of low priority."""

    def __init__(self, files: FileAccess) -> None:
        # Images by URI; replaced, never changed.  # (height, width, 3) uint8
        self.found: Mapping[str, np.ndarray] = {}
        self._files = files
        self._lists: SimpleQueue[Sequence[str]] = SimpleQueue()
        self._worker = WorkerProcess(_RENDERER, lambda: None, limits=LIMITS)
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def request(self, uris: Sequence[str]) -> None:
        """Have the images of a list made, instead of the rest of an earlier one."""
        self._lists.put(uris)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="model images", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the process."""
        self._is_closed = True
        self._worker.close()

    def _run(self) -> None:
        while not self._is_closed:
            uris = self._lists.get()
            try:
                self._make(uris)
            except NoImagesError as error:
                _LOG.warning("images of models cannot be rendered: %s", error)
            except Exception:  # the list has texts, too
                if not self._is_closed:
                    _LOG.exception("the images of models are incomplete")

    def _make(self, uris: Sequence[str]) -> None:
        for uri in uris:
            if self._is_closed or not self._lists.empty():
                return
            try:
                request = FileRequest.of_client(uri, self._files)
                image = self._worker.submit(request).result()
                self.found = {**self.found, uri: image}
            except WorkerLimitError as error:
                self._log(uri, f"it exceeds {error}")
            except (UserInputError, WorkerDiedError, OSError) as error:
                self._log(uri, str(error))

    def _log(self, uri: str, problem: str) -> None:
        if not self._is_closed:
            _LOG.warning("the model '%s' has no image: %s", printable(uri), printable(problem))
