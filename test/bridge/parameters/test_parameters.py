"""Declaration, validation and updates of parameters."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from simulators import DATA, Listener, Simulator, SimulatorLauncher, steps_of

from mujoco_ros.bridge.node import PARAMETERS
from mujoco_ros.bridge.parameters.parameters import (
    Command,
    ParameterListener,
    ParameterRejectedError,
    Parameters,
)
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.wire.parameter_spec import ParameterSpec

_NAMES = [spec.name for spec in PARAMETERS]
_READ_ONLY = {"scene", "on_divergence", "wrench_sign", "tf", "sensor_noise", "realism", "seed"}
_READ_ONLY |= {"odom_tf", "cmd_vel_stamped"}
_READ_ONLY |= {"realtime_priority", "ros2_control", "simulation_interfaces_prefix"}
_READ_ONLY |= {"cameras", "cameras_at_start", "rendering", "viewer", "viewer_host", "viewer_port"}
_READ_ONLY |= {"history_length", "history_rate"}
_READ_ONLY |= {
    "controller",
    "controller_robot",
    "controllers_file",
    "start_controllers",
    "controller_seed",
    "controller_step_by_step",
}
_READ_ONLY |= {"controller_time_limit", "controllers", "client_folders", "output_folder"}


@pytest.fixture(scope="module")
def probe(start_shared: SimulatorLauncher) -> Simulator:
    """A simulator whose parameters these tests set."""
    return start_shared.simulator(scene=DATA / "probe.xml", real_time_factor=0.5)


@pytest.fixture(scope="module")
def listener(start_shared: SimulatorLauncher, probe: Simulator) -> Listener:
    """A listener in the domain of the simulator."""
    return start_shared.listener(probe)


@dataclass
class Fresh(ParameterListener):
    """A node of this process with declared parameters, and the sets that were applied."""

    node: Node
    parameters: Parameters
    applied: list[dict[str, Any]] = field(default_factory=list)
    expand: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda _values: {}

    def expand_parameters(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.expand(values)

    def apply_parameters(self, values: Mapping[str, Any]) -> None:
        self.applied.append(dict(values))

    def set(self, **values: Any) -> str:
        """Set parameters atomically; return the reason of a refusal, empty for none."""
        parameters = [Parameter(_dotted(name), value=value) for name, value in values.items()]
        try:
            return str(self.node.set_parameters_atomically(parameters).reason)
        except ParameterRejectedError as refusal:
            return str(refusal)


def _dotted(name: str) -> str:
    return name.replace("__", ".")


@pytest.fixture
def fresh(ros_node: Node) -> Iterator[Callable[..., Fresh]]:
    """A function that declares parameters on a fresh node started with overrides."""
    nodes = []

    def make(specs: tuple[ParameterSpec, ...] = PARAMETERS, **overrides: Any) -> Fresh:
        given = [Parameter(_dotted(name), value=value) for name, value in overrides.items()]
        nodes.append(Node("fresh", context=ros_node.context, parameter_overrides=given))
        made = Fresh(nodes[-1], Parameters(nodes[-1]))
        made.parameters.declare(specs)
        made.parameters.reject_unknown()
        made.parameters.listeners.append(made)
        return made

    yield make
    for node in nodes:
        node.destroy_node()


@pytest.fixture
def declare_with(fresh: Callable[..., Fresh]) -> Callable[..., dict[str, Any]]:
    """A function that returns all parameters of a new node with overrides."""
    return lambda **overrides: fresh(**overrides).parameters.values


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
        ("real_time_factor", -0.1, "cannot be -0.1: it is a number, 0 or from 0.001 to 1000"),
        ("real_time_factor", 1000.1, "cannot be 1000.1: it is a number, 0 or from 0.001 to 1000"),
        ("real_time_factor", 1e-4, "it is a number, 0 or from 0.001 to 1000"),
        ("active_keyframe", "k" * 201, "at most 200 characters"),
        ("active_keyframe", "k\n\x1b[31m", "without control characters"),
        ("real_time_factor", math.nan, "cannot be nan: it is a number, 0 or from 0.001 to 1000"),
        ("real_time_factor", math.inf, "cannot be inf: it is a number, 0 or from 0.001 to 1000"),
        ("real_time_factor", "fast", "cannot be 'fast': it is a number, 0 or from 0.001 to 1000"),
        ("real_time_factor", None, "cannot be None: it is a number, 0 or from 0.001 to 1000"),
        ("publish_rate.imu", -1.0, "cannot be -1.0: it is a number, 0 or from 0.001 to 100000"),
        ("publish_rate.imu", 1e-4, "cannot be 0.0001: it is a number, 0 or from 0.001 to 100000"),
        ("publish_rate.imu", True, "cannot be True: it is a number, 0 or from 0.001 to 100000"),
        ("catch_up_limit", 10.5, "cannot be 10.5: it is a number from 0 to 10"),
        ("tf", "all", "read-only"),
        ("scene", "zoo", "read-only"),
    ],
)
def test_an_invalid_value_is_refused_with_the_reason_and_changes_nothing(
    listener: Listener, name: str, value: Any, reason: str
) -> None:
    before = listener.get_parameter(name)
    (result,) = listener.set_parameters({name: value})
    assert not result.successful
    assert re.search(reason, result.reason), result.reason
    assert name in result.reason
    assert listener.get_parameter(name) == before


def test_an_unknown_parameter_cannot_be_set(listener: Listener) -> None:
    for atomic in (False, True):
        (result,) = listener.set_parameters({"publish_rate.imus": 1.0}, atomic=atomic)
        assert not result.successful
        assert result.reason.startswith(
            "parameter 'publish_rate.imus' not found (did you mean 'publish_rate.imu'?); there are:"
            " publish_rate.joint_states, publish_rate.joint_references, publish_rate.imu, "
        )
        assert "scene" not in result.reason


def test_an_atomic_set_with_one_invalid_value_changes_nothing(listener: Listener) -> None:
    values = {"publish_rate.imu": 50.0, "real_time_factor": -1.0, "publish_rate.tf": 5.0}
    before = {name: listener.get_parameter(name) for name in values}
    (result,) = listener.set_parameters(values, atomic=True)
    assert not result.successful
    assert "real_time_factor" in result.reason
    assert {name: listener.get_parameter(name) for name in values} == before


def test_the_valid_values_of_a_set_that_is_not_atomic_are_applied(listener: Listener) -> None:
    results = listener.set_parameters({"publish_rate.wrench": 50.0, "real_time_factor": -1.0})
    assert [result.successful for result in results] == [True, False]
    assert listener.get_parameter("publish_rate.wrench") == 50.0
    assert listener.get_parameter("real_time_factor") == 0.5


def test_an_integer_or_an_exponent_without_a_dot_is_accepted_as_a_float(
    listener: Listener,
) -> None:
    # As `ros2 param set` sends 1000 and 1e-2: the one is an integer, the other is text.
    results = listener.set_parameters({"publish_rate.wrench": 1000, "catch_up_limit": "1e-2"})
    assert all(result.successful for result in results)
    assert listener.get_parameter("publish_rate.wrench") == 1000.0
    assert listener.get_parameter("catch_up_limit") == 0.01


def test_a_request_is_logged_in_one_line_with_its_changes_only(
    probe: Simulator, listener: Listener
) -> None:
    rates = {f"publish_rate.{topic}": 250.0 for topic in ("imu", "tf", "odom", "contact")}
    assert all(result.successful for result in listener.set_parameters(rates))
    listener.set_parameters({**rates, "scene": "zoo", "publish_rate.wrench": -1.0})
    listener.set_parameters({**rates, "publish_rate.tf": 12.5}, atomic=True)
    probe.wait_for_log("publish_rate.tf = 12.5")
    lines = [line for line in probe.log.splitlines() if "changed" in line and "= 250" in line]
    (line,) = lines
    assert line.endswith(
        "parameters changed: publish_rate.imu = 250, publish_rate.tf = 250 and 2 more"
    )
    assert probe.log.splitlines()[-1].endswith("parameters changed: publish_rate.tf = 12.5")


def test_the_real_time_factor_takes_effect_at_once(listener: Listener) -> None:
    diagnostics = listener.record(DiagnosticArray, "/diagnostics", reliable=True)

    def figure(key: str) -> float:
        values = diagnostics.latest.status[0].values
        return float({v.key: v.value for v in values}[key])

    for factor in (0.1, 0.5):
        assert listener.set_parameters({"real_time_factor": factor})[0].successful
        diagnostics.raw.clear()
        # The first report covers some of the time before the change.
        assert listener.spin_until(lambda: len(diagnostics) >= 2)
        assert figure("real-time factor asked") == factor
        assert 0.5 * factor < figure("real-time factor achieved") < 1.1 * factor
    listener.forget_subscriptions()


def test_a_factor_of_zero_is_faster_than_real_time_and_can_be_reverted(
    listener: Listener,
) -> None:
    clock = listener.record(Clock, "/clock", reliable=True)
    diagnostics = listener.record(DiagnosticArray, "/diagnostics", reliable=True)
    assert listener.set_parameters({"real_time_factor": 0.0})[0].successful

    def values(message: DiagnosticArray) -> dict[str, str]:
        return {v.key: v.value for v in message.status[0].values}

    def is_faster(message: DiagnosticArray) -> bool:
        is_free = message.status[0].message == "as fast as possible"
        return is_free and float(values(message)["real-time factor achieved"]) > 1.0

    assert listener.spin_until(lambda: any(is_faster(it) for it in diagnostics.messages))
    assert listener.set_parameters({"real_time_factor": 0.5})[0].successful
    diagnostics.raw.clear()

    def is_paced(message: DiagnosticArray) -> bool:
        return float(values(message)["real-time factor achieved"]) < 0.6

    assert listener.spin_until(lambda: any(map(is_paced, diagnostics.messages)))
    steps = steps_of(clock.messages)
    assert all(before < now for before, now in pairwise(steps))
    listener.forget_subscriptions()


def test_a_node_without_overrides_has_the_defaults(
    declare_with: Callable[..., dict[str, Any]],
) -> None:
    assert declare_with() == {spec.name: spec.default for spec in PARAMETERS}


def test_an_integer_is_accepted_as_a_float_at_startup(
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
        ({"real_time_factor": -1.0}, "'real_time_factor' cannot be -1.0: it is .*0.001 to 1000"),
        ({"real_time_factor": "fast"}, "cannot be 'fast': it is a number, 0 or from 0.001 to 1000"),
        ({"real_time_factor": math.nan}, "cannot be nan: it is a number"),
        ({"realtime_priority": 100}, "cannot be 100: it is an integer from 0 to 99"),
        ({"sensor_noise": 1}, "parameter 'sensor_noise' cannot be 1: it is true or false"),
        ({"seed": -1}, "parameter 'seed' cannot be -1: it is an integer from 0 to 2147483647"),
        ({"scene": 3}, "parameter 'scene' cannot be 3: it is a text"),
    ],
)
def test_an_invalid_value_at_startup_is_an_error_with_the_valid_values(
    declare_with: Callable[..., dict[str, Any]], overrides: dict[str, Any], error: str
) -> None:
    with pytest.raises(UserInputError, match=f"(?i){error}"):
        declare_with(**overrides)


def test_standard_parameters_of_every_node_are_accepted(
    declare_with: Callable[..., dict[str, Any]],
) -> None:
    assert declare_with(use_sim_time=False)["scene"] == "humanoid"


SMALL = (
    ParameterSpec(name="arm.stiff", default=1.0, description="a number", low=0.0, high=10.0),
    ParameterSpec(name="arm.damped", default=2.0, description="a number", low=0.0, high=10.0),
    ParameterSpec(name="arm.joints", default=("a", "b"), description="of the model", fixed=True),
    ParameterSpec(name="loud", default=True, description="a truth"),
)


def test_accepted_values_reach_the_listeners_at_once_and_together(
    fresh: Callable[..., Fresh],
) -> None:
    node = fresh(SMALL)
    assert node.set(arm__stiff=3, loud=False) == ""
    assert node.applied == [{"arm.stiff": 3.0, "loud": False}]
    assert node.parameters.values == {
        "arm.stiff": 3.0,
        "arm.damped": 2.0,
        "arm.joints": ("a", "b"),
        "loud": False,
    }


def test_refused_values_do_not_reach_the_listeners(fresh: Callable[..., Fresh]) -> None:
    node = fresh(SMALL)
    before = dict(node.parameters.values)
    assert "cannot be 11.0" in node.set(loud=False, arm__stiff=11)
    assert "'arm.stif' not found" in node.set(loud=False, arm__stif=1.0)
    assert "read-only" in node.set(loud=False, arm__joints=["b", "a"])
    assert node.applied == []
    assert node.parameters.values == before


def test_a_set_can_imply_other_values_but_explicit_ones_take_precedence(
    fresh: Callable[..., Fresh],
) -> None:
    node = fresh(SMALL)
    node.expand = lambda values: {"arm.stiff": 5.0, "arm.damped": 6.0} if values.get("loud") else {}
    assert node.set(loud=True, arm__stiff=3) == ""
    assert node.applied == [{"loud": True, "arm.stiff": 3.0, "arm.damped": 6.0}]
    assert node.node.get_parameter("arm.damped").value == 6.0


def test_a_set_with_an_invalid_implied_value_is_refused_with_the_reason(
    fresh: Callable[..., Fresh],
) -> None:
    def refuse(_values: Any) -> dict[str, Any]:
        raise UserInputError("there is no such file")

    node = fresh(SMALL)
    node.expand = refuse
    assert node.set(arm__stiff=3.0) == "there is no such file"
    assert node.applied == []


def test_a_set_is_refused_if_a_check_fails_with_another_exception(
    fresh: Callable[..., Fresh],
) -> None:
    def fail(_values: Any) -> dict[str, Any]:
        raise ZeroDivisionError("a defect")

    node = fresh(SMALL)
    node.expand = fail
    assert "ZeroDivisionError('a defect')" in node.set(arm__stiff=3.0)
    assert node.applied == []
    assert node.parameters.values["arm.stiff"] == 1.0


def test_the_other_listeners_apply_a_set_after_one_fails(
    fresh: Callable[..., Fresh], caplog: pytest.LogCaptureFixture
) -> None:
    class Faulty(ParameterListener):
        def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
            if "loud" in values:
                raise ZeroDivisionError("a defect")
            return lambda: 1 / 0

    node = fresh(SMALL)
    node.parameters.listeners.insert(0, Faulty())
    assert node.set(loud=False) == ""
    assert node.set(arm__stiff=3.0) == ""
    assert node.applied == [{"loud": False}, {"arm.stiff": 3.0}]
    assert caplog.text.count("Faulty failed to apply parameters") == 2


def test_an_atomic_set_can_contain_unchanged_read_only_parameters(
    fresh: Callable[..., Fresh],
) -> None:
    # So that a dump can be loaded in one piece.
    node = fresh(SMALL)
    assert node.set(arm__joints=["a", "b"], arm__stiff=3, start_type_description_service=True) == ""
    assert node.applied == [{"arm.stiff": 3.0}]
    assert "read-only" in node.set(arm__joints=["a", "b"])


def test_a_parameter_of_the_model_is_accepted_at_startup_if_it_is_equal(
    fresh: Callable[..., Fresh],
) -> None:
    assert fresh(SMALL, arm__joints=["a", "b"]).parameters.values["arm.joints"] == ("a", "b")
    wrong = r"'arm.joints' cannot be \['b', 'a'\]: the model determines it: \['a', 'b'\]"
    with pytest.raises(UserInputError, match=wrong):
        fresh(SMALL, arm__joints=["b", "a"])


def test_the_error_for_an_unknown_parameter_lists_the_parameters_of_its_prefix(
    fresh: Callable[..., Fresh],
) -> None:
    node = fresh(SMALL)
    assert node.set(arm__stuff=1.0) == (
        "parameter 'arm.stuff' not found (did you mean 'arm.stiff'?); there are: arm.stiff, "
        "arm.damped, arm.joints"
    )
    assert node.set(xyz=1.0) == "parameter 'xyz' not found; there are: arm.*, loud"
    assert node.set(arm__stiff__kp=1.0).endswith("there are: arm.stiff, arm.damped, arm.joints")


def test_two_parameters_of_one_name_are_an_error(fresh: Callable[..., Fresh]) -> None:
    with pytest.raises(UserInputError, match=r"two parameters would be named 'loud'"):
        fresh((*SMALL, SMALL[-1]))


def test_an_invalid_parameter_ends_the_program_with_one_line_and_no_traceback(
    start: SimulatorLauncher,
) -> None:
    simulator = start.simulator(tf="some")
    assert simulator.process.wait(60) == 1
    expected = "mujoco_ros: error: parameter 'tf' cannot be 'some': it is one of base, all, none\n"
    assert simulator.log == expected
