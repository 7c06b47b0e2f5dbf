"""Changes of colours and sizes in a simulated model."""

from typing import Any

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import PhysicsConfig, load_scene, shipped_scenes
from mujoco_ros.model.scene.physics_options import CHOICES, read_options
from mujoco_ros.sim.settings.model_settings import (
    Appearance,
    appearances,
    get_appearance,
    scratch_for,
    set_appearance,
    try_options,
)
from mujoco_ros.sim.simulation import Simulation

_XML = """
<mujoco>
  <asset>
    <material name="paint" rgba="0.1 0.2 0.3 1"/>
    <mesh name="tetrahedron" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="thing" pos="0 0 1">
      <freejoint/>
      <geom name="box" type="box" size="0.1 0.2 0.3"/>
      <geom name="rod" type="capsule" size="0.05 0.2" pos="0.3 0 0"/>
      <geom name="ball" size="0.05" pos="0.3 0.4 0"/>
      <geom name="mesh" type="mesh" mesh="tetrahedron"/>
      <geom size="0.01"/>
      <site name="tip" rgba="1 0 0 1"/>
      <site name="end" pos="0 0 1"/>
    </body>
  </worldbody>
  <tendon>
    <spatial name="string" rgba="0 0 1 1"><site site="tip"/><site site="end"/></spatial>
  </tendon>
</mujoco>
"""


def _model(xml: str = _XML) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(xml)


def _arrays(model: mujoco.MjModel) -> dict[str, Any]:
    return {
        name: value.copy()
        for name in dir(model)
        if isinstance(value := getattr(model, name), np.ndarray)
    }


def test_every_named_element_has_a_colour_and_simple_geoms_a_size() -> None:
    model = _model()
    found = {(look.kind, look.name, look.property) for look in appearances(model)}
    assert found == {
        *((("geom", name, "rgba")) for name in ("floor", "box", "rod", "ball", "mesh")),
        *((("geom", name, "size")) for name in ("box", "rod", "ball")),
        ("site", "tip", "rgba"),
        ("site", "end", "rgba"),
        ("tendon", "string", "rgba"),
        ("material", "paint", "rgba"),
    }


@pytest.mark.parametrize("look", appearances(_model()), ids=str)
def test_values_that_are_set_are_read_back(look: Appearance) -> None:
    model = _model()
    before = get_appearance(model, look)
    values = tuple(0.5 * value + 0.125 for value in before)
    set_appearance(model, {look: values})
    assert get_appearance(model, look) == pytest.approx(values, abs=1e-6)
    others = {
        other: get_appearance(_model(), other) for other in appearances(model) if other != look
    }
    assert {other: get_appearance(model, other) for other in others} == others


def test_a_size_has_as_many_numbers_as_its_kind_of_geom_uses() -> None:
    model = _model()
    assert get_appearance(model, Appearance("geom", "box", "size")) == (0.1, 0.2, 0.3)
    assert get_appearance(model, Appearance("geom", "rod", "size")) == (0.05, 0.2)
    assert get_appearance(model, Appearance("geom", "ball", "size")) == (0.05,)


@pytest.mark.parametrize(
    ("old", "new", "name", "size"),
    [
        ('size="0.1 0.2 0.3"', 'size="0.5 0.4 0.2"', "box", (0.5, 0.4, 0.2)),
        ('size="0.05 0.2"', 'size="0.1 0.7"', "rod", (0.1, 0.7)),
        ('size="0.05" pos', 'size="0.6" pos', "ball", (0.6,)),
    ],
)
def test_bounding_volumes_follow_sizes_as_if_compiled_with_them(
    old: str, new: str, name: str, size: tuple[float, ...]
) -> None:
    fixed = '<freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    xml = _XML.replace("<freejoint/>", fixed)
    model, compiled = _model(xml), _model(xml.replace(old, new))
    set_appearance(model, {Appearance("geom", name, "size"): size})
    assert model.geom_rbound == pytest.approx(compiled.geom_rbound)
    assert model.geom_aabb == pytest.approx(compiled.geom_aabb)
    assert model.bvh_aabb == pytest.approx(compiled.bvh_aabb)


