"""The panel "World": the entities with their parts, and models and worlds to add or load."""

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import mujoco
import numpy as np
from nicegui.element import Element

from mujoco_ros.model.scene.entities import Entity
from mujoco_ros.viewer.clients import OfferedModel, Request
from mujoco_ros.viewer.dropped_world import DroppedWorld
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.details import Details
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.panels.world_entity import OpenEntity
from mujoco_ros.viewer.page.panels.world_lists import (
    MOST_RECENT,
    OfferedList,
    SpawnList,
    WorldList,
)
from mujoco_ros.viewer.page.request_result import RequestResult
from mujoco_ros.viewer.page.session import Session

_SPAWN, _LOAD = "Spawn", "Load world"
_MOST_SENT = 5  # requests that are remembered


class _Deleted(NamedTuple):
    """An entity that was deleted, and what brings it back."""

    name: str
    uri: str  # of its model
    position: np.ndarray  # [m] (3,)
    quat_wxyz: np.ndarray  # (4,)
    request: Request  # the deletion


class WorldPanel(Panel):
    """Shows, places, resets and deletes entities, spawns models, and loads worlds."""

    title = "World"
    area = Area.RIGHT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._displays = session.shared.displays
        self._images = session.shared.model_images
        self._pictured: Sequence[OfferedModel] = ()
        self._is_prepared = False
        self._open: dict[str, OpenEntity] = {}
        self._details: dict[str, Details] = {}
        self._lists: dict[str, OfferedList] = {}
        self._deleted: _Deleted | None = None
        self._restored: tuple[_Deleted, Request] | None = None  # being spawned again
        self._sent: list[Request] = []  # latest requests of entities that were open
        self._model: mujoco.MjModel | None = None  # the model whose entities are shown
        self._names: set[str] = set()  # the names of these entities
        self._dropped: DroppedWorld | None = None  # which the list of worlds has to show
        # The failed request of a file, and the latest one before it
        self._refused: tuple[Request, Request | None] | None = None

    def settings(self) -> dict[str, Any]:
        recent = {"recent_worlds": list(self.session.shared.recent_worlds)}
        return {**self._displays.settings(), **recent}

    def restore(self, settings: Mapping[str, Any]) -> None:
        self._displays.restore(settings)
        kept, known = settings.get("recent_worlds"), self.session.shared.recent_worlds
        if isinstance(kept, list):
            known += [uri for uri in kept if isinstance(uri, str) and uri not in known]
            del known[MOST_RECENT:]

    def offer(self, dropped: DroppedWorld | Request) -> None:
        """Choose a world that was dropped on the page, or show why it is none."""
        if isinstance(dropped, Request):
            self._refused = dropped, self.clients.latest_request()
        else:
            self._dropped, self._refused = dropped, None

    def structure(self) -> Hashable:
        return self.is_replay

    def rebuild(self) -> None:
        """Keep the list of worlds, with its undo: `refresh` shows all that is restored."""

    def update(self) -> None:
        client = self.clients.entities
        responds = bool(self.clients.simulation.status)
        if responds and not self._is_prepared and not self.is_replay:
            client.prepare()
        self._is_prepared = responds
        # The parameters name the folders of files.
        if client.spawnables is not self._pictured and self.clients.parameters.known:
            self._pictured = client.spawnables
            self._images.request([model.uri for model in client.spawnables])
        self._turn_restored()

    def build(self) -> None:
        self._lists = {}
        self._entities = Element("div")
        self._build_entities()
        if self.is_replay:
            return
        with Element("div"):
            for title, kind in ((_SPAWN, SpawnList), (_LOAD, WorldList)):
                fill = partial(self._fill_list, title, kind)
                self._details[title] = Details(title, fill, partial(self._note, title))
        self._undo = widgets.button("Undo", self._bring_back)
        self._result = RequestResult()

    def refresh(self) -> None:
        if self.state.model is not self._model:
            self._build_entities()
        if self._dropped is not None and not self.is_replay:
            if not self._details[_LOAD].is_open:
                self._details[_LOAD].show()
            worlds = self._lists[_LOAD]
            assert isinstance(worlds, WorldList)
            worlds.drop(self._dropped)
            self._dropped = None
        for entity in self._open.values():
            entity.refresh()
        for offered in self._lists.values():
            offered.refresh()
        if self.is_replay:
            return
        deleted = self._deleted
        can_undo = deleted is not None and deleted.request.ok is True and bool(deleted.uri)
        self._undo.set(hidden=not can_undo)
        if deleted is not None and can_undo:
            self._undo.set(text=f"Undo: spawn {deleted.name} again", tip=deleted.uri)
        latest = self.clients.latest_request()
        sent = [each.latest for each in self._open.values()]
        own = [*sent, *(each.latest for each in self._lists.values()), *self._sent]
        if self._refused is not None and self._refused[1] is latest:
            self._result.show(self._refused[0])
        elif any(latest is request for request in own):
            self._result.show(latest)

    def _build_entities(self) -> None:
        """Create the titles of the entities, of which those stay open that were."""
        self._model, names = self.state.model, set(self._displays.entities)
        spawn = self._lists.get(_SPAWN)
        if isinstance(spawn, SpawnList) and spawn.awaited and self._names:
            new = names - self._names
            self.session.shared.spawned.update(dict.fromkeys(new, spawn.awaited))
            spawn.awaited = "" if new else spawn.awaited
        self._names = names
        opened, self._open = self._open, {}
        self._sent = [*self._sent, *(each.latest for each in opened.values() if each.latest)]
        del self._sent[:-_MOST_SENT]
        acts = not self.is_replay
        self._entities.clear()
        with self._entities:
            for entity in list(self._displays.entities.values()):
                fill = partial(self._fill, entity, acts=acts)
                toggled = partial(self._note, entity.name)
                node = Details(f"{entity.name} ({entity.kind})", fill, toggled)
                if entity.name in opened:
                    node.show()

    def _fill(self, entity: Entity, *, acts: bool) -> None:
        self._open[entity.name] = OpenEntity(self.session, entity, self._delete, acts=acts)

    def _fill_list(self, title: str, kind: type[OfferedList]) -> None:
        self._lists[title] = kind(self.session)

    def _note(self, name: str, is_open: bool) -> None:
        if not is_open:
            self._open.pop(name, None)
            self._lists.pop(name, None)

    def _delete(self, entity: Entity) -> None:
        data, root, offset = self.state.data, entity.root, entity.offset
        is_body = root > 0
        request = self.clients.entities.delete(entity.name)
        self._sent.append(request)
        self._deleted = _Deleted(
            entity.name,
            self.session.shared.spawned.get(entity.name, ""),
            data.xpos[root].copy() if is_body else offset[:3],
            data.xquat[root].copy() if is_body else offset[3:],
            request,
        )

    def _bring_back(self) -> None:
        if self._deleted is not None:
            deleted, self._deleted = self._deleted, None
            position = tuple(map(float, deleted.position))
            request = self.clients.entities.spawn(deleted.name, deleted.uri, position)
            self._sent.append(request)
            self._restored = deleted, request

    def _turn_restored(self) -> None:
        """Turn an entity as before that was spawned again: it was spawned upright."""
        if self._restored is None or self._restored[1].ok is None:
            return
        (deleted, request), self._restored = self._restored, None
        if request.ok and abs(deleted.quat_wxyz[0]) < 1.0 - 1e-6:
            place = self.clients.entities.place
            self._sent.append(place(deleted.name, deleted.position, deleted.quat_wxyz))
