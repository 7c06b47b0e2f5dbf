from pathlib import Path

import mujoco
import pytest

from mujoco_ros.model.errors import (
    MissingAssetError,
    MissingFileError,
    NativeCodeError,
    ParseError,
    UnsupportedFormatError,
    UserInputError,
)
from mujoco_ros.model.scene import config, worlds
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.worlds import (
    describe_loaded_world,
    describe_shipped_worlds,
    find_worlds,
    load_world,
    no_world,
    world_from_text,
)

FLOOR = "<mujoco model='floor'><worldbody><geom type='plane' size='1 1 1'/></worldbody></mujoco>"
HINGED = """
<mujoco model="door">
  <worldbody><body name="door"><joint name="hinge"/><geom size=".1"/></body></worldbody>
</mujoco>
"""
SCENE = """
# Only a box.
robots: [{name: a, model: "package://mujoco_ros/urdf_mjcf/arm/arm.xml"}]
"""


def test_the_shipped_worlds_are_listed_with_their_descriptions():
    found = {it.name: it for it in describe_shipped_worlds()}
    assert set(found) == {
        "arm",
        "handover",
        "humanoid",
        "mobile_manipulator",
        "office",
        "quadruped",
        "rover",
        "walk_grasp",
        "warehouse",
        "zoo",
        "ground",
        "plates",
        "small_plates",
        "empty",
    }
    assert found["arm"].uri == "package://mujoco_ros/config/scenes/arm.yaml"
    assert found["arm"].tags == ("scene", "arm")
    assert found["ground"].tags == ("model",)


@pytest.mark.parametrize("name", ["ground", "plates", "small_plates", "empty"])
def test_the_sun_and_not_the_headlight_casts_the_shadows_of_the_page(name):
    """The page's renderer has one directional light with shadows, the strongest."""
    model = load_world(f"package://mujoco_ros/urdf_mjcf/worlds/{name}.xml").model
    intensity = {
        kind: float(model.numeric(f"filament.fallback.{kind}_light_intensity").data[0])
        for kind in ("scene", "head")
    }
    sun = model.light("sun")
    assert sun.castshadow
    assert intensity["scene"] / model.nlight * sun.diffuse.mean() > intensity["head"]


@pytest.mark.parametrize("it", describe_shipped_worlds(), ids=lambda it: it.name)
def test_every_listed_world_can_be_loaded(it):
    assembly = load_world(it.uri)
    robots = [tag for tag in it.tags if tag not in ("scene", "model")]
    assert [robot.name for robot in assembly.config.robots] == robots
    assert describe_loaded_world(it.uri, assembly) == it


def test_a_model_without_a_joint_is_a_world_without_robots(tmp_path: Path):
    file = tmp_path / "floor.xml"
    file.write_text(FLOOR)
    for assembly in (load_world(str(file)), world_from_text(FLOOR)):
        assert assembly.config.robots == ()
        assert assembly.model.ngeom == 1


def test_a_model_with_a_joint_is_a_robot_without_a_prefix(tmp_path: Path):
    file = tmp_path / "door.xml"
    file.write_text(HINGED)
    for assembly in (load_world(str(file)), world_from_text(HINGED)):
        assert [robot.name for robot in assembly.config.robots] == ["door"]
        assert assembly.model.joint(0).name == "hinge"


def test_a_scene_can_be_a_text():
    assembly = world_from_text(SCENE)
    assert [robot.name for robot in assembly.config.robots] == ["a"]
    assert describe_loaded_world("", assembly).tags == ("text", "a")


def test_a_robot_of_a_collection_and_a_xacro_file_are_described(tmp_path, monkeypatch):
    file = tmp_path / "arm.xacro"
    file.write_text(
        "<!-- An arm. --><robot name='arm' xmlns:xacro='http://www.ros.org/wiki/xacro'>"
        "<link name='a'/><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
        "izz='1'/></inertial></link><joint name='j' type='continuous'><parent link='a'/>"
        "<child link='b'/></joint></robot>"
    )
    monkeypatch.setattr(config, "find_robot", lambda collection, robot: file)
    for reference in (str(file), "my-robots:arm"):
        found = describe_loaded_world(reference, assemble(config.load_scene(reference)))
        assert (found.name, found.uri, found.tags) == ("arm", file.as_uri(), ("model",))
        assert found.description == "An arm."


def test_no_world_is_empty():
    model = no_world().model
    assert (model.nbody, model.ngeom, model.nq) == (1, 0, 0)


def test_worlds_of_a_folder_are_listed_without_other_files(tmp_path: Path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "floor.xml").write_text(FLOOR)
    (tmp_path / "scene.yaml").write_text(SCENE)
    (tmp_path / "other.yaml").write_text("a: 1")
    (tmp_path / "package.xml").write_text("<package/>")
    (tmp_path / "notes.txt").write_text("")
    mujoco.mj_saveModel(mujoco.MjModel.from_xml_string(FLOOR), str(tmp_path / "floor.mjb"))
    found = {Path(it.uri).name: it.tags for it in find_worlds(str(tmp_path))}
    assert found == {
        "floor.xml": ("model",),
        "floor.mjb": ("model",),
        "scene.yaml": ("scene", "a"),
    }
    assert find_worlds(str(tmp_path / "scene.yaml"))[0].description == "Only a box."


def test_invalid_sources_are_refused(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "package.xml").write_text("<package/>")
    for name, reason in (
        ("nothing", "does not exist"),
        ("notes.txt", "is not a world"),
        ("package.xml", "its first element is neither"),
    ):
        with pytest.raises(UserInputError, match=reason):
            find_worlds(str(tmp_path / name))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("robots: [", UserInputError),
        ("<mujoco><bad/></mujoco>", ParseError),
        ("<sdf/>", UnsupportedFormatError),
        ("robots: [{name: a, model: arm.xml}]", MissingAssetError),
        ("robots: [{name: a, model: /missing/arm.xml}]", MissingAssetError),
    ],
)
def test_errors_in_a_text_have_a_type(text, error):
    with pytest.raises(error):
        world_from_text(text)


def test_errors_for_a_missing_file_and_a_missing_asset_differ(tmp_path: Path):
    for reference in (str(tmp_path / "nothing.yaml"), "humanoit"):
        with pytest.raises(MissingFileError):
            load_world(reference)
    scene = tmp_path / "scene.yaml"
    scene.write_text("robots: [{name: a, model: nothing.xml}]")
    with pytest.raises(MissingAssetError):
        load_world(str(scene))


def test_a_world_cannot_bring_native_code(tmp_path: Path):
    (tmp_path / "evil.so").write_text("")
    scene = tmp_path / "scene.yaml"
    scene.write_text(f"plugins: [{tmp_path}]\n{SCENE}")
    with pytest.raises(NativeCodeError, match=r"evil\.so' is not loaded: only the scene that"):
        load_world(str(scene))
    with pytest.raises(NativeCodeError):
        world_from_text(scene.read_text())


def test_a_folder_with_too_many_files_is_not_searched(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(worlds, "_MAX_ENTRIES", 3)
    for name in "abc":
        (tmp_path / f"{name}.xml").write_text(FLOOR)
    assert len(find_worlds(str(tmp_path))) == 3
    (tmp_path / "d.txt").touch()
    with pytest.raises(UserInputError, match="more than 3 files and folders below"):
        find_worlds(str(tmp_path))
