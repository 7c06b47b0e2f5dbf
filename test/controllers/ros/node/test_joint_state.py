"""Joint states by name."""

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from mujoco_ros.controllers.ros.node.observation_source import JointReader
from mujoco_ros.model.errors import UserInputError


@pytest.fixture
def reader() -> JointReader:
    return JointReader(["hip", "knee"])


def test_values_are_sorted_and_missing_ones_are_nan(reader):
    message = JointState(
        name=["knee", "x", "hip"], position=[1.0, 2.0, 3.0], effort=[4.0, 5.0, 6.0]
    )
    q, dq, effort = reader.read(message)
    assert q.tolist() == [3.0, 1.0]
    assert np.isnan(dq).all()
    assert effort.tolist() == [6.0, 4.0]
    assert reader.read(JointState(name=["hip", "knee"], position=[7.0, 8.0])).q.tolist() == [7, 8]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (JointState(name=["hip"], position=[0.0]), "joint_states lack knee; they have: hip"),
        (JointState(name=["hip", "knee"]), "joint_states have no positions"),
        (
            JointState(name=["hip", "knee"], position=[0.0, 0.0], velocity=[0.0]),
            "joint_states have 1 velocities for 2 joints",
        ),
    ],
)
def test_an_incomplete_message_is_rejected(reader, message, reason):
    with pytest.raises(UserInputError, match=reason):
        reader.read(message)
