import re

import pytest

from mujoco_ros.recording.metadata import UNKNOWN, definition


def heads(text: str) -> list[str]:
    return re.findall(r"^(?:MSG|IDL): (.*)$", text, re.MULTILINE)


def test_a_definition_has_all_its_dependencies_once():
    found = definition("nav_msgs/msg/Odometry")
    assert found.encoding == "ros2msg"
    assert heads(found.text) == [
        "geometry_msgs/PoseWithCovariance",
        "geometry_msgs/Pose",
        "geometry_msgs/Point",
        "geometry_msgs/Quaternion",
        "geometry_msgs/TwistWithCovariance",
        "geometry_msgs/Twist",
        "geometry_msgs/Vector3",
        "std_msgs/Header",
        "builtin_interfaces/Time",
    ]
    assert found.text.count("=" * 80 + "\nMSG: ") == 9


@pytest.mark.parametrize(
    ("kind", "dependencies"),
    [
        ("std_msgs/msg/String", []),
        (
            "std_msgs/msg/Float64MultiArray",
            ["std_msgs/MultiArrayLayout", "std_msgs/MultiArrayDimension"],
        ),
        ("rcl_interfaces/msg/Log", ["builtin_interfaces/Time"]),
        ("diagnostic_msgs/msg/DiagnosticStatus", ["diagnostic_msgs/KeyValue"]),
    ],
)
def test_comments_constants_and_primitive_types_are_not_dependencies(kind, dependencies):
    assert heads(definition(kind).text) == dependencies


def test_the_feedback_of_an_action_is_taken_from_its_file():
    found = definition("control_msgs/action/FollowJointTrajectory_FeedbackMessage")
    assert found.text.startswith("unique_identifier_msgs/UUID goal_id\n")
    assert heads(found.text)[0] == "control_msgs/FollowJointTrajectory_Feedback"
    assert "unique_identifier_msgs/UUID" in heads(found.text)
    assert "trajectory_msgs/JointTrajectoryPoint desired" in found.text


def test_a_type_that_exists_as_idl_only_is_taken_from_there(tmp_path, monkeypatch):
    folder = tmp_path / "share" / "odd_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "Odd.idl").write_text('#include "odd_msgs/msg/Even.idl"\nmodule odd_msgs {};\n')
    (folder / "Even.idl").write_text("module odd_msgs {};\n")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    found = definition("odd_msgs/msg/Odd")
    assert found.encoding == "ros2idl"
    assert heads(found.text) == ["odd_msgs/msg/Odd", "odd_msgs/msg/Even"]


@pytest.mark.parametrize("kind", ["nowhere_msgs/msg/Nothing", "std_msgs/msg/Nothing", "nonsense"])
def test_an_unknown_type_has_no_definition(kind):
    assert definition(kind) == UNKNOWN
