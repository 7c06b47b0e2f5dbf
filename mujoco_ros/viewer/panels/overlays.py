"""The window "Overlays", and the drawing of what is ticked in it."""

import logging
from collections.abc import Callable
from typing import ClassVar

import mujoco
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.docks import DockPlace
from mujoco_ros.viewer.link import SimulatorLink, wrench_sign
from mujoco_ros.viewer.overlays.balance import balance
from mujoco_ros.viewer.overlays.forces import applied, contacts, sensed
from mujoco_ros.viewer.overlays.ghost import Ghost
from mujoco_ros.viewer.overlays.overlay_scene import Scale, Scene
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.web.page import Unseen

_LOG = logging.getLogger(__name__)
_MM = 1e3
_SMALLEST, _LARGEST = 0.01, 1000.0

Draw = Callable[[Scene, Scale], list[mujoco.MjvGeom]]


class Overlays(Panel):
    """Draws what is ticked over the scene.

    Attributes:
        shown: Name of each overlay, and whether it is drawn.
        scale: How long forces are.
    """

    title: ClassVar[str] = "Overlays"
    place: ClassVar[DockPlace] = DockPlace.LEFT_BELOW

    def __init__(self, state: SharedState, link: SimulatorLink) -> None:
        """Draw what `state` tells."""
        super().__init__(state, link)
        self._draws: dict[str, tuple[Draw, str]] = {
            "External wrenches": (applied, "What acts by external_wrench,\nat the centre of mass."),
            "Contact forces": (contacts, "On the second body of each contact."),
            "Force-torque sensors": (sensed, "As wrench/<name> publishes them."),
            "References": (Ghost(), "The joints as they are told to be,\nas a ghost."),
            "Balance": (balance, "Centre of mass and support polygon\nof robots that float."),
        }
        self.shown = {name: name == "External wrenches" for name in self._draws}
        self.scale = Scale()

    @messages.handler
    def on_update(self, _: messages.UpdateEvent) -> None:
        """Draw into the viewer's list of geoms, which begins anew with each frame."""
        geoms = self.viewer.extra_geoms
        geoms.clear()
        scene = self._scene()
        if scene is None:
            return
        for name, (draw, _tip) in self._draws.items():
            if not self.shown[name]:
                continue
            try:
                geoms += draw(scene, self.scale)
            except Exception:  # would end the viewer
                self.shown[name] = False
                _LOG.exception("the overlay '%s' cannot be drawn, and is switched off", name)

    @messages.handler
    def on_unseen(self, _: Unseen) -> None:
        """Draw nothing, as nothing of it would be new."""
        self.viewer.extra_geoms.clear()

    def build(self) -> None:
        """Build the window."""
        for name, (_draw, tip) in self._draws.items():
            _, self.shown[name] = imgui.Checkbox(name, self.shown[name])
            imgui.SetItemTooltip(tip)
        self.scale.force = _length("Force", self.scale.force, "N")
        self.scale.torque = _length("Torque", self.scale.torque, "Nm")

    def _scene(self) -> Scene | None:
        """Return what is shown; None while the viewer has not yet the model of the state."""
        state, model = self.state, self.viewer.model
        if (model.nq, model.nbody) != (state.model.nq, state.model.nbody):
            return None
        self.scale.sensor_sign = wrench_sign(self.link)
        return Scene(
            model=model,
            data=self.viewer.data,
            layout=state.layout,
            references=state.references.q,
            sensordata=state.data.sensordata,
            applied=state.data.xfrc_applied,
        )


def _length(label: str, scale: float, unit: str) -> float:
    """Build a slider of how long something is drawn; return it [m per unit]."""
    imgui.SetNextItemWidth(-imgui.CalcTextSize("Torque").x - 12.0)
    changed, value = imgui.SliderFloat(
        label,
        scale * _MM,
        _SMALLEST,
        _LARGEST,
        f"%.3g mm/{unit}",
        int(imgui.SliderFlags.Logarithmic),
    )
    return value / _MM if changed else scale
