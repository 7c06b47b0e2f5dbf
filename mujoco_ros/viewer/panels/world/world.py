"""The panel "World": the entities with their parts, and models and worlds to add or load."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.clients import is_replay
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.entity_client import OfferedModel
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.file_request import files_of_clients
from mujoco_ros.viewer.model_images import ModelImages
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.world.entity_tree import EntityTree
from mujoco_ros.viewer.panels.world.offered_lists import SpawnList, WorldList


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
        """Discover the services when the simulator responds; request images of new lists."""
        responds = bool(self._clients.simulation.status)
        if responds and not self._is_prepared and not is_replay(self._clients.parameters):
            self._clients.entities.prepare()
        self._is_prepared = responds
        models = self._clients.entities.spawnables
        # The parameters name the folders of files.
        if models is not self._pictured and self._clients.parameters.known:
            self._pictured = models
            self._images.request([it.uri for it in models])

    @messages.handler
    def on_exit(self, _: messages.ExitEvent) -> None:
        """End the process that makes images."""
        self._images.close()

    def settings(self) -> dict[str, Any]:
        """Return what is shown of the entities."""
        return self._displays.settings()

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Set what is valid among kept settings."""
        self._displays.restore(settings)

    def _upload(self, texture: int, image: np.ndarray) -> int:
        rows, columns = image.shape[:2]
        return int(self.viewer.upload_image(texture, image.tobytes(), columns, rows, 3))

    def build(self) -> None:
        """Build a node per entity, and models and worlds below, but not in a replay."""
        acts = not is_replay(self._clients.parameters)
        for entity in list(self._displays.entities.values()):
            self._tree.build(entity, self.viewer, acts=acts)
        if not acts:
            return
        for part in (self._spawn, self._worlds):
            imgui.SeparatorText(part.title)
            part.build()
        sent = (self._tree.latest, self._spawn.latest, self._worlds.latest)
        latest = self._clients.latest_request()
        if latest is not None and any(latest is it for it in sent):
            imgui.Separator()
            widgets.request_result(latest)
