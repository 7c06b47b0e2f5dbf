"""The node's parameters: each declared once, with type, range and description."""

import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import ParameterNotDeclaredException
from rclpy.node import Node
from rclpy.parameter import Parameter

from mujoco_ros.model.errors import ModelError
from mujoco_ros.model.scene import FASTEST_HZ, SLOWEST_HZ
from mujoco_ros.ros.topics import RATES

# Without a dot, YAML 1.1 takes it for text; so do `ros2 param set` and `ros2 param load`.
_EXPONENT = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+")
_KINDS = {
    bool: ("bool", "true or false"),
    int: ("integer", "an integer"),
    float: ("float", "a number"),
    str: ("string", "a text"),
    tuple: ("string array", "a list of texts"),  # of the model's names: fixed
}
# What rclpy itself reads from the overrides, declared or not.
_FOREIGN = ("use_sim_time", "start_type_description_service", "qos_overrides.")
_BURST = 10
"""Changes beyond so many within a second go to the debug log."""
_SHOWN = 2
"""So many changes are written out in the log, the rest is counted."""


class RefusedError(ParameterNotDeclaredException):
    """A set of parameters is refused; of this type alone rclpy tells the client the reason."""

    def __init__(self, reason: str) -> None:
        """Say why."""
        Exception.__init__(self, reason)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One parameter: its default gives the type; `choices` or `low`..`high` bound its value."""

    name: str
    default: bool | int | float | str | tuple[str, ...]
    description: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    least: float = 0.0
    """Smallest value that is not zero."""
    read_only: bool = False
    fixed: bool = False
    """Whether it only tells what the model says, so that its default is its one value."""

    @property
    def kind(self) -> str:
        """Name of its type."""
        return _KINDS[type(self.default)][0]

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor that parameter tools show."""
        descriptor = ParameterDescriptor(
            name=self.name, description=self.description, read_only=self.read_only or self.fixed
        )
        if self.choices:
            descriptor.additional_constraints = f"one of: {', '.join(self.choices)}"
        if self.low is not None and self.high is not None:
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
        """Return `value`, if it is a number written otherwise, as a float where one is wanted."""
        if isinstance(self.default, float) and (
            type(value) is int or (type(value) is str and _EXPONENT.fullmatch(value))
        ):
            return float(value)
        return tuple(value) if isinstance(value, list) else value

    def problem(self, value: Any) -> str:
        """Return why a converted value is wrong; empty if it is not."""
        if type(value) is type(self.default) and self._is_within(value):
            return ""
        return f"parameter '{self.name}' cannot be {_plain(value)!r}: {self._wanted()}"

    def _is_within(self, value: Any) -> bool:
        if self.fixed:
            return bool(value == self.default)
        if self.low is not None and self.high is not None:
            # NaN compares with nothing.
            return bool(self.low <= value <= self.high and not 0 < value < self.least)
        return not self.choices or value in self.choices

    def _wanted(self) -> str:
        if self.fixed:
            return f"the model makes it {_plain(self.default)!r}"
        if self.choices:
            return f"it is one of {', '.join(self.choices)}"
        kind = _KINDS[type(self.default)][1]
        if self.low is None:
            return f"it is {kind}"
        zero = f", {self.low:g} or" if self.least else ""
        return f"it is {kind}{zero} from {self.least or self.low:.10g} to {self.high:.10g}"


