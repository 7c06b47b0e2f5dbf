"""Sensor readings, deserialized on first use."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from mujoco_ros.controllers.ros.node.inbox import StampedMessage

T = TypeVar("T")


class SensorReadings(Mapping[str, T], Generic[T]):
    """Readings of some sensors at one instant, by name; later messages do not change them."""

    def __init__(self, letters: Mapping[str, StampedMessage], read: Callable[[Any], T]) -> None:
        """Hold messages that `read` converts to readings."""
        self._letters, self._read = letters, read
        self._known: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        """Return the reading of a sensor."""
        if name not in self._known:
            self._known[name] = self._read(self._letters[name].message)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._letters)

    def __len__(self) -> int:
        """Return the number of sensors."""
        return len(self._letters)
