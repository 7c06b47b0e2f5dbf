"""Interfaces of a joint, derived from its actuators."""

import pytest

from mujoco_ros.control.joints import Mode, command_interfaces


@pytest.mark.parametrize(
    ("modes", "taken"),
    [
        ((), set()),
        ((Mode.PD,), {"position", "velocity", "effort"}),
        ((Mode.POSITION,), {"position"}),
        ((Mode.VELOCITY,), {"velocity"}),
        ((Mode.EFFORT,), {"effort"}),
        ((Mode.POSITION, Mode.VELOCITY), {"position", "velocity"}),
        ((Mode.POSITION, Mode.POSITION, Mode.EFFORT), {"position", "effort"}),
    ],
)
def test_a_joint_has_the_interfaces_of_all_its_inputs(modes, taken):
    assert command_interfaces(modes) == taken
