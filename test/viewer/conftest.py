"""A browser for the tests of the page."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from benchmark.page import BROWSERS, OPTIONS


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser without a window."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no chromium on PATH, which shows the page")
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=list(OPTIONS))
        yield running
        running.close()
