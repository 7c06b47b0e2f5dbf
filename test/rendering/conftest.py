"""Renderers for tests, which are skipped without OpenGL."""

from collections.abc import Callable, Iterator

import mujoco
import pytest

from mujoco_ros.rendering.gl import RenderingError, RenderQuality
from mujoco_ros.rendering.renderer import Renderer

Open = Callable[..., Renderer]


@pytest.fixture
def open_renderer() -> Iterator[Open]:
    """A function that opens a renderer for a model; it is closed after the test."""
    opened: list[Renderer] = []

    def make(model: mujoco.MjModel, quality: RenderQuality | None = None) -> Renderer:
        try:
            opened.append(Renderer(model, quality=quality))
        except RenderingError as error:
            pytest.skip(f"neither EGL nor OSMesa works here: {error}")
        return opened[-1]

    yield make
    for renderer in opened:
        renderer.close()
