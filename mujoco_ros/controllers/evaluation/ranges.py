"""Ranges of the conditions of episodes."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from mujoco_ros.model.errors import UserInputError


def check_ranges(
    ranges: Any, *, positive: Sequence[str] = (), not_negative: Sequence[str] = ()
) -> None:
    """Reject pairs of numbers of a dataclass that are reversed or too small.

    Args:
        ranges: The dataclass.
        positive: Names of the pairs that must be above 0.
        not_negative: Names of those that must not be below 0.

    Raises:
        UserInputError: A pair is wrong.
    """
    for field in fields(ranges):
        pair = getattr(ranges, field.name)
        if isinstance(pair, tuple) and not pair[0] <= pair[1]:
            raise UserInputError(f"{field.name} from {pair[0]:g} to {pair[1]:g} is reversed")
    for name in positive:
        if not getattr(ranges, name)[0] > 0.0:
            raise UserInputError(f"{name} must be positive, got {getattr(ranges, name)[0]:g}")
    for name in not_negative:
        if not getattr(ranges, name)[0] >= 0.0:
            raise UserInputError(f"{name} must not be negative, got {getattr(ranges, name)[0]:g}")
