"""The benchmark of pictures."""

from dataclasses import replace

from benchmark.plan import QUICK
from benchmark.rendering import PRODUCTS, rendering


def test_every_product_is_measured_or_it_is_said_that_there_is_no_opengl():
    rows = rendering(replace(QUICK, drawing=0.0))
    if len(rows) == 1:
        assert rows[0].quantity.startswith("no picture: there is no OpenGL")
        return
    assert len(rows) == 2 * len(PRODUCTS)
    assert all(row.value > 0 and "320 x 240" in row.quantity for row in rows[: len(PRODUCTS)])
