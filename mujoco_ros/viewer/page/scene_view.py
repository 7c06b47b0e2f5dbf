"""The element of a page that shows the scene."""

from collections.abc import Mapping
from typing import Any

import mujoco
from nicegui.element import Element
from nicegui.events import GenericEventArguments

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.scene.inputs import render_flags
from mujoco_ros.viewer.scene.options import ViewOptions

AUTO, THREE, PICTURES = "auto", "three", "pictures"


class SceneView(Element, component="static/scene_view.js"):
    """The scene, with its camera and visual options, which belong to the page."""

    def __init__(self, page: str, state: SharedState) -> None:
        """Show the scene on the page of a client of NiceGUI."""
        super().__init__()
        self._props["page"] = page
        self._state = state
        # What the page has reported
        self.selected = 0  # the selected body; 0 is none
        self.followed = 0  # body that the camera follows; 0 is none
        self.fixed = -1  # camera of the model; -1 is none
        self.pose: Mapping[
            str, Any
        ] = {}  # of the free camera: lookat, distance, azimuth, elevation
        self.drawing, self.shows_pictures = AUTO, False
        self.options: Mapping[str, Any] = default_options()  # as `ViewOptions`, with "render"
        self._wanted: Mapping[str, Any] = {}  # options that are set as soon as there is a scene
        self.on("scene", self._note)

    def camera(self) -> mujoco.MjvCamera | None:
        """Return the camera; None before the page has reported it."""
        if not self.pose:
            return None
        camera = mujoco.MjvCamera()
        if self.fixed >= 0:
            camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, self.fixed
        camera.lookat[:] = self.pose["lookat"]
        camera.distance = self.pose["distance"]
        camera.azimuth, camera.elevation = self.pose["azimuth"], self.pose["elevation"]
        return camera

    def set_camera(self, **pose: Any) -> None:
        """Set the camera: lookat [m], distance [m], azimuth, elevation [deg], followed or fixed."""
        self.followed = pose.get("followed", self.followed)
        self.fixed = pose.get("fixed", self.fixed)
        self.run_method("setCamera", pose)

    def reset_camera(self) -> None:
        """Return to the initial view."""
        free = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(self._state.model, free)
        angles = {"azimuth": float(free.azimuth), "elevation": float(free.elevation)}
        self.set_camera(
            lookat=free.lookat.tolist(),
            distance=float(free.distance),
            followed=0,
            fixed=-1,
            **angles,
        )

    def frame(self, body: int = 0) -> None:
        """Show a body with all below it, or for 0 all bodies."""
        if self.fixed >= 0:
            self.set_camera(fixed=-1)
        self.run_method("frame", body)

    def select(self, body: int) -> None:
        """Select a body; 0 selects none."""
        self.selected = body
        self.run_method("select", body)

    def leave(self) -> bool:
        """Return from a camera or a followed body, else select no body; whether there was one."""
        if self.fixed >= 0 or self.followed:
            self.set_camera(fixed=-1, followed=0)
        elif self.selected:
            self.select(0)
        else:
            return False
        return True

    def set_option(self, **options: Any) -> None:
        """Set visual flags, groups, label, frame, or flags of rendering."""
        self.options = _merged(self.options, options)
        self.run_method("setOption", options)

    def restore(self, options: Mapping[str, Any]) -> None:
        """Set options that were kept, as soon as there is a scene; those of no use are left out."""
        render = options.get("render", {})
        try:
            render_flags(render)
            merged = ViewOptions().changed(options).to_json()
        except (ValueError, TypeError, AttributeError):  # of another version of MuJoCo
            return
        self._wanted = {**merged, "render": dict(render)}

    def set_drawing(self, drawing: str) -> None:
        """Draw by ``three``, show ``pictures``, or choose by measuring: ``auto``."""
        self.drawing = drawing
        self.run_method("setDrawing", drawing)

    def _note(self, event: GenericEventArguments) -> None:
        """Note what the page reports of its own view."""
        kind, value = event.args.get("kind"), event.args.get("value")
        if kind == "camera" and isinstance(value, dict):
            self.followed, self.fixed = int(value["followed"]), int(value["fixed"])
            self.pose = _pose(value)
        elif kind == "selected" and isinstance(value, int):
            self.selected = value
        elif kind == "options" and isinstance(value, dict):
            self.options = value
        elif kind == "drawing":
            self.shows_pictures = value == PICTURES
        elif kind == "model" and self._wanted:
            wanted, self._wanted = self._wanted, {}
            self.set_option(**wanted)


def default_options() -> dict[str, Any]:
    """Return the options of a page that has changed none."""
    render = {name: default == "1" for name, default, _key in mujoco.mjRNDSTRING}
    return {**ViewOptions().to_json(), "render": render}


def _merged(options: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**options, **changes}
    for name in ("flags", "groups", "render"):
        merged[name] = {**options[name], **changes.get(name, {})}
    return merged


def _pose(value: Mapping[str, Any]) -> dict[str, Any]:
    x, y, z = map(float, value["lookat"])
    numbers = {name: float(value[name]) for name in ("distance", "azimuth", "elevation")}
    return {"lookat": (x, y, z), **numbers}
