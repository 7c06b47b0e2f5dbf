"""A browser for tests of the page."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from benchmark.browser import BROWSERS, OPTIONS

# The browser of root takes more than its share of the processor: it sets its nice value to -8.
_FAIR = "setpriv --bounding-set=-sys_nice" if os.geteuid() == 0 else ""


@pytest.fixture(scope="session")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """Return a function that starts a browser without a window, with options."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no chromium on PATH, which shows the page")
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
    with playwright.sync_playwright() as driver:
        program = tmp_path_factory.mktemp("browser") / "browser"
        program.write_text(f'#!/bin/sh\nexec {_FAIR} {found} "$@"\n')
        program.chmod(0o700)
        running = []

        def start(*options: str) -> Any:
            # Pages of a context share a process.
            arguments = [*OPTIONS, "--process-per-site", *options]
            running.append(driver.chromium.launch(executable_path=program, args=arguments))
            return running[-1]

        yield start
        for each in running:
            each.close()


@pytest.fixture(scope="session")
def browser(launch: Callable[..., Any]) -> Any:
    """A browser that draws scenes."""
    return launch()
