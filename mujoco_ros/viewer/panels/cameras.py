"""The panel "Cameras": what the cameras see, small, for as long as somebody looks."""

from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.docks import DockPlace
from mujoco_ros.viewer.link import SimulatorLink, Thumbnail
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import room_for, text
from mujoco_ros.viewer.web.page import Unseen

Key = tuple[str, str]
"""A camera, by the namespace of its robot and its name."""

_TICKED_AT_FIRST = 2
_LEAST_WIDTH = 150.0
"""A thumbnail is at least so wide [pixels]; as many as fit are in a row."""


class CamerasPanel(Panel):
    """Thumbnails of the cameras that are ticked; nothing is asked for while the window is hidden.

    Attributes:
        ticked: The cameras to show.
    """

    title = "Cameras"
    place = DockPlace.LEFT_BELOW

    def __init__(self, state: SharedState, link: SimulatorLink) -> None:
        """Show the cameras of `state`, as `link` gets their images."""
        super().__init__(state, link)
        self.ticked: set[Key] = set()
        self._known: list[Key] = []
        self._watched: set[Key] = set()
        self._textures: dict[Key, int] = {}
        self._uploaded: dict[Key, int] = {}
        self._is_seen = False

    def update(self) -> None:
        """Ask for what was seen in the last frame, and upload what has come."""
        keys = [(camera.namespace, camera.name) for camera in self.state.layout.every_camera]
        if keys != self._known:
            self._known = keys
            self.ticked = (self.ticked & set(keys)) or set(keys[:_TICKED_AT_FIRST])
        self._watch(self.ticked if self._is_seen else set())
        for key in self._watched:
            picture = self.link.picture(*key)
            if picture is not None and self._uploaded.get(key) != picture.number:
                self._upload(key, picture)
        self._is_seen = False

    @messages.handler
    def on_unseen(self, _: Unseen) -> None:
        """Ask for nothing, as nobody looks at the page."""
        self._watch(set())

    @messages.handler
    def on_exit(self, _: messages.ExitEvent) -> None:
        """Ask for nothing any more."""
        self._watch(set())

    def build(self) -> None:
        """Build a box to tick per camera, and below them the thumbnails."""
        self._is_seen = True
        if not self._known:
            text("The model has no cameras.")
            return
        for index, key in enumerate(self._known):
            label = "/".join(part for part in key if part)
            if index and room_for(f"xx{label}"):
                imgui.SameLine()
            _, is_ticked = imgui.Checkbox(label, key in self.ticked)
            (self.ticked.add if is_ticked else self.ticked.discard)(key)
        shown = [key for key in self._known if key in self.ticked]
        self._build_thumbnails(shown)

    def _build_thumbnails(self, shown: list[Key]) -> None:
        room, gap = imgui.GetContentRegionAvail().x, imgui.GetStyle().ItemSpacing.x
        in_row = max(min(int((room + gap) // (_LEAST_WIDTH + gap)), len(shown)), 1)
        width = (room - (in_row - 1) * gap) / in_row
        for index, key in enumerate(shown):
            if index % in_row:
                imgui.SameLine()
            imgui.BeginGroup()
            try:
                self._build_thumbnail(key, width)
            finally:
                imgui.EndGroup()

    def _build_thumbnail(self, key: Key, width: float) -> None:
        picture, label = self.link.picture(*key), "/".join(part for part in key if part)
        if picture is None or key not in self._textures:
            text(f"{label}: no image yet")
            return
        height, columns = picture.pixels.shape[:2]
        size = imgui.Vec2(width, width * height / columns)
        imgui.Image(self._textures[key], size)
        text(f"{label} at {picture.time:.2f} s")

    def _upload(self, key: Key, picture: Thumbnail) -> None:
        height, width = picture.pixels.shape[:2]
        self._textures[key] = self.viewer.upload_image(
            self._textures.get(key, 0), picture.pixels.tobytes(), width, height, 3
        )
        self._uploaded[key] = picture.number

    def _watch(self, wanted: set[Key]) -> None:
        for key in self._watched - wanted:
            self.link.unwatch(*key)
            self._uploaded.pop(key, None)
        for key in wanted - self._watched:
            self.link.watch(*key)
        self._watched = set(wanted)
