"""Classes that installed packages register as entry points."""

from collections.abc import Iterable
from importlib.metadata import EntryPoint
from typing import TypeVar

from mujoco_ros.model.errors import UserInputError

T = TypeVar("T")


def described(entry: EntryPoint) -> str:
    """Return an entry point as error messages name it."""
    return f"entry point '{entry.name} = {entry.value}' of {entry.group}"


def find_entry(name: str, entries: Iterable[EntryPoint]) -> EntryPoint | None:
    """Return the entry point of a name, None without one.

    Raises:
        UserInputError: Several packages register different classes with the name.
    """
    found = {entry.value: entry for entry in entries if entry.name == name}
    if len(found) > 1:
        classes = " and ".join(
            f"'{value}' of {entry.dist.name if entry.dist else 'an unnamed package'}"
            for value, entry in sorted(found.items())
        )
        group = next(iter(found.values())).group
        raise UserInputError(
            f"the name '{name}' of {group} is not unique: {classes}; rename or uninstall one"
        )
    return next(iter(found.values()), None)


def load_class(entry: EntryPoint, base: type[T]) -> type[T]:
    """Return the class of an entry point, whose module is imported.

    Raises:
        UserInputError: The module cannot be imported, or it is not a subclass of `base`.
    """
    try:
        cls = entry.load()
    except (Exception, SystemExit) as error:  # imports code of other packages
        raise UserInputError(f"{described(entry)}: {type(error).__name__}: {error}") from error
    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise UserInputError(f"{described(entry)}: it is not a subclass of {base.__name__}")
    return cls
