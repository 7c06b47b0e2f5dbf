"""A browser that opens the viewer's page."""

import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cv2
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
_FEWEST_COLOURS = 500  # an empty page has few


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


@contextmanager
def opened(
    port: int, on_load: Callable[[], object] = lambda: None, *, idle: bool = False, script: str = ""
) -> Iterator[Any]:
    """Open the page in the browser, wait until it shows an image, and yield playwright's page.

    Args:
        port: The port that serves the page.
        on_load: Called when the document is loaded, before there is an image.
        idle: Whether the browser has hardly more than the CPU time that nothing else wants. Without
            a GPU it takes any amount, and root's browser more than its share: it sets its nice
            value to -8.
        script: JavaScript that runs before the page's own.

    Raises:
        RuntimeError: The page is not served, or stays empty.
    """
    from playwright.sync_api import sync_playwright  # a requirement of the tests only

    deadline = time.monotonic() + _TIMEOUT_S
    wait_until_served(port, deadline)
    with sync_playwright() as driver, TemporaryDirectory() as folder:
        program = Path(folder, "browser")
        program.write_text(f'#!/bin/sh\n{_IDLE if idle else "exec"} {browser()} "$@"\n')
        program.chmod(0o700)
        running = driver.chromium.launch(executable_path=program, args=list(OPTIONS))
        page = running.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        page.add_init_script(script)
        page.goto(f"http://127.0.0.1:{port}/", timeout=1000 * _TIMEOUT_S)
        on_load()
        while _count_colours(page.screenshot(timeout=1000 * _TIMEOUT_S)) < _FEWEST_COLOURS:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the page is empty after {_TIMEOUT_S:g} s")
            page.wait_for_timeout(500)
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


def _count_colours(png: bytes) -> int:
    pixels = cv2.imdecode(np.frombuffer(png, dtype=np.uint8), cv2.IMREAD_COLOR)
    assert pixels is not None
    return len(np.unique(pixels.reshape(-1, 3), axis=0))
