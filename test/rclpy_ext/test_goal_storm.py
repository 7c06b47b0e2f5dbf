"""400 goals from rclpy's action clients in four processes, and their results."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from simulators import ROOT, SimulatorLauncher

_CLIENTS, _GOALS, _FEWER = 4, 100, 40
_ENDS = {GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED}
_CLIENT = ROOT / "test" / "support" / "ros" / "goal_storm_client.py"


@pytest.fixture(scope="module")
def domain(start_shared: SimulatorLauncher) -> int:
    return start_shared.simulator(scene="arm").domain


def _storm(domain: int, goals: int, depth: int, window: int) -> list[dict[str, Any]]:
    environment = os.environ | {
        "ROS_DOMAIN_ID": str(domain),
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(_CLIENT.parent))),
    }
    clients = [
        subprocess.Popen(
            [sys.executable, str(_CLIENT), *map(str, (seed, goals, depth, window))],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in range(_CLIENTS)
    ]
    try:
        outputs = [client.communicate(timeout=500)[0] for client in clients]
    finally:
        for client in clients:
            client.kill()
            client.wait()
    return [json.loads(output) for output in outputs]


def test_every_accepted_goal_has_exactly_one_result(domain: int) -> None:
    for client in _storm(domain, _GOALS, depth=5000, window=_GOALS):
        assert (client["sent"], client["answers"], client["accepted"]) == (_GOALS,) * 3
        assert all(len(statuses) == 1 for statuses in client["statuses"])
        assert {status for (status,) in client["statuses"]} <= _ENDS


def test_results_that_a_short_queue_lost_can_be_requested_again(domain: int) -> None:
    clients = _storm(domain, _FEWER, depth=2, window=20)
    for client in clients:
        assert (client["answers"], client["accepted"]) == (_FEWER, _FEWER)
        assert all(statuses for statuses in client["statuses"])
        # Every response for a goal is the same, however often it is requested.
        assert all(len(set(statuses)) == 1 for statuses in client["statuses"])
        assert {statuses[0] for statuses in client["statuses"]} <= _ENDS
    assert sum(client["repeated"] for client in clients) > 0
