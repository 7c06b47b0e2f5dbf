"""Objects that exist once per robot or element of the model."""

from collections.abc import Callable, Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
W = TypeVar("W")


def synchronize(
    opened: dict[K, V],
    wanted: Mapping[K, W],
    open_new: Callable[[K, W], V],
    close: Callable[[V], object],
) -> None:
    """Close the entries of `opened` that are not `wanted`, and open those that are missing."""
    for key in opened.keys() - wanted.keys():
        close(opened.pop(key))
    for key, description in wanted.items():
        if key not in opened:
            opened[key] = open_new(key, description)
