"""The page: from the command to its first picture, what is transferred, and the age of it."""

import math
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.browser import browser, free_port, opened, press, wait_until_served, watch
from benchmark.counting_proxy import counted
from benchmark.durations import Durations
from benchmark.processes.child_process import cpu_s, simulator
from benchmark.report import Row, at_most, result

_SCENE = "humanoid"
_TIMEOUT_S = 300.0  # of a busy machine
_SETTLE_S = 5.0  # the panels ask for what they show
_SLOW_SETTLE_S = 20.0
"""Time in which the other pages measure how fast they draw [s]."""
_LIMIT_PANELS_S, _LIMIT_PICTURE_S = 3.0, 6.0  # from the request for the page
_LIMIT_MB, _LIMIT_KB_S, _LIMIT_LAG_S, _LIMIT_PRESS_MS = 2.0, 250.0, 1.5, 100.0
_THROTTLE, _SLOW_KB_S = 6, 50
_PRESSES = 10


def page(durations: Durations) -> list[Row]:
    """(p) From the command to the first picture of the page, its parts, and transferred data.

    The browser draws without a graphics card.
    """
    if browser() is None:
        return []
    port = free_port()
    parameters = {"cameras": "true", "viewer": "web", "viewer_port": port}
    with TemporaryDirectory() as folder:
        begun = time.monotonic()
        with simulator(_SCENE, Path(folder), parameters), counted(port) as proxy:
            wait_until_served(port, begun + _TIMEOUT_S)
            served, loaded = time.monotonic(), []
            with opened(
                proxy.port, lambda: loaded.append((time.monotonic(), proxy.received))
            ) as page:
                pictured, first = time.monotonic(), proxy.received
                page.wait_for_timeout(1e3 * min(_SETTLE_S, durations.settle))
                before, since = proxy.received, time.monotonic()
                record = watch(page, durations.watched)
                rate = (proxy.received - before) / (time.monotonic() - since)
    ((connected, panels),) = loaded
    return [
        result("p", "command to page served", served - begun, "s"),
        at_most("p", "browser started, panels connected", connected - served, _LIMIT_PANELS_S, "s"),
        at_most(
            "p",
            "browser started, first picture of the scene",
            pictured - served,
            _LIMIT_PICTURE_S,
            "s",
        ),
        result("p", "command to first picture", pictured - begun, "s"),
        result("p", "transferred until the panels are connected", panels / 1e6, "MB", 2),
        at_most("p", "transferred until the first picture", first / 1e6, _LIMIT_MB, "MB", 2),
        at_most("p", "transferred to the page afterwards", rate / 1e3, _LIMIT_KB_S, "kB/s", 0),
        result("p", "frames of the page", record.frames, "1/s", 1),
    ]


def lag(durations: Durations) -> list[Row]:
    """(lag) Frames and age of the page without a graphics card, and of slower ones.

    The thread of one has a sixth of a core's speed; the network of another one is slow.
    """
    if browser() is None:
        return []
    pages = (
        ("without a graphics card", durations.watched, 1, math.inf),
        (f"CPU / {_THROTTLE}", durations.throttled, _THROTTLE, math.inf),
        (f"{_SLOW_KB_S} kB/s", durations.watched, 1, 1e3 * _SLOW_KB_S),
    )
    settle = min(_SLOW_SETTLE_S, durations.settle)
    return [row for page in pages[: durations.pages] for row in _lag(*page, settle)]


def _lag(name: str, seconds: float, throttle: int, rate: float, settle: float) -> list[Row]:
    port = free_port()
    parameters = {"cameras": "true", "viewer": "web", "viewer_port": port}
    with TemporaryDirectory() as folder, simulator(_SCENE, Path(folder), parameters) as sim:
        wait_until_served(port, time.monotonic() + _TIMEOUT_S)
        with counted(port) as proxy, opened(proxy.port) as page:
            if throttle > 1:
                session = page.context.new_cdp_session(page)
                session.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
            page.wait_for_timeout(1e3 * settle)
            proxy.rate = rate
            viewer = _viewer(sim.pid)
            before, since = cpu_s(viewer), time.monotonic()
            record = watch(page, seconds)
            used = (cpu_s(viewer) - before) / (time.monotonic() - since)
            presses = press(page, _PRESSES)
    return [
        result("lag", f"{name}: frames of the page", record.frames, "1/s", 1),
        result("lag", f"{name}: age of the picture, median", np.median(record.lags), "s", 2),
        at_most(
            "lag", f"{name}: age of the picture, longest", record.lags.max(), _LIMIT_LAG_S, "s", 2
        ),
        at_most(
            "lag",
            f"{name}: from a press to its effect, median",
            np.median(presses),
            _LIMIT_PRESS_MS,
            "ms",
        ),
        result("lag", f"{name}: processor, viewer", 100 * used, "% of a core"),
    ]


def _viewer(simulator_pid: int) -> int:
    """Return the process id of a simulator's viewer."""
    children = Path(f"/proc/{simulator_pid}/task/{simulator_pid}/children").read_text().split()
    commands = {int(pid): Path(f"/proc/{pid}/cmdline").read_text() for pid in children}
    return next(pid for pid, command in commands.items() if "mujoco_ros.cli.viewer" in command)
