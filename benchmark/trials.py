"""What a simulator must survive: trials that say how it did, short or long."""

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

from benchmark.caller import PATIENCE_S, Caller

_OVER = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)
_STATUS = "joint_trajectory_controller/follow_joint_trajectory/_action/status"
_BOX = """<mujoco model="box"><worldbody><body name="box"><freejoint/>
<geom type="box" size=".05 .05 .05" mass="0.2"/></body></worldbody></mujoco>"""


@dataclass(frozen=True, kw_only=True)
class Flood:
    """What became of many calls.

    Attributes:
        sent: Calls.
        answered: Those that were answered.
        failed: Those whose answer says that it did not succeed.
        rate: Calls a second, as they were really sent [Hz].
        took: Time until each answer [s].  # (answered,)
        dropped: Share of the wall time that the physics gave up meanwhile.
        arrived: Whether the trajectory that ran meanwhile reached its end.
    """

    sent: int
    answered: int
    failed: int
    rate: float
    took: np.ndarray
    dropped: float
    arrived: bool


def flood(caller: Caller, seconds: float, rate: float) -> Flood:
    """Call services of all sorts at `rate` [Hz], without waiting, while a trajectory is run."""
    chosen = calls(caller)
    follower = caller.follower()
    count = round(seconds * rate)
    began, ended = np.zeros(count), np.zeros(count)
    failed = 0

    def noting(number: int) -> Callable[[Any], None]:
        def note(future: Any) -> None:
            nonlocal failed
            ended[number] = time.monotonic()
            result = getattr(future.result(), "result", None)
            failed += result is not None and result.result != Result.RESULT_OK

        return note

    arrival = follower.sway(seconds + 1.0)
    dropped, begin = caller.figure("real time", "time dropped in total [s]"), time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, begin + number / rate - time.monotonic()))
        began[number] = time.monotonic()
        chosen[number % len(chosen)]().add_done_callback(noting(number))
    sent_in = time.monotonic() - begin
    _settle(lambda: bool(ended.all()))
    took_in = time.monotonic() - begin
    dropped = caller.figure("real time", "time dropped in total [s]") - dropped
    answered = ended > 0
    arrived = caller.wait(arrival).result.error_code == 0
    follower.close()
    return Flood(
        sent=count,
        answered=int(answered.sum()),
        failed=failed,
        rate=count / sent_in,
        took=(ended - began)[answered],
        dropped=dropped / took_in,
        arrived=arrived,
    )


def calls(caller: Caller) -> list[Callable[[], Any]]:
    """Return functions that each call a service: of the executor, of the physics, of rclpy."""
    entities = caller.call(GetEntities, "get_entities", GetEntities.Request()).entities
    chosen: list[tuple[Any, str, Any]] = [
        (GetSimulationState, "get_simulation_state", GetSimulationState.Request()),
        (GetEntityState, "get_entity_state", GetEntityState.Request(entity=entities[0])),
        (GetParameters, "get_parameters", GetParameters.Request(names=["real_time_factor"])),
        (GetEntities, "get_entities", GetEntities.Request()),
    ]
    return [
        partial(caller.client(kind, name).call_async, request) for kind, name, request in chosen
    ]


