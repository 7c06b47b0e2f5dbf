"""Physics options of a scene."""

from dataclasses import replace

import mujoco
import pytest

from mujoco_ros.model.scene.physics_options import (
    CHOICES,
    PhysicsConfig,
    read_options,
    write_options,
)

_CHANGED = PhysicsConfig(
    timestep=0.003,
    integrator="RK4",
    cone="elliptic",
    solver="CG",
    jacobian="sparse",
    iterations=7,
    ls_iterations=8,
    tolerance=1e-3,
    impratio=2.0,
    gravity=(1.0, 2.0, 3.0),
    wind=(4.0, 5.0, 6.0),
    density=7.0,
    viscosity=8.0,
)


@pytest.mark.parametrize("make", [mujoco.MjSpec, lambda: mujoco.MjSpec().compile()])
def test_options_that_are_set_are_read_back(make: type[mujoco.MjSpec]) -> None:
    owner = make()
    option = owner.option if isinstance(owner, mujoco.MjSpec) else owner.opt
    assert all(getattr(_CHANGED, name) is not None for name in PhysicsConfig.__slots__)
    write_options(option, _CHANGED)
    assert read_options(option) == _CHANGED


def test_options_that_are_not_set_are_unchanged() -> None:
    model = mujoco.MjSpec().compile()
    before = read_options(model.opt)
    write_options(model.opt, PhysicsConfig(density=3.0))
    assert read_options(model.opt) == replace(before, density=3.0)


@pytest.mark.parametrize("name", list(CHOICES))
def test_every_choice_is_read_back(name: str) -> None:
    model = mujoco.MjSpec().compile()
    for choice in CHOICES[name]:
        write_options(model.opt, PhysicsConfig(**{name: choice}))  # type: ignore[arg-type]
        assert getattr(read_options(model.opt), name) == choice
