"""The page: from the command to its first image, what is transferred, and the age of its images."""

import math
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.browser import browser, free_port, opened, wait_until_served
from benchmark.counting_proxy import counted
from benchmark.durations import Durations
from benchmark.processes.child_process import cpu_s, simulator
from benchmark.report import Row, result

_SCENE = "humanoid"
_TIMEOUT_S = 120.0
_SETTLE_S = 5.0  # the panels ask for what they show
_SLOW_SETTLE_S = 20.0
"""Time in which the other pages receive the first panels and are laid out [s]."""
_LIMIT_MB, _LIMIT_KB_S, _LIMIT_LAG_S = 5.0, 300.0, 1.5
_THROTTLE, _SLOW_KB_S = 6, 50
_SLOW = """(() => {
  const request = window.requestAnimationFrame.bind(window);
  const callbacks = [];
  let drawn = 0;
  const draw = (now) => {
    request(draw);
    if (Math.floor(now / 1000) === drawn) return;
    drawn = Math.floor(now / 1000);
    callbacks.splice(0).forEach((callback) => callback(now));
  };
  request(draw);
  window.requestAnimationFrame = (callback) => callbacks.push(callback);
})();"""
"""Script of a page on a display that has a frame a second."""
_CAMERAS_TAB = (84.0, 410.0)
"""Place of the tab of the panel "Cameras" [px]."""
_PRESS_S = 0.2  # several frames of a fast page
_NOTHING_DRAWN = """
for (const name of ["drawElementsInstanced", "drawElements", "blitFramebuffer"]) {
  const method = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...values) {
    if (!window.isFast) method.apply(this, values);
  };
}"""
"""Script of a page that can be as fast as with a graphics card, without an image."""
_RECORD = """() => {
  window.lags = [];
  new MutationObserver(() => lags.push(Number(document.documentElement.dataset.lagS)))
    .observe(document.documentElement, {attributeFilter: ["data-lag-s"]});
}"""


def page(durations: Durations) -> list[Row]:
    """(p) From the command to the first image of the page, its parts, and the transferred data.

    The browser renders without a graphics card. For what is transferred afterwards, it has the
    panel with the image of a camera in front, and skips all drawing, so that it asks for as many
    frames as with a graphics card.
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
                proxy.port,
                lambda: loaded.append((time.monotonic(), proxy.received)),
                script=_NOTHING_DRAWN,
            ) as page:
                pictured, first = time.monotonic(), proxy.received
                page.evaluate("window.isFast = true")
                page.mouse.move(*_CAMERAS_TAB)
                page.wait_for_timeout(1e3 * _SETTLE_S)
                page.mouse.click(*_CAMERAS_TAB, delay=1e3 * _PRESS_S)
                page.wait_for_timeout(1e3 * _SETTLE_S)
                page.evaluate(_RECORD)
                before, since = proxy.received, time.monotonic()
                page.wait_for_timeout(1e3 * durations.watched)
                elapsed = time.monotonic() - since
                rate = (proxy.received - before) / elapsed
                frames = len(page.evaluate("lags")) / elapsed
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
            *("p", "transferred to a fast page with a thumbnail", rate / 1e3, "kB/s", 0),
            limit=f"≤ {_LIMIT_KB_S:g}",
            keeps=lambda rate: rate <= _LIMIT_KB_S,
        ),
        result("p", "frames of the fast page", frames, "1/s"),
    ]


def lag(durations: Durations) -> list[Row]:
    """(lag) Frames and age of the page without a graphics card, and of slower ones.

    One draws at most once a second, and its thread has a sixth of a core's speed. Another one is as
    fast as with a graphics card, but its network is slow.
    """
    if browser() is None:
        return []
    return [
        *_lag("without a graphics card", durations.watched),
        *_lag("one frame a second, CPU / 6", durations.throttled, slow=True),
        *_lag(f"fast, {_SLOW_KB_S} kB/s", durations.watched, rate=1e3 * _SLOW_KB_S),
    ]


def _lag(name: str, seconds: float, *, slow: bool = False, rate: float | None = None) -> list[Row]:
    port = free_port()
    parameters = {"cameras": "true", "viewer": "web", "viewer_port": port}
    script = _SLOW if slow else "" if rate is None else _NOTHING_DRAWN
    with TemporaryDirectory() as folder, simulator(_SCENE, Path(folder), parameters) as sim:
        wait_until_served(port, time.monotonic() + _TIMEOUT_S)
        with counted(port) as proxy, opened(proxy.port, script=script) as page:
            if slow:
                throttle = page.context.new_cdp_session(page)
                throttle.send("Emulation.setCPUThrottlingRate", {"rate": _THROTTLE})
            page.evaluate("window.isFast = true")
            page.wait_for_timeout(1e3 * (_SLOW_SETTLE_S if script else _SETTLE_S))
            proxy.rate = rate or math.inf
            page.evaluate(_RECORD)
            # A busy machine may need longer than the duration for one image.
            page.wait_for_function("lags.length > 0", timeout=1e3 * _TIMEOUT_S)
            viewer = _viewer(sim.pid)
            before, since = cpu_s(viewer), time.monotonic()
            page.wait_for_timeout(1e3 * seconds)
            lags = np.array(page.evaluate("lags"))
            elapsed = time.monotonic() - since
            used = (cpu_s(viewer) - before) / elapsed
    return [
        result("lag", f"{name}: frames of the page", len(lags) / elapsed, "1/s", 1),
        result("lag", f"{name}: age of the image, median", float(np.median(lags)), "s", 2),
        result(
            *("lag", f"{name}: age of the image, longest", float(lags.max()), "s", 2),
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
