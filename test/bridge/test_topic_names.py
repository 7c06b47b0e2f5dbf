"""Topic names from names of models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclpy.validate_topic_name import validate_topic_name

from mujoco_ros.model.naming import in_namespace, topic_token


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("left_foot", "left_foot"),
        ("left foot", "left_foot"),
        ("arm/wrist.ft", "arm_wrist_ft"),
        ("6dof", "_6dof"),
        ("größe", "gr__e"),
    ],
)
def test_an_invalid_character_becomes_an_underscore(name: str, token: str) -> None:
    assert topic_token(name) == token


@given(st.text(min_size=1, max_size=20))
def test_any_name_becomes_a_valid_topic(name: str) -> None:
    # Two underscores in a row are allowed between tokens, but a token of the private kind is not.
    assert validate_topic_name(f"imu/{topic_token(name)}")


def test_a_name_without_a_namespace_has_no_prefix() -> None:
    assert in_namespace("", "joint_states") == "joint_states"
    assert in_namespace("left_arm", "joint_states") == "left_arm/joint_states"
    assert in_namespace("cell/arm", "controller", "commands") == "cell/arm/controller/commands"
