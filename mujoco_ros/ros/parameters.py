"""The node's parameters: each declared once, with type, range and description."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from mujoco_ros.model.errors import ModelError, unknown
from mujoco_ros.model.scene import FASTEST_HZ, SLOWEST_HZ
from mujoco_ros.ros.topics import RATES


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One parameter: its default gives the type; `choices` or `low`..`high` bound its value."""

    name: str
    default: bool | int | float | str
    description: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    least: float = 0.0
    """Smallest value that is not zero."""
    read_only: bool = False

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor that parameter tools show."""
        descriptor = ParameterDescriptor(
            name=self.name, description=self.description, read_only=self.read_only
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

_BY_NAME = {spec.name: spec for spec in PARAMETERS}
# What rclpy itself reads from the overrides, declared or not.
_FOREIGN = ("use_sim_time", "start_type_description_service", "qos_overrides.")


def declare(node: Node) -> dict[str, Any]:
    """Declare every parameter on `node` and return their values.

    Raises:
        ModelError: The user gave a parameter that does not exist, or a value it cannot take.
    """
    given: dict[str, Parameter] = node._parameter_overrides  # rclpy has no accessor
    for name in given:
        if name not in _BY_NAME and not name.startswith(_FOREIGN):
            raise unknown("parameter", name, _BY_NAME)
    values = {}
    for spec in PARAMETERS:
        override = given.get(spec.name)
        if isinstance(spec.default, float) and override and type(override.value) is int:
            # Nobody means anything else by `real_time_factor:=2`.
            given[spec.name] = Parameter(spec.name, value=float(override.value))
        try:
            value = node.declare_parameter(spec.name, spec.default, spec.descriptor()).value
        except (InvalidParameterTypeException, InvalidParameterValueException) as error:
            raise ModelError(_refusal(spec, given[spec.name].value)) from error
        problem = _problem(spec, value)
        if problem:
            raise ModelError(problem)
        values[spec.name] = value
    node.add_on_set_parameters_callback(_check)
    return values


def _check(parameters: Iterable[Parameter]) -> SetParametersResult:
    """Refuse a whole set when one value of it is wrong."""
    for parameter in parameters:
        spec = _BY_NAME.get(parameter.name)
        problem = _problem(spec, parameter.value) if spec else ""
        if problem:
            return SetParametersResult(successful=False, reason=problem)
    return SetParametersResult(successful=True)


def _problem(spec: Spec, value: Any) -> str:
    """Return why a value of the right type within the range is still wrong; empty if it is not."""
    not_chosen = spec.choices and value not in spec.choices
    not_a_number = isinstance(spec.default, float) and value != value
    too_small = bool(spec.least) and 0 < value < spec.least
    return _refusal(spec, value) if not_chosen or not_a_number or too_small else ""


def _refusal(spec: Spec, value: Any) -> str:
    return f"parameter '{spec.name}' cannot be {value!r}: {_wanted(spec)}"


def _wanted(spec: Spec) -> str:
    if spec.choices:
        return f"it is one of {', '.join(spec.choices)}"
    kind = {bool: "true or false", int: "an integer", float: "a number with a decimal point"}.get(
        type(spec.default), "a text"
    )
    if spec.low is None:
        return f"it is {kind}"
    zero = f", {spec.low:g} or" if spec.least else ""
    return f"it is {kind}{zero} from {spec.least or spec.low:.10g} to {spec.high:.10g}"
