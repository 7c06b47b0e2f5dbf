"""Tables of addresses, which plan what compiled code does; see plan.h."""

from collections.abc import Iterable, Sequence

import numpy as np

MANY = 1_000
"""Most steps between two calls of Python; their duration is limited as well."""


class Plan:
    """A plan in the making: it checks each address, and its tables keep what is there."""

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

    def object(self, kept: object) -> int:
        """Return the address of an object of compiled code; 0 for None."""
        self._kept.append(kept)
        return 0 if kept is None else id(kept)

    def table(self, rows: Iterable[Sequence[int]]) -> np.ndarray:
        """Return a table, which keeps what the plan has the addresses of.  # (rows, columns)"""
        table = np.array(list(rows), dtype=np.int64).view(_Table)
        table.kept = self._kept
        return table


class _Table(np.ndarray):
    kept: list[object]
