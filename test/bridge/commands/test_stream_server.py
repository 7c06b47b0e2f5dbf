"""Streamed joint commands: references, preemption and warnings."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from command_clients import ARM
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from simulators import DATA
from stepped_node import SteppedNode

from mujoco_ros.sim.stepping.lockstep import LockstepConfig, SourceConfig

_FINGER, _PASSIVE = "left_finger_joint", "right_finger_joint"
_NAN, _INF = float("nan"), float("inf")
_FIELDS = ("position", "velocity", "effort")


@pytest.fixture
def home(stepped: SteppedNode) -> np.ndarray:
    """Where the arm's references are at the start.  # (6,)"""
    return stepped.references[0, :6]


def _command(stepped: SteppedNode, names: Any = ARM, **fields: Any) -> None:
    """Send a command on ``joint_commands`` and take the step that is the first to use it."""
    stepped.deliver(stepped.commander.publish_joints, names, **fields)
    stepped.step()


def _forward(stepped: SteppedNode, interface: str, data: Any) -> None:
    stepped.deliver(stepped.commander.publish_forward, interface, data)
    stepped.step()


@pytest.mark.parametrize("given", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_each_of_the_three_fields_sets_its_reference(
    stepped: SteppedNode, given: tuple[int, ...]
) -> None:
    values = [(0.1, -1.5), (0.3, -0.2), (5.0, -7.0)]
    expected = stepped.references
    _command(stepped, (ARM[0], ARM[1]), **{_FIELDS[row]: values[row] for row in given})
    for row in given:
        expected[row, :2] = values[row]
    np.testing.assert_array_equal(stepped.references, expected)


def test_the_next_step_sums_the_references_by_the_pd_law(stepped: SteppedNode) -> None:
    stepped.run(0.05)
    _command(stepped, ARM[3:4], position=[-1.169], velocity=[0.1], effort=[3.0])
    (state,) = stepped.joint_states()[-1:]
    gains = stepped.simulation.plant.gains.configured(stepped.simulation.assembly.robots[0])
    q, dq, torque = state.position[3], state.velocity[3], state.effort[3]
    expected = gains.kp[3] * (-1.169 - q) + gains.kd[3] * (0.1 - dq) + 3.0
    assert abs(expected) < 28.0  # not saturated
    assert torque == pytest.approx(expected, abs=1e-9)


def test_the_velocity_of_a_position_servo_is_ignored_with_one_warning(stepped: SteppedNode) -> None:
    for position in (0.02, 0.01):
        _command(stepped, (_FINGER, ARM[0]), position=[position, 0.1], velocity=[0.5, 0.2])
        assert stepped.references[:2, 6].tolist() == [position, 0.0]
        assert stepped.references[1, 0] == pytest.approx(0.2)
        stepped.run(0.3)
    assert stepped.warnings == [
        f"joint_commands: the velocity of {_FINGER} is ignored, now and later: "
        "a position servo takes none"
    ]


_WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": (
        {"names": [ARM[0], "elbow"], "position": [0.5, 0.5]},
        "joint 'elbow' not found (did you mean 'elbow_joint'?); there are: shoulder_pan_joint",
    ),
    "too long": (
        {"names": ARM[:2], "velocity": [0.5, 0.5, 0.5]},
        "velocity has 3 values for 2 joints; give one for each",
    ),
    "infinite": (
        {"names": ARM[:2], "effort": [0.5, -_INF]},
        "effort of joint 'shoulder_lift_joint' is -inf; it must be a finite number",
    ),
}


@pytest.mark.parametrize("case", _WRONG)
def test_an_invalid_command_is_refused_with_the_cause_and_changes_nothing(
    stepped: SteppedNode, case: str
) -> None:
    fields, reason = _WRONG[case]
    before = stepped.references
    _command(stepped, **fields)
    (warning,) = stepped.warnings
    assert warning.startswith(f"joint_commands: {reason}")
    assert stepped.refusals.counts == {"refused on joint_commands": 1}
    stepped.run(0.02)
    np.testing.assert_array_equal(stepped.references, before)
    assert set(stepped.control.owners()) == {"unclaimed"}


def test_an_invalid_command_does_not_disturb_the_stream(stepped: SteppedNode) -> None:
    _command(stepped, ARM[:1], position=[0.3])
    _command(stepped, ARM[:1], position=[_INF])
    stepped.run(0.02)
    assert stepped.references[0, 0] == 0.3
    assert stepped.control.owners()["joint_commands"] == ARM[:1]


