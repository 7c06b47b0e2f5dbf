"""The panel "Cameras": thumbnails of camera images, and one that is enlarged."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.rendering.false_colour import depth_scale
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import CameraKey, ImageClient, ImageKey, ImageKind, Thumbnail
from mujoco_ros.viewer.docks import DOCKS, DockArea
from mujoco_ros.viewer.image_legend import ImageLegend
from mujoco_ros.viewer.overlays.robot_overlays import image_corners
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import combo, fits_in_row, group, text
from mujoco_ros.viewer.style import MIN_THUMBNAIL_WIDTH, SCALE_HEIGHT, window_flags
from mujoco_ros.viewer.web.page import PanelsHidden

_INITIALLY_SELECTED = 2
_IMAGE_WINDOW = window_flags(
    *("NoDecoration", "NoInputs", "NoBackground", "NoBringToFrontOnFocus"),
    *("NoFocusOnAppearing", "NoNav", "NoDocking", "NoSavedSettings"),
)
_LEAST_WIDTH = 48.0  # of an image in the scene [px]
_THUMBNAIL_WIDTH, _ENLARGED_WIDTH = 320, 640
"""Largest widths of the received images [px]."""
_ENLARGED_SHARE = 0.6  # initial share of the page that the enlarged image takes


class CamerasPanel(Panel):
    """Thumbnails of the selected cameras, subscribed only while visible; a click enlarges one."""

    title = "Cameras"
    area = DockArea.LEFT_BELOW

    def __init__(
        self, state: SharedState, images: ImageClient, in_scene: Callable[[], bool]
    ) -> None:
        """Show cameras of a state; `in_scene` returns whether images are in the scene, too."""
        super().__init__(state)
        self._in_scene = in_scene
        self.selected: set[CameraKey] = set()  # the selected cameras
        self.kind = ImageKind.COLOUR  # the displayed image of each camera
        self.enlarged: CameraKey | None = None  # the enlarged camera, if any
        self._images = images
        self._cameras: list[CameraKey] = []
        self._subscribed: set[ImageKey] = set()
        self._textures: dict[ImageKey, int] = {}
        self._uploaded: dict[ImageKey, int] = {}
        self._scale = 0
        self._legend = ImageLegend(state)
        self._is_visible = False

    def update(self) -> None:
        """Subscribe to the images that were visible in the last frame and upload new ones."""
        cameras = [(camera.namespace, camera.name) for camera in self.state.layout.every_camera]
        if cameras != self._cameras:
            self._replace_cameras(cameras)
        is_shown = self._is_visible or self._in_scene()
        shown = {self._thumbnail(camera) for camera in self.selected if is_shown}
        if self.enlarged:
            shown.add(self._large(self.enlarged))
        self._subscribe(shown)
        for key in self._subscribed:
            image = self._images.newest.get(key)
            if image is not None and self._uploaded.get(key) != image.number:
                self._upload(key, image)
        self._is_visible = False

    def _replace_cameras(self, cameras: list[CameraKey]) -> None:
        """Keep the selection, even an empty one, unless all its cameras are gone."""
        concerned = self.selected or set(self._cameras)
        self.selected &= set(cameras)
        if concerned.isdisjoint(cameras):
            self.selected = set(cameras[:_INITIALLY_SELECTED])
        self._cameras = cameras
        if self.enlarged not in cameras:
            self.enlarged = None

    @messages.handler
    def on_panels_hidden(self, _: PanelsHidden) -> None:
        self._subscribe(set())

    @messages.handler
    def on_exit(self, _: messages.ExitEvent) -> None:
        self._subscribe(set())

    @messages.handler(priority=messages.Priority.USER)
    def on_build_images(self, _: messages.BuildGuiEvent) -> None:
        if self._in_scene() and self.state.shown is None:
            self._guard("images in the scene", self._build_images)

    def _build_images(self) -> None:
        viewer, projection = self.viewer, self._projection()
        if projection is None or viewer.model.ncam != self.state.model.ncam:
            return
        for camera in self.state.layout.every_camera:
            key = self._thumbnail((camera.namespace, camera.name))
            image = self._images.newest.get(key)
            if key.camera not in self.selected or key not in self._textures or image is None:
                continue
            projected = [
                projection.project(corner) for corner in image_corners(viewer.data, camera)
            ]
            corners = [corner for corner in projected if corner is not None]
            if len(corners) == len(projected):
                self._build_image_in_scene(key, image, np.array(corners))

    def _build_image_in_scene(self, key: ImageKey, image: Thumbnail, corners: np.ndarray) -> None:
        """Build an upright image in the middle of the projected corners [px].  # (4, 2)"""
        rows, columns = image.pixels.shape[:2]
        width = float(np.linalg.norm(corners[[0, 3]].mean(axis=0) - corners[[1, 2]].mean(axis=0)))
        width = min(max(width, _LEAST_WIDTH), float(key.max_width))
        height = width * rows / columns
        x, y = corners.mean(axis=0) - 0.5 * np.array([width, height])
        imgui.SetNextWindowPos(imgui.Vec2(x, y))
        imgui.SetNextWindowSize(imgui.Vec2(width, height))
        imgui.PushStyleVar(imgui.StyleVar.WindowPadding, imgui.Vec2(0.0, 0.0))
        imgui.Begin(f"##in scene {key.camera}", None, _IMAGE_WINDOW)
        imgui.PopStyleVar()
        imgui.Image(self._textures[key], imgui.Vec2(width, height))
        imgui.End()

    def windows(self) -> Iterator[tuple[str, Callable[[], None]]]:
        if self._cameras:
            yield from super().windows()

    def settings(self) -> dict[str, Any]:
        """Return the selected cameras, the cameras of an empty selection, and the kind of image."""
        none_of = [] if self.selected else self._cameras
        return {
            "selected": sorted(map(list, self.selected)),
            "none_of": list(map(list, none_of)),
            "kind": str(self.kind),
        }

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Set what is valid among kept settings; cameras of other models are not selected."""
        self.selected = set(_keys(settings.get("selected")))
        self._cameras = [] if self.selected else _keys(settings.get("none_of"))
        if settings.get("kind") in list(ImageKind):
            self.kind = ImageKind(settings["kind"])

    def build(self) -> None:
        self._is_visible = True
        if (kind := combo("image", self.kind, list(ImageKind))) is not None:
            self.kind = ImageKind(kind)
        for index, camera in enumerate(self._cameras):
            label = _label(camera)
            if index and fits_in_row(f"xx{label}"):
                imgui.SameLine()
            _, is_selected = imgui.Checkbox(label, camera in self.selected)
            (self.selected.add if is_selected else self.selected.discard)(camera)
        self._build_thumbnails([camera for camera in self._cameras if camera in self.selected])

    def handle_escape(self) -> bool:
        was_open, self.enlarged = self.enlarged is not None, None
        return was_open

    def _build_windows(self) -> None:
        super()._build_windows()
        if self.enlarged:
            self._guard("enlarged image", self._build_enlarged)

    def _build_thumbnails(self, cameras: list[CameraKey]) -> None:
        room, gap = imgui.GetContentRegionAvail().x, imgui.GetStyle().ItemSpacing.x
        columns = int((room + gap) // (MIN_THUMBNAIL_WIDTH + gap))
        columns = max(min(columns, len(cameras)), 1)
        width = (room - (columns - 1) * gap) / columns
        for index, camera in enumerate(cameras):
            if index % columns:
                imgui.SameLine()
            with group():
                if self._build_image(self._thumbnail(camera), width, math.inf):
                    self.enlarged = None if self.enlarged == camera else camera

    def _build_enlarged(self) -> None:
        assert self.enlarged is not None
        page = imgui.GetIO().DisplaySize
        middle = imgui.Vec2(0.5 * page.x, 0.5 * page.y)
        size = imgui.Vec2(_ENLARGED_SHARE * page.x, _ENLARGED_SHARE * page.y)
        imgui.SetNextWindowPos(middle, int(imgui.Cond.FirstUseEver), imgui.Vec2(0.5, 0.5))
        imgui.SetNextWindowSize(size, int(imgui.Cond.FirstUseEver))
        title = f"{_label(self.enlarged)}, {self.kind}###enlarged camera"
        with DOCKS.window(title, closable=True) as (is_visible, is_open):
            is_closed = not is_open
            if is_visible:
                room = imgui.GetContentRegionAvail()
                below = 3.0 * imgui.GetTextLineHeightWithSpacing() + SCALE_HEIGHT
                is_closed |= self._build_image(self._large(self.enlarged), room.x, room.y - below)
        if is_closed:
            self.enlarged = None

    def _build_image(self, key: ImageKey, width: float, height: float) -> bool:
        """Build an image within a width and a height, and its caption; return whether clicked."""
        image = self._images.newest.get(key)
        if image is None or key not in self._textures:
            text(f"{_label(key.camera)}: no image yet")
            return False
        rows, columns = image.pixels.shape[:2]
        width = max(min(width, height * columns / rows), 1.0)
        size = imgui.Vec2(width, width * rows / columns)
        imgui.PushStyleVar(imgui.StyleVar.FramePadding, imgui.Vec2(0.0, 0.0))
        clicked = imgui.ImageButton(f"##{key.max_width} {key.camera}", self._textures[key], size)
        imgui.PopStyleVar()
        if imgui.IsItemHovered() and (under := self._under_mouse(image)):
            imgui.SetTooltip(under)
        text(f"{_label(key.camera)} at {image.time:.2f} s")
        if image.limits is not None:
            self._build_scale(width, *image.limits)
        return bool(clicked)

    def _build_scale(self, width: float, near: float, far: float) -> None:
        """Build the colour scale of depth with the distances of its ends [m]."""
        imgui.Image(self._scale, imgui.Vec2(width, SCALE_HEIGHT))
        right = f"{far:.2f} m"
        start = imgui.GetCursorPosX()
        text(f"{near:.2f} m")
        imgui.SameLine()
        imgui.SetCursorPosX(start + max(width - imgui.CalcTextSize(right).x, 0.0))
        imgui.TextUnformatted(right)

    def _under_mouse(self, image: Thumbnail) -> str:
        mouse, corner, size = imgui.GetMousePos(), imgui.GetItemRectMin(), imgui.GetItemRectSize()
        right, down = (mouse.x - corner.x) / size.x, (mouse.y - corner.y) / size.y
        return self._legend.under(image, right, down)

    def _upload(self, key: ImageKey, image: Thumbnail) -> None:
        rows, columns = image.pixels.shape[:2]
        self._textures[key] = self.viewer.upload_image(
            self._textures.get(key, 0), image.pixels.tobytes(), columns, rows, 3
        )
        self._uploaded[key] = image.number
        if image.limits is not None and not self._scale:
            scale = depth_scale()
            self._scale = self.viewer.upload_image(0, scale.tobytes(), scale.shape[1], 1, 3)

    def _thumbnail(self, camera: CameraKey) -> ImageKey:
        return ImageKey(camera, self.kind, _THUMBNAIL_WIDTH)

    def _large(self, camera: CameraKey) -> ImageKey:
        return ImageKey(camera, self.kind, _ENLARGED_WIDTH)

    def _subscribe(self, keys: set[ImageKey]) -> None:
        for key in self._subscribed - keys:
            self._images.unsubscribe(key)
            self._uploaded.pop(key, None)
        for key in keys - self._subscribed:
            self._images.subscribe(key)
        self._subscribed = set(keys)


def _label(camera: CameraKey) -> str:
    return "/".join(name for name in camera if name)


def _keys(kept: Any) -> list[CameraKey]:
    pairs = [entry for entry in kept if isinstance(entry, list)] if isinstance(kept, list) else []
    return [
        (pair[0], pair[1])
        for pair in pairs
        if len(pair) == 2 and all(isinstance(name, str) for name in pair)
    ]
