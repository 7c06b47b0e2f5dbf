"""Effect of two subscribed cameras and an open viewer page on the physics."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.browser import browser, free_port, opened
from benchmark.durations import Durations
from benchmark.processes.child_process import Process, cpu_s, run_trial, running, simulator
from benchmark.processes.image_subscriber import IMAGES
from benchmark.processes.probe_columns import BEGUN, LATE, PUBLISHED, SHARED, STAMP
from benchmark.processes.subscriber import load
from benchmark.report import Row, percentiles, result

SCENE = str(Path(__file__).parents[1] / "two_cameras.yaml")
CAMERAS = ("camera/head_camera", "camera/corner")
_SETTLE_S = 6.0  # discovery, shaders, a browser that starts
_TIMEOUT_S = 90.0


@dataclass(frozen=True, kw_only=True)
class ObservedRun:
    """Records of a simulator over some time.

    Attributes:
        steps: Rows of the probe.
        cpu: CPU time over wall time of its process and its child processes.
        renders: Number of images that the camera process rendered in total.
    """

    steps: np.ndarray
    cpu: Mapping[str, float]
    renders: int = 0

    @property
    def period(self) -> np.ndarray:
        """Time from each step to the next [µs]."""
        return np.diff(self.steps[:, BEGUN]) / 1e3

    @property
    def dropped(self) -> float:
        """Fraction of the wall time by which simulated time fell behind."""
        wall = self.steps[-1, BEGUN] - self.steps[0, BEGUN]
        return 1.0 - float((self.steps[-1, STAMP] - self.steps[0, STAMP]) / wall)

    @property
    def shared(self) -> np.ndarray:
        """Duration of sharing the state of each step [µs]."""
        return np.asarray((self.steps[:, SHARED] - self.steps[:, PUBLISHED]) / 1e3)

    @property
    def sharing(self) -> float:
        """Fraction of a core used for sharing the state."""
        return float(1e3 * self.shared.sum() / (self.steps[-1, BEGUN] - self.steps[0, BEGUN]))


def cameras_and_viewer(durations: Durations) -> list[Row]:
    """(q) Step period with two cameras subscribed and the viewer's page open, and without."""
    settle = min(_SETTLE_S, durations.settle)
    alone = _alone(durations.watched, settle)
    idle, watched, rates, delays = _watched(durations.watched, settle)
    page = "page open" if browser() else "no browser installed"
    ratio = float(np.percentile(watched.period, 99) / np.percentile(alone.period, 99))
    return [
        *percentiles("q", "step period, physics only", alone.period, 50, 99),
        *percentiles("q", "step period, no subscriber", idle.period, 50, 99),
        *percentiles("q", f"step period, two cameras, {page}", watched.period, 50, 99),
        result(
            "q", "p99 watched over alone", ratio, "×", 2, limit="≤ 1.3", keeps=lambda x: x <= 1.3
        ),
        result("q", "time dropped, alone", 100 * alone.dropped, "%", 2),
        result(
            "q",
            "time dropped, watched",
            100 * watched.dropped,
            "%",
            2,
            limit="< 1",
            keeps=lambda percent: percent < 1,
        ),
        *(_misses(name, run) for name, run in (("alone", alone), ("watched", watched))),
        *_processors("alone", alone),
        *_processors("no subscriber", idle),
        *_processors("watched", watched),
        *percentiles("q", "sharing the state of a step, watched", watched.shared, 50, 99),
        result(
            "q",
            "sharing the state, watched",
            100 * watched.sharing,
            "% of a core",
            2,
            limit="≤ 2",
            keeps=lambda percent: percent <= 2,
        ),
        result(
            "q",
            "images rendered without a subscriber",
            idle.renders,
            "",
            0,
            limit="0",
            keeps=lambda count: count == 0,
        ),
        *(
            result("q", f"{topic} received, 30 configured", rate, "/s")
            for topic, rate in rates.items()
        ),
        *(
            result("q", f"{camera}, colour and depth: due to published, {what}", time_ms, "ms")
            for camera, times in delays.items()
            for what, time_ms in zip(("mean", "longest"), times, strict=True)
        ),
    ]


