"""Types of settings that have a range, and the base class that checks them."""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, get_type_hints

from mujoco_ros.model.errors import UserInputError


def check_positive(name: str, value: float) -> None:
    """Raise a UserInputError that names a setting which is not above zero."""
    if not value > 0:
        raise UserInputError(f"{name} must be positive, got {value:g}")


def check_not_negative(name: str, value: float) -> None:
    """Raise a UserInputError that names a setting which is below zero."""
    if not value >= 0:
        raise UserInputError(f"{name} must not be negative, got {value:g}")


Positive = Annotated[float, check_positive]
PositiveInt = Annotated[int, check_positive]
NotNegative = Annotated[float, check_not_negative]
NotNegativeInt = Annotated[int, check_not_negative]


class CheckedConfig:
    """Base of dataclasses that reject values outside of the ranges of their fields' types."""

    __slots__ = ()

    def __post_init__(self) -> None:
        config: Any = type(self)
        for name, check in _checks(config):
            check(name, getattr(self, name))


@cache
def _checks(config: Any) -> tuple[tuple[str, Callable[[str, Any], None]], ...]:
    """Return names of fields, and the functions that `Annotated` adds to their types."""
    hints = get_type_hints(config, include_extras=True)
    return tuple(
        (name, check) for name, hint in hints.items() for check in getattr(hint, "__metadata__", ())
    )
