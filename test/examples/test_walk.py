"""The example that walks a humanoid."""

import re
from collections.abc import Iterator
from math import hypot
from pathlib import Path

import pytest
from controller_process import ControllerProcess
from example_runs import REAL_TIME_FACTOR, CommandedSimulator, Example
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from retry_slower import retry_slower
from simulators import Domain, Listener, SimulatorLauncher


@pytest.fixture(scope="module", params=["hosted", "node"])
def humanoid(
    request: pytest.FixtureRequest, starter: SimulatorLauncher, folder: Path
) -> Iterator[CommandedSimulator]:
    """A humanoid that `walk` controls, in the simulator or in real time from a node."""
    is_hosted = request.param == "hosted"
    simulator = starter.simulator(
        scene="humanoid",
        real_time_factor=REAL_TIME_FACTOR,
        **({"controller": "walk"} if is_hosted else {}),
    )
    robot = CommandedSimulator(folder, simulator, starter.listener(simulator))
    if is_hosted:
        yield robot
        return
    node = ControllerProcess(folder / "walk.log", simulator, "walk", scene="humanoid")
    assert robot.listener.spin_until(lambda: "control starts" in node.log), node.log
    yield robot
    code = node.stop()
    simulator.stop()
    assert code == 0, node.log


@retry_slower
def test_it_walks_and_compares_the_estimated_base_with_the_true_one(
    humanoid: CommandedSimulator,
) -> None:
    done = humanoid.run("11_walk.py", "--forwards", "0.25", "--seconds", "4")
    assert done.code == 0, done.errors
    assert re.match(r" +\d\.\d\d s  true +-?0\.0\d\d .* m  estimated ", done.output)
    moved, apart = map(float, re.findall(r"moved by (\S+) m; .* is (\d+) mm", done.output)[0])
    assert 0.4 < moved < 1.0
    assert apart < 0.02 * 1e3 * moved


@retry_slower
def test_it_walks_to_a_goal(humanoid: CommandedSimulator) -> None:
    done = humanoid.run("11_walk.py", "--goal", "0.3", "-0.15", "0.3")
    assert done.code == 0, done.errors
    moved = re.findall(r"moved by (\S+) m; ", done.output)
    assert float(moved[0]) == pytest.approx(hypot(0.3, 0.15), abs=0.08)


def test_a_goal_is_three_finite_numbers(folder: Path) -> None:
    for goal in (("1", "2"), ("1", "nan", "0")):
        done = Example(folder, 0, "11_walk.py", "--goal", *goal).outcome()
        assert done.code == 2
        assert "--goal: " in done.errors


def test_it_does_not_begin_without_a_clock(folder: Path) -> None:
    domain = Domain()
    listener = Listener(domain.id)
    try:
        node = listener.node
        commands = listener.record(TwistStamped, "cmd_vel")
        publishers = [node.create_publisher(Odometry, it, 10) for it in ("odom", "odom_estimated")]
        node.create_timer(0.05, lambda: [it.publish(Odometry()) for it in publishers])
        example = Example(folder, domain.id, "11_walk.py", "--seconds", "1")
        listener.spin_until(example.is_over)
        done = example.outcome()
    finally:
        listener.close()
        domain.close()
    assert (done.code, done.output, len(commands)) == (1, "", 0)
    assert "\nno walking robot found: " in done.errors
