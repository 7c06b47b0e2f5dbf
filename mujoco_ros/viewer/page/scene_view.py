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
_ANGLES = ("azimuth", "elevation")
_LARGEST = 1e6  # number of a pose [m or deg]


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
        # What is set as soon as there is a scene: options, and the camera
        self._wanted: Mapping[str, Any] = {}
        self._wanted_camera: Mapping[str, Any] = {}
        self._scene = ""  # the scene that the page shows
        self._first_pose: Mapping[str, Any] = {}  # of the camera that shows all of the scene
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

    def restore(self, options: Mapping[str, Any], drawing: str) -> None:
        """Set options that were kept, as soon as there is a scene; unknown ones are left out."""
        render = options.get("render", {})
        try:
            render_flags(render)
            merged = ViewOptions().changed(options).to_json()
            self._wanted = self.options = _merged(default_options(), {**merged, "render": render})
        except (ValueError, TypeError, AttributeError):  # of another version of MuJoCo
            pass
        if drawing in (AUTO, THREE, PICTURES):
            self.drawing = drawing

    def settings(self) -> dict[str, Any]:
        """Return the pose of a camera that was moved, and what it follows or is."""
        model = self._state.model
        if self._wanted_camera:
            return dict(self._wanted_camera)
        is_moved = bool(self.pose) and dict(self.pose) != dict(self._first_pose)
        return {
            "pose": {**self.pose, "lookat": list(self.pose["lookat"])} if is_moved else None,
            "followed": model.body(self.followed).name if 0 < self.followed < model.nbody else "",
            "fixed": model.camera(self.fixed).name if 0 <= self.fixed < model.ncam else "",
        }

    def restore_camera(self, settings: Mapping[str, Any]) -> None:
        """Set the camera to what was kept, as soon as there is a scene."""
        self._wanted_camera = settings

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
            self._first_pose = self._first_pose or self.pose
        elif kind == "selected" and isinstance(value, int):
            self.selected = value
        elif kind == "options" and isinstance(value, dict):
            self.options = value
        elif kind == "drawing":
            self.shows_pictures = value == PICTURES
        elif kind == "model":
            self._begin()

    def _begin(self) -> None:
        """Set what is wanted, as the page has a model."""
        scene = str(self._state.metadata["scene"])
        if scene != self._scene:
            self._scene, self._first_pose = scene, {}
        wanted, self._wanted = self._wanted, {}
        if wanted:
            self.set_option(**wanted)
            if self.drawing != AUTO:
                self.set_drawing(self.drawing)
        kept, self._wanted_camera = self._wanted_camera, {}
        camera = _valid_camera(kept, self._state.model) if kept else {}
        if camera:
            self._first_pose = {"kept": True}  # differs from any pose
            self.set_camera(**camera)


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
    numbers = {name: float(value[name]) for name in ("distance", *_ANGLES)}
    return {"lookat": (x, y, z), **numbers}


def _valid_camera(kept: Mapping[str, Any], model: mujoco.MjModel) -> dict[str, Any]:
    """Return what is valid in a kept camera, as of `SceneView.set_camera`."""
    camera: dict[str, Any] = {}
    try:
        pose = _pose(kept["pose"])
        numbers = [*pose["lookat"], *(pose[name] for name in _ANGLES), pose["distance"]]
        if all(abs(number) < _LARGEST for number in numbers) and pose["distance"] > 0.0:
            camera = {**pose, "lookat": list(pose["lookat"])}
    except (KeyError, TypeError, ValueError):
        pass
    kinds = {"followed": mujoco.mjtObj.mjOBJ_BODY, "fixed": mujoco.mjtObj.mjOBJ_CAMERA}
    for name, kind in kinds.items():
        found = mujoco.mj_name2id(model, int(kind), str(kept.get(name) or "\n"))
        if found >= 0:
            camera[name] = found
    return camera
