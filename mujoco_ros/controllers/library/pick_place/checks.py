"""What settings may be."""

from typing import Any

from mujoco_ros.model.errors import UserInputError


def check_positive(config: Any, *names: str) -> None:
    """Raise a ModelError if one of these settings is not above zero."""
    for name in names:
        if not getattr(config, name) > 0.0:
            raise UserInputError(f"{name} must be positive, got {getattr(config, name):g}")


def check_not_negative(config: Any, *names: str) -> None:
    """Raise a ModelError if one of these settings is below zero."""
    for name in names:
        if not getattr(config, name) >= 0.0:
            raise UserInputError(f"{name} must not be negative, got {getattr(config, name):g}")
