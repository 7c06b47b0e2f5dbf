from collections.abc import Callable
from types import SimpleNamespace

import pytest
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result, SimulatorFeatures
from simulation_interfaces.srv import ResetSimulation
from simulator_client import PAUSED, SimulatorClient
from simulators import SimulatorLauncher, steps_of
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mujoco_ros.bridge.simulation_interfaces import resetting
from mujoco_ros.bridge.simulation_interfaces.resetting import ResetService, rewinds
from mujoco_ros.control.events import SimulationReset

OK, UNSUPPORTED = Result.RESULT_OK, Result.RESULT_FEATURE_UNSUPPORTED
TIME = ResetSimulation.Request.SCOPE_TIME
STATE = ResetSimulation.Request.SCOPE_STATE
ALL = ResetSimulation.Request.SCOPE_ALL
JOINTS = [
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
]


def reset(remote: SimulatorClient, scope: int = 0) -> Result:
    return remote.call("ResetSimulation", scope=scope).result


def run(remote: SimulatorClient, steps: int = 100) -> None:
    """Run for some simulated time, and pause."""
    assert remote.listener.spin_until(lambda: len(remote.clock) > steps)
    remote.ensure_state(PAUSED)
    remote.settle()


def positions(remote: SimulatorClient) -> list[float]:
    return list(remote.joint_states.latest.position)


def move(remote: SimulatorClient) -> tuple[ActionClient, object]:
    """Send a long trajectory to the arm; return the client and the goal's handle."""
    client = ActionClient(
        remote.listener.node,
        FollowJointTrajectory,
        "/joint_trajectory_controller/follow_joint_trajectory",
    )
    assert remote.listener.spin_until(client.server_is_ready)
    assert remote.listener.spin_until(lambda: len(remote.joint_states) > 0)
    state = remote.joint_states.latest
    start = [state.position[state.name.index(joint)] for joint in JOINTS]
    far = [start[0] + 0.5, *start[1:]]
    point = JointTrajectoryPoint(positions=far, time_from_start=Duration(seconds=20).to_msg())
    way = JointTrajectory(joint_names=JOINTS, points=[point])
    goal = FollowJointTrajectory.Goal(trajectory=way)
    handle = remote.listener.result(client.send_goal_async(goal))
    assert handle.accepted
    return client, handle


@pytest.mark.parametrize("scope", [0, ALL])
def test_a_full_reset_rewinds_the_clock_and_the_state(remote: SimulatorClient, scope: int):
    run(remote)
    assert reset(remote, scope).result == OK
    assert remote.listener.spin_until(lambda: len(remote.resets) == 1)
    (event,) = remote.resets.messages
    assert event.frame_id == "time state"
    assert (event.stamp.sec, event.stamp.nanosec) == (0, 0)
    remote.settle_and_clear()
    assert remote.step().result == OK
    remote.settle()
    assert steps_of(remote.clock.messages) == [0]


def test_a_reset_of_the_state_continues_the_clock(remote: SimulatorClient):
    run(remote)
    before = remote.time()
    assert reset(remote, STATE).result == OK
    assert remote.listener.spin_until(lambda: len(remote.resets) == 1)
    assert remote.resets.messages[0].frame_id == "state"
    assert remote.step().result == OK
    assert remote.listener.spin_until(lambda: remote.time() > before)
    assert remote.time() <= before + 2.001e-3, "it published every other step"


def test_a_reset_of_the_time_keeps_the_state(remote: SimulatorClient):
    client, handle = move(remote)
    run(remote, 2000)
    moved = positions(remote)
    assert reset(remote, TIME).result == OK
    assert remote.listener.spin_until(lambda: len(remote.resets) == 1)
    assert remote.resets.messages[0].frame_id == "time"
    remote.listener.result(handle.get_result_async())
    assert remote.step().result == OK
    assert remote.listener.spin_until(lambda: remote.time() == 0.0)
    remote.listener.spin_for(0.2)
    assert positions(remote) == pytest.approx(moved, abs=1e-2)
    reset(remote)
    client.destroy()


def test_an_unknown_scope_is_refused(remote: SimulatorClient):
    run(remote)
    result = reset(remote, STATE | 64)
    assert result.result == UNSUPPORTED
    assert "64" in result.error_message
    remote.listener.spin_for(0.2)
    assert len(remote.resets) == 0, "nothing of it was done"


def test_a_goal_ends_once_when_the_simulation_is_reset(remote: SimulatorClient):
    client, handle = move(remote)
    remote.listener.spin_for(0.3)
    assert reset(remote).result == OK
    result = remote.listener.result(handle.get_result_async()).result
    assert result.error_code == FollowJointTrajectory.Result.INVALID_GOAL
    assert "reset" in result.error_string
    client.destroy()


def test_a_reset_restores_the_configured_gains_and_their_parameters(remote: SimulatorClient):
    name = "gains.shoulder_pan_joint.kp"
    configured = remote.listener.get_parameter(name)
    (result,) = remote.listener.set_parameters({name: configured * 0.5})
    assert result.successful, result.reason
    assert reset(remote).result == OK
    assert remote.listener.spin_until(
        lambda: remote.listener.get_parameter(name) == configured, 10.0
    )


