"""Parameter files mean what they mean to ros2_control_node."""

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.ros2_control.controller_file import ParameterFiles

GENERIC = """
/**/controller_manager:
  ros__parameters:
    update_rate: 50
    states:
      type: joint_state_broadcaster/JointStateBroadcaster
/**/arm:
  ros__parameters:
    type: joint_trajectory_controller/JointTrajectoryController
    command_interfaces: [position]
    constraints: {goal_time: 0.5, stopped_velocity_tolerance: 0.2}
/left/arm:
  ros__parameters:
    joints: [l1, l2]
    constraints.goal_time: 0.7
right:
  arm:
    ros__parameters:
      joints: [r1, r2]
"""


@pytest.fixture
def read(tmp_path):
    def files(*texts):
        paths = [tmp_path / f"{index}.yaml" for index in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return ParameterFiles(paths)

    return files


def test_sections_of_a_node_are_merged_in_their_order(read):
    files = read(GENERIC)
    arm = files.controllers("left")["arm"]
    assert arm.type == "joint_trajectory_controller/JointTrajectoryController"
    assert arm.parameters["joints"] == ["l1", "l2"]
    assert arm.parameters["constraints.goal_time"] == 0.7
    assert arm.parameters["constraints.stopped_velocity_tolerance"] == 0.2
    assert files.controllers("right")["arm"].parameters["joints"] == ["r1", "r2"]
    assert files.update_rate("left") == 50.0


def test_controllers_have_their_type_from_the_manager_or_from_their_own_section(read):
    assert list(read(GENERIC).controllers("left")) == ["states", "arm"]


def test_a_section_for_all_nodes_may_have_the_type(read):
    files = read("/**: {ros__parameters: {type: a/B}}\none: {ros__parameters: {joints: [x]}}")
    one = files.controllers("")["one"]
    assert (one.type, one.parameters["joints"]) == ("a/B", ["x"])


def test_lists_of_mappings_are_their_union(read):
    files = read("n: {ros__parameters: {out: {lamp: [{interfaces: [dim]}, {rate: 2}]}}}")
    assert files.parameters("/n") == {"out.lamp.interfaces": ["dim"], "out.lamp.rate": 2}


def test_parameters_of_the_manager_that_mean_nothing_are_listed(read):
    text = "controller_manager: {ros__parameters: {update_rate: 9, a: {type: b/C}, lock: true}}"
    assert read(text).ignored("") == ("lock",)


def test_a_repeated_node_has_the_union_of_its_parameters(read):
    files = read(
        "/**: {controller_manager: {ros__parameters: {update_rate: 50, s.type: a/A}}}\n"
        "/**: {s: {ros__parameters: {joints: [a], x: {y: 1}}}}\n"
        "/**: {s: {ros__parameters: {joints: [b], x: {z: 2}}}}\n"
    )
    assert files.update_rate("left") == 50.0
    assert files.controllers("")["s"].parameters == {"joints": ["b"], "x.y": 1, "x.z": 2}


def test_a_wildcard_is_no_namespace(read):
    files = read(GENERIC)
    assert files.namespaces() == ()
    assert files.with_controllers()
    named = read("/a/b/controller_manager: {ros__parameters: {update_rate: 1}}")
    assert named.namespaces() == ("a/b",)


def test_a_single_star_is_one_token(read):
    files = read("/*/n: {ros__parameters: {a: 1}}")
    assert files.parameters("/x/n") == {"a": 1}
    assert files.parameters("/x/y/n") == {}
    assert files.parameters("/n") == {}


def test_a_later_file_precedes(read):
    first = "n: {ros__parameters: {a: 1, b: 2}}"
    assert read(first, "/**: {ros__parameters: {b: 3}}").parameters("/n") == {"a": 1, "b": 3}


def test_files_of_a_client_precede_and_the_others_are_not_read_again(read, tmp_path):
    files = read(GENERIC)
    own = tmp_path / "own.yaml"
    own.write_text("/**/arm: {ros__parameters: {joints: [a]}}")
    for path in files.with_controllers().paths:
        path.unlink()
    found = ParameterFiles([own], files).controllers("left")["arm"]
    assert found.parameters["joints"] == ["a"]
    assert found.parameters["constraints.goal_time"] == 0.7


def test_a_file_of_another_node_has_no_controllers(read):
    assert not read("mujoco: {ros__parameters: {scene: arm}}").with_controllers()


def test_a_rate_of_a_controller_is_its_own(read):
    files = read("n: {ros__parameters: {type: a/B, update_rate: 20}}")
    assert files.controllers("")["n"].update_rate == 20.0
    assert files.update_rate("") == 100.0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1, 2]", "expected nodes with 'ros__parameters'"),
        ("n: {a: 1}", "'/n/a': expected nodes"),
        ("n: {ros__parameters: 3}", "not a mapping"),
        ("? [a, b]\n: 1", "line 1: a key is no text"),
        (
            "n: {ros__parameters: {joints: ['$(var prefix)j1']}}",
            r"/n.joints: '\$\(var prefix\)' is a substitution of launch files",
        ),
    ],
)
def test_what_is_wrong_is_named(read, text, problem):
    with pytest.raises(UserInputError, match=problem):
        read(text)


def test_a_wrong_rate_is_named(read):
    files = read("controller_manager: {ros__parameters: {update_rate: fast}}")
    with pytest.raises(UserInputError, match="/controller_manager: update_rate is 'fast'"):
        files.update_rate("")
