"""Depth buffers in metres, and metres in millimetres."""

import numpy as np
import pytest

from mujoco_ros.rendering.depth import ClipPlanes, to_millimetres


@pytest.mark.parametrize(("near", "far"), [(0.02, 100.0), (0.5, 2500.0), (1e-4, 0.3), (1.0, 1.5)])
def test_clipping_planes_enclose_the_distances_and_need_no_rounding(near, far):
    planes = ClipPlanes.enclosing(near, far)
    assert planes.near <= min(near, 0.01)
    assert planes.far >= far
    span = planes.far - planes.near
    entries = ((planes.far + planes.near) / span, 2 * planes.far * planes.near / span)
    assert [float(np.float32(entry)) for entry in entries] == list(entries)


def test_a_depth_buffer_becomes_metres():
    planes = ClipPlanes.enclosing(0.02, 100.0)
    metres = np.array([[planes.near, 0.5, 3.0], [20.0, 100.0, np.inf]])
    near, far = planes.near, planes.far
    buffer = np.zeros((2, 3), np.float32)
    hit = np.isfinite(metres)
    buffer[hit] = near * (far - metres[hit]) / (metres[hit] * (far - near))
    out = np.empty((2, 3), np.float32)
    planes.to_metres(buffer, out)
    np.testing.assert_allclose(out, metres, rtol=2e-4)
    np.testing.assert_allclose(out[0], metres[0], rtol=1e-6)


def test_millimetres_are_rounded_and_0_without_a_hit():
    depth = np.array([[0.0, 0.0004, 0.0006, 1.2345], [65.5354, 65.536, 1e9, np.inf]], np.float32)
    millimetres = to_millimetres(depth)
    assert millimetres.dtype == np.uint16
    assert millimetres.tolist() == [[0, 0, 1, 1234], [65535, 0, 0, 0]]
