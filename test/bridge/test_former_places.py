"""Components of users import from the former places of some modules until the next release."""

from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("former", "present", "names"),
    [
        ("bridge.parameters.parameter_spec", "wire.parameter_spec", ["ParameterSpec"]),
        ("bridge.rclpy_ext.tasks", "rclpy_ext.executor", ["create_wall_timer", "guarded", "later"]),
        ("bridge.rclpy_ext.tasks", "bridge.component", ["query"]),
    ],
)
def test_a_former_place_has_the_same_objects(former: str, present: str, names: list[str]) -> None:
    old, new = (import_module(f"mujoco_ros.{name}") for name in (former, present))
    assert [getattr(old, name) for name in names] == [getattr(new, name) for name in names]
