"""Datasets of the library LeRobot, which runs in a child process.

LeRobot (0.4.4) needs older versions of OpenCV and numpy than ROS and this package, and PyTorch, so
it has an environment of its own. A simulator never imports it.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from mujoco_ros.model.errors import UserInputError, counted
from mujoco_ros.recording.demonstrations import lerobot_program
from mujoco_ros.recording.demonstrations.demonstration_file import layout_of, read_messages

PYTHON_VARIABLE = "LEROBOT_PYTHON"
CODECS = {"av1": "libsvtav1", "h264": "h264"}
"""Encoders of videos by the names of their formats."""
DEFAULT_CODEC = "av1"
"""LeRobot's own choice."""
DESCRIPTION = Path("meta", "mujoco_ros.json")
"""File in a dataset with what an episode needs to be repeated."""
_ENVIRONMENT = ".venv-lerobot"
_CHECK = "import importlib.metadata as m; print(m.version('lerobot'))"
_LAST_LINES = 3


def lerobot_python() -> str:
    """Return the Python in `PYTHON_VARIABLE`, or of ``.venv-lerobot`` beside this one, or this."""
    given = os.environ.get(PYTHON_VARIABLE, "")
    beside = Path(sys.prefix).parent / _ENVIRONMENT / "bin" / "python"
    python = given or (str(beside) if beside.exists() else sys.executable)
    if python == sys.executable:
        found = find_spec("lerobot") is not None
    else:
        try:
            command = [python, "-c", _CHECK]
            found = subprocess.run(command, capture_output=True, check=False).returncode == 0
        except OSError as error:
            raise UserInputError(f"{PYTHON_VARIABLE}: '{python}': {error.strerror}") from error
    if not found:
        raise UserInputError(
            f"a dataset needs LeRobot, which '{python}' lacks; run: make lerobot, or install "
            f"lerobot==0.4.4 into an environment of its own and set {PYTHON_VARIABLE} to its python"
        )
    return python


def check_new(folder: Path) -> None:
    """Check that a dataset can be created, with LeRobot, and create the folder around it."""
    if folder.exists():
        raise UserInputError(f"'{folder}' exists; name a new folder for the dataset")
    lerobot_python()
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)


def write_dataset(
    folder: Path,
    codec: str,
    episodes: Iterable[tuple[Path, Mapping[str, Any]]],
    description: Mapping[str, Any],
    on_episode: Callable[[int], object] = lambda _count: None,
) -> str:
    """Write a dataset, which appears when it is complete; return its size, as text.

    Episodes are files of `DemonstrationFile` with their descriptions; `description` is the content
    of `DESCRIPTION`, to which the episodes are added.
    """
    beside = tempfile.TemporaryDirectory(
        prefix=f".{folder.name}-", dir=folder.absolute().parent, ignore_cleanup_errors=True
    )
    written: list[dict[str, Any]] = []
    layout: dict[str, Any] = {}
    with beside as name, closing(_Child("write")) as child:
        unfinished = Path(name) / "dataset"
        child.send(json.dumps({"root": str(unfinished), "codec": CODECS[codec]}).encode())
        for count, (path, own) in enumerate(episodes, 1):
            if frames := _send_episode(child, path, layout):
                written.append({**own, "frames": frames})
            on_episode(count)
        if not written:
            raise UserInputError("all episodes are shorter than a frame: there is no dataset")
        child.send(b"")
        child.receive()
        text = json.dumps({**description, "episodes": written}, indent=2)
        (unfinished / DESCRIPTION).write_text(f"{text}\n", encoding="utf-8")
        os.rename(unfinished, folder)
    frames = sum(episode["frames"] for episode in written)
    return f"{counted(len(written), 'episode')}, {counted(frames, 'frame')} in {folder}"


def _send_episode(child: "_Child", path: Path, layout: dict[str, Any]) -> int:
    """Return the number of frames of an episode, which has the layout of the ones before."""
    frames = -1
    for frames, content in enumerate(read_messages(path)):
        if frames == 0:
            own = layout_of(json.loads(content))
            for name in own:
                if own[name] != layout.setdefault(name, own[name]):
                    raise UserInputError(f"{path} has other {name} than the episodes before it")
        child.send(content)
    if frames < 1:
        return 0
    child.send(b"")
    child.receive()
    return frames


def read_description(folder: Path) -> dict[str, Any]:
    """Return the description of a dataset of `write_dataset`."""
    try:
        found = json.loads((folder / DESCRIPTION).read_bytes())
    except (OSError, ValueError) as error:
        raise UserInputError(f"'{folder}' is not a dataset of this package: {error}") from error
    if not isinstance(found, dict):
        raise UserInputError(f"'{folder / DESCRIPTION}' is not an object of JSON")
    return found


def read_replays(folder: Path) -> Iterator[dict[str, np.ndarray]]:
    """Yield the columns ``replay.*`` of each episode, as LeRobot reads them.  # (t, ...) each"""
    with closing(_Child("read", str(folder.absolute()))) as child:
        while content := child.receive(at_end=True):
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                yield {name: file[name] for name in file.files}


class _Child:
    """The program with LeRobot; Ctrl-C in the terminal does not reach it."""

    def __init__(self, *arguments: str) -> None:
        self._cache = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH")  # of ROS
        }
        environment |= {"HF_HUB_OFFLINE": "1", "PYTHONSAFEPATH": "1", "SVT_LOG": "1"}
        environment |= dict.fromkeys(("HF_HOME", "HF_DATASETS_CACHE"), self._cache.name)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [lerobot_python(), lerobot_program.__file__, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout

    def send(self, content: bytes) -> None:
        try:
            self._requests.write(lerobot_program.message(content))
            self._requests.flush()
        except BrokenPipeError as error:
            raise self._error() from error

    def receive(self, *, at_end: bool = False) -> bytes:
        """Return an answer; empty after the last one if the program may end here."""
        length = self._answers.read(8)
        content = self._answers.read(int.from_bytes(length, "big"))
        if not content and not (at_end and self._process.wait() == 0):
            raise self._error()
        return content

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._answers.close()
        with suppress(BrokenPipeError):  # the rest of a message
            self._requests.close()
        self._log.close()
        self._cache.cleanup()

    def _error(self) -> UserInputError:
        code = self._process.wait()
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return UserInputError(f"LeRobot failed ({code}): {' '.join(lines[-_LAST_LINES:])}")
