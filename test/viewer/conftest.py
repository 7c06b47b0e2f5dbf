"""A browser for tests of the page."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from benchmark.browser import BROWSERS, OPTIONS

# The browser of root takes more than its share of the processor: it sets its nice value to -8.
_FAIR = "setpriv --bounding-set=-sys_nice" if os.geteuid() == 0 else ""


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser without a window."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no chromium on PATH, which shows the page")
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
    with playwright.sync_playwright() as driver:
        program = tmp_path_factory.mktemp("browser") / "browser"
        program.write_text(f'#!/bin/sh\nexec {_FAIR} {found} "$@"\n')
        program.chmod(0o700)
        options = [*OPTIONS, "--process-per-site"]  # pages of a context share a process
        running = driver.chromium.launch(executable_path=program, args=options)
        yield running
        running.close()


@pytest.fixture(scope="session")
def tabs(browser: Any) -> Iterator[Any]:
    """A context of the browser, whose pages share what the browser keeps."""
    context = browser.new_context()
    context.set_default_timeout(120_000)
    yield context
    context.close()
