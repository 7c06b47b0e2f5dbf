"""What a joint takes follows from its actuators."""

import pytest

from mujoco_ros.control.modes import Mode, taken_by


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
def test_a_joint_takes_what_any_of_its_inputs_takes(modes, taken):
    assert taken_by(modes) == taken
