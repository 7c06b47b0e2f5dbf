"""Declaration of a parameter: type, range, description."""

import re
from array import array
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

from mujoco_ros.model.errors import counted, shortened

# Without a dot, YAML 1.1 reads it as text; so do `ros2 param set` and `ros2 param load`.
_EXPONENT = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+")
# With integers among floats, `ros2 param set` reads a list as text.
_LIST = re.compile(r"\[[-+.,\s\deE]*\]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""Control characters, which would change what a terminal shows of a log."""
_KINDS = {
    bool: ("bool", "true or false"),
    int: ("integer", "an integer"),
    float: ("float", "a number"),
    str: ("string", "a text"),
    tuple: ("string array", "a list of texts"),  # of the model's names: fixed
}
_VECTOR = "double array"
_ONE_OF = "one of: "


@dataclass(frozen=True)
class ParameterSpec:
    """One parameter: its default gives the type; `choices` or `low`..`high` bound its value.

    Floats in a tuple are a vector: as many numbers, each within the bounds.
    """

    name: str
    default: bool | int | float | str | tuple[str, ...] | tuple[float, ...]
    description: str
    _: KW_ONLY
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    least: float = 0.0
    """Smallest value that is not zero."""
    longest: int = 4096
    """Largest number of characters of a text, the length of a path."""
    hint: str = ""
    """Ends the message about an invalid value."""
    read_only: bool = False
    fixed: bool = False
    """Whether the model determines it, so that its default is its only value."""

    @property
    def kind(self) -> str:
        """Name of its type."""
        return _VECTOR if self.length else _KINDS[type(self.default)][0]

    @property
    def length(self) -> int:
        """Number of elements of a vector; 0 if this is none."""
        default = self.default
        return (
            len(default) if type(default) is tuple and all(type(n) is float for n in default) else 0
        )

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor that parameter tools show."""
        descriptor = ParameterDescriptor(
            name=self.name, description=self.description, read_only=self.read_only or self.fixed
        )
        if self.choices:
            descriptor.additional_constraints = f"{_ONE_OF}{', '.join(self.choices)}"
        if self.length:
            descriptor.additional_constraints = self._requirement().removeprefix("it is ")
        elif self.low is not None and self.high is not None:
            if isinstance(self.default, float):
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=self.low, to_value=self.high)
                ]
            else:
                descriptor.integer_range = [
                    IntegerRange(from_value=int(self.low), to_value=int(self.high))
                ]
        return descriptor

    def converted(self, value: Any) -> Any:
        """Return `value`, converted to float where the parameter is one."""
        if self.length:
            return _vector(value)
        if isinstance(self.default, float) and (
            type(value) is int or (type(value) is str and _EXPONENT.fullmatch(value))
        ):
            return float(value)
        return tuple(value) if isinstance(value, list) else value

    def problem(self, value: Any) -> str:
        """Return why a converted value is invalid; empty if it is valid."""
        if type(value) is type(self.default) and self._is_within(value):
            return ""
        shown = shortened(repr(plain(value)))
        return f"parameter '{self.name}' cannot be {shown}: {self._requirement()}{self.hint}"

    def _is_within(self, value: Any) -> bool:
        if self.fixed:
            return bool(value == self.default)
        if self.length:
            return len(value) == self.length and all(
                type(number) is float and self._bounds(number) for number in value
            )
        if self.low is not None and self.high is not None:
            return self._bounds(value)
        if self.choices:
            return value in self.choices
        return not isinstance(value, str) or (
            len(value) <= self.longest and _CONTROL.search(value) is None
        )

    def _bounds(self, number: float) -> bool:
        if self.low is None or self.high is None:
            return True
        # NaN compares with nothing.
        return bool(self.low <= number <= self.high and not 0 < number < self.least)

    def _requirement(self) -> str:
        if self.fixed:
            return f"the model determines it: {plain(self.default)!r}"
        if self.choices:
            return f"it is one of {', '.join(self.choices)}"
        kind = _KINDS[type(self.default)][1]
        if self.length:
            kind = f"a list of {counted(self.length, 'number')}"
        if isinstance(self.default, str):
            kind = f"a text of at most {self.longest} characters, without control characters"
        if self.low is None:
            return f"it is {kind}"
        zero = f", {self.low:g} or" if self.least else ""
        return f"it is {kind}{zero} from {self.least or self.low:.10g} to {self.high:.10g}"


def listed_choices(descriptor: ParameterDescriptor) -> tuple[str, ...]:
    """Return the texts that a parameter accepts, if its descriptor lists them."""
    _, start, listing = descriptor.additional_constraints.partition(_ONE_OF)
    return tuple(listing.split(", ")) if start else ()


def plain(value: Any) -> Any:
    """Return a value as rclpy takes it."""
    return list(value) if isinstance(value, tuple) else value


def _vector(value: Any) -> Any:
    """Return a list of numbers, in any notation, as a tuple of floats."""
    if isinstance(value, str) and _LIST.fullmatch(value):
        value = [number.strip() for number in value[1:-1].split(",")]
        try:
            return tuple(float(number) for number in value)
        except ValueError:
            return tuple(value)
    if not isinstance(value, list | tuple | array):
        return value
    return tuple(float(number) if type(number) is int else number for number in value)


def shown(value: Any) -> str:
    """Return a value as text for messages."""
    if isinstance(value, tuple):
        return f"[{', '.join(shown(element) for element in value)}]"
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value).lower() if isinstance(value, bool) else str(value)


WrenchSign = Literal["child_on_parent", "parent_on_child"]

WRENCH_SIGN = ParameterSpec(
    "wrench_sign",
    "child_on_parent",
    "Sign of wrenches: the load that the child side of a sensor puts on its parent (a "
    "stance foot reads up, the weight carried), or the reverse",
    choices=("child_on_parent", "parent_on_child"),
    read_only=True,
)
REALTIME_PRIORITY = ParameterSpec(
    "realtime_priority",
    20,
    "SCHED_FIFO priority of the physics thread where the system permits it, and the next lower "
    "one for the others of its process, so that steps are not late while other programs are "
    "busy; dropped for 10 to 300 s when the machine is too slow, not used for a run as fast as "
    "possible; 0 is none",
    low=0,
    high=99,
    read_only=True,
)