def _settle(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


def spawn_and_delete(caller: Caller, cycles: int, robot: str) -> float:
    """Spawn a box and a robot, given by its URI, and delete both, so often; return s a cycle.

    Raises:
        RuntimeError: Something was refused.
    """
    begin = time.monotonic()
    for _ in range(cycles):
        for name, uri, text in (("a_box", "", _BOX), ("a_robot", robot, "")):
            request = SpawnEntity.Request(name=name)
            request.entity_resource.uri = uri
            request.entity_resource.resource_string = text
            request.entity_namespace = name
            request.initial_pose.pose.position.x = 3.0
            request.initial_pose.pose.position.z = 0.6
            _expect_ok(caller.call(SpawnEntity, "spawn_entity", request).result)
        for name in ("a_box", "a_robot"):
            request = DeleteEntity.Request(entity=name)
            _expect_ok(caller.call(DeleteEntity, "delete_entity", request).result)
    return (time.monotonic() - begin) / cycles


@dataclass(frozen=True, kw_only=True)
class Resets:
    """What became of goals that resets ended.

    Attributes:
        goals: Goals.
        results: Those whose client got a result.
        reached: Those that say they succeeded.
        ends: How often each was said to be over by the action's status.  # (goals,)
        told: How many events told of a reset.
    """

    goals: int
    results: int
    reached: int
    ends: np.ndarray


def resets(caller: Caller, count: int) -> Resets:
    """Reset the simulation, so often, in the middle of a trajectory."""
    over: dict[bytes, list[int]] = {}

    def note(message: GoalStatusArray) -> None:
        for status in message.status_list:
            key = bytes(status.goal_info.goal_id.uuid)
            ends = over.setdefault(key, [])
            if status.status in _OVER and ends[-1:] != [status.status]:
                ends.append(status.status)

    qos = qos_profile_action_status_default
    subscription = caller.node.create_subscription(GoalStatusArray, _STATUS, note, qos)
    caller.until(lambda: caller.node.count_publishers(_STATUS))
    moved: list[Any] = []
    follower = caller.follower(moved.append)
    results = []
    for _ in range(count):
        moved.clear()
        result = follower.sway(60.0, 0.05)
        caller.until(lambda: moved)
        request = ResetSimulation.Request(scope=ResetSimulation.Request.SCOPE_STATE)
        _expect_ok(caller.call(ResetSimulation, "reset_simulation", request).result)
        results.append(result)
    _settle(lambda: all(result.done() for result in results))
    _settle(lambda: all(over.get(goal) for goal in follower.goals))
    follower.close()
    caller.node.destroy_subscription(subscription)
    done = [result.result() for result in results if result.done()]
    return Resets(
        goals=count,
        results=len(done),
        reached=sum(result.status == GoalStatus.STATUS_SUCCEEDED for result in done),
        ends=np.array([len(over.get(goal, ())) for goal in follower.goals]),
    )


@dataclass(frozen=True, kw_only=True)
class Pause:
    """How the clock went around a pause.

    Attributes:
        while_paused: Simulated time that passed between the answers to pause and to play [s].
        ahead: Largest lead of the simulated time over the wall time after that [s].
        dropped: Wall time given up meanwhile [s].
    """

    while_paused: float
    ahead: float
    dropped: float


def pause(caller: Caller, seconds: float, watch_s: float = 2.0) -> Pause:
    """Pause for so long, play, and watch the clock."""
    clock: list[tuple[float, float]] = []  # arrival, simulated time

    def note(message: Clock) -> None:
        clock.append((time.monotonic(), message.clock.sec + 1e-9 * message.clock.nanosec))

    subscription = caller.node.create_subscription(Clock, "/clock", note, 1000)
    caller.until(lambda: clock)
    dropped = caller.figure("real time", "time dropped in total [s]")
    _set_state(caller, SimulationState.STATE_PAUSED)
    time.sleep(0.2)  # what was on its way
    at, paused = len(clock), clock[-1][1]
    time.sleep(seconds)
    stood = clock[-1][1] - paused
    resumed = time.monotonic()
    _set_state(caller, SimulationState.STATE_PLAYING)
    caller.until(lambda: len(clock) > at)
    time.sleep(watch_s)
    went = clock[at:]
    dropped = caller.figure("real time", "time dropped in total [s]") - dropped
    caller.node.destroy_subscription(subscription)
    return Pause(
        while_paused=stood,
        ahead=max(simulated - paused - (arrival - resumed) for arrival, simulated in went),
        dropped=dropped,
    )


def load_broken(caller: Caller, file: Path) -> str:
    """Have a broken world loaded; return the reason for which it is refused.

    Raises:
        RuntimeError: It was not refused, or the old world does not go on.
    """
    world = caller.call(GetCurrentWorld, "get_current_world", GetCurrentWorld.Request()).world
    before = caller.hear(JointState, "joint_states")
    request = LoadWorld.Request()
    request.world_resource.uri = str(file)
    result = caller.call(LoadWorld, "load_world", request).result
    if result.result == Result.RESULT_OK:
        raise RuntimeError(f"{file} was loaded")
    if caller.call(GetCurrentWorld, "get_current_world", GetCurrentWorld.Request()).world != world:
        raise RuntimeError("the world is another one")
    after = caller.hear(JointState, "joint_states")
    if after.name != before.name or (after.header.stamp.sec, after.header.stamp.nanosec) <= (
        before.header.stamp.sec,
        before.header.stamp.nanosec,
    ):
        raise RuntimeError("the old world does not go on")
    return str(result.error_message)


def _set_state(caller: Caller, state: int) -> None:
    request = SetSimulationState.Request(state=SimulationState(state=state))
    _expect_ok(caller.call(SetSimulationState, "set_simulation_state", request).result)


def _expect_ok(result: Result) -> None:
    if result.result != Result.RESULT_OK:
        raise RuntimeError(f"the simulator refused: {result.error_message} ({result.result})")
