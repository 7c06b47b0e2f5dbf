"""Memory of the simulator and of its other processes, by library, and the first image."""

import re
import time
from collections import Counter
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.browser import free_port
from benchmark.durations import Durations
from benchmark.measurements.cameras_and_viewer import CAMERAS, SCENE
from benchmark.processes.child_process import Process, running, simulator
from benchmark.processes.image_subscriber import IMAGES
from benchmark.report import Row, at_most, result

_SCENE = "humanoid"
_SETTLE_S = 4.0  # the memory of compiling the model is returned
_TIMEOUT_S = 60.0
_LIMITS_MB = {"simulator": 85.0, "cameras": 60.0, "viewer": 120.0}
_FIRST_IMAGE_S = 0.5  # longest time from a subscription
_LIBRARIES = 12
"""Number of the largest parts of the simulator that are listed."""
_MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+ *(.*)")


def footprint(durations: Durations) -> list[Row]:
    """(mem) Proportional memory (PSS) of each process, and from a subscription to an image."""
    settle, port = min(_SETTLE_S, durations.settle), free_port()
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        sim = stack.enter_context(simulator(_SCENE, folder, {"cameras": "true"}))
        sim.sleep(settle + durations.footprint)
        alone = {process: parts_mb(pid) for process, pid in _processes(sim).items()}
    with TemporaryDirectory() as name:
        folder = Path(name)
        shown = {"cameras": "false", "viewer": "web", "viewer_port": port}
        with simulator(_SCENE, folder, shown) as sim:
            viewer = _process(sim, "viewer")
            sim.sleep(settle + durations.footprint)
            viewer_mb = sum(parts_mb(viewer).values())
    images = [_first_image(settle) for _ in range(durations.first_images)]
    median_s = float(np.median(images, axis=0)[0])
    return [
        _memory("simulator", sum(alone["simulator"].values())),
        *(
            result("mem", f"PSS of {process}", sum(parts.values()), "MB")
            for process, parts in alone.items()
            if process != "simulator"
        ),
        result("mem", "PSS of all", sum(sum(parts.values()) for parts in alone.values()), "MB"),
        *(
            result("mem", f"PSS of the simulator: {part}", size, "MB")
            for part, size in islice(alone["simulator"].items(), _LIBRARIES)
        ),
        _memory("cameras", float(np.median([mb for _, mb in images]))),
        _memory("viewer", viewer_mb),
        at_most("mem", "subscription to first image, median", median_s, _FIRST_IMAGE_S, "s", 2),
        result("mem", "subscription to first image, longest", max(images)[0], "s", 2),
    ]


def parts_mb(pid: int) -> dict[str, float]:
    """Return the proportional memory of a process [MB] by library, largest first (proc(5))."""
    found: Counter[str] = Counter()
    part = ""
    for line in Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8").splitlines():
        if mapping := _MAPPING.fullmatch(line):
            part = part_name(mapping[1])
        elif line.startswith("Pss:"):
            found[part] += int(line.split()[1]) * 1024
    return {name: size / 1e6 for name, size in found.most_common()}


def part_name(path: str) -> str:
    """Return the package, library or kind of memory that a mapping belongs to."""
    if not path or path.startswith("["):
        return "heap" if path == "[heap]" else "other anonymous memory"
    if path.startswith(("/dev/shm", "/memfd")):
        return "shared memory"
    if package := re.search(r"-packages/([^/]+)", path):
        return package[1].removesuffix(".libs")
    return Path(path).name.partition(".so")[0]


def _processes(sim: Process) -> dict[str, int]:
    """Return the processes of a simulator by what they do, one of each."""
    named = {}
    for pid, name in sim.family().items():
        if pid == sim.pid:
            continue
        words = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
        is_limit, is_viewer = "end_limit" in words, "mujoco_ros.cli.viewer" in words
        named["viewer" if is_viewer else "limit of the end" if is_limit else name] = pid
    return {"simulator": sim.pid, **named}


def _process(sim: Process, name: str) -> int:
    """Wait for a process of a simulator, which a busy machine starts late."""
    deadline = time.monotonic() + _TIMEOUT_S
    while name not in (found := _processes(sim)):
        if time.monotonic() > deadline:
            raise RuntimeError(f"the simulator has no process '{name}', but {', '.join(found)}")
        sim.sleep(0.1)
    return found[name]


def _memory(process: str, size: float) -> Row:
    return at_most("mem", f"PSS of {process}", size, _LIMITS_MB[process], "MB")


def _first_image(settle: float) -> tuple[float, float]:
    """Return the time from a subscription to its first image [s], and the camera process's PSS."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with simulator(SCENE, folder, {"cameras": "true"}) as sim:
            sim.sleep(settle)
            file, topic = folder / "images.npz", f"{CAMERAS[0]}/{IMAGES[0]}"
            images = Process(
                "benchmark.processes.image_subscriber", [str(file), CAMERAS[0]], folder / "log"
            )
            with running(images):
                subscribed = int(images.wait_for("subscribed"))
                first = int(images.wait_for(topic, _TIMEOUT_S))
                time.sleep(1.0)
                size = sum(parts_mb(_process(sim, "cameras")).values())
    return (first - subscribed) / 1e9, size
