"""Sends goals to the arm's two actions: ``goal_storm_client.py <seed> <goals> <depth> <window>``.

The clients of the actions are rclpy's. Prints how many goals were accepted, and for each of them
how many results came. With a queue too short for the results, it requests lost ones again.
"""

import json
import random
import sys
import time
from functools import partial
from typing import Any

import rclpy
from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from simulators import WAIT_LIMIT_S
from trajectory_msgs.msg import JointTrajectoryPoint

_AGAIN_S = 0.3
"""Silence after which lost results are requested again, a few at a time."""
_AT_ONCE = 2
_GIVE_UP_S = 1.0


def _follow(chosen: random.Random) -> FollowJointTrajectory.Goal:
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = ["shoulder_pan_joint"]
    point = JointTrajectoryPoint(positions=[chosen.uniform(-0.3, 0.3)])
    point.time_from_start.nanosec = int(chosen.uniform(1e6, 3e8))
    goal.trajectory.points = [point]
    return goal


def _grip(chosen: random.Random) -> ParallelGripperCommand.Goal:
    goal = ParallelGripperCommand.Goal()
    goal.command.name, goal.command.position = ["left_finger_joint"], [chosen.uniform(0.0, 0.03)]
    return goal


class Storm:
    """Goals of one client, `window` of them at a time without an answer."""

    def __init__(self, seed: int, goals: int, depth: int, window: int) -> None:
        self._goals, self._window = goals, window
        self._repeats = depth < goals
        self._random = random.Random(seed)
        self._node = rclpy.create_node(f"storm_{seed}")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        deep = QoSProfile(depth=depth)
        self._clients = [
            ActionClient(
                self._node,
                kind,
                action,
                goal_service_qos_profile=QoSProfile(depth=5000),
                result_service_qos_profile=deep,
            )
            for kind, action in (
                (FollowJointTrajectory, "/joint_trajectory_controller/follow_joint_trajectory"),
                (ParallelGripperCommand, "/gripper_controller/gripper_cmd"),
            )
        ]
        self._accepted: dict[bytes, Any] = {}
        self._results: dict[bytes, list[int]] = {}
        self._sent = self._answers = 0
        self._changed = time.monotonic()
        self.repeated = 0

    def run(self) -> None:
        """Send all goals, and wait for the answers and results."""
        for client in self._clients:
            assert client.wait_for_server(WAIT_LIMIT_S)
        self._changed = time.monotonic()
        asked = self._changed
        while self._answers < self._goals or len(self._results) < len(self._accepted):
            self._send()
            self._executor.spin_once(timeout_sec=0.1)
            now = time.monotonic()
            if now - self._changed > WAIT_LIMIT_S:
                return
            if self._repeats and now - max(self._changed, asked) > _AGAIN_S:
                asked = now
                missing = [key for key in self._accepted if key not in self._results]
                for key in missing[:_AT_ONCE]:
                    self.repeated += 1
                    self._request(key)
        end = time.monotonic() + _GIVE_UP_S  # a second result of a goal would come now
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.1)

    def report(self) -> dict[str, Any]:
        """Return what came."""
        return {
            "sent": self._sent,
            "answers": self._answers,
            "accepted": len(self._accepted),
            "statuses": [self._results.get(key, []) for key in self._accepted],
            "repeated": self.repeated,
        }

    def _send(self) -> None:
        while self._sent < self._goals and self._sent - self._answers < self._window:
            self._sent += 1
            number = self._random.randrange(2)
            goal = (_follow, _grip)[number](self._random)
            self._clients[number].send_goal_async(goal).add_done_callback(self._answered)

    def _answered(self, answer: Any) -> None:
        self._answers += 1
        self._changed = time.monotonic()
        handle = answer.result()
        if handle.accepted:
            key = bytes(handle.goal_id.uuid)
            self._accepted[key] = handle
            self._request(key)

    def _request(self, key: bytes) -> None:
        future = self._accepted[key].get_result_async()
        future.add_done_callback(partial(self._arrived, key))

    def _arrived(self, key: bytes, answer: Any) -> None:
        self._changed = time.monotonic()
        self._results.setdefault(key, []).append(answer.result().status)


rclpy.init()
storm = Storm(*(int(argument) for argument in sys.argv[1:]))
storm.run()
sys.stdout.write(json.dumps(storm.report()))
