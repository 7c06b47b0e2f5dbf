"""ROS arguments of child processes."""

from pathlib import Path

import pytest

from mujoco_ros.bridge.ros_arguments import child_ros_arguments, given_value


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([], []),
        (["--own", "-r", "a:=b"], []),
        (
            ["--ros-args", "-r", "a:=b", "--remap", "sim:c:=d"],
            ["-r", "a:=b", "--remap", "sim:c:=d"],
        ),
        (["--ros-args", "-r", "__node:=me", "-r", "mujoco:__ns:=/there", "-r", "__name:=me"], []),
        (
            ["--ros-args", "-r", "mujoco_cameras:__node:=cam", "-r", "mujoco_viewer:__ns:=/there"],
            ["-r", "mujoco_cameras:__node:=cam", "-r", "mujoco_viewer:__ns:=/there"],
        ),
        (["--ros-args", "-p", "scene:=arm", "-p", "cameras:rate:=5"], ["-p", "cameras:rate:=5"]),
        (["--ros-args", "--params-file", "f.yaml"], ["--params-file", "f.yaml"]),
        (
            ["--ros-args", "--log-level", "debug", "--disable-rosout-logs", "--", "--own"],
            ["--log-level", "debug", "--disable-rosout-logs"],
        ),
    ],
)
def test_child_processes_get_the_arguments_that_are_not_for_the_simulator_alone(given, kept):
    assert child_ros_arguments(given, "/here") == ["--ros-args", *kept, "-r", "__ns:=/here"]


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ([], None),
        (["-p", "mode:=lockstep"], None),  # not for ROS
        (["--ros-args", "-p", "mode:=lockstep"], "lockstep"),
        (["--ros-args", "--param", "mujoco:mode:='lockstep'"], "lockstep"),
        (["--ros-args", "-p", "mode:=lockstep", "-p", "mode:=realtime"], "realtime"),
        (["--ros-args", "-p", "my_mode:=lockstep", "-r", "mode:=lockstep"], None),
        (["--ros-args", "-p", "rate:=2.5", "-p", "mode:=[a"], None),
        (["--ros-args", "--params-file", "any.yaml"], "lockstep"),
        (["--ros-args", "--params-file", "named.yaml"], "lockstep"),
        (["--ros-args", "--params-file", "other.yaml"], None),
        (["--ros-args", "--params-file", "broken.yaml"], None),
        (["--ros-args", "--params-file", "missing.yaml"], None),
        (["--ros-args", "--params-file", "deep.yaml"], None),
        (["--ros-args", "--params-file", "merged.yaml"], None),
        (["--ros-args", "-p", f"mode:={'[' * 100_000}"], None),
        (["--ros-args", "--params-file", "any.yaml", "-p", "mode:=realtime"], "realtime"),
    ],
)
def test_the_value_of_a_parameter_is_known_before_there_is_a_node(
    given: list[str], value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "any": "/**: {ros__parameters: {mode: lockstep}}",
        "named": "ns: {mujoco: {ros__parameters: {scene: arm, mode: lockstep}}}",
        "other": "/**: {ros__parameters: {scene: arm}}",
        "broken": "/**: {ros__parameters: [",
        "deep": "/**: {ros__parameters: " + "[" * 100_000,
        "merged": "\n".join(
            ["a0: &a0 {mode: lockstep}"]
            + [f"a{i + 1}: &a{i + 1} {{<<: [{f'*a{i},' * 100}]}}" for i in range(8)]
            + ["/**: {ros__parameters: *a8}"]
        ),
    }
    for name, content in files.items():
        (tmp_path / f"{name}.yaml").write_text(content)
    assert given_value(given, "mode") == value


def test_the_value_of_a_parameter_has_its_type() -> None:
    assert given_value(["--ros-args", "-p", "node:lockstep:=true"], "lockstep") is True
    assert given_value(["--ros-args", "-p", "rate:=250.0"], "rate") == 250.0
