"""Extensions by name: shipped, or of installed packages."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from mujoco_ros.entry_points import described, find_entry, load_class
from mujoco_ros.extensions.endpoints import endpoints_of
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.settings import bounds_of
from mujoco_ros.model.errors import UserInputError, unknown

GROUP = "mujoco_ros.extensions"
"""Group of entry points with which installed packages register extensions."""
_LIBRARY = "mujoco_ros.extensions.ros.library"
SHIPPED = {
    "battery": f"{_LIBRARY}.battery:Battery",
    "contact_groups": f"{_LIBRARY}.contacts:ContactGroups",
    "conveyor_belt": f"{_LIBRARY}.contacts:ConveyorBelt",
    "suction_cup": f"{_LIBRARY}.contacts:SuctionCup",
    "thruster": f"{_LIBRARY}.forces:Thruster",
    "unitree_go": f"{_LIBRARY}.unitree_go:UnitreeGo",
    "wind": f"{_LIBRARY}.forces:Wind",
}
"""The extensions of this package, as in entry points."""
_RESERVED = ("enabled", "on_error")
"""Parameters that every extension has."""


@cache
def load_extension(name: str) -> type[Extension]:
    """Return the class of an extension; installed packages take precedence over this one.

    Raises:
        UserInputError: No installed package has it, several have it, or it is not a valid
            extension.
    """
    installed = entry_points(group=GROUP)
    entry = find_entry(name, installed)
    if entry is None and name in SHIPPED:
        entry = EntryPoint(name=name, value=SHIPPED[name], group=GROUP)
    if entry is None:
        raise unknown("extension", name, sorted({*installed.names, *SHIPPED}))
    cls, where = load_class(entry, Extension), described(entry)
    try:
        names = [*bounds_of(cls.Settings), *_RESERVED]
    except UserInputError as error:
        raise UserInputError(f"{where}: {error}") from error
    _check_unique(names, f"{where}: two settings")
    _check_unique([endpoint.name for endpoint in endpoints_of(cls)], f"{where}: two endpoints")
    return cls


def _check_unique(names: list[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UserInputError(f"{where} are named '{name}'")
