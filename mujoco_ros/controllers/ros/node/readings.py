"""What sensors say, read when somebody looks at it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from mujoco_ros.controllers.ros.node.inbox import StampedMessage

T = TypeVar("T")


class SensorReadings(Mapping[str, T], Generic[T]):
    """What some sensors said at one instant, by name; what is said later does not change it."""

    def __init__(self, letters: Mapping[str, StampedMessage], read: Callable[[Any], T]) -> None:
        """Keep messages that `read` makes readings of."""
        self._letters, self._read = letters, read
        self._known: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        """Return what a sensor said."""
        if name not in self._known:
            self._known[name] = self._read(self._letters[name].message)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._letters)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._letters)
