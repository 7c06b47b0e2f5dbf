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
_NUMBERS = ("distance", "azimuth", "elevation")
_LARGEST = 1e6  # number of a pose [m or deg]
_BODY, _CAMERA = int(mujoco.mjtObj.mjOBJ_BODY), int(mujoco.mjtObj.mjOBJ_CAMERA)


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
        self._model: mujoco.MjModel | None = None  # its model
        self._first_pose: Mapping[str, Any] = {}  # of the camera that shows all of the scene
        self.on("scene", self._note)

    def camera(self) -> mujoco.MjvCamera | None:
        """Return the camera; None before the page has reported it."""
        if not self.pose:
            return None
        camera = mujoco.MjvCamera()
        if 0 <= self.fixed < self._state.model.ncam:
            camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, self.fixed
        elif 0 < self.followed < self._state.model.nbody:
            camera.type, camera.trackbodyid = mujoco.mjtCamera.mjCAMERA_TRACKING, self.followed
        camera.lookat[:] = self.pose["lookat"]
        camera.distance = self.pose["distance"]
        camera.azimuth, camera.elevation = self.pose["azimuth"], self.pose["elevation"]
        return camera

    def view(self) -> str:
        """Return the camera as a text in links, see `linked_camera`; empty before it is known."""
        if 0 <= self.fixed < self._state.model.ncam:
            return str(self._state.model.camera(self.fixed).name)
        if not self.pose:
            return ""
        numbers = *self.pose["lookat"], *(self.pose[name] for name in _NUMBERS)
        return " ".join(f"{number:.5g}" for number in numbers)

    def set_camera(self, **pose: Any) -> None:
        """Set the camera: lookat [m], distance [m], azimuth, elevation [deg], followed or fixed."""
        self.followed = pose.get("followed", self.followed)
        self.fixed = pose.get("fixed", self.fixed)
        self.run_method("setCamera", pose)

    def reset_camera(self) -> None:
        """Return to the initial view."""
        free = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(self._state.model, free)
        self.set_camera(
            azimuth=float(free.azimuth), elevation=float(free.elevation), followed=0, fixed=-1
        )
        self.frame()

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
        # The point changes with each step of a followed body, which gives it again.
        lookat = [0.0, 0.0, 0.0] if self.followed else list(self.pose.get("lookat", ()))
        return {
            "pose": {**self.pose, "lookat": lookat} if is_moved else None,
            "followed": model.body(self.followed).name if 0 < self.followed < model.nbody else "",
            "fixed": model.camera(self.fixed).name if 0 <= self.fixed < model.ncam else "",
        }

    def restore_camera(self, settings: Mapping[str, Any]) -> None:
        """Set the camera to what was kept, as soon as there is a scene."""
        self._wanted_camera = settings
        if self._scene == self._state.metadata["scene"]:
            self._begin()

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
        scene, before = str(self._state.metadata["scene"]), self._model
        self._model = self._state.model
        if scene != self._scene:
            self._scene, self._first_pose = scene, {}
            self.followed, self.fixed = 0, -1  # as on the page
        elif before is not None and before is not self._model:
            followed = _renumbered(_BODY, self.followed, before, self._model)
            fixed = _renumbered(_CAMERA, self.fixed, before, self._model)
            if (followed, fixed) != (self.followed, self.fixed):
                self.set_camera(followed=max(followed, 0), fixed=fixed)
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
    numbers = {name: float(value[name]) for name in _NUMBERS}
    return {"lookat": (x, y, z), **numbers}


def linked_camera(view: str) -> dict[str, Any]:
    """Return the camera of a link, as settings: six numbers of a pose, or the name of a camera."""
    try:
        x, y, z, *others = map(float, view.split())
        numbers = dict(zip(_NUMBERS, others, strict=True))
    except ValueError:
        return {"fixed": view}
    return {"pose": {"lookat": [x, y, z], **numbers}}


def _renumbered(kind: int, number: int, before: mujoco.MjModel, model: mujoco.MjModel) -> int:
    """Return the number of what a model has of the name of a number in the one before; else -1."""
    name = mujoco.mj_id2name(before, kind, number) or "\n"
    return int(mujoco.mj_name2id(model, kind, name))


def _valid_camera(kept: Mapping[str, Any], model: mujoco.MjModel) -> dict[str, Any]:
    """Return what is valid in a kept camera, as of `SceneView.set_camera`."""
    camera: dict[str, Any] = {}
    try:
        pose = _pose(kept["pose"])
        numbers = [*pose["lookat"], *(pose[name] for name in _NUMBERS)]
        if all(abs(number) < _LARGEST for number in numbers) and pose["distance"] > 0.0:
            camera = {**pose, "lookat": list(pose["lookat"])}
    except (KeyError, TypeError, ValueError):
        pass
    for name, kind in (("followed", _BODY), ("fixed", _CAMERA)):
        found = mujoco.mj_name2id(model, kind, str(kept.get(name) or "\n"))
        if found >= 0:
            camera[name] = found
    return camera
