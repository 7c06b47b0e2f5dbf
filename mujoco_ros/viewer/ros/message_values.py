"""Numeric fields of any message: their paths, their values, and the time of the message."""

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import nan
from typing import Any

import numpy as np

_PART = re.compile(r"\.?(\w+)(?:\[([^\]]*)\])?")
_MOST_ELEMENTS, _MOST_FIELDS = 100, 2000
"""Elements of an array, and fields of a message, that are listed."""
_NAMES = "name"
"""Field with the names of the elements of the other arrays of a message, as in JointState."""
_LARGEST_LAG_S = 3600.0
"""Stamps further from the simulated time than this are on another clock."""


def numeric_paths(message: Any) -> tuple[str, ...]:
    """Return the paths of the numeric fields of a message, as in `FieldKey`."""
    return tuple(islice(_paths(message, ""), _MOST_FIELDS))


def reader(path: str) -> Callable[[Any], float]:
    """Return a function that reads a field of a message; it returns NaN without the element."""
    parts = [(match[1], match[2]) for match in _PART.finditer(path)]

    def read(message: Any) -> float:
        value = message
        try:
            for name, element in parts:
                owner, value = value, getattr(value, name)
                if element is not None:
                    value = value[_index(owner, element)]
            return float(value)
        except (AttributeError, LookupError, TypeError, ValueError):
            return nan

    return read


def message_time(message: Any, now: float) -> float:
    """Return the time of a message: that of its stamp [s].

    Args:
        message: The message.
        now: Simulated time, for a message without a stamp, or with one of another clock [s].
    """
    header = getattr(message, "header", message)
    stamp: Any = getattr(header, "stamp", None) or getattr(header, "clock", None)
    if not hasattr(stamp, "nanosec"):
        return now
    time = stamp.sec + 1e-9 * stamp.nanosec
    return time if abs(time - now) < _LARGEST_LAG_S and time else now


def _paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, bool | int | float | np.number):
        yield path
    elif hasattr(value, "get_fields_and_field_types"):
        names = getattr(value, _NAMES, None)
        for field in value.get_fields_and_field_types():
            inner = getattr(value, field)
            start = f"{path}.{field}" if path else field
            if _is_array(inner):
                for element, label in zip(inner, _labels(inner, names), strict=False):
                    yield from _paths(element, f"{start}[{label}]")
            else:
                yield from _paths(inner, start)


def _is_array(value: Any) -> bool:
    return isinstance(value, Sequence | array | np.ndarray) and not isinstance(value, str | bytes)


def _labels(values: Any, names: Any) -> list[str]:
    """Return what is written in brackets for the listed elements of an array."""
    count = min(len(values), _MOST_ELEMENTS)
    if isinstance(names, list) and len(names) == len(values) and names is not values:
        return [str(name) for name in names[:count]]
    return [str(index) for index in range(count)]


def _index(owner: Any, element: str) -> int:
    names = getattr(owner, _NAMES, None)
    if isinstance(names, list) and element in names:
        return names.index(element)
    return int(element)
