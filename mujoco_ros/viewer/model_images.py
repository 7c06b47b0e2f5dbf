"""Images of models that can be spawned, rendered once by a process of low priority."""

import hashlib
import logging
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_cache import FileCache, user_folder
from mujoco_ros.model.uri import resolve
from mujoco_ros.process import child_process

_LOG = logging.getLogger(__name__)
SIZE = 96, 72
"""Width and height [pixels]."""
NO_RENDERING = 3
"""Exit code of the process on a machine that cannot render."""
_VERSION = 1
"""Changes with the images of the same models."""
_LIMIT_BYTES = 32 * 1024 * 1024
_RENDERER = "mujoco_ros.cli.model_images"


class ModelImages:
    """Images of models, from the cache or from a process that renders them.

    Attributes:
        found: Images by URI; replaced, never changed.  # (height, width, 3) uint8
    """

    def __init__(self) -> None:
        """Have no images."""
        self.found: Mapping[str, np.ndarray] = {}
        self._cache = image_cache()
        self._thread: threading.Thread | None = None

    def request(self, uris: Sequence[str]) -> None:
        """Have the images made, once, in a thread that waits for the process."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, args=(list(uris),), name="model images", daemon=True
            )
            self._thread.start()

    def _run(self, uris: Sequence[str]) -> None:
        try:
            files = {}
            for uri in uris:
                with suppress(UserInputError, OSError):
                    files[uri] = resolve(uri, Path("/"))
            waiting = [
                (uri, path)
                for uri, path in files.items()
                if path.is_file() and not self._load(uri, path)
            ]
            while waiting:
                done = self._render(waiting)
                waiting = waiting[done + 1 :]  # a crash belongs to the one after the last
        except Exception:  # the list has texts, too
            _LOG.exception("the images of models are incomplete")

    def _load(self, uri: str, path: Path) -> bool:
        """Load an image from the cache; return whether it is there."""
        file = self._cache.find(image_name(path))
        image = None if file is None else cv2.imread(str(file), cv2.IMREAD_COLOR)
        if image is None or image.shape != (SIZE[1], SIZE[0], 3):
            return False
        self.found = {**self.found, uri: np.ascontiguousarray(image[:, :, ::-1])}
        return True

    def _render(self, waiting: Sequence[tuple[str, Path]]) -> int:
        """Have models rendered; return how many were, and all of them if no more can be."""
        done = 0
        readable, writable = os.pipe()
        with os.fdopen(readable) as progress:
            try:
                command = child_process.python_command(
                    _RENDERER, f"--progress={writable}", *(str(path) for _, path in waiting)
                )
                process = child_process.start(command, pass_fds=(writable,))
            finally:
                os.close(writable)
            for _ in progress:  # a line per model
                self._load(*waiting[done])
                done += 1
        code = process.wait()
        if code == NO_RENDERING:
            return len(waiting)
        if code:
            reason = child_process.exit_reason(code)
            _LOG.warning("the model '%s' has no image: %s", waiting[done][0], reason)
        return done


def image_cache() -> FileCache:
    """Return the cache of images."""
    return FileCache(user_folder("model_images"), ".png", _LIMIT_BYTES)


def image_name(path: Path) -> str:
    """Return the name of the image of a model, which changes with its file.

    Raises:
        OSError: The file does not exist.
    """
    parts = (str(_VERSION), str(path), str(path.stat().st_mtime_ns))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
