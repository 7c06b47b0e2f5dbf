"""Parameters: declared with all a user needs to know, and refused with a reason."""

import math
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from simulators import DATA, Listener, Starter, steps_of

from mujoco_ros.model.errors import ModelError
from mujoco_ros.ros.parameters import PARAMETERS, declare

_NAMES = [spec.name for spec in PARAMETERS]
_READ_ONLY = {"scene", "on_divergence", "wrench_sign", "tf", "sensor_noise", "seed"}
_READ_ONLY.add("realtime_priority")


@pytest.fixture(scope="module")
def listener(start_shared: Starter) -> Listener:
    """A listener beside a simulator whose parameters these tests may set."""
    simulator = start_shared.simulator(scene=DATA / "probe.xml", real_time_factor=0.5)
    return start_shared.listener(simulator)


@pytest.fixture
def declare_with(ros_node: Node) -> Callable[..., dict[str, Any]]:
    """A function that declares all parameters on a fresh node started with overrides."""

    def declared(**overrides: Any) -> dict[str, Any]:
        node = Node(
            "fresh",
            context=ros_node.context,
            parameter_overrides=[
                Parameter(name.replace("__", "."), value=value) for name, value in overrides.items()
            ],
        )
        try:
            return declare(node)
        finally:
            node.destroy_node()

    return declared


def test_every_parameter_is_described_and_bounded(listener: Listener) -> None:
    client = listener.parameters()
    listed = listener.result(client.list_parameters(["publish_rate"], 2)).result.names
    assert set(listed) == {name for name in _NAMES if name.startswith("publish_rate.")}
    descriptors: list[ParameterDescriptor] = listener.result(
        client.describe_parameters(_NAMES)
    ).descriptors
    assert [d.name for d in descriptors] == _NAMES
    for descriptor, spec in zip(descriptors, PARAMETERS, strict=True):
        assert len(descriptor.description) > 10
        assert descriptor.read_only == (descriptor.name in _READ_ONLY)
        numeric = type(spec.default) in (int, float)
        ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
        assert len(ranges) == numeric
        if spec.choices:
            assert all(choice in descriptor.additional_constraints for choice in spec.choices)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("real_time_factor", -0.1, "range"),
        ("real_time_factor", 1000.1, "range"),
        ("real_time_factor", math.nan, "NaN"),
        ("real_time_factor", math.inf, "range"),
        ("real_time_factor", "fast", "type"),
        ("publish_rate.imu", -1.0, "range"),
        ("publish_rate.imu", True, "type"),
        ("catch_up_limit", 10.5, "range"),
        ("tf", "all", "read-only"),
        ("scene", "zoo", "read-only"),
    ],
)
def test_a_wrong_value_is_refused_with_the_reason_and_changes_nothing(
    listener: Listener, name: str, value: Any, reason: str
) -> None:
    before = listener.get_parameter(name)
    (result,) = listener.set_parameters({name: value})
    assert not result.successful
    assert re.search(reason, result.reason, re.IGNORECASE), result.reason
    assert listener.get_parameter(name) == before


def test_a_parameter_that_does_not_exist_cannot_be_set(listener: Listener) -> None:
    (result,) = listener.set_parameters({"publish_rate.smell": 1.0})
    assert not result.successful
    assert "undeclared" in result.reason


def test_an_atomic_set_with_one_wrong_member_changes_nothing(listener: Listener) -> None:
    values = {"publish_rate.imu": 50.0, "real_time_factor": -1.0, "publish_rate.tf": 5.0}
    before = {name: listener.get_parameter(name) for name in values}
    (result,) = listener.set_parameters(values, atomic=True)
    assert not result.successful
    assert "real_time_factor" in result.reason
    assert {name: listener.get_parameter(name) for name in values} == before


def test_in_a_set_that_is_not_atomic_the_right_members_count(listener: Listener) -> None:
    results = listener.set_parameters({"publish_rate.wrench": 50.0, "real_time_factor": -1.0})
    assert [result.successful for result in results] == [True, False]
    assert listener.get_parameter("publish_rate.wrench") == 50.0
    assert listener.get_parameter("real_time_factor") == 0.5