def test_the_clock_continues_if_the_parameter_is_set_to_continue(start: SimulatorLauncher):
    remote = SimulatorClient(start, reset_time="continue")
    run(remote)
    before = remote.time()
    assert reset(remote).result == OK
    assert remote.listener.spin_until(lambda: len(remote.resets) == 1)
    assert remote.resets.messages[0].frame_id == "state"
    assert remote.step().result == OK
    assert remote.listener.spin_until(lambda: remote.time() > before)
    assert remote.time() <= before + 2.001e-3, "it published every other step"
    for scope in (TIME, TIME | STATE):
        refused = reset(remote, scope)
        assert refused.result == UNSUPPORTED
        assert "reset_time" in refused.error_message
    features = remote.call("GetSimulatorFeatures").features.features
    assert SimulatorFeatures.SIMULATION_RESET_TIME not in features
    (result,) = remote.listener.set_parameters({"reset_time": "rewind"})
    assert result.successful
    assert reset(remote, TIME).result == OK
    assert (
        SimulatorFeatures.SIMULATION_RESET_TIME
        in remote.call("GetSimulatorFeatures").features.features
    )
    remote.close()


def test_a_clock_in_lockstep_waits_until_the_report_of_a_reset_was_received():
    published, resets, acknowledged = [], [], []
    events = SimpleNamespace(
        publish=published.append, wait_for_all_acked=lambda _timeout: bool(acknowledged)
    )
    context = SimpleNamespace(
        simulation=SimpleNamespace(commands=None, on_reset=resets),
        run=None,
        has_controllers=True,
        values={},
        endpoints=SimpleNamespace(publisher=lambda *_: events),
        lockstep=SimpleNamespace(robots=frozenset({"arm"})),
    )
    nothing = SimpleNamespace(serve=lambda *_: None, remove_features=lambda _name: None)
    service = ResetService(context, nothing, None)
    event = SimulationReset(time=0.0, before=1.0, state=True, gain_changes=0, gains=None)
    assert service.wait(0.0) == 0.0
    resets[0]()
    acknowledged.append("of an earlier report")
    assert service.wait(0.0) > 0.0, "it is not published yet"
    acknowledged.clear()
    service.on_reset(event)
    assert service.wait(0.01) > 0.0
    acknowledged.append("received")
    assert service.wait(0.015) == service.wait(0.016) == 0.0
    acknowledged.clear()
    resets[0]()
    service.on_reset(event)
    assert service.wait(10.0) > 0.0
    assert service.wait(10.03) == 0.0, "a subscriber was killed, or confirms late"
    context.lockstep.robots = frozenset()
    resets[0]()
    assert service.wait(20.0) == 0.0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, True),
        ({"ros2_control": True}, False),
        ({"ros2_control": True, "reset_time": "rewind"}, True),
        ({"ros2_control": False, "reset_time": "continue"}, False),
    ],
)
def test_the_clock_of_a_controller_manager_continues_by_default(
    values: dict[str, object], expected: bool
) -> None:
    assert rewinds({"reset_time": "auto"} | values) is expected


def test_a_reset_is_answered_when_a_controller_manager_has_its_state(start: SimulatorLauncher):
    simulator = start.simulator(scene="arm", ros2_control=True, viewer="none")
    simulator.wait_until_running()
    listener = start.listener(simulator)
    states = listener.record(JointState, "/joint_states")
    events = listener.record(Header, "/mujoco/reset_event")
    assert listener.spin_until(lambda: len(states) > 10)
    service = "reset_simulation"
    assert listener.call(ResetSimulation, service, ResetSimulation.Request()).result.result == OK
    assert len(events) == 1
    after = [m for m in states.messages if stamp_ns(m.header) > stamp_ns(events.latest)]
    assert len(after) > 2  # of 20 ms


@pytest.mark.parametrize(
    ("time", "elapsed"), [(0.005, 0.0), (100.0, 60.0)], ids=["another reset", "the clock stands"]
)
def test_the_answer_to_a_reset_does_not_wait_for_a_time_that_does_not_come(
    monkeypatch: pytest.MonkeyPatch, time: float, elapsed: float
) -> None:
    now, simulation, answered = [0.0], SimpleNamespace(time=100.0, paused=False, on_reset=[]), []
    simulation.commands = None
    monkeypatch.setattr(resetting, "monotonic", lambda: now[0])
    polls: list[Callable[[], object]] = []
    context = SimpleNamespace(
        simulation=simulation,
        run=None,
        has_controllers=False,
        values={},
        endpoints=SimpleNamespace(
            publisher=lambda *_: None,
            later=lambda _seconds, poll: polls.append(poll),
            node=SimpleNamespace(executor=SimpleNamespace(create_task=polls.append)),
        ),
        lockstep=None,
    )
    nothing = SimpleNamespace(serve=lambda *_: None, remove_features=lambda _name: None)
    service = ResetService(context, nothing, None)
    service._answer(SimpleNamespace(succeed=lambda: answered.append(True)))
    polls.pop()()
    assert not answered
    simulation.time, now[0] = time, elapsed
    polls.pop()()
    assert answered


def stamp_ns(header: Header) -> int:
    return header.stamp.sec * 10**9 + header.stamp.nanosec
