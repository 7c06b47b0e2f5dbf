"""What being watched costs: two cameras subscribed, and the page open in a browser."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.looker import PICTURES
from benchmark.page import browser, free_port, opened
from benchmark.plan import Plan
from benchmark.processes import Process, cpu_s, running, simulator
from benchmark.report import Row, figure, percentiles
from benchmark.subscriber import load
from benchmark.watching import BEGUN, LATE, PUBLISHED, SHARED, STAMP

SCENE = str(Path(__file__).with_name("two_cameras.yaml"))
CAMERAS = ("camera/head_camera", "camera/corner")
_SETTLE_S = 6.0  # discovery, shaders, a browser that starts
_PATIENCE_S = 90.0


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What was seen of a simulator for a while.

    Attributes:
        steps: Rows as the probe notes them.
        cpu: Processor time over wall time of its process and of its companions.
        renders: Pictures that the camera process had drawn by the end.
    """

    steps: np.ndarray
    cpu: Mapping[str, float]
    renders: int = 0

    @property
    def period(self) -> np.ndarray:
        """Return the time from each step to the next [µs]."""
        return np.diff(self.steps[:, BEGUN]) / 1e3

    @property
    def dropped(self) -> float:
        """Return the share of the wall time that the simulated time did not go on."""
        wall = self.steps[-1, BEGUN] - self.steps[0, BEGUN]
        return 1.0 - float((self.steps[-1, STAMP] - self.steps[0, STAMP]) / wall)

    @property
    def shared(self) -> np.ndarray:
        """Return how long it took to share the state of each step [µs]."""
        return np.asarray((self.steps[:, SHARED] - self.steps[:, PUBLISHED]) / 1e3)

    @property
    def sharing(self) -> float:
        """Return the share of a core that goes into sharing the state."""
        return float(1e3 * self.shared.sum() / (self.steps[-1, BEGUN] - self.steps[0, BEGUN]))


def eyes(plan: Plan) -> list[Row]:
    """(q) Steps with two cameras subscribed and the page open, beside those without."""
    alone = _alone(plan.eyes)
    unwatched, watched, pictures, due = _watched(plan.eyes)
    page = "page open" if browser() else "no browser here"
    ratio = float(np.percentile(watched.period, 99) / np.percentile(alone.period, 99))
    return [
        *percentiles("q", "step period, nothing beside it", alone.period, 50, 99),
        *percentiles("q", "step period, nobody looks", unwatched.period, 50, 99),
        *percentiles("q", f"step period, two cameras, {page}", watched.period, 50, 99),
        figure(
            "q", "p99 watched over alone", ratio, "×", 2, limit="≤ 1.3", keeps=lambda x: x <= 1.3
        ),
        figure("q", "time dropped, alone", 100 * alone.dropped, "%", 2),
        figure(
            "q",
            "time dropped, watched",
            100 * watched.dropped,
            "%",
            2,
            limit="< 1",
            keeps=lambda percent: percent < 1,
        ),
        *(_misses(name, seen) for name, seen in (("alone", alone), ("watched", watched))),
        *_processors("alone", alone),
        *_processors("nobody looks", unwatched),
        *_processors("watched", watched),
        *percentiles("q", "sharing the state of a step, watched", watched.shared, 50, 99),
        figure(
            "q",
            "sharing the state, watched",
            100 * watched.sharing,
            "% of a core",
            2,
            limit="≤ 2",
            keeps=lambda percent: percent <= 2,
        ),
        figure(
            "q",
            "pictures drawn while nobody looks",
            unwatched.renders,
            "",
            0,
            limit="0",
            keeps=lambda count: count == 0,
        ),
        *(
            figure("q", f"{topic} received, 30 asked for", rate, "/s")
            for topic, rate in pictures.items()
        ),
        *(
            figure("q", f"{camera}, colour and depth: due to published, {what}", time_ms, "ms")
            for camera, times in due.items()
            for what, time_ms in zip(("mean", "longest"), times, strict=True)
        ),
    ]


