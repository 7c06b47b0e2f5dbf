"""Records of joints from bags: which bags are good, and what is wrong with the others."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from control_msgs.msg import JointTrajectoryControllerState
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mujoco_ros.identification.ros.joint_bag import BagTopics, read_record
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.metadata import RecordedTopic
from mujoco_ros.recording.ros.bag import Bag

JOINTS = ("hip", "knee", "toe")
TIMES = np.arange(0.0, 5.2, 0.005)
KINDS = {
    JointState: "sensor_msgs/msg/JointState",
    JointTrajectoryControllerState: "control_msgs/msg/JointTrajectoryControllerState",
    String: "std_msgs/msg/String",
}
CONTROLLER_STATE = "/joint_trajectory_controller/controller_state"


def stamped(message: Any, time: float) -> Any:
    message.header.stamp.sec, nanoseconds = divmod(round(time * 1e9), 10**9)
    message.header.stamp.nanosec = nanoseconds
    return message


def states(names: Iterable[str] = ("knee", "hip", "wheel")) -> list[Any]:
    """Joint states, with a joint that the robot lacks and without the third one."""
    names = list(names)
    return [
        stamped(
            JointState(
                name=names,
                position=[np.sin(time + i) for i in range(len(names))],
                velocity=[np.cos(time + i) for i in range(len(names))],
            ),
            time,
        )
        for time in TIMES
    ]


def controller_states() -> list[Any]:
    found = []
    for time in TIMES:
        message = JointTrajectoryControllerState(joint_names=["hip", "knee"])
        message.reference.positions = [float(time), 2.0]
        message.output.positions, message.output.velocities = [float(time), 3.0], [1.0, 0.0]
        found.append(stamped(message, time))
    return found


def commands() -> list[Any]:
    """Commands of one joint at a time; NaN leaves a value unchanged."""
    found = []
    for number, time in enumerate(TIMES):
        name, position = ("knee", 3.0) if number == 5 else ("hip", float(time))
        found.append(stamped(JointState(name=[name], position=[position], velocity=[np.nan]), time))
    return found


@pytest.fixture
def write(tmp_path: Path):
    """Write a bag of messages by topic."""

    def writer(**topics: list[Any]) -> Path:
        bag = Bag(tmp_path / "bag", "jazzy")
        for key, messages in topics.items():
            name = "/" + key.replace("controller_state", CONTROLLER_STATE[1:])
            kind = KINDS[type(messages[0])]
            topic = RecordedTopic(name=name, kind=kind, type_hash="", qos=())
            bag.add(topic)
            for number, message in enumerate(messages):
                bag.write(topic, number, number, number, serialize_message(message))
        bag.finish()
        return bag.folder

    return writer


def test_joints_are_matched_by_name(write):
    bag = write(joint_states=states(), controller_state=controller_states())
    record = read_record(bag, JOINTS)
    assert record.joints == ("knee", "hip")
    assert record.times == pytest.approx(TIMES)
    assert record.position == pytest.approx(np.sin(TIMES[:, None] + [0, 1]))
    assert record.velocity == pytest.approx(np.cos(TIMES[:, None] + [0, 1]))
    assert np.isnan(record.effort).all()
    # What is sent to the drives precedes the reference of the trajectory.
    assert record.references[:, 0] == pytest.approx(np.stack([3.0 + 0 * TIMES, TIMES], axis=1))
    assert record.references[0, 1].tolist() == [0.0, 1.0]
    assert record.commanded.all()


def test_commands_stay_until_the_next_one_of_a_joint(write):
    record = read_record(write(joint_states=states(), joint_commands=commands()), JOINTS)
    assert record.command_times[0] == pytest.approx(TIMES[5])
    assert record.references[0, 0].tolist() == pytest.approx([3.0, TIMES[4]])
    assert record.references[-1, 0].tolist() == pytest.approx([3.0, TIMES[-1]])
    assert np.isnan(record.references[:, 1]).all()


def test_topics_can_be_named(write):
    bag = write(arm_states=states(), arm_commands=commands())
    record = read_record(bag, JOINTS, BagTopics(states="/arm_states", commands="/arm_commands"))
    assert record.joints == ("knee", "hip")


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        ({"joint_states": states()}, r"no messages on '/joint_traj\S+' or '/joint_commands'"),
        ({"joint_commands": commands()}, "no messages on '/joint_states'.*it has: /joint_commands"),
        ({"joint_states": [String()], "joint_commands": commands()}, "a std_msgs/msg/String, not"),
        ({"joint_states": states(), "joint_commands": [String()]}, "references are in messages of"),
        ({"joint_states": states(["a"]), "joint_commands": commands()}, "states are of a; the rob"),
        (
            {"joint_states": [*states(), *states(["hip"])], "joint_commands": commands()},
            "messages of different joints: knee, hip, wheel, and then hip",
        ),
        (
            {"joint_states": [*states(), *states()], "joint_commands": commands()},
            "stamps of the joint states jump from 5.195000 s to 0.000000 s",
        ),
    ],
)
def test_a_bag_that_is_no_good_is_rejected_with_the_reason(write, topics, message):
    with pytest.raises(UserInputError, match=message):
        read_record(write(**topics), JOINTS)


def test_a_recording_of_an_hour_is_rejected_while_it_is_read(write):
    late = [*states(), stamped(JointState(name=["knee", "hip", "wheel"]), 3600.0)]
    with pytest.raises(UserInputError, match="the stamps span 3600 s; at most 600 s"):
        read_record(write(joint_states=late, joint_commands=commands()), JOINTS)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_position_that_is_no_number_is_rejected(write, value):
    wrong = states()
    wrong[7].position[1] = value
    with pytest.raises(UserInputError, match=r"a position of joint 'hip' is NaN|is infinite"):
        read_record(write(joint_states=wrong, joint_commands=commands()), JOINTS)
