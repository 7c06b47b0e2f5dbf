"""Images of models that can be spawned, rendered once by a process with limits."""

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import partial

import numpy as np

from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.process.limits import WorkerLimits, share_of_memory
from mujoco_ros.viewer.file_request import FileAnswer, FileReader
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
        self._reader = FileReader(_RENDERER, LIMITS, files)
        self._waiting: list[Future[None]] = []

    def request(self, uris: Sequence[str]) -> None:
        """Have the images of a list made, instead of the rest of an earlier one."""
        _cancel(self._waiting)
        waiting: list[Future[None]] = []
        self._waiting = waiting
        for uri in uris:
            waiting.append(self._reader.read(uri, partial(self._add, uri, waiting)))

    def close(self) -> None:
        """End the process."""
        self._reader.close()

    def _add(self, uri: str, waiting: "list[Future[None]]", answer: FileAnswer) -> None:
        if isinstance(answer.error, NoImagesError):
            _LOG.warning("images of models cannot be rendered: %s", answer.error)
            _cancel(waiting)  # the list has texts, too
        elif answer.error is not None:
            names = printable(uri), printable(answer.problem)
            _LOG.warning("the model '%s' has no image: %s", *names)
        else:
            self.found = {**self.found, uri: answer.content}


def _cancel(waiting: "list[Future[None]]") -> None:
    for future in waiting:
        future.cancel()
