"""Parameters of settings whose fields have ranges."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.ranged_settings import bounds_of
from mujoco_ros.wire.parameter_spec import ParameterSpec


def setting_specs(prefix: str, settings: Any) -> list[ParameterSpec]:
    """Return the parameters of settings, whose values are the defaults.

    Args:
        prefix: Beginning of their names, without the dot.
        settings: A dataclass of fields by `setting`.
    """
    return [
        ParameterSpec(
            f"{prefix}.{name}",
            getattr(settings, name),
            bounds.description,
            low=bounds.low,
            high=bounds.high,
            choices=bounds.choices,
        )
        for name, bounds in bounds_of(type(settings)).items()
    ]


def changed_settings(prefix: str, settings: Any, values: Mapping[str, Any]) -> Any:
    """Return settings with the values of their parameters among others.

    Args:
        prefix: Beginning of their names, without the dot.
        settings: The present settings.
        values: Values of parameters by name.

    Raises:
        UserInputError: The settings contradict each other.
    """
    start = f"{prefix}."
    own = {name.removeprefix(start): it for name, it in values.items() if name.startswith(start)}
    if not own:
        return settings
    try:
        return replace(settings, **own)
    except UserInputError as error:
        raise UserInputError(f"parameter '{start}*': {error}") from error
