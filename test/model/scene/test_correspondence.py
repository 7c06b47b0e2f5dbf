import mujoco
import pytest

from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig
from mujoco_ros.model.scene.correspondence import Correspondence
from mujoco_ros.model.scene.parts import part_from_text

WORLD = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <geom size="0.1" pos="0 0 -1"/>
    <body name="hand" mocap="true"><geom size="0.1"/></body>
  </worldbody>
</mujoco>
"""
ROBOT = """
<mujoco>
  <worldbody>
    <geom size="0.2"/>
    <body name="base"><freejoint name="free"/><geom size="0.1"/><geom size="0.2"/>
      <body name="head" pos="0 0 1"><joint name="neck" type="ball"/><geom size="0.1"/>
        <body name="jaw" pos="0 0 1"><joint name="jaw"/><geom size="0.1" name="jaw"/></body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <orientation name="neck" joint="neck"/>
    <position name="jaw" joint="jaw" kp="1" timeconst="0.1"/>
    <motor name="late" joint="jaw" delay="0.01" nsample="5"/>
  </actuator>
</mujoco>
"""
TARGET = "<mujoco><worldbody><body name='aim' mocap='true'/></worldbody></mujoco>"


@pytest.fixture
def scene(tmp_path):
    """A world with two equal robots, `one` and `two`."""
    (tmp_path / "world.xml").write_text(WORLD)
    (tmp_path / "robot.xml").write_text(ROBOT)
    robots = tuple(RobotConfig(name=name, model="robot.xml") for name in ("one", "two"))
    return assemble(SceneConfig(name="scene", folder=tmp_path, world="world.xml", robots=robots))


def pairs(same: Correspondence, kind: str) -> list[tuple[int, int]]:
    return list(zip(*(side.tolist() for side in same.pairs[kind]), strict=True))


def test_a_scene_corresponds_to_itself(scene):
    same = Correspondence(scene, scene)
    model = scene.model
    for kind, count in (
        ("body", model.nbody),
        ("joint", model.njnt),
        ("actuator", model.nactuator),
        ("q", model.nq),
        ("v", model.nv),
        ("act", model.na),
        ("ctrl", model.nu),
        ("output", model.nout),
        ("mocap", model.nmocap),
        ("history", model.nhistory),
    ):
        assert count, kind
        assert sorted(pairs(same, kind)) == [(i, i) for i in range(count)], kind


def test_shared_elements_map_to_their_new_indices(scene):
    after = rebuild(scene, remove=("one",), add=(part_from_text(TARGET, name="target"),))
    same = Correspondence(scene, after)
    old, new = scene.model, after.model
    for kind, field in (("body", "body"), ("joint", "joint"), ("actuator", "actuator")):
        assert pairs(same, kind)
        for before, now in pairs(same, kind):
            name = getattr(old, field)(before).name
            assert getattr(new, field)(now).name == name
            assert not name.startswith("one/")
    jaw = [model.jnt_qposadr[model.joint("two/jaw").id] for model in (old, new)]
    assert tuple(jaw) in pairs(same, "q")
    assert len(pairs(same, "q")) == 7 + 4 + 1
    assert len(pairs(same, "v")) == 6 + 3 + 1
    assert len(pairs(same, "output")) == 3 + 1 + 1
    assert len(pairs(same, "history")) == old.nhistory / 2 == new.nhistory
    assert pairs(same, "mocap") == [(0, 0)]


def test_a_part_that_is_added_again_is_another_one(scene):
    part = part_from_text(ROBOT, name="one")
    same = Correspondence(scene, rebuild(scene, remove=("one",), add=(part,)))
    assert not any(scene.model.body(b).name.startswith("one/") for b, _ in pairs(same, "body"))
    assert len(pairs(same, "q")) == 7 + 4 + 1


def test_geoms_without_a_name_are_identified_by_their_position_in_the_body(scene):
    after = rebuild(scene, remove=("one",))
    same = Correspondence(scene, after)
    old, new = scene.model, after.model
    found = pairs(same, "geom")
    for before, now in found:
        assert old.geom_size[before] == pytest.approx(new.geom_size[now])
        assert old.body(old.geom_bodyid[before]).name == new.body(new.geom_bodyid[now]).name
    # All but the one of a robot on the world's body.
    assert len(found) == new.ngeom - 1
    assert (0, 0) in found
    assert old.geom_type[0] == mujoco.mjtGeom.mjGEOM_PLANE


def test_reloaded_scenes_share_nothing(scene):
    same = Correspondence(scene, assemble(scene.config))
    assert not any(len(before) for before, _ in same.pairs.values())
