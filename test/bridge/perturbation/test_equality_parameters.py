"""equality.<name>: activity of constraints, also after a reset."""

from collections.abc import Callable
from pathlib import Path

import pytest
from perturbed_simulation import PerturbedSimulation

from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text

Act = Callable[..., PerturbedSimulation]
_LEFT, _RIGHT = "left.equality.coupled", "right.equality.coupled"
_BARE = """
<mujoco>
  <worldbody>
    <body name="lamp" pos="0 0 1"><freejoint/><geom size="0.1" mass="1"/></body>
    <body name="arm" pos="3 0 0"><joint name="hinge"/><geom size="0.1"/></body>
  </worldbody>
  <equality>
    <weld name="hook" body1="lamp"/>
    <weld body1="arm" active="false"/>
  </equality>
</mujoco>
"""


def _active(perturbed: PerturbedSimulation, name: str) -> bool:
    model = perturbed.simulation.model
    return bool(perturbed.simulation.data.eq_active[model.equality(name).id])


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    path = tmp_path / "bare.xml"
    path.write_text(_BARE)
    return path


def test_every_constraint_has_a_parameter_with_its_activity(perturb: Act, bare: Path) -> None:
    perturbed = perturb()
    assert perturbed[_LEFT] is False
    assert perturbed[_RIGHT] is False
    single = perturb(bare)
    assert single["equality.hook"] is True
    assert single["equality.equality1"] is False


def test_a_constraint_is_deactivated_and_activated_again(perturb: Act, bare: Path) -> None:
    perturbed = perturb(bare)
    perturbed.step(100)
    assert perturbed.simulation.data.body("lamp").xpos[2] == pytest.approx(1.0, abs=1e-2)
    assert not perturbed.set({"equality.hook": False})
    perturbed.step(100)
    assert perturbed.simulation.data.body("lamp").xpos[2] < 0.99
    perturbed.set({"equality.hook": True})
    assert _active(perturbed, "hook")


def test_only_the_constraint_of_the_named_robot_changes(perturb: Act) -> None:
    perturbed = perturb()
    assert not perturbed.set({_RIGHT: True})
    assert (_active(perturbed, "left/coupled"), _active(perturbed, "right/coupled")) == (
        False,
        True,
    )


def test_a_reset_restores_the_activity_given_at_startup(perturb: Act) -> None:
    perturbed = perturb(left__equality__coupled=True)
    assert _active(perturbed, "left/coupled")
    perturbed.set({_LEFT: False, _RIGHT: True})
    perturbed.reset()
    assert (_active(perturbed, "left/coupled"), _active(perturbed, "right/coupled")) == (
        True,
        False,
    )
    assert (perturbed[_LEFT], perturbed[_RIGHT]) == (True, False)


def test_a_value_set_right_after_a_reset_is_kept(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.set({_LEFT: True})
    perturbed.simulation.reset()
    perturbed.set({_LEFT: True})
    perturbed.equalities._show()
    perturbed.simulation.commands.drain()
    assert perturbed[_LEFT] is True
    assert _active(perturbed, "left/coupled")


def test_a_value_set_while_the_parameters_are_read_back_is_kept(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.set({_LEFT: True})
    perturbed.simulation.reset()
    perturbed.equalities._show()  # reads the value after the reset, and then a client sets it
    perturbed.set({_LEFT: True, _RIGHT: True})
    perturbed.simulation.commands.drain()
    assert (perturbed[_LEFT], perturbed[_RIGHT]) == (True, True)
    assert _active(perturbed, "left/coupled")
    assert _active(perturbed, "right/coupled")


def test_reading_back_changes_nothing_in_the_engine(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.simulation.data.eq_active[:] = 1
    perturbed.equalities._show()
    perturbed.run_threads()
    assert (perturbed[_LEFT], perturbed[_RIGHT]) == (True, True)
    perturbed.simulation.data.eq_active[:] = 0
    perturbed.run_threads()
    assert not perturbed.simulation.data.eq_active.any()


def test_a_value_that_is_not_a_boolean_is_refused(perturb: Act) -> None:
    perturbed = perturb()
    assert "it is true or false" in perturbed.set({_LEFT: 1})
    assert not _active(perturbed, "left/coupled")


def test_an_unknown_constraint_is_refused_with_the_valid_ones(perturb: Act) -> None:
    reason = perturb().set({"left.equality.couple": True})
    assert "did you mean 'left.equality.coupled'?" in reason


def test_parameters_of_constraints_appear_and_disappear_with_their_entity(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.set({_LEFT: True})
    text = """
    <mujoco>
      <worldbody><body name="door"><joint name="j"/><geom size=".1"/></body></worldbody>
      <equality><joint name="latch" joint1="j"/></equality>
    </mujoco>
    """
    door = part_from_text(text, name="house")
    perturbed.change(lambda assembly: rebuild(assembly, add=[door]))
    assert perturbed["house.equality.latch"] is True
    assert perturbed[_LEFT] is True
    assert _active(perturbed, "left/coupled")
    assert not perturbed.set({"house.equality.latch": False})
    perturbed.change(lambda assembly: rebuild(assembly, remove=["right"]))
    assert "not found" in perturbed.set({_RIGHT: True})
    assert not perturbed.set({_LEFT: False})
    assert not _active(perturbed, "left/coupled")
    assert not _active(perturbed, "house/latch")


def test_a_change_that_is_rolled_back_leaves_no_parameter(perturb: Act) -> None:
    perturbed = perturb()
    text = """
    <mujoco>
      <worldbody><body name="door"><joint name="j"/><geom size=".1"/></body></worldbody>
      <equality><joint name="latch" joint1="j"/></equality>
    </mujoco>
    """
    door = part_from_text(text, name="house")
    plant = perturbed.simulation.build_plant(rebuild(perturbed.simulation.assembly, add=[door]))
    for _ in range(2):
        for component in perturbed.components:
            component.build(plant)
        for component in perturbed.components:
            component.prepare(plant)
        for component in perturbed.components:
            component.rollback()
        assert "not found" in perturbed.set({"house.equality.latch": True})


def test_a_change_that_fails_before_it_is_prepared_leaves_the_parameters(perturb: Act) -> None:
    perturbed = perturb()
    for component in perturbed.components:
        component.rollback()
    perturbed.reset()
    assert perturbed[_LEFT] is False
    assert not perturbed.set({_LEFT: True})
    assert _active(perturbed, "left/coupled")


def test_a_loaded_world_has_its_own_activities(perturb: Act, scene: Path) -> None:
    perturbed = perturb()
    perturbed.set({_LEFT: True})
    perturbed.change(lambda _assembly: assemble(load_scene(str(scene))), fresh=True)
    assert not _active(perturbed, "left/coupled")
    assert perturbed[_LEFT] is False
