from dataclasses import replace

import pytest

from benchmark.durations import QUICK
from benchmark.measurements import rendering as measured
from benchmark.measurements.rendering import PRODUCTS, SHADOWS, rendering, scene_renderers
from mujoco_ros.rendering.gl import DEVICE_VARIABLE


def test_every_product_is_measured_or_opengl_is_reported_as_missing(monkeypatch):
    monkeypatch.setattr(measured, "SIZES", ((32, 24), (64, 48)))
    rows = rendering(replace(QUICK, rendering=0.0))
    if len(rows) == 1:
        assert rows[0].quantity.startswith("no image: OpenGL is not available")
        return
    assert len(rows) % (2 * len(PRODUCTS) * len(SHADOWS)) == 0
    assert all(row.value > 0 for row in rows)
    assert rows[0].quantity.startswith("colour, 32 x 24, shadows off, ")


@pytest.mark.parametrize("number", [None, 3])
def test_with_a_gpu_the_cpu_renderer_is_measured_as_well(monkeypatch, number):
    closed: list[str] = []

    class SceneRenderer:
        is_software = False

        def __init__(self, scene: str) -> None:
            self.device = measured.os.environ.get(DEVICE_VARIABLE, scene)

        def close(self) -> None:
            closed.append(self.device)

    monkeypatch.setattr(measured, "SceneRenderer", SceneRenderer)
    monkeypatch.setattr(measured, "software_device", lambda: number)
    monkeypatch.delenv(DEVICE_VARIABLE, raising=False)
    devices = [renderer.device for renderer in scene_renderers("any")]
    assert devices == (["any"] if number is None else ["any", "3"])
    assert closed == ([] if number is None else ["any"])
    assert DEVICE_VARIABLE not in measured.os.environ
