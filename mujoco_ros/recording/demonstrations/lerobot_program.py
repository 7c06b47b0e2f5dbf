"""Program that writes and reads datasets with the library LeRobot, in an environment of its own.

It imports nothing of this package, because the environment with LeRobot does not have it. Messages
are a length of 8 bytes and JSON, or the content of a file of numpy (npz).
"""

import contextlib
import ctypes
import io
import json
import os
import resource
import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, BinaryIO

import numpy as np

_REPOSITORY = "local/mujoco_ros"
"""Name that the library wants; it stays unused for a folder on disk."""
_IMAGE_THREADS = 4
_LARGEST = 1 << 28  # bytes of a message
_VIDEO_MB = 50
"""Size of a file of videos, which the library copies for each episode that it appends."""
_SET_PARENT_DEATH_SIGNAL = 1  # prctl(2)
_CAPABILITY_VERSION = 0x20080522  # capget(2)
_CAP_SYS_NICE = 1 << 23


def write(requests: BinaryIO, answers: BinaryIO) -> None:
    """Write the episodes of the requests: a description, frames and an empty message for each.

    The first request has folder and codec, and an empty one instead of a description is the last.
    """
    setup = json.loads(_receive(requests))
    dataset = None
    while description := _receive(requests):
        episode = json.loads(description)
        dataset = dataset or _create(setup, episode)
        while content := _receive(requests):
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                frame = {name: file[name] for name in file.files}
            dataset.add_frame({**frame, "task": episode["task"]})
        # Its own processes for several cameras would outlive this one when it is killed.
        dataset.save_episode(parallel_encoding=False)
        _send(answers, b"{}")
    if dataset is not None:
        dataset.finalize()
    _send(answers, b"{}")


def _create(setup: Mapping[str, Any], episode: Mapping[str, Any]) -> Any:
    features = episode["features"]
    for feature in features.values():
        feature["shape"] = tuple(feature["shape"])
    dataset = _library().create(
        _REPOSITORY,
        episode["fps"],
        features,
        root=setup["root"],
        robot_type=episode["robot"],
        vcodec=setup["codec"],
        image_writer_threads=_IMAGE_THREADS,
    )
    dataset.meta.update_chunk_settings(video_files_size_in_mb=_VIDEO_MB)
    return dataset


def read(root: str, answers: BinaryIO) -> None:
    """Send the columns for a replay of each episode."""
    dataset = _library()(_REPOSITORY, root=root)
    names = [name for name in dataset.features if name.startswith("replay.")]
    # Lists keep double precision; the formats of numpy and torch would be of single precision.
    table = dataset.hf_dataset.select_columns(names).with_format(None)
    for episode in dataset.meta.episodes:
        rows = table[episode["dataset_from_index"] : episode["dataset_to_index"]]
        content = io.BytesIO()
        columns: dict[str, Any] = {name: np.asarray(rows[name]) for name in names}
        np.savez(content, **columns)
        _send(answers, content.getvalue())


def _library() -> Any:
    return import_module("lerobot.datasets.lerobot_dataset").LeRobotDataset


def _receive(stream: BinaryIO) -> bytes:
    return exactly(stream, int.from_bytes(exactly(stream, 8), "big"))


def exactly(stream: BinaryIO, count: int) -> bytes:
    """Return `count` bytes; EOFError if there are fewer, or more than fit into memory."""
    content = stream.read(min(count, _LARGEST))
    if len(content) < count:
        raise EOFError("it ends early")
    return content


def message(content: bytes) -> bytes:
    """Return content with its length before it."""
    return len(content).to_bytes(8, "big") + content


def _send(stream: BinaryIO, content: bytes) -> None:
    stream.write(message(content))
    stream.flush()


def give_up_real_time() -> None:
    """Make real-time priority unavailable to this thread and those that it starts.

    The encoder of AV1, run by root, gives its threads SCHED_FIFO 99, which would stop a simulator.
    """
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
    kernel = ctypes.CDLL(None)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice 32 capabilities
    is_done = kernel.capget(header, sets) == 0
    for index in (0, 1):
        sets[index] &= ~_CAP_SYS_NICE
    if not is_done or kernel.capset(header, sets):
        sys.stderr.write("the encoder of videos may take real-time priority\n")


def main() -> None:
    """Write a dataset, or read the one at a path."""
    # Also while it encodes; without that, it would end at the next read from the closed pipe.
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL))
    give_up_real_time()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries print
    with contextlib.closing(answers):
        if sys.argv[1] == "read":
            read(sys.argv[2], answers)
        else:
            write(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
