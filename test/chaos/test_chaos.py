"""A simulator under everything at once: `make chaos` runs it longer, and with another seed.

The seed and the interfaces of the scene determine the actions; the load of the machine decides only
how many of them there are.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from actions import action
from session import Session
from simulators import SimulatorLauncher

SECONDS = float(os.environ.get("CHAOS_SECONDS", "15"))
SEED = int(os.environ.get("CHAOS_SEED", "1"))
FEWEST_ACTIONS = 40
"""Done also by a machine that is too slow for the time."""
MORE_MEMORY_MB = 400.0
"""Growth that models, their copies and fragments of the heap explain; a leak goes beyond."""
_BREATH_S = 0.05


@pytest.fixture
def session(start: SimulatorLauncher, tmp_path: Path) -> Iterator[Session]:
    session = Session(start, tmp_path)
    yield session
    session.close()


@pytest.mark.timeout(SECONDS + 900.0)
def test_a_simulator_survives_chaos(session: Session) -> None:
    print(f"seed {SEED}: CHAOS_SEED={SEED} CHAOS_SECONDS={SECONDS:g} repeats these actions")  # noqa: T201
    ends_at, number = time.monotonic() + SECONDS, 0
    while time.monotonic() < ends_at or number < FEWEST_ACTIONS:
        chosen = action(session, SEED, number)
        print(chosen.text, flush=True)  # noqa: T201
        chosen.run(session)
        session.observe(_BREATH_S)
        number += 1
    session.check_end()
    # Old models are collected periodically.
    session.until(lambda: session.grown_mb() < MORE_MEMORY_MB, "return of the memory")
    grown = session.grown_mb()
    session.stop()
    session.check_records()
    print(f"{number} actions, {session.goals} goals, {grown:.0f} MB more memory")  # noqa: T201
