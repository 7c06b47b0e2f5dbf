"""From the command to the first image of the page, and what is transferred for it."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmark.browser import browser, free_port, opened, wait_until_served
from benchmark.counting_proxy import counted
from benchmark.durations import Durations
from benchmark.processes.child_process import simulator
from benchmark.report import Row, result

_SCENE = "humanoid"
_TIMEOUT_S = 120.0
_SETTLE_S = 5.0  # the panels ask for what they show
_LIMIT_MB, _LIMIT_KB_S = 5.0, 300.0


def page(durations: Durations) -> list[Row]:
    """(p) From the command to the first image of the page, its parts, and the transferred data.

    The browser renders without a graphics card. It shows one image of a camera.
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
            with opened(proxy.port, lambda: loaded.append((time.monotonic(), proxy.received))):
                pictured, first = time.monotonic(), proxy.received
                time.sleep(_SETTLE_S)
                before, since = proxy.received, time.monotonic()
                time.sleep(durations.watched)
                rate = (proxy.received - before) / (time.monotonic() - since)
    ((document, program),) = loaded
    return [
        result("p", "command to page served", served - begun, "s"),
        result("p", "browser started, document loaded", document - served, "s"),
        result("p", "program compiled, model loaded, first image", pictured - document, "s"),
        result("p", "command to first image", pictured - begun, "s"),
        result("p", "transferred until the document is loaded", program / 1e6, "MB", 2),
        result(
            *("p", "transferred until the first image", first / 1e6, "MB", 2),
            limit=f"≤ {_LIMIT_MB:g}",
            keeps=lambda size: size <= _LIMIT_MB,
        ),
        result(
            *("p", "transferred afterwards", rate / 1e3, "kB/s", 0),
            limit=f"≤ {_LIMIT_KB_S:g}",
            keeps=lambda it: it <= _LIMIT_KB_S,
        ),
    ]
