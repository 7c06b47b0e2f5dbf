"""Files that messages and other programs name, read by a process with limits."""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import ClientFiles, FileAccess, client_files
from mujoco_ros.model.scene.worlds import client_folders
from mujoco_ros.process.limits import WorkerDiedError, WorkerLimitError, WorkerLimits
from mujoco_ros.process.worker_process import WorkerProcess
from mujoco_ros.viewer.clients import ParameterInfo


class FileRequest(NamedTuple):
    """A file to read."""

    uri: str  # the file
    files: ClientFiles | None  # the files that may be read; None allows all

    @classmethod
    def of_client(cls, uri: str, access: FileAccess) -> "FileRequest":
        """Return the request for a file, if `access` allows clients to name it."""
        with access.for_client():
            return cls(uri, client_files())


def files_of_clients(parameters: Callable[[], Mapping[str, ParameterInfo]]) -> FileAccess:
    """Return the access to the folders that the simulator's present parameters name."""

    def folders() -> Iterator[Path]:
        known = parameters()
        scene, added = known.get("scene"), known.get("client_folders")
        scene_name, named = scene and scene.value, added and added.value
        return client_folders(str(scene_name or ""), named or ())

    return FileAccess(folders, "; the parameter 'client_folders' adds others")


class FileAnswer(NamedTuple):
    """What the process has answered."""

    content: Any  # its answer; None with an error
    error: Exception | None
    seconds: float  # how long it took [s]

    @property
    def problem(self) -> str:
        """Why there is no content; empty if there is."""
        if self.error is None:
            return ""
        if isinstance(self.error, WorkerLimitError):
            return f"it exceeds {self.error}"
        is_clear = isinstance(self.error, UserInputError | WorkerDiedError | OSError)
        return str(self.error) if is_clear else f"{type(self.error).__name__}: {self.error}"


class FileReader:
    """Has files read one after the other, by a process whose requests are `FileRequest`s."""

    def __init__(self, module: str, limits: WorkerLimits, files: FileAccess) -> None:
        self._worker = WorkerProcess(module, lambda: None, limits=limits)
        self._files = files
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="files")
        self._is_closed = False

    def read(self, uri: str, report: Callable[[FileAnswer], object]) -> "Future[None]":
        """Have a file read, and report the answer in another thread, unless it is cancelled."""
        return self._thread.submit(self._read, uri, report)

    def close(self) -> None:
        """End the process, without a report of what is in progress."""
        self._is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._worker.close()

    def _read(self, uri: str, report: Callable[[FileAnswer], object]) -> None:
        began, content, failure = time.monotonic(), None, None
        try:
            content = self._worker.submit(FileRequest.of_client(uri, self._files)).result()
        except Exception as error:  # of a library that reads files
            failure = error
        if not self._is_closed:
            report(FileAnswer(content, failure, time.monotonic() - began))
