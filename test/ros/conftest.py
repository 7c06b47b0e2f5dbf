"""Simulators and listeners for the tests with a live middleware."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from simulators import Starter
from zoo import Zoo, record_zoo


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    """Simulators and listeners for one test."""
    starter = Starter(tmp_path)
    yield starter
    starter.close()


@pytest.fixture(scope="session")
def start_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    """Simulators and listeners that tests share."""
    starter = Starter(tmp_path_factory.mktemp("simulators"))
    yield starter
    starter.close()


@pytest.fixture(scope="session")
def zoo(start_shared: Starter) -> Zoo:
    """The shipped zoo, running and recorded; do not change its parameters."""
    return record_zoo(start_shared)
