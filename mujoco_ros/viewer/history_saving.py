"""Saving the past states in files below the folder for output."""

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from mujoco_ros.model.file_cache import output_folder
from mujoco_ros.model.naming import topic_token
from mujoco_ros.sim.shared_memory.past_files import collect, write_log, write_table
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import ParameterClient, Request

LOG, TABLE = "State log", "Joints as CSV"
KINDS = {LOG: ".mjlog", TABLE: ".csv"}
"""What can be saved, with the suffix of the file."""


class HistorySaving:
    """Reads and writes the past states in a thread of its own, from a shared state of its own.

    Attributes:
        request: The last request.
    """

    def __init__(
        self,
        state: SharedState,
        parameters: ParameterClient,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        """Save the past states of `state`; `now` returns the time for names of files."""
        self.request: Request | None = None
        self._state, self._parameters, self._now = state, parameters, now

    def save(self, kind: str) -> Request:
        """Save one of `KINDS`; the request has the path, or what was wrong."""
        path = self._path(KINDS[kind])
        self.request = request = Request(f"save {path}")
        if kind == LOG:
            request.command = f"ros2 run mujoco_ros replay {path}"
        arguments = request, kind, path, self._state.name
        threading.Thread(target=_write, args=arguments, name="history", daemon=True).start()
        return request

    def _path(self, suffix: str) -> Path:
        folder = self._parameters.known.get("output_folder")
        scene = topic_token(str(self._state.metadata["scene"]))
        name = f"{scene}_{self._now():%Y-%m-%d_%H-%M-%S}{suffix}"
        return output_folder("" if folder is None else str(folder.value)) / name


def _write(request: Request, kind: str, path: Path, name: str) -> None:
    try:
        state = SharedState(name)
        rows = collect(state)
        if kind == TABLE:
            write_table(path, rows, state.metadata)
        else:
            write_log(path, rows, state.metadata, state.model)
    except Exception as error:
        request.fail(str(error))
    else:
        request.complete(True, "saved")
