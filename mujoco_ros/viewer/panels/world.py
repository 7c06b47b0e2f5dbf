"""The panel "World": the entities with their parts, and models and worlds to add or load."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import style
from mujoco_ros.viewer.client_set import Clients, EntityClient, OfferedModel
from mujoco_ros.viewer.clients import Request, is_replay
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.file_request import files_of_clients
from mujoco_ros.viewer.model_images import ModelImages
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.entity_tree import EntityTree
from mujoco_ros.viewer.panels.panel import Panel

_START = (0.0, 0.0, 0.5)
_SPEED_M = 0.01


class OfferedList(ABC):
    """A list that is requested once; the user searches it and chooses one item."""

    title: ClassVar[str]  # title above it
    kind: ClassVar[str]  # what its items are
    tip: ClassVar[str] = ""  # tip of the button that requests it
    height: ClassVar[float] = style.MODEL_LIST_HEIGHT  # its height [px]

    def __init__(self, client: EntityClient) -> None:
        self.chosen = ""  # URI of the chosen item; empty without one
        self.latest: Request | None = None  # the latest request
        self._client = client
        self._search = ""
        self._listing: Request | None = None

    @abstractmethod
    def offered(self) -> Sequence[OfferedModel]:
        """Return the items; none before they are requested."""

    @abstractmethod
    def request_list(self) -> Request:
        """Request the items."""

    @abstractmethod
    def build_action(self, chosen: OfferedModel | None) -> None:
        """Build what acts on the chosen item."""

    def choose(self, chosen: OfferedModel) -> None:
        self.chosen = chosen.uri

    def build(self) -> None:
        models = self.offered()
        if not models:
            is_listing = self._listing is not None and self._listing.ok is None
            if widgets.button(f"List {self.kind}s", enabled=not is_listing, tip=self.tip):
                self._listing = self.latest = self.request_list()
            return
        imgui.SetNextItemWidth(style.FILL)
        name = f"##search {self.kind}"
        _, self._search = imgui.InputTextWithHint(name, self.kind, self._search)
        wanted = self._search.casefold()
        with widgets.child(f"{self.kind}s", height=self.height) as is_visible:
            for model in models if is_visible else ():
                if wanted in f"{model.file} {model.description}".casefold():
                    self.build_item(model)
        self.build_action(next((model for model in models if model.uri == self.chosen), None))

    def build_item(self, model: OfferedModel) -> None:
        if imgui.Selectable(f"{model.file}##{model.uri}", model.uri == self.chosen):
            self.choose(model)
        imgui.SetItemTooltip(model.description)


class SpawnList(OfferedList):
    """The models that can be spawned, with their images."""

    title, kind = "Spawn", "model"
    tip = "The simulator measures each model once."
    height = style.IMAGE_LIST_HEIGHT

    def __init__(
        self,
        client: EntityClient,
        images: ModelImages,
        upload: Callable[[int, np.ndarray], int],
    ) -> None:
        """List the models of a client; `upload` writes an image to a texture, 0 is a new one."""
        super().__init__(client)
        self._images, self._upload = images, upload
        self._textures: dict[str, tuple[np.ndarray, int]] = {}
        self.name = ""  # name of the next entity
        self.position = list(_START)  # its position in the world [m]

    def offered(self) -> Sequence[OfferedModel]:
        return self._client.spawnables

    def request_list(self) -> Request:
        return self._client.list_spawnables()

    def build_item(self, model: OfferedModel) -> None:
        """Build an item with its image, as soon as that is there."""
        image = self._images.found.get(model.uri)
        size, start = imgui.Vec2(*style.IMAGE_SIZE), imgui.GetCursorPosY()
        if image is None:
            imgui.Dummy(size)
        else:
            shown, texture = self._textures.get(model.uri, (None, 0))
            if shown is not image:
                texture = self._upload(texture, image)
                self._textures[model.uri] = image, texture
            imgui.Image(texture, size)
        imgui.SameLine()
        imgui.SetCursorPosY(start + 0.5 * (size.y - imgui.GetTextLineHeight()))
        super().build_item(model)

    def choose(self, chosen: OfferedModel) -> None:
        """Choose a model and suggest its name."""
        super().choose(chosen)
        self.name = chosen.name

    def build_action(self, chosen: OfferedModel | None) -> None:
        widgets.drag_position(self.position, _SPEED_M)
        imgui.SetNextItemWidth(-imgui.CalcTextSize("Spawn").x - 20.0)
        _, self.name = imgui.InputTextWithHint("##entity", "name", self.name)
        imgui.SameLine()
        name = self.name.strip()
        if widgets.button("Spawn", enabled=bool(chosen and name)) and chosen:
            self.latest = self._client.spawn(name, chosen.uri, self.position)


class WorldList(OfferedList):
    """The worlds that can be loaded."""

    title, kind = "Load world", "world"

    def offered(self) -> Sequence[OfferedModel]:
        return self._client.worlds

    def request_list(self) -> Request:
        return self._client.list_worlds()

    def build_action(self, chosen: OfferedModel | None) -> None:
        """Build a button, and a question: the present world is lost."""
        if widgets.button("Load", enabled=chosen is not None):
            imgui.OpenPopup("load world")
        with widgets.popup("load world") as is_open:
            if not is_open or chosen is None:
                return
            widgets.text("All robots, objects and past states are replaced.")
            if widgets.button(f"Load {chosen.name}"):
                self.latest = self._client.load_world(chosen.uri)
                imgui.CloseCurrentPopup()


class WorldPanel(Panel):
    """Shows, places, resets and deletes entities, spawns models, and loads worlds."""

    title = "World"
    area = DockArea.RIGHT

    def __init__(self, state: SharedState, clients: Clients, displays: EntityDisplays) -> None:
        super().__init__(state)
        self._clients, self._displays = clients, displays
        self._tree = EntityTree(state, clients.entities, displays)
        self._images = ModelImages(files_of_clients(clients.parameters))
        self._pictured: Sequence[OfferedModel] = ()
        self._spawn = SpawnList(clients.entities, self._images, self._upload)
        self._worlds = WorldList(clients.entities)
        self._is_prepared = False

    def update(self) -> None:
        responds = bool(self._clients.simulation.status)
        if responds and not self._is_prepared and not is_replay(self._clients.parameters):
            self._clients.entities.prepare()
        self._is_prepared = responds
        models = self._clients.entities.spawnables
        # The parameters name the folders of files.
        if models is not self._pictured and self._clients.parameters.known:
            self._pictured = models
            self._images.request([model.uri for model in models])

    @messages.handler
    def on_exit(self, _: messages.ExitEvent) -> None:
        self._images.close()

    def settings(self) -> dict[str, Any]:
        return self._displays.settings()

    def restore(self, settings: Mapping[str, Any]) -> None:
        self._displays.restore(settings)

    def _upload(self, texture: int, image: np.ndarray) -> int:
        rows, columns = image.shape[:2]
        return int(self.viewer.upload_image(texture, image.tobytes(), columns, rows, 3))

    def build(self) -> None:
        acts = not is_replay(self._clients.parameters)
        for entity in list(self._displays.entities.values()):
            self._tree.build(entity, self.viewer, acts=acts)
        if not acts:
            return
        for offered in (self._spawn, self._worlds):
            imgui.SeparatorText(offered.title)
            offered.build()
        sent = (self._tree.latest, self._spawn.latest, self._worlds.latest)
        latest = self._clients.latest_request()
        if latest is not None and any(latest is request for request in sent):
            imgui.Separator()
            widgets.request_result(latest)
