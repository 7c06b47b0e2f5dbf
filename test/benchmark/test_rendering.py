"""The benchmark of pictures."""

from dataclasses import replace

import pytest

from benchmark import rendering as measured
from benchmark.plan import QUICK
from benchmark.rendering import PRODUCTS, SHADOWS, rendering, studios
from mujoco_ros.rendering.gl import DEVICE_VARIABLE


def test_every_product_is_measured_or_it_is_said_that_there_is_no_opengl(monkeypatch):
    monkeypatch.setattr(measured, "SIZES", ((32, 24), (64, 48)))
    rows = rendering(replace(QUICK, drawing=0.0))
    if len(rows) == 1:
        assert rows[0].quantity.startswith("no picture: OpenGL is not available")
        return
    assert len(rows) % (2 * len(PRODUCTS) * len(SHADOWS)) == 0
    assert all(row.value > 0 for row in rows)
    assert rows[0].quantity.startswith("colour, 32 x 24, shadows off, ")


@pytest.mark.parametrize("number", [None, 3])
def test_where_a_graphics_card_draws_the_processor_is_measured_as_well(monkeypatch, number):
    closed: list[str] = []

    class Studio:
        is_software = False

        def __init__(self, scene: str) -> None:
            self.device = measured.os.environ.get(DEVICE_VARIABLE, scene)

        def close(self) -> None:
            closed.append(self.device)

    monkeypatch.setattr(measured, "Studio", Studio)
    monkeypatch.setattr(measured, "software_device", lambda: number)
    monkeypatch.delenv(DEVICE_VARIABLE, raising=False)
    seen = [studio.device for studio in studios("any")]
    assert seen == (["any"] if number is None else ["any", "3"])
    assert closed == ([] if number is None else ["any"])
    assert DEVICE_VARIABLE not in measured.os.environ
