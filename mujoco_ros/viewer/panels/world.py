"""The panel "World": the entities with their links, and models to spawn."""

from collections.abc import Callable, Iterator

import mujoco
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import Clients, Request, is_replay
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.following import CameraFollows, followed
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.style import COORDINATE_GAP, FILL, MODEL_LIST_HEIGHT

_COLUMNS = (("entity", 1.0), ("follow", 0.0), ("delete", 0.0))
_START = (0.0, 0.0, 0.5)
_SPEED_M = 0.01
_INDENT = "  "


class WorldPanel(Panel):
    """Selects bodies, lets the camera follow entities, deletes them, and spawns models.

    Attributes:
        chosen: URI of the model to spawn.
        name: Name of the next entity.
        position: Its position in the world [m].
    """

    title = "World"
    area = DockArea.RIGHT

    def __init__(self, state: SharedState, clients: Clients) -> None:
        super().__init__(state)
        self.chosen = self.name = ""
        self.position = list(_START)
        self._clients = clients
        self._search = ""
        self._listing: Request | None = None
        self._model: object = None

    def windows(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield the window, unless this is a replay."""
        if not is_replay(self._clients.parameters):
            yield from super().windows()

    def update(self) -> None:
        """Request the names of the entities of a new model."""
        if self.state.model is not self._model and self._clients.simulation.status:
            self._model = self.state.model
            self._clients.entities.refresh()

    def build(self) -> None:
        """Build a row per entity, and the models to spawn below."""
        with widgets.table("entities", _COLUMNS, headed=False) as is_open:
            for name in self._clients.entities.names if is_open else ():
                imgui.TableNextRow()
                widgets.cell()
                self._build_entity(name)
                widgets.cell()
                self._build_following(name)
                widgets.cell()
                self._build_deletion(name)
        imgui.SeparatorText("Spawn")
        self._build_models()

    def _build_entity(self, name: str) -> None:
        """Build a node with the bodies of an entity, which a click selects."""
        with widgets.tree(name) as is_open:
            if not is_open:
                return
            model, perturb = self.state.model, self.viewer.perturb
            for body in self._bodies(name):
                label = model.body(body).name.removeprefix(f"{name}/")
                indent = _INDENT * _depth(model, body)
                if imgui.Selectable(f"{indent}{label}##{body}", perturb.select == body):
                    perturb.select = body

    def _build_following(self, name: str) -> None:
        root = next(iter(self._bodies(name)), 0)
        is_followed = root > 0 and followed(self.viewer.camera) == root
        changed, follows = imgui.Checkbox(f"Follow##{name}", is_followed)
        imgui.SetItemTooltip("The camera moves with it.")
        if changed:
            self.viewer.dispatch(CameraFollows(body=root if follows else 0))

    def _build_deletion(self, name: str) -> None:
        question = f"delete {name}"
        if widgets.button(f"Delete##{name}"):
            imgui.OpenPopup(question)
        with widgets.popup(question) as is_open:
            if is_open and widgets.button(f"Delete {name}"):
                self._clients.entities.delete(name)
                imgui.CloseCurrentPopup()

    def _build_models(self) -> None:
        models = self._clients.entities.spawnables
        if not models:
            tip = "The simulator measures each model once."
            is_listing = self._listing is not None and self._listing.ok is None
            if widgets.button("List models", enabled=not is_listing, tip=tip):
                self._listing = self._clients.entities.list_spawnables()
            return
        imgui.SetNextItemWidth(FILL)
        _, self._search = imgui.InputTextWithHint("##search", "model", self._search)
        wanted = self._search.casefold()
        with widgets.child("models", height=MODEL_LIST_HEIGHT) as is_visible:
            for model in models if is_visible else ():
                if wanted not in f"{model.file} {model.description}".casefold():
                    continue
                if imgui.Selectable(f"{model.file}##{model.uri}", model.uri == self.chosen):
                    self.chosen, self.name = model.uri, model.name
                imgui.SetItemTooltip(model.description)
        self._build_spawn()

    def _build_spawn(self) -> None:
        width = (imgui.GetContentRegionAvail().x - 2 * COORDINATE_GAP) / 3
        for axis, letter in enumerate("xyz"):
            if axis:
                imgui.SameLine(0.0, COORDINATE_GAP)
            imgui.SetNextItemWidth(width)
            _, self.position[axis] = imgui.DragFloat(
                f"##{letter}", self.position[axis], _SPEED_M, 0.0, 0.0, f"{letter} %.3f"
            )
        imgui.SetNextItemWidth(-imgui.CalcTextSize("Spawn").x - 20.0)
        _, self.name = imgui.InputTextWithHint("##entity", "name", self.name)
        imgui.SameLine()
        name = self.name.strip()
        if widgets.button("Spawn", enabled=bool(self.chosen and name)):
            self._clients.entities.spawn(name, self.chosen, self.position)

    def _bodies(self, name: str) -> tuple[int, ...]:
        """Return the bodies of an entity."""
        state = self.state
        for robot in state.layout.robots:
            if robot.name == name:
                return robot.bodies
        names = enumerate(state.model.body(body).name for body in range(state.model.nbody))
        return tuple(body for body, it in names if it == name or it.startswith(f"{name}/"))


def _depth(model: mujoco.MjModel, body: int) -> int:
    """Return the number of bodies between a body and the root of its tree."""
    depth = 0
    while model.body_parentid[body]:
        body, depth = int(model.body_parentid[body]), depth + 1
    return depth
