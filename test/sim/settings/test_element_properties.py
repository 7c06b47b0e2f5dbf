"""Numbers of named elements that are set while a model is simulated."""

from typing import Any

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene, shipped_scenes
from mujoco_ros.sim.settings.element_properties import (
    PROPERTIES,
    Property,
    check_properties,
    elements,
    get_property,
    properties,
    set_properties,
)
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.model_edits import gather, scatter

_XML = """
<mujoco>
  <asset>
    <material name="paint" rgba="0.1 0.2 0.3 1"/>
    <mesh name="tetrahedron" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <light name="sun" pos="0 0 3" dir="0 1 -1"/>
    <camera name="eye" pos="0 0 3"/>
    <body name="thing" pos="0 0 1">
      <freejoint name="float"/>
      <geom name="box" type="box" size="0.1 0.2 0.3"/>
      <geom name="rod" type="capsule" size="0.05 0.2" pos="0.3 0 0"/>
      <geom name="ball" size="0.05" pos="0.3 0.4 0"/>
      <geom name="mesh" type="mesh" mesh="tetrahedron"/>
      <geom size="0.01"/>
      <site name="tip" rgba="1 0 0 1"/>
      <site name="end" pos="0 0 1"/>
      <body name="arm"><joint name="hinge"/><geom size="0.02"/></body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="string" rgba="0 0 1 1"><site site="tip"/><site site="end"/></spatial>
  </tendon>
  <actuator>
    <position name="servo" joint="hinge" kp="7" kv="2"/>
    <velocity name="speed" joint="hinge" kv="3"/>
    <motor name="motor" joint="hinge"/>
    <general name="other" joint="hinge" gainprm="4" biastype="affine" biasprm="0 -5 0"/>
    <general name="lag" joint="hinge" dyntype="filter" dynprm="0.1"/>
  </actuator>
  <equality><weld name="clamp" body1="thing" active="false"/></equality>
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
    found = {(look.kind, look.name, look.attribute) for look in properties(model)}
    assert {each for each in found if each[2] in ("rgba", "size")} == {
        *((("geom", name, "rgba")) for name in ("floor", "box", "rod", "ball", "mesh")),
        *((("geom", name, "size")) for name in ("box", "rod", "ball")),
        ("site", "tip", "rgba"),
        ("site", "end", "rgba"),
        ("tendon", "string", "rgba"),
        ("material", "paint", "rgba"),
    }


@pytest.mark.parametrize("look", properties(_model()), ids=str)
def test_values_that_are_set_are_read_back(look: Property) -> None:
    model = _model()
    before = get_property(model, look)
    values = tuple(0.5 * value + 0.125 * place for place, value in enumerate(before, 1))
    if look.attribute == "quat":
        values = tuple(np.array(values) / np.linalg.norm(values))
    set_properties(model, {look: values})
    assert get_property(model, look) == pytest.approx(values, abs=1e-6)
    others = {other: get_property(_model(), other) for other in properties(model) if other != look}
    assert {other: get_property(model, other) for other in others} == others


def test_a_size_has_as_many_numbers_as_its_kind_of_geom_uses() -> None:
    model = _model()
    assert get_property(model, Property("geom", "box", "size")) == (0.1, 0.2, 0.3)
    assert get_property(model, Property("geom", "rod", "size")) == (0.05, 0.2)
    assert get_property(model, Property("geom", "ball", "size")) == (0.05,)


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
    fixed = '<freejoint name="float"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    xml = _XML.replace('<freejoint name="float"/>', fixed)
    model, compiled = _model(xml), _model(xml.replace(old, new))
    set_properties(model, {Property("geom", name, "size"): size})
    assert model.geom_rbound == pytest.approx(compiled.geom_rbound)
    assert model.geom_aabb == pytest.approx(compiled.geom_aabb)
    assert model.bvh_aabb == pytest.approx(compiled.bvh_aabb)


def test_masses_and_inertias_do_not_follow_sizes() -> None:
    model = _model()
    mass, inertia = model.body_mass.copy(), model.body_inertia.copy()
    set_properties(model, {Property("geom", "box", "size"): (1.0, 1.0, 1.0)})
    assert np.array_equal(model.body_mass, mass)
    assert np.array_equal(model.body_inertia, inertia)


def test_an_enlarged_ball_collides_at_its_new_surface() -> None:
    model = _model()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert not data.ncon
    set_properties(model, {Property("geom", "ball", "size"): (1.2,)})
    mujoco.mj_forward(model, data)
    assert data.ncon


def test_a_new_size_does_not_change_the_state() -> None:
    model = _model()
    data = mujoco.MjData(model)
    data.qpos[:3] = 1.0, 2.0, 3.0
    set_properties(model, {Property("geom", "box", "size"): (0.5, 0.5, 0.5)})
    assert data.qpos[:3] == pytest.approx([1.0, 2.0, 3.0])


@pytest.mark.parametrize("scene", list(shipped_scenes()))
def test_a_new_size_changes_nothing_else_of_a_shipped_scene(scene: str) -> None:
    model = Simulation(load_scene(scene)).model
    look = next(look for look in properties(model) if look.attribute == "size")
    before = _arrays(model)
    set_properties(model, {look: tuple(2.0 * value for value in get_property(model, look))})
    after = _arrays(model)
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert "geom_size" in changed
    # Derived quantities: bounds, fluid forces, and the velocity threshold of sleeping bodies.
    derived = {"geom_rbound", "geom_aabb", "bvh_aabb", "geom_fluid", "dof_length"}
    assert changed <= {"geom_size", *derived}


def test_missing_elements_are_skipped() -> None:
    model = _model()
    set_properties(model, {Property("geom", "gone", "rgba"): (1.0, 1.0, 1.0, 1.0)})


def test_every_property_is_found_by_the_names_of_its_elements() -> None:
    found: dict[str, set[str]] = {}
    for kind, _, names in elements(_model()):
        found.setdefault(kind, set()).update(names)
    assert found == {kind: set(rows) for kind, rows in PROPERTIES.items()}


def test_constants_of_the_engine_follow_masses_as_if_compiled_with_them() -> None:
    body = '<inertial pos="{pos}" mass="{mass}" diaginertia="{inertia}"/>'
    xml = _XML.replace(
        '<joint name="hinge"/>', '<joint name="hinge" armature="{armature}"/>' + body
    )
    model = _model(xml.format(pos="0 0 0", mass=1, inertia="1 1 1", armature=0.1))
    compiled = _model(xml.format(pos="0.1 0 0.2", mass=3, inertia="2 3 4", armature=0.5))
    values = {
        Property("body", "arm", "mass"): (3.0,),
        Property("body", "arm", "inertia"): (2.0, 3.0, 4.0),
        Property("body", "arm", "ipos"): (0.1, 0.0, 0.2),
        Property("joint", "hinge", "armature"): (0.5,),
    }
    check_properties(model, values)
    set_properties(model, values)
    expected, found = _arrays(compiled), _arrays(model)
    # The order of the principal axes is the compiler's.
    orientation = ("body_iquat", "body_inertia", "body_sameframe", "body_simple")
    different = {
        name
        for name in expected
        if expected[name].dtype.kind == "f" and not np.allclose(expected[name], found[name])
    }
    assert different <= set(orientation)
    assert model.body_subtreemass[1] == pytest.approx(compiled.body_subtreemass[1])


@pytest.mark.parametrize("simple", ["auto", "false"])
def test_a_body_with_another_centre_of_mass_moves_as_if_compiled_with_it(simple: str) -> None:
    """The engine takes shortcuts for bodies whose frame is their inertial frame."""
    text = (
        f"<mujoco><worldbody><body name='b' simple='{simple}' pos='0 0 1'><freejoint/>"
        "<geom size='.1' mass='0'/><inertial pos='{} 0 0' mass='1' diaginertia='.1 .2 .3'/>"
        "</body></worldbody></mujoco>"
    )
    model, compiled = _model(text.format(0)), _model(text.format(0.1))
    values = {Property("body", "b", "ipos"): (0.1, 0.0, 0.0)}
    if simple == "auto":
        with pytest.raises(UserInputError, match=r"body\.b\.ipos: .*use body/simple='false'"):
            check_properties(model, values)
        assert model.body_ipos[1].tolist() == [0.0, 0.0, 0.0]
        return
    check_properties(model, values)
    set_properties(model, values)
    states = []
    for each in (model, compiled):
        data = mujoco.MjData(each)
        data.qvel[3:] = 1.0, 2.0, 3.0
        mujoco.mj_step(each, data, 200)
        states.append(np.concatenate((data.qpos, data.qvel)))
    assert states[0] == pytest.approx(states[1], abs=1e-9)


def test_a_body_floats_whose_weight_is_compensated() -> None:
    model = _model()
    both = {Property("body", name, "gravcomp"): (1.0,) for name in ("thing", "arm")}
    set_properties(model, both)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 100)
    assert np.abs(data.qvel).max() < 1e-9


@pytest.mark.parametrize("mode", ["fixed", "track", "trackcom", "targetbody"])
def test_a_camera_that_is_moved_sees_as_if_compiled_there(mode: str) -> None:
    text = (
        "<mujoco><worldbody><body name='aim' pos='1 2 3'><geom size='.1'/></body><body euler="
        "'10 20 30'><joint axis='0 1 0'/><geom size='.1' pos='.2 0 0'/><camera name='eye' pos='{}' "
        f"quat='{{}}' mode='{mode}' target='aim'/></body></worldbody></mujoco>"
    )
    model = _model(text.format("0 0 1", "1 0 0 0"))
    compiled = _model(text.format("3 2 1", "1 1 0 0"))
    values = {
        Property("camera", "eye", "pos"): (3.0, 2.0, 1.0),
        Property("camera", "eye", "quat"): (1.0, 1.0, 0.0, 0.0),
    }
    if mode == "targetbody":  # which turns it
        assert values.popitem()[0] not in properties(model)
    check_properties(model, values)
    set_properties(model, values)
    seen = []
    for each in (model, compiled):
        data = mujoco.MjData(each)
        data.qpos[0] = 0.7
        mujoco.mj_forward(each, data)
        seen.append(np.concatenate((data.cam_xpos[0], data.cam_xmat[0])))
    assert seen[0] == pytest.approx(seen[1], abs=1e-6)


def test_gains_are_those_of_servos() -> None:
    model = _model()
    found = {name: names for kind, name, names in elements(model) if kind == "actuator"}
    ranges, parameters = ["forcerange", "ctrlrange"], ["gainprm", "biasprm"]
    assert found == {
        "servo": ["kp", "kv", *ranges],
        "speed": ["kv", *ranges],
        "motor": [*parameters, *ranges],
        "other": [*parameters, *ranges],
        "lag": [*parameters, "dynprm", *ranges],
    }
    servo, speed = model.actuator("servo"), model.actuator("speed")
    set_properties(model, {Property("actuator", "servo", "kp"): (11.0,)})
    set_properties(model, {Property("actuator", "servo", "kv"): (0.5,)})
    set_properties(model, {Property("actuator", "speed", "kv"): (9.0,)})
    assert (servo.gainprm[0], *servo.biasprm[:3]) == (11.0, 0.0, -11.0, -0.5)
    assert (speed.gainprm[0], *speed.biasprm[:3]) == (9.0, 0.0, 0.0, -9.0)


def test_a_stiffer_servo_with_an_offset_holds_the_same_position() -> None:
    model = mujoco.MjModel.from_xml_string("""
      <mujoco><option gravity="0 0 0"/><worldbody><body>
        <joint name="hinge"/><geom size="0.1"/></body></worldbody>
      <actuator><general name="servo" joint="hinge" biastype="affine" gainprm="50"
        biasprm="10 -50 -5"/></actuator></mujoco>""")
    data = mujoco.MjData(model)
    data.ctrl[0] = data.qpos[0] = 0.4
    data.ctrl[0] -= 10.0 / 50.0
    set_properties(model, {Property("actuator", "servo", "kp"): (500.0,)})
    mujoco.mj_forward(model, data)
    assert data.qfrc_actuator[0] == pytest.approx(0.0)


def test_all_axes_of_a_joint_have_its_damping() -> None:
    model = _model()
    set_properties(model, {Property("joint", "float", "damping"): (2.0,)})
    assert model.dof_damping.tolist() == [2.0] * 6 + [0.0]


@pytest.mark.parametrize(
    ("which", "value", "why"),
    [
        (
            Property("body", "thing", "inertia"),
            (1.0, 1.0, 3.0),
            r"'body.thing.inertia' cannot be \[1\.0, 1\.0, 3\.0\]: one principal moment exceeds",
        ),
        (
            Property("body", "light", "mass"),
            (1.0,),
            "'body.light.mass' cannot be .*: the body has no mass",
        ),
        (Property("camera", "eye", "quat"), (0.0,) * 4, "a direction is not zero"),
        (Property("geom", "ball", "solref"), (0.02, -5.0), "unless both numbers are positive"),
        (Property("geom", "ball", "solref"), (-9.0, 1.0), "unless both numbers are positive"),
        (Property("joint", "hinge", "solimplimit"), (5.0, 0.9, 0.1, 0.5, 2.0), "d0, dwidth and"),
        (Property("joint", "hinge", "solimplimit"), (0.9, 0.9, 0.1, 0.5, 0.2), "is at least 1"),
    ],
)
def test_what_no_body_can_have_is_refused(which: Property, value: Any, why: str) -> None:
    model = _model(_XML.replace('<body name="arm">', '<body name="light"/><body name="arm">'))
    with pytest.raises(UserInputError, match=why):
        check_properties(model, {which: value})


def test_a_copy_of_the_model_gets_the_numbers_and_what_is_derived_from_them() -> None:
    model, copied = _model(), _model()
    values = {which: get_property(model, which) for which in properties(model)}
    changed = {
        which: tuple(2.0 * number for number in value)
        for which, value in values.items()
        if which.attribute in ("mass", "inertia", "friction", "damping", "solimp")
    }
    set_properties(model, changed)
    scatter(copied, gather(model))
    expected, found = _arrays(model), _arrays(copied)
    assert [n for n in expected if not np.array_equal(expected[n], found[n])] == []