def test_positions_beyond_the_limits_are_clamped_or_refused_and_counted(
    stepped: SteppedNode,
) -> None:
    _command(stepped, ARM[:3], position=[7.0, -8.0, 1.3])
    np.testing.assert_allclose(stepped.references[0, :3], [2 * np.pi, -2 * np.pi, 1.3])
    assert stepped.warnings == [
        "joint_commands: position 7 of joint 'shoulder_pan_joint' was clamped to its limits "
        "[-6.28319, 6.28319], and 1 more"
    ]
    assert stepped.refusals.counts == {"positions clamped on joint_commands": 2}
    stepped.configure(out_of_limits="refuse")
    before = stepped.references
    _command(stepped, ARM[:3], position=[7.0, -8.0, 1.2])
    np.testing.assert_array_equal(stepped.references, before)
    assert stepped.warnings[1].startswith(
        "joint_commands: position 7 of joint 'shoulder_pan_joint' is outside its limits ["
    )


def _order(stepped: SteppedNode, source: str) -> list[str]:
    """Return the joint order that a late subscriber receives."""
    qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    orders = stepped.listener.record(JointState, f"/{source}/joints", qos=qos)
    assert stepped.listener.spin_until(lambda: len(orders) > 0)
    stepped.listener.forget_subscriptions()
    (message,) = orders.messages
    assert len(message.position) == len(message.velocity) == len(message.effort) == 0
    return list(message.name)


@pytest.mark.parametrize("interface", _FIELDS)
def test_a_forward_controller_publishes_its_joints_and_takes_values_in_their_order(
    stepped: SteppedNode, interface: str
) -> None:
    names = _order(stepped, f"{interface}_controller")
    assert names == list(ARM)  # the gripper's joint has its own controller
    values = 0.1 * np.arange(1, 7)
    _forward(stepped, interface, values)
    row = _FIELDS.index(interface)
    np.testing.assert_array_equal(stepped.references[row, :6], values)
    assert stepped.control.owners()[f"{interface}_controller"] == ARM


@pytest.mark.parametrize(
    ("interface", "data", "reason"),
    [
        ("position", [0.0] * 5, "5 values for 6 joints; the order is: shoulder_pan_joint, shoul"),
        ("position", [0, 0, _NAN, 0, 0, 0], "position of joint 'elbow_joint' is nan"),
        ("effort", [0, 0, 0, 0, 0, 1e10], "effort of joint 'wrist_3_joint' is 1e+10"),
    ],
)
def test_an_invalid_forward_command_is_refused_with_the_cause(
    stepped: SteppedNode, interface: str, data: list[float], reason: str
) -> None:
    before = stepped.references
    _forward(stepped, interface, data)
    np.testing.assert_array_equal(stepped.references, before)
    (warning,) = stepped.warnings
    assert warning.startswith(f"{interface}_controller/commands: {reason}")
    assert set(stepped.control.owners()) == {"unclaimed"}


_SOURCES: dict[str, Callable[[SteppedNode], None]] = {
    "joint_commands": lambda stepped: _command(stepped, position=[0.1] * 6),
    "position_controller": lambda stepped: _forward(stepped, "position", [0.1] * 6),
    "velocity_controller": lambda stepped: _forward(stepped, "velocity", [0.1] * 6),
    "effort_controller": lambda stepped: _forward(stepped, "effort", [0.1] * 6),
}


@pytest.mark.parametrize("preempted", _SOURCES)
@pytest.mark.parametrize("preempting", _SOURCES)
def test_the_newest_stream_claims_the_joints_and_the_preempted_one_is_logged(
    stepped: SteppedNode, preempted: str, preempting: str
) -> None:
    _SOURCES[preempted](stepped)
    _SOURCES[preempting](stepped)
    stepped.pass_on()
    holders = stepped.control.owners()
    assert holders[preempting] == ARM
    assert set(holders) == {preempting, "unclaimed"}
    if preempted == preempting:
        assert stepped.warnings == []
    else:
        assert stepped.warnings == [f"{preempted}: {preempting} took over {', '.join(ARM)}"]
        assert stepped.refusals.counts == {f"joints lost to {preempting} on {preempted}": 1}


def test_two_competing_streams_do_not_flood_the_log(stepped: SteppedNode) -> None:
    for _ in range(50):
        _forward(stepped, "position", [0.1] * 6)
        _command(stepped, position=[0.2] * 6)
    stepped.pass_on()
    assert len(stepped.warnings) == 2
    assert sum(stepped.refusals.counts.values()) == 99


