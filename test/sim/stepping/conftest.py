"""A system on which threads request priorities."""

import pytest

from mujoco_ros.sim.stepping import real_time


@pytest.fixture
def scheduled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The priorities requested from the operating system, which grants none of them here."""
    requests: list[int] = []

    def schedule(priority: int) -> bool:
        requests.append(priority)
        return True

    monkeypatch.setattr(real_time, "schedule", schedule)
    return requests
