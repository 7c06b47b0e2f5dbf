"""Typed values and functions shared by the states of a controller and its host."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class StoreError(LookupError):
    """A value is missing or has another type than its key."""


@dataclass(frozen=True, slots=True)
class Key(Generic[T]):
    """Name and type of a value: ``Key("gripper/opening", float)``.

    The type of a function is a protocol, which `isinstance` cannot check; its `kind` is ``object``.
    """

    name: str
    kind: type[Any] = object


class Store:
    """Values by key: the host's values stay, the states' values last until a reset."""

    def __init__(self, shared: "Store | None" = None) -> None:
        """Read values that this store lacks from a `shared` one."""
        self._shared = shared
        self._provided: dict[str, Any] = {}
        self._values: dict[str, Any] = {}

    def __contains__(self, key: Key[Any]) -> bool:
        if key.name in self._values or key.name in self._provided:
            return True
        return self._shared is not None and key in self._shared

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all values, sorted."""
        shared = () if self._shared is None else self._shared.names
        return tuple(sorted({*self._provided, *self._values, *shared}))

    def provide(self, key: Key[T], value: T) -> None:
        """Set a value of the host, which `clear` keeps; StoreError for a wrong type."""
        self._provided[key.name] = _checked(key, value)

    def set(self, key: Key[T], value: T) -> None:
        """Set a value of a state; StoreError for a wrong type, or if the host provides the key."""
        if key.name in self._provided:
            raise StoreError(f"'{key.name}' is provided by the host and cannot be replaced")
        self._values[key.name] = _checked(key, value)

    def get(self, key: Key[T]) -> T:
        """Return a value; StoreError if it does not exist, or has another type than the key."""
        for values in (self._provided, self._values):
            if key.name in values:
                return cast("T", _checked(key, values[key.name]))
        if self._shared is not None and key in self._shared:
            return self._shared.get(key)
        known = ", ".join(self.names) or "nothing"
        raise StoreError(f"'{key.name}' is not in the store; it has: {known}")

    def clear(self) -> None:
        """Remove the values of the states."""
        self._values.clear()


def _checked(key: Key[Any], value: Any) -> Any:
    if not isinstance(value, key.kind):
        raise StoreError(f"'{key.name}' is a {key.kind.__name__}, not a {type(value).__name__}")
    return value
