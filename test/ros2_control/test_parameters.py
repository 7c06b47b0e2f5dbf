"""Parameters are read into dataclasses; what nothing reads is listed."""

from dataclasses import dataclass
from math import inf, nan
from typing import Literal

import pytest

from mujoco_ros.control.settings import setting
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.ros2_control.parameters import ControllerParameters


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    joints: tuple[str, ...] = setting("Joints")
    highest: float = setting("Limit", 2.0, low=0.0, high=10.0, parameter="limits.max")
    lowest: float = setting("Limit", -2.0)
    way: Literal["up", "down"] = setting("Way", "up")


def read(**values):
    parameters = ControllerParameters({"joints": ["a"], **values}, "file: c")
    return parameters, parameters.read(Limits)


def test_fields_have_the_values_and_the_defaults():
    parameters, limits = read(**{"limits.max": 3, "other": 1, "type": "a/B", "update_rate": 5})
    assert limits == Limits(joints=("a",), highest=3.0)
    assert parameters.ignored == ("other",)


def test_nan_is_no_value_and_infinity_no_limit():
    _, limits = read(**{"limits.max": nan, "lowest": -inf})
    assert (limits.highest, limits.lowest) == (2.0, -inf)


def test_a_prefix_and_a_suffix_enclose_the_names():
    values = {"x.lowest.y": 1.0, "x.joints.y": ["b"]}
    parameters = ControllerParameters(values, "c")
    assert parameters.read(Limits, "x.", suffix=".y") == Limits(joints=("b",), lowest=1.0)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"joints": nan}, "file: c: parameter 'joints' is missing$"),
        ({"joints": nan, "joint": ["a"]}, r"'joints' is missing \(is 'joint' meant\?\)"),
        ({"joints": "a"}, "parameter 'joints': expected a list"),
        ({"limits.max": 11.0}, "parameter 'limits.max' is 11; it must be from 0 to 10"),
        ({"limits.max": "high"}, "parameter 'limits.max': expected a number"),
        ({"way": "left"}, "parameter 'way': 'left' .* is not one of up, down"),
    ],
)
def test_a_wrong_value_is_named(values, problem):
    with pytest.raises(UserInputError, match=problem):
        read(**values)
