"""Tables of addresses, which plan what compiled code does; see compiled.h."""

from collections.abc import Iterable, Sequence

import numpy as np

MANY = 1_000
"""Most steps between two calls of Python; their duration is limited as well."""


class Plan:
    """Tables for compiled code: it checks each address, and keeps what is there."""

    def __init__(self) -> None:
        self._kept: list[object] = []

    def address(
        self, array: np.ndarray, element: int = 0, count: int = 1, kind: type = np.float64
    ) -> int:
        """Return the address of `count` numbers from an element of an array on.

        Raises:
            ValueError: They are outside of the array, of another kind, or not side by side.
        """
        if array.dtype != kind or not array.flags.c_contiguous:
            raise ValueError(f"an array of {array.dtype} has no adjacent {np.dtype(kind)}")
        if not 0 <= count <= array.size or not 0 <= element <= array.size - count:
            raise ValueError(f"{count} elements from {element} on are not in one of {array.size}")
        self._kept.append(array)
        start: int = array.__array_interface__["data"][0]
        return start + element * array.itemsize

    def keep(self, kept: object) -> None:
        """Keep an object as long as the plan."""
        self._kept.append(kept)

    def table(self, rows: Iterable[Sequence[int]]) -> tuple[int, int]:
        """Return the address of a table, which the plan keeps, and its number of rows."""
        table = np.array(list(rows), dtype=np.int64)
        return self.address(table, count=table.size, kind=np.int64), len(table)
