"""A model of ten thousand bodies, and robots and objects that are deleted while they move."""

import re
from pathlib import Path

import numpy as np
import pytest
from command_clients import ARM, CommandClient, point
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulator_client import SimulatorClient
from simulators import SimulatorLauncher
from spawn_requests import ARM as ARM_URI
from spawn_requests import BALL, at, spawn

BODIES = 10_000
_SIDE = 100
_PATIENCE_S = 600.0
"""MuJoCo compiles ten thousand bodies in about ten seconds, if it has a processor."""


def _grid() -> str:
    """Return bodies in a grid, each without contact to the next."""
    places = (f"{i % _SIDE} {i // _SIDE} 0" for i in range(BODIES))
    return "".join(f'<body pos="{place}"><geom size=".1"/></body>' for place in places)


HINGE = '<body name="arm" pos="0 0 1"><joint name="hinge"/><geom size=".1"/></body>'


@pytest.mark.timeout(900)
def test_a_scene_of_ten_thousand_bodies_runs(start: SimulatorLauncher, tmp_path: Path) -> None:
    scene = tmp_path / "many.xml"
    # The engine's own memory is too small to search the pairs of ten thousand bodies.
    scene.write_text(f'<mujoco><size memory="1G"/><worldbody>{HINGE}{_grid()}</worldbody></mujoco>')
    simulator = start.simulator(scene=scene)
    simulator.wait_for_log("simulating '", _PATIENCE_S)
    listener = start.listener(simulator)
    clock, states = listener.record(Clock, "/clock"), listener.record(JointState, "/joint_states")
    assert listener.spin_until(lambda: len(clock) > 5 and len(states) > 5)
    assert np.isfinite(states.latest.position).all()
    assert listener.get_parameter("real_time_factor") == 1.0
    assert simulator.stop() == 0
    assert "Traceback" not in simulator.log


@pytest.mark.timeout(900)
def test_ten_thousand_bodies_are_spawned_or_rejected_with_the_limit(
    start: SimulatorLauncher,
) -> None:
    remote = SimulatorClient(start)
    text = f'<mujoco><worldbody><body name="many">{_grid()}</body></worldbody></mujoco>'
    response = spawn(remote, text=text, name="many", initial_pose=at(z=-50.0))
    if response.result.result == Result.RESULT_OK:
        assert "many" in remote.call("GetEntities").entities
        deleted = remote.call("DeleteEntity", entity="many")
        assert deleted.result.result == Result.RESULT_OK, deleted.result.error_message
    else:
        assert re.search("limit|memory", response.result.error_message)
    assert "many" not in remote.call("GetEntities").entities
    received = len(remote.clock)
    assert remote.listener.spin_until(lambda: len(remote.clock) > received + 100)
    assert "Traceback" not in remote.simulator.log
    assert remote.simulator.stop() == 0


@pytest.mark.parametrize("factor", [1.0, 0.2])
def test_what_is_deleted_while_it_moves_ends_its_goal_and_leaves_nothing(
    start: SimulatorLauncher, factor: float
) -> None:
    remote, before = SimulatorClient(start, real_time_factor=factor), None
    listener = remote.listener
    topics = listener.node.get_topic_names_and_types
    for round_ in range(3):
        assert spawn(remote, uri=ARM_URI, name="second", initial_pose=at(y=3.0)).result.result == 1
        assert spawn(remote, text=BALL, name="ball", initial_pose=at(z=9.0)).result.result == 1
        commander = CommandClient(listener, "second")
        goal = commander.follow(point(100.0, [1.0] * len(ARM), [0.0] * len(ARM)))
        assert goal.accepted
        assert listener.spin_until(lambda goal=goal: len(goal.feedback) > 2)
        for name in ("second", "ball"):
            assert remote.call("DeleteEntity", entity=name).result.result == Result.RESULT_OK
        assert goal.result().result.error_string, "the reason of the end"
        commander.close()
        assert listener.spin_until(lambda: not any("/second/" in name for name, _ in topics()))
        names = set(remote.call("GetEntities").entities)
        assert before in (None, names), round_
        before = names
    received = len(remote.joint_states)
    assert listener.spin_until(lambda: len(remote.joint_states) > received + 10)
    assert all(np.isfinite(message.position).all() for message in remote.joint_states.messages)
    assert "Traceback" not in remote.simulator.log
    assert remote.simulator.stop() == 0
