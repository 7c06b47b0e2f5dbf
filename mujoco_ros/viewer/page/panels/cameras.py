"""The panel "Cameras": images of cameras as thumbnails, as a wall, and one that is enlarged."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

from nicegui.element import Element

from mujoco_ros.viewer.clients import CameraKey, ImageKey, ImageKind
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.pictures import SCALE, camera_address, picture
from mujoco_ros.viewer.page.session import Session

_INITIALLY_SELECTED = 2
_THUMBNAIL_WIDTH, _ENLARGED_WIDTH = 320, 640
"""Largest widths of the received images [px]."""


class _Shown:
    """An image on the page."""

    def __init__(self, panel: "CamerasPanel", camera: CameraKey, width: int) -> None:
        self._panel, self._camera, self._width = panel, camera, width
        self._at: tuple[float, float] | None = None  # where the mouse is
        name = label_of(camera)
        is_large = width == _ENLARGED_WIDTH
        self._picture = picture(
            f"{'Close' if is_large else 'Enlarge'} {name}", name, SCALE, self._act
        )

    @property
    def key(self) -> ImageKey:
        return ImageKey(self._camera, self._panel.kind, self._width)

    def refresh(self) -> None:
        """Show the newest image."""
        images, key = self._panel.images, self.key
        image, name = images.newest(key), label_of(self._camera)
        if image is None:
            self._picture.set(src="", text=f"{name}: no image yet", under="", limits=None)
            return
        limits = image.limits
        self._picture.set(
            src=camera_address(key, image.number),
            text=f"{name} at {image.time:.2f} s",
            under="" if self._at is None else images.under(key, *self._at),
            limits=None if limits is None else [f"{limit:.2f} m" for limit in limits],
        )

    def _act(self, event: Mapping[str, Any]) -> None:
        if event.get("press"):
            self._panel.enlarge(self._camera)
        elif "at" in event:
            at = event["at"]
            self._at = None if at is None else (float(at[0]), float(at[1]))


class CamerasPanel(Panel):
    """The images of the selected cameras, received only while they are visible."""

    title = "Cameras"
    area = Area.LEFT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.images = session.shared.camera_images
        self.kind = ImageKind.COLOUR  # the displayed image of each camera
        self.selected: set[CameraKey] = set()
        self.enlarged: CameraKey | None = None
        self.is_wall = False  # whether all selected cameras fill the scene
        self._cameras: list[CameraKey] = []
        self._is_visible = False
        self._thumbnails: list[_Shown] = []
        self._large: list[_Shown] = []

    @property
    def is_needed(self) -> bool:
        return bool(self.images.cameras)

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

    def structure(self) -> Hashable:
        return tuple(self._cameras)

    def update(self) -> None:
        cameras = self.images.cameras
        if cameras != self._cameras:
            self._replace_cameras(cameras)
        shown = [*(self._thumbnails if self._is_visible else []), *self._large]
        wanted = set() if self.session.is_hidden else {each.key for each in shown}
        self.images.want(self.session.client.id, wanted)
        self._is_visible = False
        for each in self._large:
            each.refresh()

    def build(self) -> None:
        self._thumbnails = []
        if not self._cameras:
            widgets.text("The scene has no cameras.", "muted")
            return
        kinds = list(map(str, ImageKind))
        with widgets.row():
            widgets.choice("Kind of image", kinds, str(self.kind), self._set_kind, watch=True)
            self._wall = widgets.button(
                "Wall",
                self._toggle_wall,
                tip="The selected cameras instead of the scene",
                watch=True,
            )
        with Element("div").classes("checks"):
            for camera in self._cameras:
                is_shown, select = camera in self.selected, partial(self._select, camera)
                widgets.check(label_of(camera), is_shown, select, watch=True)
        self._pictures = Element("div").classes("pictures")
        self._show_thumbnails()

    def refresh(self) -> None:
        self._is_visible = True
        if self._cameras:
            self._wall.set(pressed=self.is_wall)
            self._wall.enable(bool(self.selected))
        for each in self._thumbnails:
            each.refresh()

    def handle_escape(self) -> bool:
        was_open = bool(self._large)
        self._close()
        return was_open

    def enlarge(self, camera: CameraKey) -> None:
        """Enlarge a camera, or close it if it is."""
        is_open = self.enlarged == camera or self.is_wall
        self.is_wall, self.enlarged = False, None if is_open else camera
        self._show_large()

    def _close(self) -> None:
        self.is_wall, self.enlarged = False, None
        self._show_large()

    def _toggle_wall(self) -> None:
        self.is_wall, self.enlarged = not self.is_wall, None
        self._show_large()

    def _set_kind(self, kind: str) -> None:
        self.kind = ImageKind(kind)

    def _select(self, camera: CameraKey, selected: bool) -> None:
        (self.selected.add if selected else self.selected.discard)(camera)
        self._show_thumbnails()
        if self.is_wall:
            self._show_large()

    def _replace_cameras(self, cameras: list[CameraKey]) -> None:
        """Keep the selection, even an empty one, unless all its cameras are gone."""
        concerned = self.selected or set(self._cameras)
        self.selected &= set(cameras)
        if concerned.isdisjoint(cameras):
            self.selected = set(cameras[:_INITIALLY_SELECTED])
        self._cameras, self._thumbnails = cameras, []
        if self.enlarged not in cameras:
            self.enlarged = None
        self.is_wall &= bool(self.selected)
        self._show_large()

    def _of_selected(self, width: int) -> list[_Shown]:
        return [_Shown(self, each, width) for each in self._cameras if each in self.selected]

    def _show_thumbnails(self) -> None:
        self._pictures.clear()
        with self._pictures:
            self._thumbnails = self._of_selected(_THUMBNAIL_WIDTH)

    def _show_large(self) -> None:
        """Show the enlarged image or the wall over the scene."""
        stage = self.session.stage
        stage.clear()
        self._large = []
        stage.set_visibility(self.is_wall or self.enlarged is not None)
        if not (self.is_wall or self.enlarged is not None):
            return
        stage.classes(replace="stage wall" if self.is_wall else "stage")
        with stage:
            with widgets.row():
                title = "Cameras" if self.enlarged is None else label_of(self.enlarged)
                widgets.text(f"{title}, {self.kind}", strong=True)
                widgets.button("Close", self._close, watch=True)
            with Element("div").classes("pictures"):
                if self.enlarged is None:
                    self._large = self._of_selected(_ENLARGED_WIDTH)
                else:
                    self._large = [_Shown(self, self.enlarged, _ENLARGED_WIDTH)]


def label_of(camera: CameraKey) -> str:
    """Return the name of a camera on the page."""
    return "/".join(name for name in camera if name)


def _keys(kept: Any) -> list[CameraKey]:
    pairs = [entry for entry in kept if isinstance(entry, list)] if isinstance(kept, list) else []
    return [
        (pair[0], pair[1])
        for pair in pairs
        if len(pair) == 2 and all(isinstance(name, str) for name in pair)
    ]