def test_masses_and_inertias_do_not_follow_sizes() -> None:
    model = _model()
    mass, inertia = model.body_mass.copy(), model.body_inertia.copy()
    set_appearance(model, {Appearance("geom", "box", "size"): (1.0, 1.0, 1.0)})
    assert np.array_equal(model.body_mass, mass)
    assert np.array_equal(model.body_inertia, inertia)


def test_an_enlarged_ball_collides_at_its_new_surface() -> None:
    model = _model()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert not data.ncon
    set_appearance(model, {Appearance("geom", "ball", "size"): (1.2,)})
    mujoco.mj_forward(model, data)
    assert data.ncon


def test_a_new_size_does_not_change_the_state() -> None:
    model = _model()
    data = mujoco.MjData(model)
    data.qpos[:3] = 1.0, 2.0, 3.0
    set_appearance(model, {Appearance("geom", "box", "size"): (0.5, 0.5, 0.5)})
    assert data.qpos[:3] == pytest.approx([1.0, 2.0, 3.0])


@pytest.mark.parametrize("scene", list(shipped_scenes()))
def test_a_new_size_changes_nothing_else_of_a_shipped_scene(scene: str) -> None:
    model = Simulation(load_scene(scene)).model
    look = next(look for look in appearances(model) if look.property == "size")
    before = _arrays(model)
    set_appearance(model, {look: tuple(2.0 * value for value in get_appearance(model, look))})
    after = _arrays(model)
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert "geom_size" in changed
    # Derived quantities: bounds, fluid forces, and the velocity threshold of sleeping bodies.
    derived = {"geom_rbound", "geom_aabb", "bvh_aabb", "geom_fluid", "dof_length"}
    assert changed <= {"geom_size", *derived}


def test_missing_elements_are_skipped() -> None:
    model = _model()
    set_appearance(model, {Appearance("geom", "gone", "rgba"): (1.0, 1.0, 1.0, 1.0)})


def test_scratch_data_is_prepared_before_a_size_changes() -> None:
    model = _model()
    size, colour = Appearance("geom", "ball", "size"), Appearance("geom", "ball", "rgba")
    assert scratch_for(model, [colour]) is None
    scratch = scratch_for(model, [colour, size])
    assert scratch is not None
    scratch.qpos[0] = 17.0
    set_appearance(model, {size: (0.6,)}, scratch)
    assert scratch.qpos[0] == 0.0, "it was used"
    other = _model()
    set_appearance(other, {size: (0.6,)}, scratch)
    assert np.array_equal(other.bvh_aabb, model.bvh_aabb)


_FLEX = """
<mujoco>
  <option integrator="discrete" solver="Newton"/>
  <worldbody>
    <flexcomp name="soft" type="grid" dim="3" count="3 3 3" spacing=".1 .1 .1" mass="1"
      radius="0.01" pos="0 0 1">
      <elasticity young="1e4" poisson="0.1"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""


def test_options_that_the_engine_rejects_are_refused_with_its_reason() -> None:
    model = mujoco.MjModel.from_xml_string(_FLEX)
    with pytest.raises(UserInputError, match=r"the engine rejects .*PGS"):
        try_options(model, PhysicsConfig(solver="PGS"))


@pytest.mark.parametrize(
    ("option", "value"), [(name, value) for name in CHOICES for value in CHOICES[name]]
)
def test_a_rigid_model_runs_with_every_option(option: str, value: str) -> None:
    model = mujoco.MjSpec().compile()
    try_options(model, PhysicsConfig(**{option: value}))  # type: ignore[arg-type]


def test_the_check_does_not_change_the_model() -> None:
    model = mujoco.MjModel.from_xml_string(_FLEX)
    before = read_options(model.opt)
    try_options(model, PhysicsConfig(integrator="Euler", gravity=(0.0, 0.0, 1.0)))
    assert read_options(model.opt) == before
