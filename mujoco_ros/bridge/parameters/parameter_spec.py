"""Former place of `wire.parameter_spec`, for the components of users until the next release."""

from mujoco_ros.wire.parameter_spec import ParameterSpec, plain, shown

__all__ = ["ParameterSpec", "plain", "shown"]
