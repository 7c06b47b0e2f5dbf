"""Trials of the speed of a simulator, and of resets that streams do not notice."""

import time
from typing import Any

import numpy as np
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import ResetSimulation

from benchmark.processes.child_process import cpu_s
from benchmark.processes.simulator_client import SimulatorClient

_ROW = "lockstep"
_SETTLED = 500
"""Ticks after which it runs evenly."""
_STREAM_HZ = 250.0
_STREAMED_S = 0.3
"""Time for which the stream continues before and after a reset."""
_AMPLITUDE_RAD = 0.2
_DEEP = 5000


def ticks(client: SimulatorClient, topic: str, seconds: float, pid: int) -> dict[str, Any]:
    """Record ticks, wall time and CPU time of a simulator in lockstep.

    Args:
        client: Its client.
        topic: The source.
        seconds: Duration.
        pid: Id of its process.
    """

    def now() -> np.ndarray:
        counted = client.diagnostic(_ROW, f"{topic}: ticks")
        return np.array((counted, time.monotonic(), cpu_s(pid)))

    while now()[0] < _SETTLED:
        pass
    begin = now()
    time.sleep(seconds)
    counted, wall, cpu = now() - begin
    lost = client.diagnostic(_ROW, f"{topic}: ticks done without it")
    return {"ticks": counted, "wall_s": wall, "cpu_s": cpu, "without": lost}


def spent(client: SimulatorClient, seconds: float, pid: int) -> dict[str, Any]:
    """Record the simulated time and the CPU time of a simulator during some wall time [s]."""

    def now() -> np.ndarray:
        clock = client.next_message(Clock, "/clock").clock
        return np.array((clock.sec + 1e-9 * clock.nanosec, cpu_s(pid)))

    begin = now()
    time.sleep(seconds)
    simulated, cpu = now() - begin
    return {"simulated_s": simulated, "cpu_s": cpu}


def held_resets(client: SimulatorClient, count: int) -> dict[str, Any]:
    """Reset a robot while a stream commands it elsewhere, which continues, or ends with the reset.

    Returns:
        How far a joint is from the first state after each reset at most, while the stream
        continues, ``moved``, and without it, ``alone`` [rad or m].  # (count,)
    """
    states: list[JointState] = []
    node = client.node
    publisher = node.create_publisher(JointState, "joint_commands", 10)
    subscription = node.create_subscription(JointState, "joint_states", states.append, _DEEP)
    client.until(publisher.get_subscription_count)
    client.until(lambda: states)
    names, home = list(states[-1].name)[:1], states[-1].position[0]

    def stream(begin: int, *, publish: bool = True) -> None:
        for number in range(begin, begin + round(_STREAMED_S * _STREAM_HZ)):
            turn = 2.0 * np.pi * number / _STREAM_HZ
            position = home - _AMPLITUDE_RAD * (1.0 - np.cos(turn))
            if publish:
                publisher.publish(JointState(name=names, position=[position]))
            time.sleep(1.0 / _STREAM_HZ)

    def reset(*, streams: bool) -> float:
        stream(0)
        request = ResetSimulation.Request(scope=ResetSimulation.Request.SCOPE_STATE)
        result = client.call(ResetSimulation, "reset_simulation", request).result
        if result.result != Result.RESULT_OK:
            raise RuntimeError(f"the simulator rejected the reset: {result.error_message}")
        first = client.next_message(JointState, "joint_states")
        states.clear()
        stream(round(_STREAMED_S * _STREAM_HZ), publish=streams)
        offsets = np.array([state.position for state in states]) - np.array(first.position)
        return float(np.abs(offsets).max())

    alone, moved = (
        np.array([reset(streams=streams) for _ in range(count)]) for streams in (False, True)
    )
    node.destroy_subscription(subscription)
    node.destroy_publisher(publisher)
    return {"alone": alone, "moved": moved}
