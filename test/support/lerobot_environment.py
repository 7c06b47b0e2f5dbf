"""The environment of LeRobot, which only some installations have."""

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.demonstrations.lerobot_dataset import lerobot_python


def python_or_skip() -> str:
    """Return the interpreter with LeRobot; without one, skip the test."""
    try:
        return lerobot_python()
    except UserInputError:
        pytest.skip("LeRobot is missing; `make lerobot` installs it")
