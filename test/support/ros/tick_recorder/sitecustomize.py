"""Records the ticks of a controller for tests; Python imports this file at its start.

A process that runs a controller appends a line of JSON for each tick to the file that
MUJOCO_ROS_TICKS names: fingerprints of the observation, of the images that were delivered, and of
the commands.
"""

import hashlib
import importlib.abc
import importlib.machinery
import json
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any

MODULE = "mujoco_ros.controllers.runtime.supervisor"


def content(value: Any) -> bytes:
    """Return all bits of a value."""
    if value is None:
        return b"none"
    if isinstance(value, float | int):
        return struct.pack("<d", value)
    if isinstance(value, Mapping):
        return b"".join(key.encode() + content(value[key]) for key in sorted(value))
    if is_dataclass(value):
        return b"".join(content(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, tuple):
        return b"".join(map(content, value))
    return f"{value.dtype.str}{value.shape}".encode() + value.tobytes()


def fingerprint(value: Any) -> str:
    """Return a fingerprint of all bits of a value."""
    return hashlib.sha256(content(value)).hexdigest()[:16]


class Recorder:
    """Records the ticks of the controller of this process."""

    def __init__(self, module: Any, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._images: list[str] = []
        supervised = module.SupervisedController
        store = sys.modules["mujoco_ros.controllers.interface.store"].Store
        step, provide, reset = supervised.step, store.provide, supervised.reset
        self._ticks = 0
        self._original = [
            (supervised, "step", step),
            (supervised, "reset", reset),
            (store, "provide", provide),
        ]

        def recorded_step(controller: Any, observation: Any, time: float) -> Any:
            values = step(controller, observation, time)
            self._record(controller, observation, time, values)
            return values

        def recorded_provide(own: Any, key: Any, value: Any) -> None:
            provide(own, key, self._recorded(value) if key.name == "image/get" else value)

        def recorded_reset(controller: Any) -> None:
            self._ticks = 0
            self._images = []  # those of a tick that the reset has prevented
            reset(controller)

        supervised.step, store.provide = recorded_step, recorded_provide
        supervised.reset = recorded_reset

    def close(self) -> None:
        """End the recording."""
        for owner, name, original in self._original:
            setattr(owner, name, original)
        os.close(self._file)

    def _record(self, controller: Any, observation: Any, time: float, values: Any) -> None:
        images, self._images = self._images, []
        line = {
            "number": self._ticks,
            "time": time.hex(),
            "state": controller.state,
            "elapsed": [
                float.hex(context.elapsed)
                for context in [getattr(controller.controller, "_context", None)]
                if context is not None
            ],
            "images": images,
            "command": fingerprint(values),
        } | {
            f"observation.{field.name}": fingerprint(getattr(observation, field.name))
            for field in fields(observation)
        }
        self._ticks += 1
        os.write(self._file, f"{json.dumps(line)}\n".encode())

    def _recorded(self, get: Any) -> Any:
        def request(camera: str) -> "Future[Any]":
            image: Future[Any] = get(camera)
            image.add_done_callback(self._note)
            return image

        return request

    def _note(self, image: "Future[Any]") -> None:
        if not image.cancelled():
            error = image.exception()
            self._images.append(repr(error) if error else fingerprint(image.result()))


@contextmanager
def recording(module: Any, path: str) -> Iterator[None]:
    """Record the controllers of this process meanwhile."""
    recorder = Recorder(module, path)
    try:
        yield
    finally:
        recorder.close()


class Finder(importlib.abc.MetaPathFinder):
    """Starts the recorder after the import of the module."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def recorded(module: Any) -> None:
            execute(module)
            Recorder(module, os.environ["MUJOCO_ROS_TICKS"])

        spec.loader.exec_module = recorded
        return spec


if "MUJOCO_ROS_TICKS" in os.environ:
    if MODULE in sys.modules:  # imported before the fork of this process
        Recorder(sys.modules[MODULE], os.environ["MUJOCO_ROS_TICKS"])
    else:
        sys.meta_path.insert(0, Finder())
