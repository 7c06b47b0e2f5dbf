"""MuJoCo's physics options by the names in a scene."""

from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.limits import MAX_ITERATIONS

MIN_TIMESTEP, MAX_TIMESTEP = 1e-5, 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class PhysicsConfig:
    """MuJoCo options that override the options of the world; None keeps the world's value."""

    timestep: float | None = None
    integrator: Literal["Euler", "RK4", "implicit", "implicitfast", "discrete"] | None = None
    cone: Literal["pyramidal", "elliptic"] | None = None
    solver: Literal["PGS", "CG", "Newton"] | None = None
    jacobian: Literal["dense", "sparse", "auto"] | None = None
    iterations: int | None = None
    ls_iterations: int | None = None
    tolerance: float | None = None
    impratio: float | None = None
    gravity: tuple[float, float, float] | None = None
    wind: tuple[float, float, float] | None = None
    density: float | None = None
    viscosity: float | None = None

    def __post_init__(self) -> None:
        """Reject values that the engine does not check."""
        if self.timestep is not None and not MIN_TIMESTEP <= self.timestep <= MAX_TIMESTEP:
            raise UserInputError(f"'timestep' must be within 1e-5 and 0.1 s, got {self.timestep}")
        for name in ("iterations", "ls_iterations"):
            if not 0 <= (getattr(self, name) or 0) <= MAX_ITERATIONS:
                raise UserInputError(
                    f"'{name}' must be within 0 and {MAX_ITERATIONS}, got {getattr(self, name)}"
                )
        for name in ("tolerance", "density", "viscosity"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < 1 << 31:
                raise UserInputError(f"'{name}' must not be negative nor huge, got {value}")
        if self.impratio is not None and self.impratio <= 0:
            raise UserInputError(f"'impratio' must be positive, got {self.impratio}")


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
