"""The example that walks a humanoid."""

import re
from pathlib import Path

import pytest
from example_runs import REAL_TIME_FACTOR, CommandedSimulator
from retry_slower import retry_slower
from simulators import SimulatorLauncher


@pytest.fixture(scope="module")
def humanoid(starter: SimulatorLauncher, folder: Path) -> CommandedSimulator:
    simulator = starter.simulator(
        scene="humanoid", controller="walk", real_time_factor=REAL_TIME_FACTOR
    )
    return CommandedSimulator(folder, simulator, starter.listener(simulator))


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
