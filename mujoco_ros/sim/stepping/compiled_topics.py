"""Topics that compiled steps publish, and the arrays that they derive for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from mujoco_ros.native.messages import CompiledMessages
from mujoco_ros.native.plan import Plan


@dataclass(frozen=True, kw_only=True)
class CompiledTopics:
    """Topics that are published at the same steps."""

    every: int  # steps from one message to the next
    messages: CompiledMessages | None  # None if Python publishes them
    ready: np.ndarray | None  # not 0 for a run that Python has prepared; None if it never has to
    updates: "Sequence[Updates]"  # of derived arrays
    subscriptions: Sequence[np.ndarray]  # numbers of subscriptions.  # (1,) each


class _Kind(IntEnum):
    """What an update does, as in steps.c."""

    ROTATE = 0
    RELATE = 1
    FACE = 2
    COPY = 3
    MARK = 4
    SUBTRACT = 5
    SUBTRACT_ANGLE = 6
    ADD = 7
    MOVE = 8
    CARRY = 9


_Place = tuple[np.ndarray, int]
"""An array, and how many of its numbers are read or written."""


class Updates:
    """Updates of derived arrays, in C, in the order in which they are added.

    All arrays are views that stay valid, C-contiguous and of float64. What several groups of topics
    need is computed once for a sample.
    """

    def __init__(self) -> None:
        # Also the number of the last sample that each was made for, which compiled code writes
        self._added: list[tuple[np.ndarray, _Kind, tuple[_Place, ...], _Place, int]] = []

    def rotate(self, quat: np.ndarray, vector: np.ndarray, to: np.ndarray) -> None:
        """Write a vector in a frame whose orientation is a quaternion.  # (4,), (3,), (3,)"""
        self._add(_Kind.ROTATE, ((quat, 4), (vector, 3)), (to, 3))

    def relate(
        self,
        parent: tuple[np.ndarray, np.ndarray],
        child: tuple[np.ndarray, np.ndarray],
        to: np.ndarray,
    ) -> None:
        """Write the pose of a child, position and quaternion, in its parent.  # (3,), (4,), (7,)"""
        places = (parent[0], 3), (parent[1], 4), (child[0], 3), (child[1], 4)
        self._add(_Kind.RELATE, places, (to, 7))

    def face(
        self, position: np.ndarray, matrix: np.ndarray, turn: np.ndarray, to: np.ndarray
    ) -> None:
        """Write the pose of a matrix turned by a quaternion.  # (3,), (9,), (4,), (7,)"""
        places = (position, 3), (matrix, 9), (turn, 4)
        self._add(_Kind.FACE, places, (to, 7))

    def copy(self, values: np.ndarray, to: np.ndarray) -> None:
        """Copy all numbers."""
        self._add(_Kind.COPY, ((values, to.size),), (to, to.size), to.size)

    def mark(self, farthest: np.ndarray, to: np.ndarray) -> None:
        """Write +inf to a distance that is out of range.  # (1,), (1,)"""
        self._add(_Kind.MARK, ((farthest, 1),), (to, 1))

    def subtract(
        self, desired: np.ndarray, actual: np.ndarray, to: np.ndarray, *, angles: bool
    ) -> None:
        """Write a difference, of angles without full turns.  # (1,), (1,), (1,)"""
        kind = _Kind.SUBTRACT_ANGLE if angles else _Kind.SUBTRACT
        self._add(kind, ((desired, 1), (actual, 1)), (to, 1))

    def add(self, first: np.ndarray, second: np.ndarray, to: np.ndarray) -> None:
        """Write a sum."""
        count = to.size
        self._add(_Kind.ADD, ((first, count), (second, count)), (to, count), count)

    def move(
        self,
        body: int,
        pose: tuple[np.ndarray, np.ndarray],
        frame: tuple[np.ndarray, np.ndarray],
        to: np.ndarray,
    ) -> None:
        """Write the motion in the world of a frame with a pose in a body that has a pose.

        A pose is position and quaternion, a motion a pose, angular and linear velocity.  # (13,)
        """
        places = (pose[0], 3), (pose[1], 4), (frame[0], 3), (frame[1], 4)
        self._add(_Kind.MOVE, places, (to, 13), body)

    def carry(self, frame: np.ndarray, base: np.ndarray, to: np.ndarray) -> None:
        """Write pose, linear and angular velocity of a motion relative to another one.  # (13,)"""
        self._add(_Kind.CARRY, ((frame, 13), (base, 13)), (to, 13))

    def _add(self, kind: _Kind, places: tuple[_Place, ...], to: _Place, count: int = 0) -> None:
        self._added.append((np.zeros(1, dtype=np.int64), kind, places, to, count))

    def rows(self, plan: Plan) -> list[tuple[int, ...]]:
        """Return the rows of ``Update`` in steps.c."""
        rows = []
        for sample, kind, places, (to, size), count in self._added:
            addresses = [plan.address(array, count=own) for array, own in places]
            addresses += [0] * (4 - len(places))
            at = plan.address(to, count=size)
            rows.append((plan.address(sample, kind=np.int64), kind, *addresses, at, count))
        return rows
