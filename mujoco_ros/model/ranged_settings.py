"""Settings that can change while the simulation runs: dataclasses whose fields have ranges."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.strict import from_dict

_META = "setting"
_TYPES = (bool, int, float, str)


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingBounds:
    """Description and bounds of a setting."""

    description: str
    low: float | None = None  # smallest number
    high: float | None = None  # largest number
    choices: tuple[str, ...] = ()  # the valid texts


def setting(
    default: Any,
    description: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Return the field of a dataclass of settings.

    Args:
        default: Its default, a bool, an int, a float, a text or a tuple of floats.
        description: What it is, with its unit.
        low: Smallest number; a setting with numbers needs both bounds.
        high: Largest number.
        choices: The valid texts; by default all.
    """
    bounds = SettingBounds(description=description, low=low, high=high, choices=choices)
    return dataclasses.field(default=default, metadata={_META: bounds})


def bounds_of(settings: type) -> dict[str, SettingBounds]:
    """Return description and bounds of each setting of a frozen dataclass by name."""
    parameters = getattr(settings, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        raise UserInputError(f"{settings.__name__} is not a frozen dataclass")
    found: dict[str, SettingBounds] = {}
    for field in dataclasses.fields(settings):
        where = f"setting '{field.name}' of {settings.__name__}"
        bounds, default = field.metadata.get(_META), field.default
        if bounds is None:
            raise UserInputError(f"{where} is not declared by setting()")
        numbers = default if isinstance(default, tuple) else (default,)
        is_vector = isinstance(default, tuple) and default and {*map(type, default)} == {float}
        if type(default) not in _TYPES and not is_vector:
            raise UserInputError(f"{where} has the default {default!r}, which no parameter has")
        if type(numbers[0]) in (int, float) and None in (bounds.low, bounds.high):
            raise UserInputError(f"{where} is a number and needs 'low' and 'high'")
        found[field.name] = bounds
        if problem := _problem(bounds, default):
            raise UserInputError(f"{where} has the default {problem}")
    return found


def read_settings(settings: type, values: Mapping[str, Any], where: str) -> Any:
    """Return settings with the values that a scene gives; `where` begins error messages."""
    bounds_of(settings)
    read: Any = from_dict(settings, values, where)
    check_settings(read, where)
    return read


def check_settings(settings: Any, where: str) -> None:
    """Reject values that are out of bounds; `where` begins error messages."""
    for name, its in bounds_of(type(settings)).items():
        if problem := _problem(its, getattr(settings, name)):
            raise UserInputError(f"{where}.{name} is {problem}")


def _problem(bounds: SettingBounds, value: Any) -> str:
    """Return a value and what it must be; empty if it is valid."""
    if bounds.choices and value not in bounds.choices:
        return f"{value!r}; it must be one of {', '.join(bounds.choices)}"
    if bounds.low is None or bounds.high is None:
        return ""
    for number in value if isinstance(value, tuple) else (value,):
        if not bounds.low <= number <= bounds.high:
            return f"{number:g}; it must be from {bounds.low:g} to {bounds.high:g}"
    return ""