EYES: dict[str, Callable[[Plan], list[Row]]] = {"q": eyes}
"""Measurements by key."""


def _misses(name: str, seen: Watched) -> Row:
    steps = seen.steps
    missed = steps[-1, LATE] - steps[0, LATE]
    return figure("q", f"deadline misses, {name}", missed, f"of {len(steps)}", 0)


def _processors(name: str, seen: Watched) -> list[Row]:
    return [
        figure("q", f"processor, {name}: {process}", 100 * used, "% of a core")
        for process, used in seen.cpu.items()
    ]


def _alone(seconds: float) -> Watched:
    """Watch the simulator without companions."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with simulator(SCENE, folder, {}, []) as sim:
            _trial("figures", folder)  # it runs once it answers
            sim.sleep(_SETTLE_S)
            window = _window(sim, seconds, {})
        return _cut(folder, window)


def _watched(
    seconds: float,
) -> tuple[Watched, Watched, Mapping[str, float], Mapping[str, np.ndarray]]:
    """Watch it with its companions, while nobody looks and then while it is looked at.

    Returns:
        What was seen of both, how many pictures arrived per second by topic, and how long those of
        each camera took, mean and longest [ms].
    """
    port = free_port()
    parameters = {"cameras": "true", "viewer": "web", "viewer_port": port}
    with TemporaryDirectory() as name:
        folder = Path(name)
        with simulator(SCENE, folder, parameters, []) as sim:
            told = _trial("renders", folder)
            companions = {name: int(told[name]) for name in ("cameras", "viewer")}
            sim.sleep(_SETTLE_S)
            idle = _window(sim, seconds, companions)
            before = int(_trial("renders", folder)["renders"])
            with ExitStack() as lookers:
                arguments = [str(folder / "pictures.npz"), *CAMERAS]
                looker = Process("benchmark.looker", arguments, folder / "looker.log")
                lookers.enter_context(running(looker))
                for camera in CAMERAS:
                    looker.wait_for(f"{camera}/{PICTURES[0]}", _PATIENCE_S)
                if browser() is not None:
                    lookers.enter_context(opened(port))
                sim.sleep(_SETTLE_S)
                busy = _window(sim, seconds, companions)
                due = _trial("due", folder)
            after = int(_trial("renders", folder)["renders"])
        arrivals = load(folder / "pictures.npz")
        begun, ended, _ = busy
        rates = {
            topic: float(((rows[:, 0] >= begun) & (rows[:, 0] < ended)).sum() / seconds)
            for topic, rows in arrivals.items()
        }
        return _cut(folder, idle, before), _cut(folder, busy, after), rates, due


_Window = tuple[int, int, dict[str, float]]
"""Begin and end (CLOCK_MONOTONIC, ns), and the processor time over the wall time between them."""


def _window(sim: Process, seconds: float, companions: Mapping[str, int]) -> _Window:
    """Let the simulator run; `companions` are the numbers of other processes to watch."""

    def used() -> dict[str, float]:
        return {"simulator": sim.cpu_s(), **{name: cpu_s(pid) for name, pid in companions.items()}}

    begun, before = time.monotonic_ns(), used()
    sim.sleep(seconds)
    ended, after = time.monotonic_ns(), used()
    wall_s = (ended - begun) / 1e9
    return begun, ended, {name: (after[name] - before[name]) / wall_s for name in before}


def _cut(folder: Path, window: _Window, renders: int = 0) -> Watched:
    begun, ended, cpu = window
    steps = np.load(folder / "steps.npy")
    within = (steps[:, BEGUN] >= begun) & (steps[:, BEGUN] < ended)
    return Watched(steps=steps[within], cpu=cpu, renders=renders)


def _trial(name: str, folder: Path) -> dict[str, np.ndarray]:
    """Ask the simulator, or the camera process, for figures."""
    file = folder / f"{name}.npz"
    trial = Process("benchmark.trial", [name, str(file)], folder / f"{name}.log")
    try:
        trial.finish(_PATIENCE_S)
    finally:
        trial.kill()
    return load(file)
