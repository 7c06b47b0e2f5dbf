"""A browser for tests of the page, and a context of Dear ImGui for the others."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import mujoco
import pytest
from mujoco.studio.dear_imgui import dear_imgui as imgui
from mujoco.studio.implot import implot

from benchmark.browser import BROWSERS, OPTIONS
from mujoco_ros.viewer.framing import ScreenProjection

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


@pytest.fixture
def context(monkeypatch, tmp_path) -> Iterator[None]:
    """Contexts of Dear ImGui and ImPlot, without a window."""
    monkeypatch.chdir(tmp_path)  # where Dear ImGui leaves its imgui.ini
    gui = imgui.CreateContext()
    imgui.SetCurrentContext(gui)  # a viewer of an earlier test may have left its own
    implot.set_imgui_context(gui)  # first; otherwise it uses the deleted context of an earlier test
    plots = implot.CreateContext()
    implot.set_implot_context(plots)
    io = imgui.GetIO()
    io.DisplaySize = imgui.Vec2(1280, 800)
    io.BackendFlags = int(io.BackendFlags) | int(imgui.BackendFlags.RendererHasTextures)
    yield
    implot.DestroyContext(plots)
    imgui.DestroyContext(gui)


@pytest.fixture(scope="module")
def projection() -> ScreenProjection:
    """The projection of a camera beside and above a robot."""
    model = mujoco.MjSpec().compile()
    camera = mujoco.MjvCamera()
    camera.lookat[:] = (0.0, 0.0, 0.7)
    camera.distance, camera.azimuth, camera.elevation = 3.0, 135.0, -35.0
    return ScreenProjection.of_camera(model, mujoco.MjData(model), camera, 1280.0, 800.0)
