"""equality.<name>: whether constraints hold, and what a reset makes of them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from acted import Acted

from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text

Act = Callable[..., Acted]
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


def _active(acted: Acted, name: str) -> bool:
    model = acted.simulation.model
    return bool(acted.simulation.data.eq_active[model.equality(name).id])


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    path = tmp_path / "bare.xml"
    path.write_text(_BARE)
    return path


def test_every_constraint_has_a_parameter_with_its_activity(act: Act, bare: Path) -> None:
    acted = act()
    assert acted[_LEFT] is False
    assert acted[_RIGHT] is False
    single = act(bare)
    assert single["equality.hook"] is True
    assert single["equality.equality1"] is False


def test_a_constraint_is_deactivated_and_activated_again(act: Act, bare: Path) -> None:
    acted = act(bare)
    acted.step(100)
    assert acted.simulation.data.body("lamp").xpos[2] == pytest.approx(1.0, abs=1e-2)
    assert not acted.set({"equality.hook": False})
    acted.step(100)
    assert acted.simulation.data.body("lamp").xpos[2] < 0.99
    acted.set({"equality.hook": True})
    assert _active(acted, "hook")


def test_only_the_constraint_of_the_named_robot_changes(act: Act) -> None:
    acted = act()
    assert not acted.set({_RIGHT: True})
    assert (_active(acted, "left/coupled"), _active(acted, "right/coupled")) == (False, True)


def test_a_reset_restores_the_activity_given_at_startup(act: Act) -> None:
    acted = act(left__equality__coupled=True)
    assert _active(acted, "left/coupled")
    acted.set({_LEFT: False, _RIGHT: True})
    acted.reset()
    assert (_active(acted, "left/coupled"), _active(acted, "right/coupled")) == (True, False)
    assert (acted[_LEFT], acted[_RIGHT]) == (True, False)


def test_a_value_set_right_after_a_reset_is_kept(act: Act) -> None:
    acted = act()
    acted.set({_LEFT: True})
    acted.simulation.reset()
    acted.set({_LEFT: True})
    acted.equalities._show()
    acted.simulation.commands.drain()
    assert acted[_LEFT] is True
    assert _active(acted, "left/coupled")


def test_a_value_set_while_the_parameters_are_read_back_is_kept(act: Act) -> None:
    acted = act()
    acted.set({_LEFT: True})
    acted.simulation.reset()
    acted.equalities._show()  # reads what the reset made of it, and then a client sets it
    acted.set({_LEFT: True, _RIGHT: True})
    acted.simulation.commands.drain()
    assert (acted[_LEFT], acted[_RIGHT]) == (True, True)
    assert _active(acted, "left/coupled")
    assert _active(acted, "right/coupled")


def test_reading_back_changes_nothing_in_the_engine(act: Act) -> None:
    acted = act()
    acted.simulation.data.eq_active[:] = 1
    acted.equalities._show()
    acted.run_threads()
    assert (acted[_LEFT], acted[_RIGHT]) == (True, True)
    acted.simulation.data.eq_active[:] = 0
    acted.run_threads()
    assert not acted.simulation.data.eq_active.any()


def test_a_value_that_is_not_a_boolean_is_refused(act: Act) -> None:
    acted = act()
    assert "it is true or false" in acted.set({_LEFT: 1})
    assert not _active(acted, "left/coupled")


def test_an_unknown_constraint_is_refused_with_the_valid_ones(act: Act) -> None:
    reason = act().set({"left.equality.couple": True})
    assert "did you mean 'left.equality.coupled'?" in reason


def test_parameters_of_constraints_appear_and_disappear_with_their_entity(act: Act) -> None:
    acted = act()
    acted.set({_LEFT: True})
    text = """
    <mujoco>
      <worldbody><body name="door"><joint name="j"/><geom size=".1"/></body></worldbody>
      <equality><joint name="latch" joint1="j"/></equality>
    </mujoco>
    """
    door = part_from_text(text, name="house")
    acted.change(lambda assembly: rebuild(assembly, add=[door]))
    assert acted["house.equality.latch"] is True
    assert acted[_LEFT] is True
    assert _active(acted, "left/coupled")
    assert not acted.set({"house.equality.latch": False})
    acted.change(lambda assembly: rebuild(assembly, remove=["right"]))
    assert "not found" in acted.set({_RIGHT: True})
    assert not acted.set({_LEFT: False})
    assert not _active(acted, "left/coupled")
    assert not _active(acted, "house/latch")


def test_a_change_that_is_rolled_back_leaves_no_parameter(act: Act) -> None:
    acted = act()
    text = """
    <mujoco>
      <worldbody><body name="door"><joint name="j"/><geom size=".1"/></body></worldbody>
      <equality><joint name="latch" joint1="j"/></equality>
    </mujoco>
    """
    door = part_from_text(text, name="house")
    plant = acted.simulation.build_plant(rebuild(acted.simulation.assembly, add=[door]))
    for _ in range(2):
        for follower in acted.components:
            follower.build(plant)
        for follower in acted.components:
            follower.prepare(plant)
        for follower in acted.components:
            follower.rollback()
        assert "not found" in acted.set({"house.equality.latch": True})


def test_a_change_that_fails_before_it_is_prepared_leaves_the_parameters(act: Act) -> None:
    acted = act()
    for follower in acted.components:
        follower.rollback()
    acted.reset()
    assert acted[_LEFT] is False
    assert not acted.set({_LEFT: True})
    assert _active(acted, "left/coupled")


def test_a_loaded_world_has_its_own_activities(act: Act, scene: Path) -> None:
    acted = act()
    acted.set({_LEFT: True})
    acted.change(lambda _assembly: assemble(load_scene(str(scene))), fresh=True)
    assert not _active(acted, "left/coupled")
    assert acted[_LEFT] is False
