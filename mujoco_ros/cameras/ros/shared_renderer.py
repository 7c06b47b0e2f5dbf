"""The one renderer that all cameras share."""

import logging
from collections.abc import Mapping
from typing import Any

import mujoco

from mujoco_ros.bridge.diagnostics.report import ERROR, DiagnosticReport
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.rendering.quality import PLAIN, RICH
from mujoco_ros.rendering.renderer import Renderer

_LOG = logging.getLogger(__name__)
LOOKS = ParameterSpec(
    name="looks",
    default="auto",
    description="How pictures look: rich, or plain, without shadows, reflections and smooth edges, "
    "which a processor draws ten times as fast; auto is rich with a graphics card",
    choices=("auto", "plain", "rich"),
)


class SharedRenderer:
    """Makes the renderer when the first picture is wanted: without pictures there is no OpenGL.

    Attributes:
        failure: Why pictures of the present model cannot be drawn; empty as long as they can, or
            nobody has tried.
    """

    def __init__(self, backend: str) -> None:
        """Draw with a backend: auto, egl or osmesa."""
        self.failure = ""
        self._looks = LOOKS.default
        self._backend = backend
        self._renderer: Renderer | None = None
        self._model: mujoco.MjModel | None = None

    def renderer(self, model: mujoco.MjModel) -> Renderer | None:
        """Return the renderer, prepared for a model; None where there is no OpenGL."""
        fresh, self._model = model is not self._model, model
        if self.failure and not fresh:
            return None
        try:
            if self._renderer is None:
                self._renderer = Renderer(model, self._backend)
            elif fresh:
                self._renderer.set_model(model)
            plain = self._renderer.is_software if self._looks == "auto" else self._looks == "plain"
            self._renderer.quality = PLAIN if plain else RICH
        except RenderingError as error:
            if str(error) != self.failure:
                _LOG.error("cameras give no pictures: %s", error)
            self.failure, self._renderer = str(error), None
        else:
            self.failure = ""
        return self._renderer

    def change(self, values: Mapping[str, Any]) -> None:
        """Take over the parameter about looks, if it is among `values`, for the next picture."""
        self._looks = values.get(LOOKS.name, self._looks)

    def report(self) -> DiagnosticReport:
        """Return what /diagnostics says of it."""
        if self.failure:
            return DiagnosticReport(self.failure, {}, level=ERROR)
        if self._renderer is None:
            return DiagnosticReport("no picture was wanted yet", {})
        renderer = self._renderer
        return DiagnosticReport(
            f"{renderer.backend} on {renderer.device}",
            {"backend": renderer.backend, "device": renderer.device},
        )
