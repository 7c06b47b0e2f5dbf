"""Load of the measurement of executors."""

import time
from typing import Any

from builtin_interfaces.msg import Time
from control_msgs.action import ParallelGripperCommand
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from benchmark.processes.simulator_client import SimulatorClient
from mujoco_ros.rclpy_ext.executor import later

STREAM_HZ = 500.0
_CALL_EVERY, _GOAL_EVERY = 20, 50  # messages


def executor_load(client: SimulatorClient, seconds: float) -> dict[str, Any]:
    """Publish, call a service and send goals; return the round-trip times [ns]."""
    publisher = client.node.create_publisher(JointState, "stream", 10)
    trigger = client.client(Trigger, "trigger")
    actions = ActionClient(client.node, ParallelGripperCommand, "goal")
    client.until(lambda: publisher.get_subscription_count() and actions.server_is_ready())
    calls: list[int] = []
    goals: list[int] = []

    def call() -> None:
        begun = time.monotonic_ns()
        trigger.call_async(Trigger.Request()).add_done_callback(
            lambda _response: calls.append(time.monotonic_ns() - begun)
        )

    def send_goal() -> None:
        begun = time.monotonic_ns()

        def accepted(future: Any) -> None:
            future.result().get_result_async().add_done_callback(
                lambda _result: goals.append(time.monotonic_ns() - begun)
            )

        actions.send_goal_async(ParallelGripperCommand.Goal()).add_done_callback(accepted)

    message = JointState(name=[f"joint_{number}" for number in range(6)], position=[0.0] * 6)
    begin, count = time.monotonic(), round(seconds * STREAM_HZ)
    for number in range(count):
        time.sleep(max(0.0, begin + number / STREAM_HZ - time.monotonic()))
        if number % _CALL_EVERY == 0:
            call()
        if number % _GOAL_EVERY == 0:
            # In the executor's thread: ActionClient does not lock its pending goals.
            later(client.node, send_goal)
        sec, nanosec = divmod(time.monotonic_ns(), 1_000_000_000)
        message.header.stamp = Time(sec=sec, nanosec=nanosec)
        publisher.publish(message)
    took_s = time.monotonic() - begin
    client.until(lambda: len(goals) == -(-count // _GOAL_EVERY))
    actions.destroy()
    return {"calls": calls, "goals": goals, "seconds": took_s}