PARAMETERS = (
    Spec(
        name="scene",
        default="humanoid",
        description="What is simulated: name of a shipped scene, or path of a scene YAML, MJCF, "
        "URDF or MJB file",
        read_only=True,
    ),
    Spec(
        name="real_time_factor",
        default=1.0,
        description="Simulated seconds per wall second; 0 is as fast as possible",
        low=0.0,
        high=1000.0,
    ),
    Spec(
        name="catch_up_limit",
        default=0.05,
        description="Largest lag behind the wall clock that is made up for, in seconds; "
        "what lies further back is dropped and counted",
        low=0.0,
        high=10.0,
    ),
    Spec(
        name="realtime_priority",
        default=20,
        description="SCHED_FIFO priority of the physics thread where the system permits it, so that"
        " steps are not late while other programs are busy; given up when the machine is too slow, "
        "not taken for a run as fast as possible; 0 is none",
        low=0,
        high=99,
        read_only=True,
    ),
    Spec(
        name="on_divergence",
        default="reset",
        description="What happens when the simulation diverges",
        choices=("reset", "pause", "shutdown"),
        read_only=True,
    ),
    Spec(
        name="wrench_sign",
        default="child_on_parent",
        description="What a wrench says: the load that the child side of a sensor puts on its "
        "parent (a stance foot reads up, the weight carried), or the reverse",
        choices=("child_on_parent", "parent_on_child"),
        read_only=True,
    ),
    Spec(
        name="tf",
        default="base",
        description="Frames to publish: bases, free objects and sensors; all links as well "
        "(without robot_state_publisher); or none",
        choices=("base", "all", "none"),
        read_only=True,
    ),
    Spec(
        name="sensor_noise",
        default=False,
        description="Whether sensors have Gaussian noise of the deviation their model declares",
        read_only=True,
    ),
    Spec(
        name="seed",
        default=0,
        description="Seed of the sensor noise",
        low=0,
        high=2**31 - 1,
        read_only=True,
    ),
    Spec(
        name="ros2_control",
        default=False,
        description="Leave the controllers to ros2_control: robot_description carries "
        "<ros2_control> blocks, and only joint_commands is offered",
        read_only=True,
    ),
    *(
        Spec(
            name=f"publish_rate.{topic}",
            default=rate,
            description=f"Rate of {topic} in simulated time [Hz], rounded to whole steps; 0 is off",
            low=0.0,
            high=FASTEST_HZ,
            least=SLOWEST_HZ,
        )
        for topic, rate in RATES.items()
    ),
)


