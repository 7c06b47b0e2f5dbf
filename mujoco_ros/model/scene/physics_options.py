"""MuJoCo's physics options by the names in a scene."""

from typing import Any

import mujoco

from mujoco_ros.model.scene.config import PhysicsConfig

CHOICES: dict[str, dict[str, Any]] = {
    "integrator": {
        "Euler": mujoco.mjtIntegrator.mjINT_EULER,
        "RK4": mujoco.mjtIntegrator.mjINT_RK4,
        "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
        "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
        "discrete": mujoco.mjtIntegrator.mjINT_DISCRETE,
    },
    "cone": {
        "pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL,
        "elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC,
    },
    "solver": {
        "PGS": mujoco.mjtSolver.mjSOL_PGS,
        "CG": mujoco.mjtSolver.mjSOL_CG,
        "Newton": mujoco.mjtSolver.mjSOL_NEWTON,
    },
    "jacobian": {
        "dense": mujoco.mjtJacobian.mjJAC_DENSE,
        "sparse": mujoco.mjtJacobian.mjJAC_SPARSE,
        "auto": mujoco.mjtJacobian.mjJAC_AUTO,
    },
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
