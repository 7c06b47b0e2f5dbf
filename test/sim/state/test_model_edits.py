import mujoco
import numpy as np

from mujoco_ros.model.robot.scope import ROW_ELEMENTS
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import SceneConfig, load_scene
from mujoco_ros.model.scene.correspondence import Correspondence
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.state.model_edits import ModelEdits


def same_numbers(one: mujoco.MjModel, other: mujoco.MjModel) -> list[str]:
    """Return the arrays in which two models differ."""
    names = [name for name in dir(one) if isinstance(getattr(one, name), np.ndarray)]
    return [n for n in names if not np.array_equal(getattr(one, n), getattr(other, n))]


def test_an_unedited_model_has_no_edits_to_copy():
    edited, other = assemble(load_scene("arm")), assemble(load_scene("arm"))
    other.model.geom_rgba[0] = 0.25  # a difference from the start is not an edit
    ModelEdits(edited.model).copy_to(other.model, Correspondence(edited, edited))
    assert same_numbers(edited.model, other.model) == ["geom_rgba"]


PART = """
<mujoco>
  <asset><material name="m"/></asset>
  <worldbody>
    <body name="b">
      <joint name="j" axis="0 1 0"/>
      <geom name="g" size="0.1" material="m"/>
      <site name="s"/>
      <camera name="c"/>
      <light name="l"/>
      <body name="c" pos="1 0 0">
        <joint name="k" type="ball"/>
        <geom name="h" size="0.1"/>
        <geom size="0.2"/>
        <site name="t"/>
      </body>
    </body>
  </worldbody>
  <contact><pair name="p" geom1="g" geom2="h"/></contact>
  <equality><weld name="e" body1="b"/></equality>
  <tendon><spatial name="n"><site site="s"/><site site="t"/></spatial></tendon>
  <actuator>
    <orientation name="a" joint="k" kp="1"/>
    <motor name="o" joint="j" forcerange="-1 1"/>
  </actuator>
  <sensor><gyro name="w" site="s"/></sensor>
</mujoco>
"""


def test_edits_are_copied_to_the_new_indices_of_their_elements():
    """Added elements before an element shift its index."""
    first, second = (part_from_text(PART, name=name) for name in ("first", "second"))
    old = rebuild(assemble(SceneConfig(name="empty")), add=(first, second))
    new = rebuild(old, remove=("first",))
    originals = ModelEdits(old.model)
    arrays = [name for name in ROW_ELEMENTS if getattr(old.model, name).dtype.kind == "f"]
    arrays = [
        name for name in arrays if getattr(old.model, name).size and ROW_ELEMENTS[name] != "key"
    ]
    assert {ROW_ELEMENTS[name] for name in arrays} == set(ROW_ELEMENTS.values()) - {"key"}
    for name in arrays:
        array = getattr(old.model, name)
        array.reshape(len(array), -1)[:] += 0.125 * np.arange(1, len(array) + 1)[:, None]
    originals.copy_to(new.model, Correspondence(old, new))
    for name in arrays:
        before, after = getattr(old.model, name), getattr(new.model, name)
        last = len(after) - (ROW_ELEMENTS[name] == "body")  # the world is the first body in both
        np.testing.assert_array_equal(after[-last:], before[-last:], err_msg=name)


def test_options_are_copied():
    edited, other = assemble(load_scene("arm")), assemble(load_scene("arm"))
    originals = ModelEdits(edited.model)
    edited.model.opt.gravity[:] = 1.0, 2.0, 3.0
    originals.copy_to(other.model, Correspondence(edited, edited))
    assert other.model.opt.gravity.tolist() == [1.0, 2.0, 3.0]


def test_ids_are_not_copied_because_those_of_the_other_model_differ():
    first, second = (part_from_text(PART, name=name) for name in ("first", "second"))
    old = rebuild(assemble(SceneConfig(name="empty")), add=(first, second))
    new = rebuild(old, remove=("first",))
    originals = ModelEdits(old.model)
    old.model.eq_obj2id[:] = old.model.body("second/b").id
    originals.copy_to(new.model, Correspondence(old, new))
    assert (new.model.eq_obj2id < new.model.nbody).all()
    assert new.model.eq_obj2id[0] == 0
