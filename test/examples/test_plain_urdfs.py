"""The examples with URDFs of industrial arms as they are, with derived gains."""

import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from example_runs import REAL_TIME_FACTOR, CommandedSimulator
from simulators import SimulatorLauncher

COLLECTION = "example-robot-data"


@pytest.fixture(scope="module", params=["ur10", "panda"])
def plain(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CommandedSimulator]:
    """A URDF of the collection, without a scene file."""
    try:
        metadata.version(COLLECTION)
    except metadata.PackageNotFoundError:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing(f"{COLLECTION} is not installed; requirements/models.txt has it")
    folder: Path = tmp_path_factory.mktemp(request.param)
    starter = SimulatorLauncher(folder)
    scene = f"{COLLECTION}:{request.param}"
    simulator = starter.simulator(scene=scene, real_time_factor=REAL_TIME_FACTOR)
    yield CommandedSimulator(folder, simulator, starter.listener(simulator))
    starter.close()


def test_a_trajectory_and_compliance_succeed(plain: CommandedSimulator) -> None:
    trajectory = plain.run_slowly("03_send_trajectory.py", "--by", "0.1", "--seconds", "0.5")
    assert trajectory.code == 0, trajectory.errors
    assert "succeeded" in trajectory.output
    impedance = plain.run_slowly("05_impedance_control.py", "--seconds", "0.5")
    assert impedance.code == 0, impedance.errors
