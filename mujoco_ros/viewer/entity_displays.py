"""What the page shows of each entity."""

import copy
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.scene.entities import Entity, entities
from mujoco_ros.sim.settings.element_properties import LOOKS
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.colours import Colour

VISIBLE_GROUPS = 3
"""Groups that MuJoCo shows by default; geoms in the others are for collisions."""
_SHOWN, _HIDDEN = 0, 5


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityDisplay:
    """What is shown of an entity."""

    visual: bool = True  # geoms of the groups that MuJoCo shows by default, and sites
    collision: bool = False  # geoms that can collide, in any group
    frames: bool = False  # frames of its bodies
    references: bool = False  # a robot at its joint references, as a ghost
    trail: str = ""  # name of the body whose past path is drawn; empty for none


_DEFAULT = EntityDisplay()


class EntityDisplays:
    """What is shown of the entities of the present model, and of earlier ones with their names."""

    def __init__(self, state: SharedState) -> None:
        self.changes = 0  # number of changes of the model that is displayed
        self._state = state
        self._model: mujoco.MjModel | None = None
        self._entities: dict[str, Entity] = {}
        self._shown: dict[str, EntityDisplay] = {}
        self._paint: dict[int, Colour] = {}
        self._copied: mujoco.MjModel | None = None  # a copy with other groups and colours
        self._source: mujoco.MjModel | None = None  # the model of that copy

    @property
    def entities(self) -> Mapping[str, Entity]:
        """The entities of the present model by name."""
        if self._state.model is not self._model:
            self._model = self._state.model
            self._entities = entities(self._state.assembly, self._state.layout)
        return self._entities

    def display_of(self, name: str) -> EntityDisplay:
        """Return what is shown of an entity."""
        return self._shown.get(name, _DEFAULT)

    def set(self, name: str, **switches: Any) -> None:
        """Change what is shown of an entity, by attributes of `EntityDisplay`."""
        before = self.display_of(name)
        after = self._shown[name] = replace(before, **switches)
        self.changes += _parts(after) != _parts(before)

    def displayed_model(self) -> mujoco.MjModel:
        """Return the present model, or a copy with other groups for the parts that are switched.

        Call it again after edits of the model, which the copy lacks.
        """
        model = self._state.model
        switched = {
            name: display
            for name, display in self._shown.items()
            if name in self.entities and _parts(display) != _parts(_DEFAULT)
        }
        if not (switched or self._paint):
            return model
        shown = self._copy()
        collides = (model.geom_contype | model.geom_conaffinity) != 0
        of_visual = model.geom_group < VISIBLE_GROUPS
        for name, display in switched.items():
            entity = self.entities[name]
            own = np.zeros(model.ngeom, bool)
            own[list(entity.geoms)] = True
            visible = (of_visual & display.visual) | (collides & display.collision)
            shown.geom_group[own & of_visual & ~visible] = _HIDDEN
            shown.geom_group[own & ~of_visual & visible] = _SHOWN
            if not display.visual:
                shown.site_group[np.isin(model.site_bodyid, entity.bodies)] = _HIDDEN
        return shown

    def paint(self, colours: Mapping[int, Colour]) -> None:
        """Give geoms of the present model other colours, instead of the last call's colours."""
        if colours != self._paint:
            self._paint = dict(colours)
            self.changes += 1

    def _copy(self) -> mujoco.MjModel:
        """Return a copy of the present model as it looks now, with other colours."""
        model = self._state.model
        if self._copied is None or self._source is not model:
            self._copied, self._source = copy.copy(model), model
        shown = self._copied
        for name in (*LOOKS, "geom_group", "site_group", "geom_matid"):
            getattr(shown, name)[:] = getattr(model, name)
        for geom, colour in self._paint.items():
            if geom < model.ngeom:
                shown.geom_matid[geom], shown.geom_rgba[geom] = -1, colour
        return shown

    def settings(self) -> dict[str, Any]:
        """Return what differs from the default, by name."""
        shown = self._shown.items()
        return {"entities": {name: asdict(each) for name, each in shown if each != _DEFAULT}}

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Set what is valid among kept settings."""
        kept = settings.get("entities")
        for name, switches in kept.items() if isinstance(kept, dict) else ():
            if not isinstance(switches, dict):
                continue
            for field in fields(EntityDisplay):
                value = switches.get(field.name)
                if type(value) is type(getattr(_DEFAULT, field.name)):
                    self.set(name, **{field.name: value})


def _parts(display: EntityDisplay) -> tuple[bool, bool]:
    """Return what changes the displayed model."""
    return display.visual, display.collision