class Parameters:
    """The parameters of a node: declared from specs, refused with a reason, logged when changed.

    Attributes:
        values: Their values by name; lists are tuples.
        expand: Returns what a set of parameters sets beside those that are named in it, and may
            refuse the set with a ModelError. What the client itself names in the same request wins.
        apply: Called with what was accepted, before the client is told.
    """

    def __init__(self, node: Node) -> None:
        """Watch over `node`; what is declared on it later counts as well."""
        self.values: dict[str, Any] = {}
        self.expand: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda _values: {}
        self.apply: Callable[[Mapping[str, Any]], None] = lambda _values: None
        self._node = node
        self._overrides: dict[str, Parameter] = node._parameter_overrides  # rclpy has no accessor
        self._specs: dict[str, Spec] = {}
        # Of the request being served, which may set one parameter after the other.
        self._asking: set[str] = set()
        self._asked: set[str] = set()
        self._changed: dict[str, Any] = {}
        self._settling = False
        self._told: deque[float] = deque(maxlen=_BURST)
        # One callback does it all: rclpy would concatenate what several return.
        node.add_pre_set_parameters_callback(self._prepare)
        node.add_post_set_parameters_callback(self._accept)

    def declare(self, specs: Iterable[Spec]) -> dict[str, Any]:
        """Declare parameters and return their values: the user's, or else the defaults.

        Raises:
            ModelError: The user gave a value that one cannot take, or a name is declared twice.
        """
        values = {}
        for spec in specs:
            if self._node.has_parameter(spec.name):
                raise ModelError(f"two parameters would be named '{spec.name}'; rename a joint")
            override = self._overrides.get(spec.name)
            value = spec.default if override is None else spec.converted(override.value)
            problem = spec.problem(value)
            if problem:
                raise ModelError(problem)
            self._specs[spec.name] = spec
            self.values[spec.name] = values[spec.name] = value
            self._node.declare_parameter(
                spec.name, _plain(value), spec.descriptor(), ignore_override=True
            )
        return values

    def refuse_unknown(self) -> None:
        """Refuse what the user gave at start and nothing declared.

        Raises:
            ModelError: There is such a parameter.
        """
        for name in self._overrides:
            if name not in self._specs and not name.startswith(_FOREIGN):
                raise ModelError(self._unknown(name))

    def set(self, values: Mapping[str, Any]) -> None:
        """Set parameters on the simulator's own account, in one go.

        Raises:
            RefusedError: A value is wrong.
        """
        parameters = [Parameter(name, value=_plain(value)) for name, value in values.items()]
        result = self._node.set_parameters_atomically(parameters)
        if not result.successful:
            raise RefusedError(result.reason)

    def _prepare(self, parameters: list[Parameter]) -> list[Parameter]:
        """Check a set, and return it with all numbers as floats and with what it implies."""
        given: dict[str, Any] = {}
        prepared = []
        for parameter in parameters:
            name, value = parameter.name, parameter.value
            spec = self._specs.get(name)
            if spec is None and not self._node.has_parameter(name):
                raise RefusedError(self._unknown(name))
            if spec is not None:
                value = spec.converted(value)
                problem = "" if spec.read_only or spec.fixed else spec.problem(value)
                if problem:
                    raise RefusedError(problem)
                if type(value) is float and type(parameter.value) is not float:
                    parameter = Parameter(name, value=value)
                given[name] = value
            prepared.append(parameter)
        try:
            implied = self.expand(given)
        except ModelError as error:
            raise RefusedError(str(error)) from error
        named = self._asked | given.keys()
        prepared += [Parameter(n, value=v) for n, v in implied.items() if n not in named]
        self._asking = set(given)
        # A dump that is loaded atomically has them all; rclpy refuses an empty set.
        return [p for p in prepared if not self._is_read_only_as_it_is(p)] or prepared

    def _is_read_only_as_it_is(self, parameter: Parameter) -> bool:
        name = parameter.name
        if not self._node.describe_parameter(name).read_only:
            return False
        return bool(_plain(parameter.value) == _plain(self._node.get_parameter(name).value))

    def _accept(self, parameters: Iterable[Parameter]) -> None:
        """Take over what was set at run time; what is being declared is there already."""
        if not self._asking:
            return
        accepted = {p.name: p.value for p in parameters if p.name in self._specs}
        self._changed |= {n: v for n, v in accepted.items() if v != self.values[n]}
        self.values |= accepted
        self._asked |= self._asking
        self._asking = set()
        self.apply(accepted)
        if self._settling:
            return
        executor = self._node.executor
        if executor is None:
            self._settle()
        else:
            self._settling = True
            executor.create_task(self._settle)

    def _settle(self) -> None:
        """Log in one line what the request changed, and forget it."""
        if self._changed:
            shown = [f"{name} = {_shown(self._changed[name])}" for name in self._changed]
            rest = len(shown) - _SHOWN
            listing = ", ".join(shown[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
            log, now = self._node.get_logger(), time.monotonic()
            # Who schedules gains, or drags a slider, would flood the log.
            often = len(self._told) == _BURST and now - self._told[0] < 1.0
            (log.debug if often else log.info)(f"parameters changed: {listing}")
            self._told.append(now)
        self._asked, self._changed = set(), {}
        self._settling = False

    def _unknown(self, name: str) -> str:
        """Say that there is no such parameter, and what there is where it was looked for."""
        parts = name.split(".")
        for depth in reversed(range(len(parts))):
            prefix = "".join(f"{part}." for part in parts[:depth])
            below = [
                known.removeprefix(prefix) for known in self._specs if known.startswith(prefix)
            ]
            if below:
                break
        heads = [
            prefix + head + ("." * bool(dot)) for head, dot, _ in (n.partition(".") for n in below)
        ]
        close = get_close_matches(name, self._specs, n=1)
        hint = f" (did you mean '{close[0]}'?)" if close else ""
        return f"parameter '{name}' not found{hint}; there are: {', '.join(dict.fromkeys(heads))}"


def _plain(value: Any) -> Any:
    """Return a value as rclpy takes it."""
    return list(value) if isinstance(value, tuple) else value


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value).lower() if isinstance(value, bool) else str(value)