def test_the_real_time_factor_changes_the_pace_at_once(listener: Listener) -> None:
    diagnostics = listener.record(DiagnosticArray, "/diagnostics", reliable=True)

    def figure(key: str) -> float:
        values = diagnostics.messages[-1].status[0].values
        return float({v.key: v.value for v in values}[key])

    for factor in (0.1, 0.5):
        assert listener.set_parameters({"real_time_factor": factor})[0].successful
        diagnostics.raw.clear()
        # The first report covers some of the time before the change.
        assert listener.spin_until(lambda: len(diagnostics) >= 2)
        assert figure("real-time factor asked") == factor
        assert 0.5 * factor < figure("real-time factor achieved") < 1.1 * factor
    listener.forget_subscriptions()


def test_as_fast_as_possible_is_faster_than_real_time_and_can_be_left_again(
    listener: Listener,
) -> None:
    clock = listener.record(Clock, "/clock", reliable=True)
    diagnostics = listener.record(DiagnosticArray, "/diagnostics", reliable=True)
    assert listener.set_parameters({"real_time_factor": 0.0})[0].successful
    assert listener.spin_until(
        lambda: any(m.status[0].message == "as fast as possible" for m in diagnostics.messages)
    )
    values = {v.key: v.value for v in diagnostics.messages[-1].status[0].values}
    assert listener.set_parameters({"real_time_factor": 0.5})[0].successful
    diagnostics.raw.clear()
    assert listener.spin_until(lambda: len(diagnostics) >= 2)
    after = {v.key: v.value for v in diagnostics.messages[-1].status[0].values}
    assert float(values["real-time factor achieved"]) > 1.0
    assert float(after["real-time factor achieved"]) < 0.6
    steps = steps_of(clock.messages)
    assert all(before < now for before, now in pairwise(steps))
    listener.forget_subscriptions()


def test_a_node_without_overrides_has_the_defaults(
    declare_with: Callable[..., dict[str, Any]],
) -> None:
    assert declare_with() == {spec.name: spec.default for spec in PARAMETERS}


def test_a_whole_number_at_the_start_is_taken_for_a_number_with_a_decimal_point(
    declare_with: Callable[..., dict[str, Any]],
) -> None:
    values = declare_with(real_time_factor=2, publish_rate__imu=100)
    assert (values["real_time_factor"], values["publish_rate.imu"]) == (2.0, 100.0)


@pytest.mark.parametrize(
    ("overrides", "error"),
    [
        ({"sceen": "arm"}, r"parameter 'sceen' not found \(did you mean 'scene'\?\)"),
        ({"publish_rate__imus": 1.0}, r"did you mean 'publish_rate.imu'\?"),
        ({"tf": "some"}, "parameter 'tf' cannot be 'some': it is one of base, all, none"),
        ({"on_divergence": "cry"}, "it is one of reset, pause, shutdown"),
        ({"wrench_sign": True}, "parameter 'wrench_sign' cannot be True: it is one of child_on"),
        ({"real_time_factor": -1.0}, "'real_time_factor' cannot be -1.0: it is .* from 0 to 1000"),
        ({"real_time_factor": "fast"}, "cannot be 'fast': it is a number with a decimal point"),
        ({"real_time_factor": math.nan}, "cannot be nan: it is a number"),
        ({"realtime_priority": 100}, "cannot be 100: it is an integer from 0 to 99"),
        ({"sensor_noise": 1}, "parameter 'sensor_noise' cannot be 1: it is true or false"),
        ({"seed": -1}, "parameter 'seed' cannot be -1: it is an integer from 0 to 2147483647"),
        ({"scene": 3}, "parameter 'scene' cannot be 3: it is a text"),
    ],
)
def test_a_wrong_value_at_the_start_is_an_error_that_names_what_is_right(
    declare_with: Callable[..., dict[str, Any]], overrides: dict[str, Any], error: str
) -> None:
    with pytest.raises(ModelError, match=f"(?i){error}"):
        declare_with(**overrides)


def test_parameters_that_every_node_has_are_not_taken_for_a_mistake(
    declare_with: Callable[..., dict[str, Any]],
) -> None:
    assert declare_with(use_sim_time=False)["scene"] == "humanoid"


def test_a_wrong_parameter_ends_the_program_with_one_line_and_no_traceback(
    start: Starter,
) -> None:
    simulator = start.simulator(tf="some")
    assert simulator.process.wait(60) == 1
    expected = "mujoco_ros: error: parameter 'tf' cannot be 'some': it is one of base, all, none\n"
    assert simulator.log == expected
