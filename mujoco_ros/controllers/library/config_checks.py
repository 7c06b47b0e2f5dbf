"""Settings that check themselves: types with a range, and the base class of all settings."""

from collections.abc import Callable
from dataclasses import Field, dataclass, field, replace
from functools import cache
from typing import Annotated, Any, ClassVar, Self, dataclass_transform, get_type_hints

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


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class CheckedConfig:
    """Base of settings: a subclass is a frozen dataclass, and rejects values outside of the ranges
    of its fields' types.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        config: Any = type(self)
        for name, check in _checks(config):
            check(name, getattr(self, name))
        self.check()

    def check(self) -> None:
        """Raise a UserInputError for settings that do not fit each other."""

    def changed(self, **values: Any) -> Self:
        return replace(self, **values)


@cache
def _checks(config: Any) -> tuple[tuple[str, Callable[[str, Any], None]], ...]:
    """Return names of fields, and the functions that `Annotated` adds to their types."""
    hints = get_type_hints(config, include_extras=True)
    return tuple(
        (name, check) for name, hint in hints.items() for check in getattr(hint, "__metadata__", ())
    )
