"""A browser that opens the viewer's page."""

import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Without a GPU; the sandbox does not run as root.
OPTIONS = (
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-sandbox",
)
# Linux shares the CPU among sessions first (sched(7), autogroups), and the browser has its own.
_IDLE = """\
[ -w /proc/self/autogroup ] && echo 19 > /proc/self/autogroup
exec chrt -i 0"""
_TIMEOUT_S = 120.0
_WIDTH, _HEIGHT = 1280, 800


def browser() -> str | None:
    """Return the path of an installed browser; None without one, or without playwright."""
    if find_spec("playwright") is None:
        return None
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def free_port() -> int:
    """Return an unused TCP port of this machine."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


_RECORD = """() => {
  const lags = [], rates = [];
  new MutationObserver(() => {
    const {lagS, fps} = document.documentElement.dataset;
    lags.push(Number(lagS));
    rates.push(Number(fps));
  }).observe(document.documentElement, {attributeFilter: ["data-lag-s"]});
  window.record = {lags, rates};
}"""


class PageRecord(NamedTuple):
    """What a page has told of itself over some time."""

    lags: np.ndarray  # ages of its picture, at each change of ``data-lag-s`` [s]
    frames: float  # pictures in a second: mean of ``data-fps``


def watch(page: Any, seconds: float) -> PageRecord:
    """Record the attributes of the root element of playwright's page for some time."""
    page.evaluate(_RECORD)
    # A busy machine may need longer than the duration for one picture.
    page.wait_for_function("record.lags.length > 0", timeout=1000 * _TIMEOUT_S)
    page.wait_for_timeout(1000 * seconds)
    found = page.evaluate("record")
    return PageRecord(np.array(found["lags"]), float(np.mean(found["rates"])))


_PRESS = """button => new Promise(resolve => {
  const before = button.textContent, begun = performance.now();
  const observer = new MutationObserver(() => {
    if (button.textContent === before) return;
    observer.disconnect();
    resolve(performance.now() - begun);
  });
  observer.observe(button, {childList: true, subtree: true, characterData: true});
  button.click();
})"""
_BETWEEN_PRESSES_S = 0.6


def press(page: Any, count: int) -> np.ndarray:
    """Return the times from presses of Pause, and of Play, until the other one is shown [ms]."""
    bar = page.get_by_role("region", name="Bar")
    button, times = bar.get_by_role("button", name="Pause").element_handle(), []
    for _ in range(count):
        times.append(button.evaluate(_PRESS))
        page.wait_for_timeout(1e3 * _BETWEEN_PRESSES_S)
    return np.array(times)


@contextmanager
def opened(
    port: int, on_load: Callable[[], object] = lambda: None, *, idle: bool = False
) -> Iterator[Any]:
    """Open the page in the browser, wait until it shows the scene, and yield playwright's page.

    Args:
        port: The port that serves the page.
        on_load: Called when the panels are connected, before there is a picture of the scene.
        idle: Whether the browser has hardly more than the CPU time that nothing else wants. Without
            a GPU it takes any amount, and root's browser more than its share: it sets its nice
            value to -8.

    Raises:
        RuntimeError: The page is not served.
    """
    from playwright.sync_api import sync_playwright  # a requirement of the tests only

    wait_until_served(port, time.monotonic() + _TIMEOUT_S)
    with sync_playwright() as driver, TemporaryDirectory() as folder:
        program = Path(folder, "browser")
        program.write_text(f'#!/bin/sh\n{_IDLE if idle else "exec"} {browser()} "$@"\n')
        program.chmod(0o700)
        running = driver.chromium.launch(executable_path=program, args=list(OPTIONS))
        page = running.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        page.set_default_timeout(1000 * _TIMEOUT_S)
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_function("window.did_handshake")
        on_load()
        page.wait_for_function("document.documentElement.dataset.fps > 0")
        yield page
        running.close()


def wait_until_served(port: int, deadline: float) -> None:
    """Wait until a port of this machine accepts connections.

    Args:
        deadline: Time of the monotonic clock at which to give up [s].

    Raises:
        RuntimeError: It does not.
    """
    while time.monotonic() < deadline:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"no page at port {port} within {_TIMEOUT_S:g} s")
