"""MuJoCo's physics options by the names in a scene."""

from typing import Any, get_args, get_type_hints

import mujoco

from mujoco_ros.model.scene.config import PhysicsConfig

_ENUMS = {
    "integrator": (mujoco.mjtIntegrator, "mjINT_"),
    "cone": (mujoco.mjtCone, "mjCONE_"),
    "solver": (mujoco.mjtSolver, "mjSOL_"),
    "jacobian": (mujoco.mjtJacobian, "mjJAC_"),
}
CHOICES: dict[str, dict[str, Any]] = {
    name: {
        choice: getattr(enum, prefix + choice.upper())
        for choice in get_args(get_args(get_type_hints(PhysicsConfig)[name])[0])
    }
    for name, (enum, prefix) in _ENUMS.items()
}
"""MuJoCo's value of each choice of an option."""


def read_options(option: Any) -> PhysicsConfig:
    """Return all options of ``MjModel.opt`` or ``MjSpec.option``."""
    return PhysicsConfig(**{name: _plain(name, getattr(option, name)) for name in _NAMES})


def write_options(option: Any, physics: PhysicsConfig) -> None:
    """Write the options that are not None to ``MjModel.opt`` or ``MjSpec.option``."""
    for name in _NAMES:
        value = getattr(physics, name)
        if value is not None:
            setattr(option, name, CHOICES[name][value] if name in CHOICES else value)


_NAMES = PhysicsConfig.__slots__


def _plain(name: str, value: Any) -> Any:
    if name in CHOICES:
        return next(choice for choice, number in CHOICES[name].items() if int(number) == int(value))
    if hasattr(value, "__len__"):
        return tuple(float(number) for number in value)
    return int(value) if isinstance(value, int) else float(value)
