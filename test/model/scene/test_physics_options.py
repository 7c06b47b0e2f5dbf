"""Physics options of a scene."""

from dataclasses import replace
from typing import Any

import mujoco
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.physics_options import (
    CHOICES,
    FLAGS,
    PhysicsConfig,
    bounds,
    read_options,
    write_options,
)


def _changed() -> dict[str, Any]:
    """Return another value of each option."""
    found = read_options(mujoco.MjSpec().option).values()
    for name, value in found.items():
        if name in CHOICES:
            found[name] = next(choice for choice in CHOICES[name] if choice != value)
        elif isinstance(value, bool):
            found[name] = not value
        elif isinstance(value, tuple):
            found[name] = tuple(1.0 + number for number in value)
        elif isinstance(value, str):
            found[name] = "0 4 30"
        else:
            found[name] = type(value)(value / 2 if value else 3)
    return found


@pytest.mark.parametrize("make", [mujoco.MjSpec, lambda: mujoco.MjSpec().compile()])
def test_options_that_are_set_are_read_back(make: type[mujoco.MjSpec]) -> None:
    owner = make()
    option = owner.option if isinstance(owner, mujoco.MjSpec) else owner.opt
    changed = PhysicsConfig.of(_changed())
    write_options(option, changed)
    assert read_options(option) == changed


def test_every_option_of_the_engine_has_a_name() -> None:
    option = mujoco.MjSpec().option
    of_engine = {name for name in dir(option) if not name.startswith("_")}
    bits = {"disableflags", "enableflags", "disableactuator"}
    options = {name for name in _changed() if not name.startswith("flag.")}
    assert options == of_engine - bits | {"actuatorgroupdisable"}
    number_of_flags = int(mujoco.mjtDisableBit.mjNDISABLE) + int(mujoco.mjtEnableBit.mjNENABLE)
    assert len(FLAGS) == number_of_flags - 1  # but autoreset


@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_is_the_one_of_mjcf(flag: str) -> None:
    default = getattr(read_options(mujoco.MjSpec().option).flag, flag)
    word = "disable" if default else "enable"
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><option integrator='discrete'><flag {flag}='{word}'/></option></mujoco>"
    )
    assert getattr(read_options(model.opt).flag, flag) is not default
    write_options(model.opt, PhysicsConfig.of({f"flag.{flag}": default}))
    assert (model.opt.disableflags, model.opt.enableflags) == (0, 0)


def test_groups_of_actuators_are_those_of_mjcf() -> None:
    model = mujoco.MjModel.from_xml_string("<mujoco><option actuatorgroupdisable='1 30'/></mujoco>")
    assert read_options(model.opt).actuatorgroupdisable == "1 30"


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("timestep", 1.0, r"'timestep' must be from 1e-05 to 0\.1 \[s\], got 1\.0"),
        ("gravity", (0.0, 0.0, 1e12), r"'gravity' must be from -1e\+09 to 1e\+09 \[m/s²\]"),
        ("noslip_iterations", -1, "'noslip_iterations' must be from 0 to 10000, got -1"),
        ("density", float("nan"), "'density' must be from 0 to"),
        ("actuatorgroupdisable", "31", "must be numbers of groups from 0 to 30 with spaces"),
        ("actuatorgroupdisable", "a", "such as '1 4', got 'a'"),
    ],
)
def test_a_value_out_of_range_is_refused(name: str, value: Any, why: str) -> None:
    with pytest.raises(UserInputError, match=why):
        PhysicsConfig.of({name: value})


def test_bounds_include_the_defaults_of_the_engine() -> None:
    for name, value in read_options(mujoco.MjSpec().option).values().items():
        if isinstance(value, (int, float, tuple)) and not isinstance(value, bool):
            low, high = bounds(name)
            assert all(low <= v <= high for v in (value if isinstance(value, tuple) else (value,)))


def test_options_that_are_not_set_are_unchanged() -> None:
    model = mujoco.MjSpec().compile()
    before = read_options(model.opt)
    write_options(model.opt, PhysicsConfig(density=3.0))
    assert read_options(model.opt) == replace(before, density=3.0)


@pytest.mark.parametrize("name", list(CHOICES))
def test_every_choice_is_read_back(name: str) -> None:
    model = mujoco.MjSpec().compile()
    for choice in CHOICES[name]:
        write_options(model.opt, PhysicsConfig.of({name: choice}))
        assert getattr(read_options(model.opt), name) == choice
