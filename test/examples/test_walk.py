"""The example that walks a humanoid."""

import re
import runpy
import sys
from collections.abc import Iterator
from math import hypot
from pathlib import Path

import pytest
from controller_process import ControllerProcess
from example_runs import REAL_TIME_FACTOR, CommandedSimulator
from simulators import ROOT, SimulatorLauncher

STOP_S = 4  # simulated time in which a walk has stopped


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
        simulator.stop()
        return
    node = ControllerProcess(folder / "walk.log", simulator, "walk", scene="humanoid")
    assert robot.listener.spin_until(lambda: "control starts" in node.log), node.log
    yield robot
    code = node.stop()
    simulator.stop()
    assert code == 0, node.log


def test_it_walks_and_compares_the_estimated_base_with_the_true_one(
    humanoid: CommandedSimulator,
) -> None:
    done = humanoid.run_slowly("11_walk.py", "--forwards", "0.25", "--seconds", "3")
    assert done.code == 0, done.errors
    assert re.match(r" +\d\.\d\d s  true +-?0\.0\d\d .* m  estimated ", done.output)
    moved, apart = map(float, re.findall(r"moved by (\S+) m; .* is (\d+) mm", done.output)[0])
    assert 0.4 < moved < 1.0
    assert apart < 0.02 * 1e3 * moved


def test_it_walks_to_a_goal(humanoid: CommandedSimulator) -> None:
    states = humanoid.joint_states()
    begin = states.latest.header.stamp.sec
    # Goals are relative: the walk of the test before has ended, but its last steps have not.
    assert humanoid.listener.spin_until(lambda: states.latest.header.stamp.sec > begin + STOP_S)
    done = humanoid.run_slowly("11_walk.py", "--goal", "0.3", "-0.15", "0.3")
    assert done.code == 0, done.errors
    moved = re.findall(r"moved by (\S+) m; ", done.output)
    assert float(moved[0]) == pytest.approx(hypot(0.3, 0.15), abs=0.08)


def test_a_goal_is_three_finite_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = runpy.run_path(str(ROOT / "examples" / "11_walk.py"))["options"]
    for goal in (("1", "2"), ("1", "nan", "0")):
        monkeypatch.setattr(sys, "argv", ["11_walk.py", "--goal", *goal])
        with pytest.raises(SystemExit) as ended:
            options()
        assert ended.value.code == 2
        assert "--goal: " in capsys.readouterr().err
