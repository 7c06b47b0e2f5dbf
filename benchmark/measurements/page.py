"""The page: from the command to its first picture, what is transferred, and the age of it."""

import math
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.browser import browser, free_port, opened, wait_until_served, watch
from benchmark.counting_proxy import counted
from benchmark.durations import Durations
from benchmark.processes.child_process import cpu_s, simulator
from benchmark.report import Row, result

_SCENE = "humanoid"
_TIMEOUT_S = 300.0  # of a busy machine
_SETTLE_S = 5.0  # the panels ask for what they show
_SLOW_SETTLE_S = 20.0
"""Time in which the other pages receive the first panels and are laid out [s]."""
_LIMIT_MB, _LIMIT_KB_S, _LIMIT_LAG_S = 5.0, 300.0, 1.5
_THROTTLE, _SLOW_KB_S = 6, 50


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
    ((document, program),) = loaded
    return [
        result("p", "command to page served", served - begun, "s"),
        result("p", "browser started, document loaded", document - served, "s"),
        result("p", "program compiled, model loaded, first picture", pictured - document, "s"),
        result("p", "command to first picture", pictured - begun, "s"),
        result("p", "transferred until the document is loaded", program / 1e6, "MB", 2),
        result(
            *("p", "transferred until the first picture", first / 1e6, "MB", 2),
            limit=f"≤ {_LIMIT_MB:g}",
            keeps=lambda size: size <= _LIMIT_MB,
        ),
        result(
            *("p", "transferred to the page afterwards", rate / 1e3, "kB/s", 0),
            limit=f"≤ {_LIMIT_KB_S:g}",
            keeps=lambda rate: rate <= _LIMIT_KB_S,
        ),
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
    return [
        result("lag", f"{name}: frames of the page", record.frames, "1/s", 1),
        result("lag", f"{name}: age of the picture, median", np.median(record.lags), "s", 2),
        result(
            *("lag", f"{name}: age of the picture, longest", record.lags.max(), "s", 2),
            limit=f"≤ {_LIMIT_LAG_S:g}",
            keeps=lambda lag: lag <= _LIMIT_LAG_S,
        ),
        result("lag", f"{name}: processor, viewer", 100 * used, "% of a core"),
    ]


def _viewer(simulator_pid: int) -> int:
    """Return the process id of a simulator's viewer."""
    children = Path(f"/proc/{simulator_pid}/task/{simulator_pid}/children").read_text().split()
    commands = {int(pid): Path(f"/proc/{pid}/cmdline").read_text() for pid in children}
    return next(pid for pid, command in commands.items() if "mujoco_ros.cli.viewer" in command)