def test_a_joint_holds_its_position_after_the_timeout_of_its_stream(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    stepped.configure(timeout=0.1)
    _command(stepped, ARM[:2], position=[0.1, -1.7], velocity=[0.5, 0.0], effort=[1.0, 2.0])
    stepped.run(0.1)
    assert stepped.warnings == []
    np.testing.assert_array_equal(stepped.references[1, :2], [0.5, 0.0])
    stepped.run(0.003)
    stepped.pass_on()
    assert stepped.warnings == [
        "joint_commands: no command for 0.1 s, so command_timeout makes it hold "
        "shoulder_pan_joint, shoulder_lift_joint"
    ]
    assert stepped.refusals.counts == {"streams stopped on joint_commands": 1}
    held = stepped.references[:, :2]
    np.testing.assert_array_equal(held, [[0.1, -1.7], [0.0, 0.0], [1.0, 2.0]])
    stepped.run(0.2)
    np.testing.assert_array_equal(stepped.references[:, :2], held)
    assert set(stepped.control.owners()) == {"unclaimed"}


def test_a_joint_is_damped_after_the_timeout_if_the_settings_request_it(
    stepped: SteppedNode,
) -> None:
    stepped.configure(timeout=0.05, on_timeout="damp")
    _command(stepped, ARM[1:3], position=[-1.7, 1.3], effort=[1.0, 2.0])
    stepped.run(0.06)
    stepped.pass_on()
    assert "so command_timeout makes it damp shoulder_lift_joint" in stepped.warnings[0]
    stepped.sent["joint_states"].clear()
    stepped.run(0.5)
    states = stepped.joint_states()
    gains = stepped.simulation.plant.gains.configured(stepped.simulation.assembly.robots[0])
    for state in states:  # only damping
        for joint in (1, 2):
            expected = -gains.kd[joint] * state.velocity[joint]
            assert state.effort[joint] == pytest.approx(expected, abs=1e-9)
    assert abs(states[-1].position[1] - states[0].position[1]) > 0.01  # and so it sinks
    _command(stepped, ARM[1:3], position=[-1.7, 1.3])
    stepped.step()
    assert stepped.references[0, 1] == -1.7


def test_a_reset_ends_streams_and_the_next_command_starts_a_new_one(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    _command(stepped, position=[0.5] * 6)
    stepped.diverge()
    stepped.pass_on()
    np.testing.assert_array_equal(stepped.references[0, :6], home)
    assert set(stepped.control.owners()) == {"unclaimed"}
    stepped.run(0.01)
    np.testing.assert_array_equal(stepped.references[0, :6], home)
    _command(stepped, ARM[:1], position=home[:1])  # near, so that it may continue
    _command(stepped, ARM[:1], position=[0.1])
    stepped.run(0.02)
    assert stepped.references[0, 0] == 0.1


@pytest.fixture(scope="module")
def bare() -> Iterator[SteppedNode]:
    """The arm for ros2_control: with ``joint_commands`` only."""
    stepped = SteppedNode("arm", controllers=False)
    yield stepped
    stepped.close()


def _names(stepped: SteppedNode, node: Node) -> set[str]:
    """Return the subscribed topics of the simulator."""
    listening = stepped.listener.node.get_subscriber_names_and_types_by_node("mujoco", "/")
    assert node is stepped.node
    return {name for name, _ in listening if not name.startswith("/parameter_events")}


def test_without_controllers_only_joint_commands_is_subscribed(bare: SteppedNode) -> None:
    assert _names(bare, bare.node) == {"/joint_commands"}
    publishers = bare.listener.node.get_publisher_names_and_types_by_node("mujoco", "/")
    assert not [name for name, _ in publishers if "controller" in name]
    services = bare.listener.node.get_service_names_and_types_by_node("mujoco", "/")
    assert not [name for name, _ in services if "controller" in name]
    before = bare.references
    _command(bare, [*ARM, _FINGER], position=[*before[0, :6] + 0.1, 0.01])
    np.testing.assert_allclose(bare.references[0, :7], [*before[0, :6] + 0.1, 0.01])


def test_with_controllers_every_topic_of_the_contract_is_subscribed(stepped: SteppedNode) -> None:
    assert _names(stepped, stepped.node) == {
        "/joint_commands",
        "/joint_trajectory_controller/joint_trajectory",
        "/joint_trajectory_controller/speed_scaling_input",
        *(f"/{interface}_controller/commands" for interface in _FIELDS),
        *(f"/cartesian_controller/target_{it}" for it in ("pose", "twist", "wrench", "stiffness")),
    }


def test_only_joints_with_an_actuator_of_that_interface_can_be_commanded(
    stepped: SteppedNode,
) -> None:
    probe = SteppedNode(str(DATA / "probe.xml"))
    try:
        for interface in _FIELDS:
            assert _order(probe, f"{interface}_controller") == ["rail"]
        _command(probe, ["swing"], position=[0.0])
        (warning,) = probe.warnings
        assert "joint 'swing' takes no position: it is passive" in warning
    finally:
        probe.close()


def test_in_lockstep_references_move_over_the_period_of_the_ticks_from_the_first_command_on(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    start = stepped.references[0, 0]
    source = SourceConfig(topic="joint_commands", robot="arm", rate=100.0)
    stepped.lockstep.configure(LockstepConfig(sources=(source,)))
    stepped.deliver(stepped.commander.publish_joints, ARM[:1], position=[0.3])
    stepped.run(0.02)
    path = np.array([state.reference.positions[0] for state in stepped.states()])
    expected = np.interp(np.arange(1, 21), [0, 10, 20], [start, 0.3, 0.3])
    np.testing.assert_allclose(path, expected, atol=1e-12)
    stepped.lockstep.configure(LockstepConfig())
