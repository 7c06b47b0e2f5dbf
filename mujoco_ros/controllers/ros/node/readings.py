"""Sensor readings, deserialized on first use."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from mujoco_ros.controllers.ros.node.inbox import StampedMessage

T = TypeVar("T")


class SensorReadings(Mapping[str, T], Generic[T]):
    """Readings of some sensors at one instant, by name; later messages do not change them."""

    def __init__(self, messages: Mapping[str, StampedMessage], read: Callable[[Any], T]) -> None:
        """Store messages that `read` converts to readings."""
        self._messages, self._read = messages, read
        self._readings: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        """Return the reading of a sensor."""
        if name not in self._readings:
            self._readings[name] = self._read(self._messages[name].message)
        return self._readings[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._messages)

    def __len__(self) -> int:
        """Return the number of sensors."""
        return len(self._messages)
