"""What a pixel of a depth or segmentation image means."""

import math
from collections.abc import Mapping

from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.rendering.segmentation import Label, Segmentation
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import Thumbnail


class ImageLegend:
    """The distances and the names in images of a state."""

    def __init__(self, state: SharedState) -> None:
        self._state = state
        self._labels: tuple[ModelLayout, Mapping[int, Label]] | None = None

    def under(self, image: Thumbnail, right: float, down: float) -> str:
        """Return the distance or the name at a place of an image, in 0..1 from its upper left."""
        if image.values is None:
            return ""
        rows, columns = image.values.shape
        row = min(max(int(rows * down), 0), rows - 1)
        column = min(max(int(columns * right), 0), columns - 1)
        value = image.values[row, column]
        if image.limits is not None:
            return f"{value:.3f} m" if math.isfinite(value) else "nothing"
        label = self._legend().get(int(value))
        return (label.frame or label.name or label.kind) if label else "nothing"

    def _legend(self) -> Mapping[int, Label]:
        layout = self._state.layout
        if self._labels is None or self._labels[0] is not layout:
            self._labels = layout, Segmentation(self._state.model).legend(layout)
        return self._labels[1]
