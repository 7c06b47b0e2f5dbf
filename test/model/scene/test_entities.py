"""Entities of a model."""

from pathlib import Path

import pytest

from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig, load_scene
from mujoco_ros.model.scene.entities import Entity, EntityKind, entities
from mujoco_ros.model.scene.parts import part_from_text

BARE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="loose" pos="1 0 0"><freejoint/><geom size=".1"/></body>
    <body name="arm"><joint name="hinge"/><geom size=".1"/>
      <body name="hand"><geom size=".1"/></body>
    </body>
    <body name="pointer" mocap="true"/>
    <body name="wall"><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""
WALL = '<mujoco><worldbody><geom name="g" type="box" size="1 2 3"/></worldbody></mujoco>'
PAIR = """
<mujoco>
  <worldbody>
    <body name="tray"><geom size=".1"/></body>
    <body name="cup"><freejoint/><geom size=".1"/></body>
    <body name="spoon"><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""


def found(assembly) -> dict[str, Entity]:
    return entities(assembly, lay_out(assembly))


def bare(folder: Path, text: str = BARE):
    path = folder / "bare.xml"
    path.write_text(text)
    return assemble(
        SceneConfig(name="bare", robots=(RobotConfig(name="bare", model=str(path)),), merged=False)
    )


def test_robots_and_objects_of_a_scene_are_entities_by_their_names():
    there = found(assemble(load_scene("arm")))
    assert {name: (it.kind, it.moves) for name, it in there.items()} == {
        "arm": (EntityKind.ROBOT, True),
        "table": (EntityKind.OBJECT, False),
        "box": (EntityKind.OBJECT, True),
    }
    assert there["box"].free is not None
    assert there["arm"].free is None


def test_every_body_and_geom_of_the_zoo_belongs_to_one_entity():
    assembly = assemble(load_scene("zoo"))
    there = found(assembly).values()
    bodies = sorted(body for it in there for body in it.bodies)
    assert bodies == list(range(1, assembly.model.nbody))
    geoms = sorted(geom for it in there for geom in it.geoms)
    on_world = [g for g in range(assembly.model.ngeom) if not assembly.model.geom_bodyid[g]]
    assert geoms == sorted(set(range(assembly.model.ngeom)) - set(on_world))


def test_a_floating_robot_is_on_its_free_joint():
    assembly = assemble(load_scene("humanoid"))
    (robot,) = found(assembly).values()
    assert robot.free == (0, 0)
    assert len(robot.bodies) == assembly.model.nbody - 1


def test_other_bodies_of_the_world_of_a_bare_model_are_entities_with_unique_names(tmp_path):
    assembly = bare(tmp_path)
    there = found(assembly)
    assert {name: it.kind for name, it in there.items()} == {
        "bare": EntityKind.ROBOT,
        "loose": EntityKind.BODY,
        "pointer": EntityKind.BODY,
        "wall": EntityKind.BODY,
    }
    names = [assembly.model.body(b).name for b in there["bare"].bodies]
    assert names == ["arm", "hand"]
    assert there["pointer"].mocap == 0
    assert there["pointer"].moves
    assert not there["wall"].moves


def test_several_free_bodies_of_one_object_have_different_names(tmp_path):
    assembly = rebuild(bare(tmp_path), add=[part_from_text(PAIR, name="set")])
    there = found(assembly)
    assert [name for name in there if name.startswith("set")] == ["set", "set/spoon"]
    model = assembly.model
    assert [model.body(b).name for b in there["set"].bodies] == ["set/cup", "set/tray"]
    assert there["set/spoon"].kind is EntityKind.BODY


def test_geometry_without_a_body_has_the_pose_of_the_scene(tmp_path):
    pose = PoseConfig(xyz=(1.0, 2.0, 3.0), rpy=(0.0, 0.0, 1.5707963267948966))
    assembly = rebuild(bare(tmp_path), add=[part_from_text(WALL, name="block", pose=pose)])
    block = found(assembly)["block"]
    assert block.root == 0
    assert list(block.offset[:3]) == [1.0, 2.0, 3.0]
    assert block.offset[3:] == pytest.approx([2**-0.5, 0, 0, 2**-0.5])
    assert [assembly.model.geom(g).name for g in block.geoms] == ["block/g"]


def test_a_body_of_the_world_with_the_name_of_a_robot_gets_another_name(tmp_path):
    assembly = bare(tmp_path, BARE.replace('"loose"', '"bare"'))
    there = found(assembly)
    assert there["bare"].kind is EntityKind.ROBOT
    assert there["bare_body"].free is not None
