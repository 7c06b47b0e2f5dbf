"""Controllers by name or file, and the state classes that they can use."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.state import STATES, State
from mujoco_ros.controllers.fsm.table import Table
from mujoco_ros.controllers.fsm.table_reader import class_names, table_from_dict
from mujoco_ros.entry_points import find_entry, load_class
from mujoco_ros.extras import MissingExtraError, missing_module, require
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.strict import read_yaml
from mujoco_ros.model.uri import resolve

GROUP = "mujoco_ros.states"
"""Group of entry points with which installed packages register state classes."""
_PLANNING = ("handover", "pick_place", "stand", "trot", "walk", "walk_grasp")
"""Shipped controllers that need the extra for planning."""
_FOLDER = Path(__file__).resolve().parent / "library"
_SUFFIXES = (".yaml", ".yml")


@cache
def names() -> tuple[str, ...]:
    """Return the names of the shipped controllers."""
    tables = _FOLDER.glob("*/*.yaml")
    return tuple(sorted(path.stem for path in tables if path.stem == path.parent.name))


def load(
    name_or_path: str,
    *,
    seed: int = 0,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    rate: float | None = None,
    name: str = "",
) -> FsmController:
    """Create a controller.

    Args:
        name_or_path: One of `names`, or a YAML file.
        seed: Seed of all random numbers.
        settings: Changed settings by full name of the state.
        rate: Ticks per second; None is the rate of the table.
        name: Name in messages; empty for the table's name.

    Raises:
        UserInputError: The controller does not exist, or its file or a setting is invalid.
    """
    table = load_table(name_or_path)
    if rate is not None:
        if not rate > 0.0:
            raise UserInputError(f"rate {rate} is not above zero")
        table = replace(table, rate=rate)
    if name:
        table = replace(table, name=name)
    controller = FsmController(table, seed=seed)
    for state, changes in (settings or {}).items():
        controller.machine.configure(state, changes)
    return controller


def load_table(name_or_path: str) -> Table:
    """Read the table of a controller; see `load`."""
    path = Path(name_or_path)
    if not name_or_path.endswith(_SUFFIXES):
        if name_or_path not in names():
            raise unknown("controller", name_or_path, names())
        path = _FOLDER / name_or_path / f"{name_or_path}.yaml"
    data = read_yaml(path)
    if isinstance(data, dict) and any(map(_has_ros_parameters, data.values())):
        raise UserInputError(
            f"{path} is a ros2_control parameter file; give it as the parameter 'controllers_file'"
        )
    classes = _classes(class_names(data, str(path)), path)
    _locate_files(data, classes, path.parent)
    return table_from_dict(data, classes, name=path.stem, where=str(path))


def _has_ros_parameters(content: Any) -> bool:
    return isinstance(content, dict) and "ros__parameters" in content


def _classes(required: Collection[str], path: Path) -> dict[str, type[State]]:
    """Return state classes by name, at least the required ones that exist.

    In a shipped table, the module beside the file comes first, because other modules take long to
    import. In another table, classes of installed packages come first, so that a shipped class
    that is new here does not replace one of them.
    """
    found = {cls.__name__: cls for cls in STATES}
    shipped = sorted(module.parent.name for module in _FOLDER.glob("*/*_states.py"))
    ordered = sorted(shipped, key=lambda name: (_FOLDER / name != path.parent, name != "policy"))
    installed = _installed(name for name in required if name not in found)
    sources = [*map(_shipped, ordered), installed]
    if path.parent.parent != _FOLDER:
        sources.insert(0, sources.pop())
    missing: MissingExtraError | None = None
    for source in sources:
        if found.keys() >= set(required):
            return found
        try:
            for name, cls in source:
                found.setdefault(name, cls)
        except MissingExtraError as error:
            missing = missing or error
    if missing is not None and not found.keys() >= set(required):
        raise missing
    return found


def _locate_files(data: Any, classes: Mapping[str, type[State]], folder: Path) -> None:
    """Replace paths of files in the data of a table by absolute ones."""
    rest = [data]
    while rest:
        entry = rest.pop()
        if not isinstance(entry, dict):
            continue
        rest += entry.values()
        name = entry.get("class")
        for key in classes[name].files if isinstance(name, str) and name in classes else ():
            if isinstance(entry.get(key), str) and entry[key]:
                entry[key] = str(resolve(entry[key], folder))


def _shipped(controller: str) -> Iterator[tuple[str, type[State]]]:
    if controller in _PLANNING:
        require("planning", f"controller '{controller}'")
    try:
        module = import_module(f"{__package__}.library.{controller}.{controller}_states")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"controller '{controller}': {missing_module(error.name or '')}"
        ) from error
    for cls in module.STATES:
        yield cls.__name__, cls


def _installed(names: Iterable[str]) -> Iterator[tuple[str, type[State]]]:
    """Yield the named classes, if other packages register them."""
    entries = entry_points(group=GROUP)
    for name in names:
        entry = find_entry(name, entries)
        if entry is not None:
            yield name, load_class(entry, State)
