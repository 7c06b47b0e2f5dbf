"""Ends of arrows and lines."""

import numpy as np

from mujoco_ros.viewer.message_shapes import Shape, ShapeKind


def ends(shape: Shape) -> np.ndarray:
    """Return the first and the last point [m].  # (2, 3)"""
    direction = shape.axes[:, 2]
    if shape.kind is ShapeKind.LINE:
        half = shape.size[1] * direction
        return np.array([shape.position - half, shape.position + half])
    return np.array([shape.position, shape.position + shape.size[2] * direction])
