"""Range checks of settings."""

from dataclasses import fields
from typing import Any

from mujoco_ros.model.errors import UserInputError


def check_positive(config: Any, *names: str) -> None:
    """Raise UserInputError if one of these settings is not positive; default: all numbers."""
    for name in names or _numbers(config):
        if not getattr(config, name) > 0:
            raise UserInputError(f"{name} must be positive, got {getattr(config, name):g}")


def check_not_negative(config: Any, *names: str) -> None:
    """Raise UserInputError if one of these settings is negative; default: all numbers."""
    for name in names or _numbers(config):
        if not getattr(config, name) >= 0:
            raise UserInputError(f"{name} must not be negative, got {getattr(config, name):g}")


def _numbers(config: Any) -> list[str]:
    names = [field.name for field in fields(config)]
    return [name for name in names if type(getattr(config, name)) in (int, float)]
