"""The parameters of a controller, read into the dataclass of its type."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from math import inf, isnan, nan
from typing import Any, TypeVar, get_type_hints

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.strict import convert

T = TypeVar("T")

_NUMBERS = (int, float)


class ControllerParameters:
    """The parameters of a controller by dotted name, such as ``constraints.goal_time``.

    It notes which of them the controller's type reads; the others are `ignored`.
    """

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        """Take the values of a parameter file; `where` begins error messages."""
        self.values = dict(values)
        self.where = where
        self._read: set[str] = {"type", "update_rate", "params_file", "use_sim_time"}

    @property
    def ignored(self) -> tuple[str, ...]:
        """Names of the parameters that nothing has read."""
        return tuple(name for name in self.values if name not in self._read)

    def given(self, prefix: str) -> dict[str, Any]:
        """Return the values of the parameters below a prefix, by the rest of their names."""
        return {
            name.removeprefix(prefix): value
            for name, value in self.values.items()
            if name.startswith(prefix)
        }

    def ignore(self, *names: str) -> None:
        """Do not list parameters that have no meaning in a simulator."""
        self._read.update(names)

    def read(
        self,
        kind: type[T],
        prefix: str = "",
        defaults: Mapping[str, Any] | None = None,
        suffix: str = "",
    ) -> T:
        """Return a dataclass whose fields are the parameters ``<prefix><name><suffix>``.

        A field's `control.settings.setting` may name another parameter, and bounds. `defaults`
        precede the defaults of fields.

        Raises:
            UserInputError: A parameter is missing, has another type, or is out of bounds.
        """
        hints = get_type_hints(kind)
        found: dict[str, Any] = {}
        names = {
            field: f"{prefix}{field.metadata.get('parameter') or field.name}{suffix}"
            for field in fields(kind)  # type: ignore[arg-type]
        }
        self._read.update(names.values())
        for field, name in names.items():
            if self._is_given(name):
                found[field.name] = self._checked(field, hints[field.name], name)
            elif field.name in (defaults or {}):
                found[field.name] = (defaults or {})[field.name]
            elif field.default is MISSING and field.default_factory is MISSING:
                close = get_close_matches(name, self.ignored, n=1)
                hint = f" (is '{close[0]}' meant?)" if close else ""
                raise UserInputError(f"{self.where}: parameter '{name}' is missing{hint}")
        return kind(**found)

    def read_each(self, kind: type[T], names: Iterable[str], prefix: str = "") -> dict[str, T]:
        """Return `read` of ``<prefix><name>.`` for each of several names, such as joints."""
        return {name: self.read(kind, f"{prefix}{name}.") for name in names}

    def reject(self, name: str, problem: str) -> UserInputError:
        """Return the error of a parameter whose value has a problem."""
        return UserInputError(f"{self.where}: parameter '{name}' {problem}")

    def located(self, error: UserInputError, component: str = "") -> UserInputError:
        """Return an error whose message begins with where the parameters are."""
        where = "" if str(error).startswith(self.where) else f"{self.where}: {component}"
        return UserInputError(f"{where}{error}")

    def _is_given(self, name: str) -> bool:
        """Return whether a parameter has a value; NaN is none, as in ros2_controllers."""
        value = self.values.get(name, nan)
        return not (isinstance(value, float) and isnan(value))

    def _checked(self, field: "Field[Any]", kind: Any, name: str) -> Any:
        value = self.values[name]
        if kind is not float or value not in (inf, -inf):  # which mean no limit
            value = convert(kind, value, f"{self.where}: parameter '{name}'")
        low, high = field.metadata.get("low"), field.metadata.get("high")
        is_bounded = low is not None and high is not None and isinstance(value, _NUMBERS)
        if is_bounded and not low <= value <= high:
            raise self.reject(name, f"is {value:g}; it must be from {low:g} to {high:g}")
        return value
