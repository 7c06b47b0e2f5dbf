"""Saving the past states in files below the folder for output."""

import math
import os
import subprocess
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_cache import output_folder
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.output_files import create_folder
from mujoco_ros.process import child_process
from mujoco_ros.sim.shared_memory import past_files
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters

LOG, TABLE, BAG = "State log", "Joints as CSV", "Topics as MCAP"
FILM, IMAGE = "Film (MP4)", "Image of the shown state (PNG)"
KINDS = {LOG: ".mjlog", TABLE: ".csv", BAG: ".mcap", FILM: ".mp4", IMAGE: ".png"}
"""What can be saved, with the suffix of the file."""
_EXPORTER = "mujoco_ros.cli.export_log"
_ERROR = "mujoco_ros: error: "
_COMMANDS = {LOG: "ros2 run mujoco_ros replay {}", BAG: "ros2 bag play {}"}  # what plays a file


class HistorySaving:
    """Reads past states and writes files, which are complete or absent, in a thread or process."""

    def __init__(
        self,
        state: SharedState,
        parameters: SimulatorParameters,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        # The last request; while it is in progress, its message is the finished share
        self.request: Request | None = None
        self.path: Path | None = None  # its file
        self._state, self._parameters, self._now = state, parameters, now
        self._cancelled = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a request is in progress."""
        return self.request is not None and self.request.ok is None

    def save(
        self,
        kind: str,
        *,
        start: float = -math.inf,
        end: float = math.inf,
        camera: mujoco.MjvCamera | None = None,
    ) -> Request:
        """Save one of `KINDS` from the first to the last time [s], if no request is in progress.

        The message of the request is the path or the problem.
        """
        self.path = path = self._path(KINDS[kind])
        command = _COMMANDS.get(kind, "").format(path)
        self.request = request = Request(f"save {path}", command=command)
        self._cancelled.clear()
        try:
            further = self._arguments(kind, camera)
        except UserInputError as error:
            request.fail(str(error))
            return request
        shown = past_files.shown_row(self._state) if kind == IMAGE else None

        def write() -> None:
            state = SharedState(self._state.name)
            rows = past_files.collect(state, start, end) if shown is None else shown
            if self._cancelled.is_set():
                raise UserInputError("cancelled")
            if kind == TABLE:
                past_files.write_table(path, rows, state.metadata)
            elif kind == LOG:
                past_files.write_log(path, rows, state.metadata, state.model)
            else:
                self._export(request, path, further, rows, state)

        arguments = request, write
        threading.Thread(target=self._run, args=arguments, name="history", daemon=True).start()
        return request

    def cancel(self) -> None:
        """End the request in progress; nothing remains of its file."""
        self._cancelled.set()
        process = self._process
        if process is not None:
            process.kill()

    def _path(self, suffix: str) -> Path:
        folder = self._parameters.known.get("output_folder")
        scene = topic_token(str(self._state.metadata["scene"]))
        name = f"{scene}_{self._now():%Y-%m-%d_%H-%M-%S}{suffix}"
        return output_folder("" if folder is None else str(folder.value)) / name

    def _arguments(self, kind: str, camera: mujoco.MjvCamera | None) -> tuple[str, ...]:
        if kind != BAG:
            return self._camera_arguments(camera) if kind in (FILM, IMAGE) else ()
        namespace = self._parameters.simulator.rpartition("/")[0]
        sign = self._parameters.known.get("wrench_sign")
        signs = () if sign is None else ("--wrench-sign", str(sign.value))
        return (f"--namespace={namespace}", *signs)

    def _camera_arguments(self, camera: mujoco.MjvCamera | None) -> tuple[str, ...]:
        if camera is None:
            return ()
        model, kinds = self._state.model, mujoco.mjtCamera
        if camera.type == int(kinds.mjCAMERA_FIXED):
            return (f"--camera={_name(model.camera(camera.fixedcamid), 'camera')}",)
        pose = (*camera.lookat, camera.distance, camera.azimuth, camera.elevation)
        numbers = [f"{number:.6f}" for number in pose]
        if camera.type != int(kinds.mjCAMERA_TRACKING):
            return ("--pose", *numbers)
        return ("--pose", *numbers, f"--follow={_name(model.body(camera.trackbodyid), 'body')}")

    def _run(self, request: Request, write: Callable[[], None]) -> None:
        try:
            write()
        except Exception as error:
            request.fail("cancelled" if self._cancelled.is_set() else str(error))
        else:
            request.complete(True, "saved")

    def _export(
        self,
        request: Request,
        path: Path,
        arguments: tuple[str, ...],
        rows: past_files.Rows,
        state: SharedState,
    ) -> None:
        """Have the exporter write the file, from a log in memory; raise its error."""
        create_folder(path.parent)
        with (
            os.fdopen(os.memfd_create("past states"), "wb", buffering=0) as log,
            TemporaryFile() as errors,
        ):
            past_files.write_log_to(log, rows, state.metadata, state.model)
            readable, writable = os.pipe()
            with os.fdopen(readable) as progress:
                try:
                    command = child_process.python_command(
                        _EXPORTER,
                        f"/proc/self/fd/{log.fileno()}",
                        str(path),
                        f"--progress={writable}",
                        *arguments,
                    )
                    self._process = process = child_process.start(
                        command, stderr=errors.fileno(), pass_fds=(log.fileno(), writable)
                    )
                finally:
                    os.close(writable)
                if self._cancelled.is_set():
                    process.kill()
                for line in progress:
                    request.message = f"{line.strip()} %"
            code = process.wait()
            self._process = None
            if code:
                errors.seek(0)
                lines = errors.read().decode(errors="replace").splitlines()
                reason = lines[-1] if lines else child_process.exit_reason(code)
                raise UserInputError(reason.removeprefix(_ERROR))


def _name(element: Any, kind: str) -> str:
    """Return the name of a camera or body, by which the exporter finds it; raise without one."""
    if not element.name:
        raise UserInputError(
            f"{kind} {element.id} of the model has no name; choose another view, or name it"
        )
    return str(element.name)
