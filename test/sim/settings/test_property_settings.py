"""Numbers of elements that were set: commanded limits, resets, keyframes, random draws."""

import logging
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble, assemble_part, rebuild
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.model.scene.random_ranges import RandomRange
from mujoco_ros.sim.settings.element_properties import Property, PropertyEdit, get_property
from mujoco_ros.sim.settings.property_names import PropertyNames
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.snapshots import Keyframes

Simulate = Callable[..., Simulation]
_XML = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="hinge" axis="0 1 0" range="-1 1"/>
      <geom name="a.b" size=".1" mass="1"/><geom name="a/b" size=".1" mass="1"/>
    </body>
    <body name="ball" pos="1 0 1"><freejoint/><geom name="skin" size=".1" mass="1"/></body>
  </worldbody>
  <actuator>
    <position name="servo" joint="hinge" kp="50" kv="5" forcerange="-9 9" ctrlrange="-2 2"/>
  </actuator>
</mujoco>
"""
_MASS, _RANGE = Property("body", "ball", "mass"), Property("joint", "hinge", "range")
_FORCES, _CTRL = (Property("actuator", "servo", name) for name in ("forcerange", "ctrlrange"))


@pytest.fixture
def simulation(simulate: Simulate) -> Simulation:
    return simulate(_XML)


def _limits(simulation: Simulation) -> tuple[float, float]:
    joints = simulation.controls[0].joints
    return float(joints.lower[0]), float(joints.upper[0])


def test_commands_respect_a_changed_range_of_a_joint_and_of_its_servo(
    simulation: Simulation,
) -> None:
    kept = simulation.controls[0].joints.upper
    simulation.properties.set({_RANGE: (-0.2, 0.3)})
    assert _limits(simulation) == (-0.2, 0.3)
    assert kept is simulation.controls[0].joints.upper, "users of the array follow"
    simulation.properties.set({_RANGE: (0.0, 0.0)})
    assert not simulation.model.jnt_limited[0]
    assert _limits(simulation) == (-2.0, 2.0)
    simulation.properties.set({_CTRL: (0.0, 0.0)})
    assert _limits(simulation) == (-np.inf, np.inf)


def test_a_new_force_range_remains_after_a_lower_limit_of_a_gripper(
    simulation: Simulation,
) -> None:
    simulation.drives.limit_effort(0, 2.0)
    simulation.properties.set({_FORCES: (-5.0, 6.0)})
    assert simulation.model.actuator_forcerange[0].tolist() == [-5.0, 6.0]
    simulation.drives.limit_effort(0, 1.0)
    assert simulation.model.actuator_forcerange[0].tolist() == [-1.0, 1.0]
    simulation.drives.limit_effort(0, 0.0)
    assert simulation.model.actuator_forcerange[0].tolist() == [-5.0, 6.0]


@pytest.mark.parametrize(("is_restored", "forces"), [(False, (-5.0, 6.0)), (True, (-9.0, 9.0))])
def test_a_keyframe_has_the_limit_of_the_gripper_and_the_present_or_saved_forces(
    simulation: Simulation, is_restored: bool, forces: tuple[float, float]
) -> None:
    keyframes = Keyframes(simulation)
    keyframes.save("free")
    simulation.drives.limit_effort(0, 5.5)
    keyframes.save("limited")
    simulation.properties.set({_FORCES: (-5.0, 6.0)})
    simulation.properties.is_restored = is_restored
    keyframes.load("free")
    assert get_property(simulation.model, _FORCES) == forces
    keyframes.load("limited")
    clipped = tuple(np.clip(forces, -5.5, 5.5))
    assert get_property(simulation.model, _FORCES) == clipped
    simulation.drives.limit_effort(0, 0.0)
    assert get_property(simulation.model, _FORCES) == forces


def test_a_reset_restores_the_forces_of_the_model_and_not_those_of_the_gripper(
    simulation: Simulation,
) -> None:
    simulation.properties.is_restored = True
    simulation.drives.limit_effort(0, 2.0)
    simulation.properties.set({_FORCES: (-5.0, 6.0)})
    simulation.reset()
    assert simulation.model.actuator_forcerange[0].tolist() == [-9.0, 9.0]


def test_a_reset_restores_numbers_only_if_it_shall(simulation: Simulation) -> None:
    simulation.properties.set({_MASS: (3.0,), _RANGE: (-0.2, 0.3)})
    simulation.properties.set({_MASS: (4.0,)})
    simulation.reset()
    assert get_property(simulation.model, _MASS) == (4.0,)
    simulation.properties.is_restored = True
    simulation.reset()
    assert get_property(simulation.model, _MASS) == (1.0,)
    assert simulation.model.body_subtreemass[0] == pytest.approx(3.0)
    assert _limits(simulation) == (-1.0, 1.0)


@pytest.mark.parametrize(("is_restored", "mass"), [(False, 5.0), (True, 3.0)])
def test_a_keyframe_has_the_numbers_of_its_state(
    simulation: Simulation, is_restored: bool, mass: float
) -> None:
    keyframes = Keyframes(simulation)
    simulation.properties.set({_MASS: (3.0,)})
    keyframes.save("heavy")
    simulation.properties.set({_MASS: (5.0,), _RANGE: (-0.1, 0.1)})
    simulation.properties.is_restored = is_restored
    keyframes.load("heavy")
    assert get_property(simulation.model, _MASS) == (mass,)
    assert get_property(simulation.model, _RANGE) == ((-1.0, 1.0) if is_restored else (-0.1, 0.1))


def test_an_edit_of_another_model_is_prepared_again(simulation: Simulation) -> None:
    edit = PropertyEdit(simulation.model, {_MASS: (7.0,)})
    simulation.switch_model(simulation.build_plant(simulation.assembly))
    simulation.properties.set({_MASS: (7.0,)}, edit)
    assert get_property(simulation.model, _MASS) == (7.0,)


def test_one_parameter_of_two_elements_is_refused(simulation: Simulation) -> None:
    names = PropertyNames(simulation.model, simulation.layout, simulation.drives)
    names.check_name("geom.skin.friction")
    with pytest.raises(UserInputError, match=r"2 elements of the model, 'a\.b' and 'a/b'; rename"):
        names.check_name("geom.a.b.friction")


_RANGES = {
    "body.ball.mass": RandomRange(scale=(0.5, 2.0)),
    "geom.skin.friction": RandomRange(range=(0.1, 0.9)),
    "joint.*.range": RandomRange(add=(-0.01, 0.01)),
}


def _drawn(simulation: Simulation) -> list[float]:
    friction = get_property(simulation.model, Property("geom", "skin", "friction"))
    mass, limits = (get_property(simulation.model, which) for which in (_MASS, _RANGE))
    return [*mass, *friction, *limits]


def test_random_numbers_are_within_their_ranges_drawn_at_each_reset_and_repeatable(
    simulate: Simulate,
) -> None:
    runs = []
    for seed in (1, 1, 2):
        simulation = simulate(_XML, seed=seed)
        simulation.properties.randomize(_RANGES)
        drawn = []
        for _ in range(20):
            simulation.reset()
            drawn.append(_drawn(simulation))
        assert simulation.properties.drawn["body.ball.mass"] == drawn[-1][0]
        runs.append(drawn)
    assert runs[0] == runs[1] != runs[2]
    columns = np.array(runs[0]).T
    ends = [(0.5, 2.0), *[(0.1, 0.9)] * 3, (-1.01, -0.99), (0.99, 1.01)]
    for numbers, (low, high) in zip(columns, ends, strict=True):
        assert low <= numbers.min() < numbers.max() <= high
        assert len(set(numbers)) == len(numbers)


def test_a_scene_draws_numbers_before_its_first_step(simulation: Simulation) -> None:
    config = replace(
        simulation.assembly.config, randomize={"body.ball.mass": RandomRange(range=(3.0, 4.0))}
    )
    assert 3.0 <= _drawn(Simulation(config))[0] <= 4.0


def test_the_centre_of_mass_of_a_free_body_is_drawn_as_if_compiled_with_it(
    simulate: Simulate,
) -> None:
    text = (
        "<mujoco><worldbody><body name='b' pos='0 0 1'><freejoint/><geom type='box' "
        "size='.1 .2 .3' mass='0'/><inertial pos='{} {} {}' mass='2' diaginertia='.1 .2 .25'/>"
        "</body></worldbody></mujoco>"
    )
    config = replace(
        simulate(text.format(0, 0, 0)).assembly.config,
        randomize={"body.b.ipos": RandomRange(add=(-0.05, 0.05))},
    )
    for seed in range(5):
        drawn = Simulation(config, seed=seed)
        expected = simulate(text.format(*drawn.model.body_ipos[1]))
        for each in (drawn, expected):
            each.data.qvel[:] = 1.0, 2.0, 3.0, 4.0, 5.0, 6.0
            mujoco.mj_forward(each.model, each.data)
        assert drawn.model.body_ipos[1].all()
        assert drawn.data.qacc == pytest.approx(expected.data.qacc, abs=1e-10)


def test_of_several_ranges_for_a_number_the_last_one_counts_and_the_log_names_it(
    simulation: Simulation, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    config = simulation.assembly.config
    ranges = {
        "body.bal*.mass": RandomRange(range=(-1.0, 1.0)),  # alone, it is refused
        "body.ball.mass": RandomRange(range=(3.0, 4.0)),
    }
    drawn = Simulation(replace(config, randomize=ranges))
    assert 3.0 <= _drawn(drawn)[0] <= 4.0
    expected = "1 random number drawn now and at each reset: body.ball.mass"
    assert f"scene '{config.name}': {expected}" in caplog.text


def test_a_world_with_invalid_ranges_is_rejected_before_the_switch(simulation: Simulation) -> None:
    config = simulation.assembly.config
    ranges = {"body.none.mass": RandomRange(scale=(1.0, 2.0))}
    with pytest.raises(UserInputError, match=r"scene '.*': randomize: no parameter is named"):
        simulation.build_plant(assemble(replace(config, randomize=ranges)))
    ranges = {"body.ball.mass": RandomRange(range=(3.0, 4.0))}
    world = simulation.build_plant(assemble(replace(config, randomize=ranges)))
    simulation.switch_model(world, fresh=True)
    first = _drawn(simulation)[0]
    assert 3.0 <= first <= 4.0
    text = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    spawned = rebuild(simulation.assembly, add=[part_from_text(text, name="guest")])
    simulation.switch_model(simulation.build_plant(spawned))
    assert _drawn(simulation)[0] == first
    simulation.reset()
    assert first != _drawn(simulation)[0] > 3.0


def test_the_numbers_of_an_element_with_brackets_in_its_name_are_drawn() -> None:
    text = "<mujoco><worldbody><geom name='pad[0]' size='.1'/></worldbody></mujoco>"
    simulation = Simulation(assemble_part(part_from_text(text, name="it")))
    simulation.properties.randomize({"geom.pad[0].friction": RandomRange(range=(0.3, 0.4))})
    assert 0.3 <= simulation.model.geom("pad[0]").friction[0] <= 0.4


def test_what_has_no_limits_is_drawn_without_limits(simulation: Simulation) -> None:
    simulation.properties.set({_RANGE: (0.0, 0.0)})
    for how in ("add", "scale"):
        simulation.properties.randomize({"joint.hinge.range": RandomRange(**{how: (0.5, 1.5)})})
        assert not simulation.model.jnt_limited[0]


@pytest.mark.parametrize(
    ("name", "how", "why"),
    [
        ("body.bal.mass", {"scale": (1.0, 2.0)}, "named 'body.bal.mass'; did you mean 'body.ball"),
        ("body.ball.mass", {"add": (-2.0, 0.0)}, r"could be \[-1\.0\]; it is from 1e-09 to"),
        ("body.ball.inertia", {"add": (0.0, 1.0)}, "'body.ball.inertia' is drawn by 'scale' only"),
        (
            "geom.skin.solref",
            {"range": (-1.0, 1.0)},
            "could be a time constant and a damping ratio",
        ),
        ("geom.skin.solimp", {"scale": (1.0, 3.0)}, "midpoint are from 0 to 1, and the power is"),
        ("geom.a.b.margin", {"scale": (1.0, 2.0)}, "2 elements"),
        ("joint.hinge.range", {"range": (0.5, 0.5)}, r"be \[0\.5, 0\.5\], and two equal numbers"),
        ("joint.hinge.range", {"scale": (0.0, 0.0)}, "two equal numbers are no limit"),
        ("joint.hinge.range", {"range": (0.0, 1.0)}, None),
    ],
)
def test_a_range_of_invalid_numbers_or_of_an_unknown_name_is_refused(
    simulation: Simulation, name: str, how: dict[str, tuple[float, float]], why: str | None
) -> None:
    if why is None:  # the ends may be in any order
        simulation.properties.randomize({name: RandomRange(**how)})
        for _ in range(10):
            simulation.reset()
            low, high = get_property(simulation.model, _RANGE)
            assert 0.0 < low < high
        return
    with pytest.raises(UserInputError, match=why):
        simulation.properties.randomize({name: RandomRange(**how)})
