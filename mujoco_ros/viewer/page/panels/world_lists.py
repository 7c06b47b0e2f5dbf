"""The lists of the panel "World": models that can be spawned, and worlds that can be loaded."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, ClassVar

import mujoco
import numpy as np
from nicegui.element import Element

from mujoco_ros.viewer.clients import OfferedModel, Request
from mujoco_ros.viewer.dropped_world import DROPPED, DroppedWorld
from mujoco_ros.viewer.free_place import free_place
from mujoco_ros.viewer.page import popups, widgets
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.pictures import image, model_address
from mujoco_ros.viewer.page.pose_fields import PoseFields
from mujoco_ros.viewer.page.session import Session

_START = (0.0, 0.0, 0.5)
_RECENT = "recent"
MOST_RECENT = 8  # recent worlds that are kept


class OfferedList(ABC):
    """A list that is requested once; the user searches it and chooses one item."""

    kind: ClassVar[str]  # what its items are
    tip: ClassVar[str] = ""  # tip of the button that requests it

    def __init__(self, session: Session) -> None:
        """Create the list in the container that is active."""
        self.latest: Request | None = None  # the latest request
        self.chosen: OfferedModel | None = None
        self.session, self.client = session, session.clients.entities
        self._search = ""
        self._built: Hashable = None
        self._images: dict[str, LiveElement] = {}
        self._buttons: dict[str, widgets.Widget] = {}
        with widgets.row() as self.sources:  # of what is in the list
            self._request = widgets.button(f"List {self.kind}s", self._ask, tip=self.tip)
        self._found = Element("div").classes("inner")
        with self._found:
            search = partial(setattr, self, "_search")
            widgets.text_field(f"Search {self.kind}s", search, placeholder=self.kind, eager=True)
            self._list = Element("div").classes("list scrolled")
            self._list._props |= {"role": "group", "aria-label": f"{self.kind}s"}
            self.build_action()

    @abstractmethod
    def offered(self) -> Sequence[OfferedModel]:
        """Return the items; none before they are requested."""

    def is_listed(self) -> bool:
        """Whether the items were requested."""
        return bool(self.offered())

    @abstractmethod
    def request_list(self) -> Request:
        """Request the items."""

    @abstractmethod
    def build_action(self) -> None:
        """Create what acts on the chosen item."""

    @abstractmethod
    def refresh_action(self) -> None:
        """Show what acts on the chosen item."""

    def choose(self, model: OfferedModel) -> None:
        """Choose an item."""
        self.chosen = model

    def refresh(self) -> None:
        """Show the items."""
        offered = self.offered()
        self._request.set(hidden=self.is_listed())
        self._request.enable(self.latest is None or self.latest.ok is not None)
        self._found.set_visibility(bool(offered))
        wanted = self._search.casefold()
        shown = [it for it in offered if wanted in f"{it.file} {it.description}".casefold()]
        content: Hashable = tuple(model.uri for model in shown)
        if content != self._built:
            self._built = content
            self._show(shown)
        for uri, button in self._buttons.items():
            button.set(pressed=self.chosen is not None and uri == self.chosen.uri)
        found = self.session.shared.model_images.found
        for uri, picture in self._images.items():
            if uri in found:
                picture.set(src=model_address(uri))
        self.refresh_action()

    def _show(self, models: Sequence[OfferedModel]) -> None:
        self._list.clear()
        self._images, self._buttons = {}, {}
        with self._list:
            for model in models:
                self._build_item(model)

    def _build_item(self, model: OfferedModel) -> None:
        with Element("div").classes(f"{self.kind}"):
            if self.kind == SpawnList.kind:
                self._images[model.uri] = image("")
            self._buttons[model.uri] = widgets.button(
                model.file, partial(self.choose, model), look="plain", tip=model.uri
            )
            if self.kind == SpawnList.kind or model.description in (_RECENT, DROPPED):
                widgets.text(model.description, "muted")

    def _ask(self) -> None:
        self.latest = self.request_list()


class SpawnList(OfferedList):
    """The models that can be spawned, with their images."""

    kind = "model"
    tip = "The simulator measures each model once"

    def offered(self) -> Sequence[OfferedModel]:
        return self.client.spawnables

    def request_list(self) -> Request:
        return self.client.list_spawnables()

    def build_action(self) -> None:
        self._position, self._is_entered = list(_START), False
        self._name = ""
        self._spawned: Request | None = None
        self.awaited = ""  # URI of the model that was spawned last, until it appears
        self._fields = PoseFields(self._enter, name="New", has_angles=False)
        with widgets.row():
            set_name = partial(setattr, self, "_name")
            self._field = widgets.text_field(
                "Name of the new entity", set_name, placeholder="name", eager=True
            )
            self._free = widgets.button(
                "Free place", self._find_place, tip="A free place in the middle of the view"
            )
            self._spawn = widgets.button("Spawn", self._act, look="main")

    def refresh_action(self) -> None:
        if self._spawned is not None and self._spawned.ok is not None:
            self.awaited = self.awaited if self._spawned.ok else ""
            self._spawned, self._is_entered = None, False
            self._find_place()
        self._fields.show(self._position)
        self._spawn.enable(self.chosen is not None and bool(self._name.strip()))
        self._free.enable(self.chosen is not None)

    def choose(self, model: OfferedModel) -> None:
        """Choose a model, and suggest its name and a place."""
        super().choose(model)
        self._name = model.name
        self._field.set(value=model.name)
        if not self._is_entered:
            self._find_place()

    def _find_place(self) -> None:
        """Suggest a place in the middle of the view that nothing else takes."""
        self._is_entered = False
        state, pose = self.session.state, self.session.scene.pose
        near = np.array(pose.get("lookat", state.model.stat.center), float)
        mujoco.mj_kinematics(state.model, state.data)
        found = free_place(state.model, state.data, near)
        self._position = list(_START) if found is None else found.tolist()

    def _enter(self, index: int, value: float) -> None:
        self._position[index], self._is_entered = value, True

    def _act(self) -> None:
        name = self._name.strip()
        if self.chosen is not None and name:
            position = tuple(round(value, 4) for value in self._position)
            self.awaited = self.chosen.uri
            self.latest = self._spawned = self.client.spawn(name, self.chosen.uri, position)


class WorldList(OfferedList):
    """The worlds that can be loaded, the recent ones first."""

    kind = "world"

    def __init__(self, session: Session) -> None:
        self._dropped: dict[OfferedModel, str] = {}  # texts of dropped files, the newest last
        super().__init__(session)
        with self.sources:
            tip = "A scene, MJCF, URDF or MJB; or drop it on the page"
            choose = widgets.button("Choose a file", lambda: None, tip=tip)
        choose._props["data-action"] = "choose-file"

    def drop(self, dropped: DroppedWorld) -> None:
        """Choose a world that the user has dropped on the page."""
        self._dropped.pop(dropped.model, None)
        self._dropped[dropped.model] = dropped.text
        self.choose(dropped.model)

    def offered(self) -> Sequence[OfferedModel]:
        recent = self.session.shared.recent_worlds
        first = (OfferedModel(uri=uri, description=_RECENT) for uri in recent)
        found: dict[str, OfferedModel] = {}
        for world in (*reversed(self._dropped), *first, *self.client.worlds):
            found.setdefault(world.uri, world)
        return list(found.values())

    def is_listed(self) -> bool:
        return bool(self.client.worlds)

    def request_list(self) -> Request:
        return self.client.list_worlds()

    def build_action(self) -> None:
        with widgets.row():
            self._load = popups.Question("Load", self._act, answer="Load", refuse="Keep this world")
            self._undo = widgets.button("Undo", self._load_before)
        self._before: OfferedModel | None = None  # the world before the last one
        # The request to load a world, and the URIs that it makes recent, the newest first
        self._loading: tuple[Any, ...] = ()

    def refresh_action(self) -> None:
        if self._loading and self._loading[0].ok is not None:
            (request, *uris), self._loading = self._loading, ()
            recent = self.session.shared.recent_worlds
            if request.ok:
                recent[:] = list(dict.fromkeys([*uris, *recent]))[:MOST_RECENT]
        before = self._before
        can_undo = before is not None and self.latest is not None and self.latest.ok is True
        self._undo.set(hidden=not can_undo)
        if before is not None:
            self._undo.set(text=f"Undo: load {before.name} again", tip=before.uri)
        self._load.enable("" if self.chosen is not None else "Choose a world first")
        if self.chosen is not None:
            again = "Undo loads it again as it was at its beginning."
            if self._present is None:
                again = "It is not in the list, so it cannot be loaded again here."
            self._load.set_words(
                f"{self.chosen.name} replaces all robots, objects and past states of this world. "
                f"{again}"
            )

    @property
    def _present(self) -> OfferedModel | None:
        """The present world; None if it is not in the list."""
        name = self.session.state.metadata["scene"]
        return next((world for world in self.offered() if world.name == name), None)

    def _act(self) -> None:
        if self.chosen is not None:
            self._before = self._present
            self._send(self.chosen)
            worlds = filter(None, (self.chosen, self._before))
            self._loading = (self.latest, *(w.uri for w in worlds if not self._dropped.get(w)))

    def _load_before(self) -> None:
        if self._before is not None:
            self._send(self._before)
            self._before = None

    def _send(self, world: OfferedModel) -> None:
        self.latest = self.client.load_world(world.uri, self._dropped.get(world, ""))