def _misses(name: str, run: ObservedRun) -> Row:
    steps = run.steps
    missed = steps[-1, LATE] - steps[0, LATE]
    return result("q", f"deadline misses, {name}", missed, f"of {len(steps)}", 0)


def _processors(name: str, run: ObservedRun) -> list[Row]:
    return [
        result("q", f"processor, {name}: {process}", 100 * used, "% of a core")
        for process, used in run.cpu.items()
    ]


def _alone(seconds: float, settle: float) -> ObservedRun:
    """Run the simulator without child processes."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with simulator(SCENE, folder, {}, []) as sim:
            run_trial("totals", folder, _TIMEOUT_S)  # the simulator is ready once it answers
            sim.sleep(settle)
            window = _window(sim, seconds, {})
        return _cut(folder, window)


def _watched(
    seconds: float, settle: float
) -> tuple[ObservedRun, ObservedRun, Mapping[str, float], Mapping[str, np.ndarray]]:
    """Run the simulator with its child processes, without and then with subscribers and page.

    Returns:
        Both runs, the rate of received images by topic, and the mean and longest delay of each
        camera's images [ms].
    """
    port = free_port()
    parameters = {"cameras": "true", "cameras_at_start": "true"}
    parameters |= {"viewer": "web", "viewer_port": str(port)}
    with TemporaryDirectory() as name:
        folder = Path(name)
        with simulator(SCENE, folder, parameters, []) as sim:
            found = run_trial("renders", folder, _TIMEOUT_S)
            children = {name: int(found[name]) for name in ("cameras", "viewer")}
            sim.sleep(settle)
            idle = _window(sim, seconds, children)
            before = int(run_trial("renders", folder, _TIMEOUT_S)["renders"])
            with ExitStack() as clients:
                arguments = [str(folder / "images.npz"), *CAMERAS]
                images = Process(
                    "benchmark.processes.image_subscriber", arguments, folder / "images.log"
                )
                clients.enter_context(running(images))
                for camera in CAMERAS:
                    images.wait_for(f"{camera}/{IMAGES[0]}", _TIMEOUT_S)
                if browser() is not None:
                    clients.enter_context(opened(port))
                sim.sleep(settle)
                busy = _window(sim, seconds, children)
                delays = run_trial("delays", folder, _TIMEOUT_S)
            after = int(run_trial("renders", folder, _TIMEOUT_S)["renders"])
        arrivals = load(folder / "images.npz")
        begun, ended, _ = busy
        rates = {
            topic: float(((rows[:, 0] >= begun) & (rows[:, 0] < ended)).sum() / seconds)
            for topic, rows in arrivals.items()
        }
        return _cut(folder, idle, before), _cut(folder, busy, after), rates, delays


_Window = tuple[int, int, dict[str, float]]
"""Begin and end (CLOCK_MONOTONIC, ns), and the CPU time over wall time between them."""


def _window(sim: Process, seconds: float, children: Mapping[str, int]) -> _Window:
    """Let the simulator run; `children` are the ids of its child processes."""

    def used() -> dict[str, float]:
        return {"simulator": sim.cpu_s(), **{name: cpu_s(pid) for name, pid in children.items()}}

    begun, before = time.monotonic_ns(), used()
    sim.sleep(seconds)
    ended, after = time.monotonic_ns(), used()
    wall_s = (ended - begun) / 1e9
    return begun, ended, {name: (after[name] - before[name]) / wall_s for name in before}


def _cut(folder: Path, window: _Window, renders: int = 0) -> ObservedRun:
    begun, ended, cpu = window
    steps = np.load(folder / "steps.npy")
    within = (steps[:, BEGUN] >= begun) & (steps[:, BEGUN] < ended)
    return ObservedRun(steps=steps[within], cpu=cpu, renders=renders)
