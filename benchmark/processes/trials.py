"""Reliability trials of the simulator."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus, GoalStatusArray
from rcl_interfaces.srv import GetParameters
from rclpy.qos import qos_profile_action_status_default
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import (
    DeleteEntity,
    GetCurrentWorld,
    GetEntities,
    GetEntityState,
    GetSimulationState,
    LoadWorld,
    ResetSimulation,
    SetSimulationState,
    SpawnEntity,
)

from benchmark.processes.simulator_client import TIMEOUT_S, SimulatorClient

_OVER = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)
_STATUS = "joint_trajectory_controller/follow_joint_trajectory/_action/status"
_BOX = """<mujoco model="box"><worldbody><body name="box"><freejoint/>
<geom type="box" size=".05 .05 .05" mass="0.2"/></body></worldbody></mujoco>"""


@dataclass(frozen=True, kw_only=True)
class Flood:
    """Result of many calls.

    Attributes:
        sent: Number of calls.
        answered: Number of responses.
        failed: Number of responses without success.
        rate: Achieved rate of calls [Hz].
        took: Response times [s].  # (answered,)
        dropped: Fraction of the wall time that the physics dropped meanwhile.
        arrived: Whether the trajectory reached its end meanwhile.
    """

    sent: int
    answered: int
    failed: int
    rate: float
    took: np.ndarray
    dropped: float
    arrived: bool


def flood(client: SimulatorClient, seconds: float, rate: float) -> Flood:
    """Call services of all kinds at `rate` [Hz], without waiting, during a trajectory."""
    chosen = calls(client)
    trajectories = client.trajectory_client()
    count = round(seconds * rate)
    began, ended = np.zeros(count), np.zeros(count)
    failed = 0

    def record(number: int) -> Callable[[Any], None]:
        def done(future: Any) -> None:
            nonlocal failed
            ended[number] = time.monotonic()
            result = getattr(future.result(), "result", None)
            failed += result is not None and result.result != Result.RESULT_OK

        return done

    arrival = trajectories.sway(seconds + 1.0)
    dropped, begin = client.diagnostic("real time", "time dropped in total [s]"), time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, begin + number / rate - time.monotonic()))
        began[number] = time.monotonic()
        chosen[number % len(chosen)]().add_done_callback(record(number))
    sent_in = time.monotonic() - begin
    _settle(lambda: bool(ended.all()))
    took_in = time.monotonic() - begin
    dropped = client.diagnostic("real time", "time dropped in total [s]") - dropped
    answered = ended > 0
    arrived = client.wait(arrival).result.error_code == 0
    trajectories.close()
    return Flood(
        sent=count,
        answered=int(answered.sum()),
        failed=failed,
        rate=count / sent_in,
        took=(ended - began)[answered],
        dropped=dropped / took_in,
        arrived=arrived,
    )


def calls(client: SimulatorClient) -> list[Callable[[], Any]]:
    """Return functions that call services of the executor, of the physics and of rclpy."""
    entities = client.call(GetEntities, "get_entities", GetEntities.Request()).entities
    chosen: list[tuple[Any, str, Any]] = [
        (GetSimulationState, "get_simulation_state", GetSimulationState.Request()),
        (GetEntityState, "get_entity_state", GetEntityState.Request(entity=entities[0])),
        (GetParameters, "get_parameters", GetParameters.Request(names=["real_time_factor"])),
        (GetEntities, "get_entities", GetEntities.Request()),
    ]
    return [
        partial(client.client(kind, name).call_async, request) for kind, name, request in chosen
    ]


def _settle(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


def spawn_and_delete(client: SimulatorClient, cycles: int, robot: str) -> float:
    """Spawn and delete a box and a robot (a URI); return the mean duration of a cycle [s].

    Raises:
        RuntimeError: A request was rejected.
    """
    begin = time.monotonic()
    for _ in range(cycles):
        for name, uri, text in (("a_box", "", _BOX), ("a_robot", robot, "")):
            request = SpawnEntity.Request(name=name)
            resource = getattr(request, "entity_resource", request)  # since version 2
            resource.uri, resource.resource_string = uri, text
            request.entity_namespace = name
            request.initial_pose.pose.position.x = 3.0
            request.initial_pose.pose.position.z = 0.6
            _expect_ok(client.call(SpawnEntity, "spawn_entity", request).result)
        for name in ("a_box", "a_robot"):
            request = DeleteEntity.Request(entity=name)
            _expect_ok(client.call(DeleteEntity, "delete_entity", request).result)
    return (time.monotonic() - begin) / cycles


@dataclass(frozen=True, kw_only=True)
class Resets:
    """Result of goals that resets ended.

    Attributes:
        goals: Number of goals.
        results: Number of goals whose client received a result.
        reached: Number of goals that succeeded.
        ends: Number of final statuses of each goal.  # (goals,)
    """

    goals: int
    results: int
    reached: int
    ends: np.ndarray


def resets(client: SimulatorClient, count: int) -> Resets:
    """Reset the simulation repeatedly during a trajectory."""
    over: dict[bytes, list[int]] = {}

    def receive(message: GoalStatusArray) -> None:
        for status in message.status_list:
            key = bytes(status.goal_info.goal_id.uuid)
            ends = over.setdefault(key, [])
            if status.status in _OVER and ends[-1:] != [status.status]:
                ends.append(status.status)

    qos = qos_profile_action_status_default
    subscription = client.node.create_subscription(GoalStatusArray, _STATUS, receive, qos)
    client.until(lambda: client.node.count_publishers(_STATUS))
    moved: list[Any] = []
    trajectories = client.trajectory_client(moved.append)
    results = []
    for _ in range(count):
        moved.clear()
        result = trajectories.sway(60.0, 0.05)
        client.until(lambda: moved)
        request = ResetSimulation.Request(scope=ResetSimulation.Request.SCOPE_STATE)
        _expect_ok(client.call(ResetSimulation, "reset_simulation", request).result)
        results.append(result)
    _settle(lambda: all(result.done() for result in results))
    _settle(lambda: all(over.get(goal) for goal in trajectories.goals))
    trajectories.close()
    client.node.destroy_subscription(subscription)
    done = [result.result() for result in results if result.done()]
    return Resets(
        goals=count,
        results=len(done),
        reached=sum(result.status == GoalStatus.STATUS_SUCCEEDED for result in done),
        ends=np.array([len(over.get(goal, ())) for goal in trajectories.goals]),
    )


@dataclass(frozen=True, kw_only=True)
class Pause:
    """Behaviour of the clock around a pause.

    Attributes:
        while_paused: Simulated time between the responses to pause and play [s].
        ahead: Largest lead of the simulated time over the wall time after that [s].
        dropped: Wall time dropped meanwhile [s].
    """

    while_paused: float
    ahead: float
    dropped: float


def pause(client: SimulatorClient, seconds: float, watch_s: float = 2.0) -> Pause:
    """Pause for `seconds`, play, and record the clock."""
    clock: list[tuple[float, float]] = []  # arrival, simulated time

    def receive(message: Clock) -> None:
        clock.append((time.monotonic(), message.clock.sec + 1e-9 * message.clock.nanosec))

    subscription = client.node.create_subscription(Clock, "/clock", receive, 1000)
    client.until(lambda: clock)
    dropped = client.diagnostic("real time", "time dropped in total [s]")
    _set_state(client, SimulationState.STATE_PAUSED)
    time.sleep(0.2)  # messages in flight
    at, paused = len(clock), clock[-1][1]
    time.sleep(seconds)
    passed = clock[-1][1] - paused
    resumed = time.monotonic()
    _set_state(client, SimulationState.STATE_PLAYING)
    client.until(lambda: len(clock) > at)
    time.sleep(watch_s)
    after = clock[at:]
    dropped = client.diagnostic("real time", "time dropped in total [s]") - dropped
    client.node.destroy_subscription(subscription)
    return Pause(
        while_paused=passed,
        ahead=max(simulated - paused - (arrival - resumed) for arrival, simulated in after),
        dropped=dropped,
    )


def load_broken(client: SimulatorClient, file: Path) -> str:
    """Load an invalid world; return the reason of its rejection.

    Raises:
        RuntimeError: It was not rejected, or the old world does not continue.
    """
    world = client.call(GetCurrentWorld, "get_current_world", GetCurrentWorld.Request()).world
    before = client.next_message(JointState, "joint_states")
    request = LoadWorld.Request()
    getattr(request, "world_resource", request).uri = str(file)  # since version 2
    result = client.call(LoadWorld, "load_world", request).result
    if result.result == Result.RESULT_OK:
        raise RuntimeError(f"{file} was loaded")
    if client.call(GetCurrentWorld, "get_current_world", GetCurrentWorld.Request()).world != world:
        raise RuntimeError("the world was replaced")
    after = client.next_message(JointState, "joint_states")
    if after.name != before.name or (after.header.stamp.sec, after.header.stamp.nanosec) <= (
        before.header.stamp.sec,
        before.header.stamp.nanosec,
    ):
        raise RuntimeError("the old world does not continue")
    return str(result.error_message)


def _set_state(client: SimulatorClient, state: int) -> None:
    request = SetSimulationState.Request(state=SimulationState(state=state))
    _expect_ok(client.call(SetSimulationState, "set_simulation_state", request).result)


def _expect_ok(result: Result) -> None:
    if result.result != Result.RESULT_OK:
        raise RuntimeError(
            f"the simulator rejected the request: {result.error_message} ({result.result})"
        )
