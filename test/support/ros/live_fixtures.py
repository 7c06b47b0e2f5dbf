"""Simulators and listeners for the tests with a live middleware."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from benches import Bench
from simulators import Domain, Listener, Starter
from zoo import Zoo, record_zoo


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    """Simulators and listeners for one test."""
    starter = Starter(tmp_path)
    yield starter
    starter.close()


@pytest.fixture(scope="module")
def start_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    """Simulators and listeners that the tests of a module share; more would slow each other."""
    starter = Starter(tmp_path_factory.mktemp("simulators"))
    yield starter
    starter.close()


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    """A node in a domain of its own, for tests that bring what it listens to themselves."""
    domain = Domain()
    listener = Listener(domain.id)
    yield listener
    listener.close()
    domain.close()


@pytest.fixture(scope="module")
def zoo(start_shared: Starter) -> Zoo:
    """The shipped zoo, running and recorded; do not change its parameters."""
    return record_zoo(start_shared)


@pytest.fixture(scope="session")
def shared_bench() -> Iterator[Bench]:
    """The shipped arm, stepped by tests; use `bench`."""
    arm = Bench("arm")
    yield arm
    arm.close()


@pytest.fixture
def bench(shared_bench: Bench) -> Bench:
    """The shipped arm in its initial state, stepped by the test."""
    shared_bench.start_anew()
    return shared_bench
