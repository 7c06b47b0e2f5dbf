"""The panel "Cameras": thumbnails of camera images."""

from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import CameraKey, ImageClient, Thumbnail
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import fits_in_row, group, text
from mujoco_ros.viewer.style import MIN_THUMBNAIL_WIDTH
from mujoco_ros.viewer.web.page import PanelsHidden

_INITIALLY_SELECTED = 2


class CamerasPanel(Panel):
    """Thumbnails of the selected cameras, subscribed only while the window is visible.

    Attributes:
        selected: The selected cameras.
    """

    title = "Cameras"
    area = DockArea.LEFT_BELOW

    def __init__(self, state: SharedState, images: ImageClient) -> None:
        super().__init__(state)
        self.selected: set[CameraKey] = set()
        self._images = images
        self._cameras: list[CameraKey] = []
        self._subscribed: set[CameraKey] = set()
        self._textures: dict[CameraKey, int] = {}
        self._uploaded: dict[CameraKey, int] = {}
        self._is_visible = False

    def update(self) -> None:
        """Subscribe to the cameras that were visible in the last frame and upload new images."""
        cameras = [(camera.namespace, camera.name) for camera in self.state.layout.every_camera]
        if cameras != self._cameras:
            self._cameras = cameras
            kept = self.selected & set(cameras)
            self.selected = kept or set(cameras[:_INITIALLY_SELECTED])
        self._subscribe(self.selected if self._is_visible else set())
        for camera in self._subscribed:
            image = self._images.newest.get(camera)
            if image is not None and self._uploaded.get(camera) != image.number:
                self._upload(camera, image)
        self._is_visible = False

    @messages.handler
    def on_panels_hidden(self, _: PanelsHidden) -> None:
        """End all subscriptions."""
        self._subscribe(set())

    @messages.handler
    def on_exit(self, _: messages.ExitEvent) -> None:
        """End all subscriptions."""
        self._subscribe(set())

    def build(self) -> None:
        """Build a checkbox per camera and the thumbnails below."""
        self._is_visible = True
        if not self._cameras:
            text("The model has no cameras.")
            return
        for index, camera in enumerate(self._cameras):
            label = _label(camera)
            if index and fits_in_row(f"xx{label}"):
                imgui.SameLine()
            _, is_selected = imgui.Checkbox(label, camera in self.selected)
            (self.selected.add if is_selected else self.selected.discard)(camera)
        self._build_thumbnails([camera for camera in self._cameras if camera in self.selected])

    def _build_thumbnails(self, cameras: list[CameraKey]) -> None:
        """Build as many thumbnails per row as fit."""
        room, gap = imgui.GetContentRegionAvail().x, imgui.GetStyle().ItemSpacing.x
        columns = int((room + gap) // (MIN_THUMBNAIL_WIDTH + gap))
        columns = max(min(columns, len(cameras)), 1)
        width = (room - (columns - 1) * gap) / columns
        for index, camera in enumerate(cameras):
            if index % columns:
                imgui.SameLine()
            with group():
                self._build_thumbnail(camera, width)

    def _build_thumbnail(self, camera: CameraKey, width: float) -> None:
        image = self._images.newest.get(camera)
        if image is None or camera not in self._textures:
            text(f"{_label(camera)}: no image yet")
            return
        rows, columns = image.pixels.shape[:2]
        imgui.Image(self._textures[camera], imgui.Vec2(width, width * rows / columns))
        text(f"{_label(camera)} at {image.time:.2f} s")

    def _upload(self, camera: CameraKey, image: Thumbnail) -> None:
        rows, columns = image.pixels.shape[:2]
        self._textures[camera] = self.viewer.upload_image(
            self._textures.get(camera, 0), image.pixels.tobytes(), columns, rows, 3
        )
        self._uploaded[camera] = image.number

    def _subscribe(self, cameras: set[CameraKey]) -> None:
        for camera in self._subscribed - cameras:
            self._images.unsubscribe(camera)
            self._uploaded.pop(camera, None)
        for camera in cameras - self._subscribed:
            self._images.subscribe(camera)
        self._subscribed = set(cameras)


def _label(camera: CameraKey) -> str:
    return "/".join(part for part in camera if part)
