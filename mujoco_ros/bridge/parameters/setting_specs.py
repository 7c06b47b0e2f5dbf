"""Parameters of settings whose fields have ranges."""

from typing import Any

from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.model.ranged_settings import bounds_of


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
