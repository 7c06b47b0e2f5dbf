"""A simulator in lockstep with controllers over the middleware."""

import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import SpawnEntity
from simulator_client import PAUSED, PLAYING, SimulatorClient
from simulators import Recording, SimulatorLauncher, steps_of
from spawn_requests import named_resource
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mujoco_ros.bridge.commands import lockstep_parameters
from mujoco_ros.bridge.commands.lockstep_parameters import parse_sources
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.wire.names import RESTART

BOX = """<mujoco><worldbody><body name="box" pos="1 1 1">
<freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""
ANSWERING = """
import rclpy
from sensor_msgs.msg import JointState

rclpy.init()
node = rclpy.create_node("answering")
commands = node.create_publisher(JointState, "joint_commands", 10)

def answer(state):
    state.velocity = state.effort = []
    commands.publish(state)

node.create_subscription(JointState, "joint_states", answer, 10)
rclpy.spin(node)
"""


class Controller:
    """Responds to joint states with commands.

    Attributes:
        answering: Whether it responds.
        stamped: Whether its commands have a stamp.
    """

    def __init__(self, remote: SimulatorClient) -> None:
        self.listener = remote.listener
        self.responding, self.stamped = True, True
        self.position = 1.35
        self.responses: list[int] = []
        node = self.listener.node
        self.publisher = node.create_publisher(JointState, "joint_commands", 10)
        self._subscription = node.create_subscription(JointState, "joint_states", self._receive, 10)
        assert self.listener.spin_until(lambda: self.publisher.get_subscription_count() > 0)

    def _receive(self, state: JointState) -> None:
        if self.responding:
            (step,) = steps_of([state])
            self.responses.append(step)
            self.respond(state)

    def respond(self, state: JointState, **fields: Any) -> None:
        message = JointState(**({"name": ["elbow_joint"], "position": [self.position]} | fields))
        if self.stamped:
            message.header.stamp = state.header.stamp
        self.publisher.publish(message)

    def close(self) -> None:
        self.listener.node.destroy_subscription(self._subscription)
        self.listener.node.destroy_publisher(self.publisher)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatorClient]:
    starter = SimulatorLauncher(tmp_path_factory.mktemp("lockstep"))
    remote = SimulatorClient(starter)
    yield remote
    remote.close()
    starter.close()


@pytest.fixture
def remote(shared: SimulatorClient) -> Iterator[SimulatorClient]:
    """The arm in lockstep at 200 Hz, stopped at its first tick."""
    shared.ensure_state(PLAYING)
    lock(shared)
    shared.call("ResetSimulation")
    shared.settle_and_clear()
    yield shared
    shared.ensure_state(
        PAUSED
    )  # so that it takes no processor time from tests with their own simulators
    shared.listener.set_parameters({"mode": "realtime"})


@pytest.fixture
def controller(remote: SimulatorClient) -> Iterator[Controller]:
    controller = Controller(remote)
    yield controller
    controller.close()


def lock(remote: SimulatorClient, **changes: Any) -> None:
    values = {
        "mode": "lockstep",
        "lockstep_sources": "joint_commands@200",
        "lockstep_timeout": 60.0,
        "lockstep_policy": "wait",
    }
    (result,) = remote.listener.set_parameters(values | changes, atomic=True)
    assert result.successful, result.reason


def clock_has_stopped(remote: SimulatorClient) -> bool:
    """Return whether the clock stops at a tick, after all messages in flight have arrived."""

    def stands_at_a_tick() -> bool:
        return last_step(remote.clock) == last_step(remote.joint_states)

    deadline = time.monotonic() + 20.0
    while time.monotonic() < deadline:
        assert remote.listener.spin_until(stands_at_a_tick)
        count = len(remote.clock)
        remote.settle()
        remote.listener.spin_for(0.05)
        if len(remote.clock) == count:
            return True
    return False


def last_step(recording: Recording) -> int | None:
    """Return the physics step of the newest message; None without one."""
    return steps_of([recording.latest])[0] if len(recording) else None


def row(remote: SimulatorClient) -> DiagnosticStatus:
    """Return the next row of /diagnostics about lockstep."""
    reports = remote.listener.record(DiagnosticArray, "/diagnostics", reliable=True)
    assert remote.listener.spin_until(lambda: len(reports) > 1)
    (found,) = [s for s in reports.latest.status if s.name.endswith(": lockstep")]
    return found


def test_the_clock_waits_for_the_command_of_every_tick(
    remote: SimulatorClient, controller: Controller
) -> None:
    assert remote.listener.spin_until(lambda: len(controller.responses) >= 60)
    controller.responding = False
    assert clock_has_stopped(remote)
    first, last = controller.responses[0], controller.responses[-1]
    assert controller.responses == list(range(first, last + 1, 5)), "each tick once, in order"
    clock = steps_of(remote.clock.messages)
    assert clock == sorted(set(clock)), "no stamp comes twice"
    assert clock[-1] - last == 5


def test_joint_states_are_published_at_ticks_only_and_other_topics_at_their_rates(
    remote: SimulatorClient, controller: Controller
) -> None:
    wrenches = remote.listener.record(WrenchStamped, "wrench/wrist_ft")
    assert remote.listener.spin_until(lambda: len(controller.responses) > 60 and len(wrenches) > 30)
    assert all(step % 5 == 0 for step in steps_of(remote.joint_states.messages))
    steps = set(steps_of(wrenches.messages))
    assert any(step % 5 for step in steps)
    assert any(step % 2 for step in steps), "at an odd step only because it is a tick"


def test_a_controller_that_starts_during_a_wait_receives_the_tick(remote: SimulatorClient) -> None:
    for _ in range(2):
        controller = Controller(remote)
        responses = controller.responses
        assert remote.listener.spin_until(lambda responses=responses: len(responses) > 20)
        controller.close()
        assert clock_has_stopped(remote)


def test_commands_without_a_stamp_acknowledge_the_tick(
    remote: SimulatorClient, controller: Controller
) -> None:
    controller.stamped = False
    assert remote.listener.spin_until(lambda: len(controller.responses) > 50)
    assert controller.responses == sorted(set(controller.responses))


def test_refused_and_empty_commands_acknowledge_the_tick(remote: SimulatorClient) -> None:
    controller = Controller(remote)
    controller.responding = False
    publish = controller.publisher.publish
    nothing = JointState(name=["elbow_joint"], position=[float("nan")])
    wrong = JointState(name=["no_such_joint"], position=[0.0])
    for message in (nothing, wrong, JointState()):
        remote.settle_and_clear()
        publish(message)
        assert remote.listener.spin_until(lambda: len(remote.joint_states) == 1)
        assert clock_has_stopped(remote)
    controller.close()


def test_trajectories_acknowledge_the_tick(remote: SimulatorClient) -> None:
    topic = "joint_trajectory_controller/joint_trajectory"
    lock(remote, lockstep_sources=f"{topic}@200")
    publisher = remote.listener.node.create_publisher(JointTrajectory, topic, 10)
    assert remote.listener.spin_until(lambda: publisher.get_subscription_count() > 0)
    assert clock_has_stopped(remote)
    rest = JointTrajectoryPoint(positions=[0.0])
    rest.time_from_start.sec = 1
    hold = JointTrajectory(joint_names=["elbow_joint"])
    good = JointTrajectory(joint_names=["elbow_joint"], points=[rest])
    wrong = JointTrajectory(joint_names=["no_such_joint"], points=[rest])
    for message in (hold, good, wrong):
        if len(remote.joint_states):
            message.header.stamp = remote.joint_states.latest.header.stamp
        remote.settle_and_clear()
        publisher.publish(message)
        assert remote.listener.spin_until(lambda: len(remote.joint_states) == 1)
        assert clock_has_stopped(remote)
    remote.listener.node.destroy_publisher(publisher)


def test_chunks_of_positions_give_the_same_bits_whenever_they_arrive(
    remote: SimulatorClient,
) -> None:
    topic, enable = (
        f"joint_trajectory_controller/{name}"
        for name in ("joint_trajectory", "positions_upsampling.enable")
    )
    publisher = remote.listener.node.create_publisher(JointTrajectory, topic, 10)
    assert remote.listener.spin_until(lambda: publisher.get_subscription_count() > 0)
    set_parameter = lambda name, value: remote.listener.set_parameters({name: value})  # noqa: E731
    set_parameter(enable, True)
    runs = []
    for pause in (0.0, 0.05):
        lock(remote, lockstep_sources=f"{topic}@10")
        remote.call("ResetSimulation")
        assert clock_has_stopped(remote)
        rows = []
        for tick in range(4):
            begin = 0.1 * tick
            message = JointTrajectory(joint_names=["elbow_joint"])
            if tick:
                message.header.stamp = remote.joint_states.latest.header.stamp
            else:
                message.header.frame_id = RESTART  # the joints would stay at the state of the reset
            for i in range(1, 9):
                error = 0.01 * (-1) ** tick
                q = 1.3 + 0.2 * float(np.sin(begin + 0.02 * i)) + error
                waypoint = JointTrajectoryPoint(positions=[q])
                waypoint.time_from_start.nanosec = 20_000_000 * i
                message.points.append(waypoint)
            before = remote.joint_states.latest.header.stamp
            remote.settle_and_clear()
            time.sleep(pause)
            publisher.publish(message)
            # The tick before is repeated once to a slow client.
            assert remote.listener.spin_until(
                lambda before=before: any(
                    it.header.stamp != before for it in remote.joint_states.messages
                )
            )
            state = remote.joint_states.latest
            rows.append([*state.position, *state.velocity, *state.effort])
        runs.append(np.array(rows))
    np.testing.assert_array_equal(*runs)
    assert np.abs(np.diff(runs[0], axis=0)).max() > 0
    set_parameter(enable, False)
    remote.listener.node.destroy_publisher(publisher)


def test_a_silent_source_is_reported_and_the_clock_waits_for_it(
    remote: SimulatorClient, controller: Controller
) -> None:
    lock(remote, lockstep_timeout=0.2)
    assert remote.listener.spin_until(lambda: len(controller.responses) > 20)
    controller.responding = False
    assert clock_has_stopped(remote)
    remote.simulator.wait_for_log("no command on 'joint_commands' within 0.2 s")
    status = row(remote)
    assert status.level == DiagnosticStatus.WARN
    assert status.message == "no command on joint_commands"
    assert clock_has_stopped(remote)
    controller.responding = True
    controller.respond(remote.joint_states.latest)
    count = len(controller.responses)
    assert remote.listener.spin_until(lambda: len(controller.responses) > count + 20)
    remote.simulator.wait_for_log("'joint_commands' answers again")
    assert row(remote).level == DiagnosticStatus.OK


def test_pause_step_and_reset_work(remote: SimulatorClient, controller: Controller) -> None:
    assert remote.listener.spin_until(lambda: len(controller.responses) > 20)
    remote.ensure_state(PAUSED)
    remote.settle_and_clear()
    controller.responses.clear()
    assert remote.step(12).result == Result.RESULT_OK
    assert remote.listener.spin_until(lambda: len(controller.responses) in (2, 3))
    remote.settle()
    assert len(controller.responses) in (2, 3)
    remote.ensure_state(PLAYING)
    assert remote.listener.spin_until(lambda: len(controller.responses) > 20)
    controller.responding = False
    assert clock_has_stopped(remote)
    remote.settle_and_clear()
    controller.responses.clear()
    controller.responding = True
    assert remote.call("ResetSimulation").result.result == Result.RESULT_OK
    assert remote.listener.spin_until(lambda: len(controller.responses) > 20)
    assert controller.responses[0] == 0, "at the first tick after the reset"


def test_requested_steps_wait_for_commands_too(
    remote: SimulatorClient, controller: Controller
) -> None:
    assert remote.listener.spin_until(lambda: len(controller.responses) > 20)
    controller.responding = False
    assert clock_has_stopped(remote)
    remote.ensure_state(PAUSED)
    steps = remote.request("StepSimulation", steps=3)
    remote.listener.spin_for(0.3)
    assert not steps.done()
    controller.respond(remote.joint_states.latest)
    assert remote.listener.result(steps).result.result == Result.RESULT_OK


def test_a_command_with_an_invalid_stamp_is_dropped_with_the_reason(
    remote: SimulatorClient, controller: Controller
) -> None:
    assert remote.listener.spin_until(lambda: len(controller.responses) > 20)
    controller.responding = False
    assert clock_has_stopped(remote)
    state = remote.joint_states.latest
    state.header.stamp.sec += 1000
    controller.respond(state)
    remote.simulator.wait_for_log("joint_commands: dropped a command stamped")
    assert clock_has_stopped(remote)


def test_a_loaded_keyframe_restarts_the_tick(
    remote: SimulatorClient, controller: Controller
) -> None:
    def call(name: str) -> Trigger.Response:
        client = remote.listener.node.create_client(Trigger, f"/mujoco/{name}")
        assert remote.listener.spin_until(client.service_is_ready)
        response = remote.listener.result(client.call_async(Trigger.Request()))
        remote.listener.node.destroy_client(client)
        return response

    assert remote.listener.spin_until(lambda: len(controller.responses) > 20)
    controller.responding = False
    assert clock_has_stopped(remote)
    assert call("save_keyframe").success
    controller.responding = True
    controller.respond(remote.joint_states.latest)
    assert remote.listener.spin_until(lambda: len(controller.responses) > 60)
    assert call("load_keyframe").success
    count = len(controller.responses)
    assert remote.listener.spin_until(lambda: len(controller.responses) > count + 20)


@pytest.mark.parametrize(
    ("sources", "error_text"),
    [
        ("", "mode 'lockstep' needs lockstep_sources"),
        ("joint_commands", "'joint_commands' is not <topic>@<rate>"),
        ("joint_commands@0", "'joint_commands@0' is not"),
        ("joint_commands@nan", "'joint_commands@nan' is not"),
        ("@200", "'@200' is not"),
        ("joint_commands@100, joint_commands@50", "names 'joint_commands' twice"),
        ("joint_command@100", "'joint_command' not found (did you mean 'joint_commands'?)"),
    ],
)
def test_invalid_sources_are_refused_and_change_nothing(
    remote: SimulatorClient, sources: str, error_text: str
) -> None:
    (result,) = remote.listener.set_parameters({"lockstep_sources": sources})
    assert not result.successful
    assert error_text in result.reason
    assert remote.listener.get_parameter("lockstep_sources") == "joint_commands@200"


def test_sources_are_separated_by_commas_or_spaces() -> None:
    wanted = {"joint_commands": 200.0, "left/joint_commands": 50.5}
    assert parse_sources("joint_commands@200,left/joint_commands@50.5") == wanted
    assert parse_sources(" /joint_commands@2e2  left/joint_commands@50.5 ") == wanted
    assert parse_sources("") == {}
    with pytest.raises(UserInputError, match="lockstep_sources"):
        parse_sources("a@-1")


def test_a_killed_controller_can_be_replaced_by_another(remote: SimulatorClient) -> None:
    lock(remote, lockstep_timeout=0.2)
    process = subprocess.Popen([sys.executable, "-c", ANSWERING], env=remote.simulator.environment)
    try:
        assert remote.listener.spin_until(lambda: len(remote.joint_states) > 50)
    finally:
        process.kill()
        process.wait()
    assert clock_has_stopped(remote)
    remote.simulator.wait_for_log("no command on 'joint_commands' within 0.2 s")
    controller = Controller(remote)
    assert remote.listener.spin_until(lambda: len(controller.responses) > 50)
    controller.close()


def test_spawning_does_not_disturb_lockstep_and_a_deleted_robot_is_not_awaited(
    start: SimulatorLauncher,
) -> None:
    remote = SimulatorClient(start)
    lock(remote)
    remote.call("ResetSimulation")
    controller = Controller(remote)
    for number in range(2):
        before = len(controller.responses)
        assert remote.listener.spin_until(lambda n=before: len(controller.responses) > n + 20)
        resource = named_resource(SpawnEntity.Request, text=BOX)
        spawned = remote.call("SpawnEntity", name=f"box{number}", **resource)
        assert spawned.result.result == Result.RESULT_OK, spawned.result.error_message
    zeros = [at for at, step in enumerate(controller.responses) if step == 0]
    ticks = controller.responses[zeros[-1] :]  # the first tick is repeated to a slow client
    assert ticks == list(range(0, ticks[-1] + 1, 5))
    controller.responding = False
    assert clock_has_stopped(remote)
    assert remote.call("DeleteEntity", entity="arm").result.result == Result.RESULT_OK
    remote.clear_recordings()
    assert remote.listener.spin_until(lambda: len(remote.clock) > 20)
    controller.close()
    remote.close()


def test_a_simulator_whose_clock_is_stopped_ends_at_once(start: SimulatorLauncher) -> None:
    simulator = start.simulator(
        scene="arm", mode="lockstep", lockstep_sources="joint_commands@200", lockstep_timeout=0.1
    )
    simulator.wait_for_log("the clock is stopped")
    begin = time.monotonic()
    assert simulator.stop() == 0
    assert time.monotonic() - begin < 5.0
    assert "Traceback" not in simulator.log
    simulator.wait_until_gone()


def test_an_unknown_source_is_refused_at_startup(start: SimulatorLauncher) -> None:
    simulator = start.simulator(scene="arm", mode="lockstep", lockstep_sources="legs@200")
    assert simulator.process.wait(60.0) == 1
    assert "lockstep_sources: topic of commands 'legs' not found; there are: " in simulator.log


def test_lockstep_with_a_deleted_robot_is_reported_and_blocks_nothing(
    start: SimulatorLauncher,
) -> None:
    remote = SimulatorClient(start)
    lock(remote)
    assert remote.call("DeleteEntity", entity="arm").result.result == Result.RESULT_OK
    found = row(remote)
    assert found.level == DiagnosticStatus.WARN
    assert found.message == "the clock does not wait for joint_commands: its robot does not exist"
    (result,) = remote.listener.set_parameters({"real_time_factor": 0.5})
    assert result.successful, result.reason
    remote.clear_recordings()
    assert remote.call("ResetSimulation").result.result == Result.RESULT_OK
    assert remote.listener.spin_until(lambda: len(remote.resets) == 1)
    remote.close()


def test_a_response_that_is_noted_at_once_lets_the_clock_continue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run_at_once(_node: object, call: Callable[..., object], *args: object) -> bool:
        call(*args)
        return True

    monkeypatch.setattr(lockstep_parameters, "later", run_at_once)
    component = object.__new__(lockstep_parameters.LockstepParameters)
    component._node = component._lockstep = component._simulation = MagicMock()
    component._lockstep.wait.return_value = 0.0
    component._responding, component._open_at = True, math.inf
    assert component.wait(0.0) > 0.0
    assert component.wait(math.inf) == 0.0


def test_a_component_that_stands_delays_one_tick_by_the_longest_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    component = object.__new__(lockstep_parameters.LockstepParameters)
    trip = MagicMock()
    trip.wait.side_effect = [False, False, True, False]
    component._round_trips, component._silent, component._ending = (
        {"joint_commands": trip},
        set(),
        False,
    )
    for _ in range(4):
        component.confirm(["joint_commands", "unknown"])
    longest, again, once_more, afresh = (call.args[0] for call in trip.wait.call_args_list)
    assert longest == afresh > again == once_more
    assert caplog.text.count("does not answer") == 2
