"""Named values and callbacks that states and host share, typed."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class StoreError(LookupError):
    """There is no such value, or it is of another type."""


@dataclass(frozen=True, slots=True)
class Key(Generic[T]):
    """The name of a value and its type: ``Key("gripper/opening", float)``.

    A callback is a value as any other, of a protocol's type that `isinstance` cannot see; its key
    says ``object``.
    """

    name: str
    kind: type[Any] = object


class Store:
    """Values by key: those a host provides for good, and those states leave to one another."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._provided: dict[str, Any] = {}
        self._values: dict[str, Any] = {}

    def __contains__(self, key: Key[Any]) -> bool:
        """Return whether there is a value."""
        return key.name in self._values or key.name in self._provided

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all values, sorted."""
        return tuple(sorted({*self._provided, *self._values}))

    def provide(self, key: Key[T], value: T) -> None:
        """Put a host's value in, which lasts over `clear` and which no state can replace.

        Raises:
            StoreError: It is not of the key's type.
        """
        self._provided[key.name] = _checked(key, value)

    def set(self, key: Key[T], value: T) -> None:
        """Put a state's value in, in place of what was there.

        Raises:
            StoreError: It is not of the key's type, or what is there is the host's.
        """
        if key.name in self._provided:
            raise StoreError(f"'{key.name}' is the host's: only it can replace it")
        self._values[key.name] = _checked(key, value)

    def get(self, key: Key[T]) -> T:
        """Return a value.

        Raises:
            StoreError: There is none, or it was put in as another type.
        """
        for values in (self._provided, self._values):
            if key.name in values:
                return cast("T", _checked(key, values[key.name]))
        known = ", ".join(self.names) or "nothing"
        raise StoreError(f"'{key.name}' is not in the store; it has: {known}")

    def clear(self) -> None:
        """Forget what states put in."""
        self._values.clear()


def _checked(key: Key[Any], value: Any) -> Any:
    if not isinstance(value, key.kind):
        raise StoreError(f"'{key.name}' is a {key.kind.__name__}, not a {type(value).__name__}")
    return value
