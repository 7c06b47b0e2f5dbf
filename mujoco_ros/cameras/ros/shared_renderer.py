"""The renderer that all cameras share."""

import logging
from collections.abc import Mapping
from typing import Any

import mujoco

from mujoco_ros.bridge.diagnostics.report import ERROR, DiagnosticReport
from mujoco_ros.rendering.gl import RenderingError
from mujoco_ros.rendering.quality import PLAIN, RICH
from mujoco_ros.rendering.renderer import Renderer
from mujoco_ros.wire.parameter_spec import ParameterSpec

_LOG = logging.getLogger(__name__)
QUALITY = ParameterSpec(
    name="looks",
    default="auto",
    description="Quality of images: rich; plain, without shadows, reflections and antialiasing, "
    "ten times as fast on a processor; auto, rich with a graphics card and plain without one",
    choices=("auto", "plain", "rich"),
)


class SharedRenderer:
    """Opens OpenGL for the first image that is subscribed.

    Attributes:
        failure: Reason why rendering the current model failed; empty if it did not fail so far.
    """

    def __init__(self, backend: str) -> None:
        """Render with a backend: auto, egl or osmesa."""
        self.failure = ""
        self._quality = QUALITY.default
        self._backend = backend
        self._renderer: Renderer | None = None
        self._model: mujoco.MjModel | None = None

    def get(self, model: mujoco.MjModel) -> Renderer | None:
        """Return the renderer of a model; None without OpenGL."""
        is_new, self._model = model is not self._model, model
        if self.failure and not is_new:
            return None
        try:
            if self._renderer is None:
                self._renderer = Renderer(model, self._backend)
            elif is_new:
                self._renderer.set_model(model)
            auto = self._quality == "auto"
            is_plain = self._renderer.is_software if auto else self._quality == "plain"
            self._renderer.quality = PLAIN if is_plain else RICH
        except RenderingError as error:
            if str(error) != self.failure:
                _LOG.error("cameras publish no images: %s", error)
            self.failure, self._renderer = str(error), None
        else:
            self.failure = ""
        return self._renderer

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set the quality of the next images, if it is among `values`."""
        self._quality = values.get(QUALITY.name, self._quality)

    def report(self) -> DiagnosticReport:
        """Return the row on /diagnostics."""
        if self.failure:
            return DiagnosticReport(self.failure, {}, level=ERROR)
        if self._renderer is None:
            return DiagnosticReport("no image was subscribed yet", {})
        renderer = self._renderer
        return DiagnosticReport(
            f"{renderer.backend} on {renderer.device}",
            {"backend": renderer.backend, "device": renderer.device},
        )
