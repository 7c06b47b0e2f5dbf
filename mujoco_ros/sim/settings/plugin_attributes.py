"""Numbers among the attributes of engine plugins, changed between two steps."""

import copy
import logging
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene import engine_plugins
from mujoco_ros.model.scene.correspondence import Correspondence

_LOG = logging.getLogger(__name__)
_SDF = 8
"""``mjPLUGIN_SDF``: attributes of a shape, from which the compiler made a mesh and an inertia."""
_USERS = (
    ("actuator", "actuator_plugin"),
    ("sensor", "sensor_plugin"),
    ("body", "body_plugin"),
    ("geom", "geom_plugin"),
)
"""Elements that have plugin instances, and the array with the instance of each."""


class PluginAttribute(NamedTuple):
    """An attribute that is a number."""

    instance: str  # name of the plugin instance; without a name, the name of its element
    attribute: str
    plugin: str  # name of the plugin, such as ``mujoco.pid``


class _Place(NamedTuple):
    """Where the text of an attribute is: the plugin instance, and the part of `plugin_attr`."""

    number: int
    text: slice


class PluginAttributes:
    """The attributes of a model's plugins; belongs to the thread that owns the plant.

    A plugin may read its attributes when it creates an instance, as all of MuJoCo's own do, so an
    instance whose attributes change is created again. Its state, which MjData has, stays.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        """Find the attributes of a model that are numbers, but not the attributes of shapes."""
        self._model = model
        self._places = dict(_found(model))

    def values(self) -> dict[PluginAttribute, float]:
        """Return the present numbers."""
        return {key: _read(self._model, place) or 0.0 for key, place in self._places.items()}

    def check(self, changes: Mapping[PluginAttribute, float]) -> None:
        """Try changes on a copy of the model, in any thread; `UserInputError` if they fail."""
        changed = self._changed(changes)
        if not changed:
            return
        names = ", ".join(f"{key.attribute} of '{key.instance}'" for key in changed)
        candidate = copy.copy(self._model)
        for attribute, number in changed.items():
            _write(candidate, self._places[attribute], number)
        for index in {self._places[key].number for key in changed}:
            if not _has_same_sizes(candidate, index):
                raise UserInputError(
                    f"{names}: the plugin needs another number of states or of sensor data; "
                    "change the model file instead"
                )
        try:
            mujoco.MjData(candidate)
        except (mujoco.FatalError, mujoco.UnexpectedError, ValueError) as error:
            plugins = ", ".join(sorted({key.plugin for key in changed}))
            raise UserInputError(f"{names}: the plugin {plugins} rejects the values") from error

    def set(self, changes: Mapping[PluginAttribute, float], *datas: mujoco.MjData) -> None:
        """Set numbers that `check` accepts; ignore instances that are gone.

        A plugin may reject them nevertheless: a `UserInputError`, which changes nothing.
        """
        changed = self._changed(changes)
        before = {key: number for key, number in self.values().items() if key in changed}
        for attribute, number in changed.items():
            _write(self._model, self._places[attribute], number)
        indices = sorted({self._places[key].number for key in changed})
        if not self._create(indices, datas):
            for attribute, number in before.items():
                _write(self._model, self._places[attribute], number)
            self._create(indices, datas)
            names = ", ".join(key.attribute for key in changed)
            raise UserInputError(f"a plugin rejects its attributes {names}")

    def transfer(
        self, old: "PluginAttributes", same: Correspondence, *datas: mujoco.MjData
    ) -> None:
        """Set the numbers of the instances that two models share."""
        index_of = {
            int(getattr(old._model, array)[before]): int(getattr(self._model, array)[after])
            for kind, array in _USERS
            for before, after in zip(*same.pairs[kind], strict=True)
        }
        values = {
            (index_of.get(old._places[name].number), name.attribute): number
            for name, number in old.values().items()
        }
        keys = {name: (place.number, name.attribute) for name, place in self._places.items()}
        try:
            self.set({name: values[key] for name, key in keys.items() if key in values}, *datas)
        except UserInputError as error:
            _LOG.warning("%s; it has the values of its file again", error)

    def _changed(self, changes: Mapping[PluginAttribute, float]) -> dict[PluginAttribute, float]:
        return {
            change: number
            for change, number in changes.items()
            if change in self._places and number != _read(self._model, self._places[change])
        }

    def _create(self, indices: list[int], datas: tuple[mujoco.MjData, ...]) -> bool:
        """Create plugin instances again; return whether the plugins accept their attributes."""
        accepted = True
        for index in indices:
            plugin = engine_plugins.plugin_at(int(self._model.plugin[index]))
            for data in datas:
                if plugin.destroy and data.plugin_data[index]:
                    plugin.destroy(data._address, index)
                    data.plugin_data[index] = 0
                accepted &= plugin.init(self._model._address, data._address, index) >= 0
        return accepted


def _found(model: mujoco.MjModel) -> Iterator[tuple[PluginAttribute, _Place]]:
    plugins, taken = engine_plugins.registered_plugins(), set[str]()
    for index in range(model.nplugin):
        slot = int(model.plugin[index])
        name = _name(model, index)
        if engine_plugins.plugin_at(slot).capabilityflags & _SDF or not name or name in taken:
            continue
        taken.add(name)
        for attribute, text in engine_plugins.attributes_of(model, index):
            place = _Place(index, text)
            if _read(model, place) is not None:
                yield PluginAttribute(name, attribute, plugins[slot]), place


def _name(model: mujoco.MjModel, index: int) -> str:
    """Return the name of a plugin instance, or the name of its element; empty without any."""
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_PLUGIN, index)
    if name:
        return str(name)
    for kind, array in _USERS:
        for element in np.flatnonzero(getattr(model, array) == index):
            return str(getattr(model, kind)(int(element)).name)
    return ""


def _read(model: mujoco.MjModel, place: _Place) -> float | None:
    return engine_plugins.number_of(
        model.plugin_attr[place.text].tobytes().decode(errors="replace")
    )


def _write(model: mujoco.MjModel, place: _Place, number: float) -> None:
    """Write a number as text, unless it is longer than the place."""
    space = place.text.stop - place.text.start
    text = repr(number).removesuffix(".0")  # a whole number may be read as an integer
    if len(text) > space:
        raise UserInputError(
            f"an attribute of a plugin has {space} characters in this compiled model (MJB), and "
            f"'{text}' has {len(text)}; name its MJCF"
        )
    model.plugin_attr[place.text] = np.frombuffer(text.rjust(space).encode(), dtype=np.int8)


def _has_same_sizes(model: mujoco.MjModel, index: int) -> bool:
    """Whether a plugin instance needs as many states and sensor data as the model has."""
    plugin = engine_plugins.plugin_at(int(model.plugin[index]))
    if plugin.nstate and plugin.nstate(model._address, index) != model.plugin_statenum[index]:
        return False
    return not plugin.nsensordata or all(
        plugin.nsensordata(model._address, index, int(sensor)) == model.sensor_dim[sensor]
        for sensor in np.flatnonzero(model.sensor_plugin == index)
    )
