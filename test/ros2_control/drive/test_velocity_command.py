"""A velocity counts until its time-out, and an invalid one is refused with the reason."""

from math import inf, nan

import pytest

from mujoco_ros.ros2_control.drive.kinematics import Twist
from mujoco_ros.ros2_control.drive.velocity_command import VelocityCommand

FORWARDS = Twist(1.0, 0.0, 0.0)


def test_a_command_ends_after_the_timeout():
    command = VelocityCommand(0.5)
    command.set(FORWARDS, 10.0)
    assert command.at(10.5) == FORWARDS
    assert command.at(10.51) is None
    assert command.at(10.2) is None  # it has been forgotten


@pytest.mark.parametrize(("is_kept", "next_step"), [(True, FORWARDS), (False, None)])
def test_without_a_timeout_a_command_counts_for_ever_or_for_one_step(is_kept, next_step):
    command = VelocityCommand(0.0, is_kept_without_timeout=is_kept)
    command.set(FORWARDS, 0.0)
    assert command.at(1e3) == FORWARDS
    assert command.at(1e3) == next_step


def test_an_old_or_excessive_command_is_refused_with_the_reason():
    command = VelocityCommand(0.5)
    assert command.refusal(FORWARDS, 9.6, 10.0) == ""
    assert "0.600 s old" in command.refusal(FORWARDS, 9.4, 10.0)
    for number in (nan, inf, -1e308):
        refusal = command.refusal(Twist(0.1, 0.0, number), 10.0, 10.0)
        assert "not within ±1e+09" in refusal


def test_a_command_from_the_future_is_as_old_as_its_arrival():
    command = VelocityCommand(0.5)
    command.set(FORWARDS, 1.8e9, now=10.0)
    assert command.at(10.4) == FORWARDS
    assert command.at(10.6) is None
