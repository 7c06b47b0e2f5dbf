"""Range checks of settings."""

import pytest

from mujoco_ros.controllers.library.handover.handover_states import PlanReach
from mujoco_ros.controllers.library.pick_place.gripping import GrippingConfig, Weigh
from mujoco_ros.controllers.library.pick_place.straight_motion import LineConfig
from mujoco_ros.model.errors import UserInputError


@pytest.mark.parametrize(
    ("config", "values", "message"),
    [
        (LineConfig, {"speed": -1.0}, "speed must be positive, got -1"),
        (LineConfig, {"planning_time": -0.1}, "planning_time must not be negative, got -0.1"),
        (LineConfig, {"settled": 0.0}, "settled must be positive, got 0"),
        (Weigh.Config, {"acceleration": 0.0}, "acceleration must be positive, got 0"),
        (PlanReach.Config, {"clearance": -0.1}, "clearance must not be negative, got -0.1"),
        (GrippingConfig, {"finger_speed": 0.0}, "finger_speed must be positive, got 0"),
        (GrippingConfig, {"latency": -1.0}, "latency must not be negative, got -1"),
    ],
)
def test_an_invalid_setting_is_named_with_its_value(config, values, message):
    with pytest.raises(UserInputError, match=f"^{message}$"):
        config(**values)
