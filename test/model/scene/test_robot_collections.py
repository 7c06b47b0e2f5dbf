"""Robots of installed packages and caches, by name."""

from pathlib import Path

import pytest

from mujoco_ros.model.errors import MissingFileError, UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.robot_collections import find_robot

MJCF = '<mujoco model="{}"><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>'
FILES = {
    "talos_data/robots/talos_full.urdf": "<robot/>",
    "talos_data/robots/talos_arm.urdf": "<robot/>",
    "talos_data/package.xml": "<package/>",
    "anymal_b_description/urdf/anymal.urdf": "<robot/>",
    "anymal_c_description/urdf/anymal.urdf": "<robot/>",
    "hopper/hopper.xml": MJCF.format("hopper"),
    "hopper/parts.xml": "<mujocoinclude/>",
}


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of empty caches."""
    monkeypatch.setenv("MENAGERIE_CACHE_DIR", str(tmp_path / "menagerie"))
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "robot_descriptions"))
    return tmp_path


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the installed package some-robots."""
    site = tmp_path / "site"
    information = site / "some_robots-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Name: some-robots\nVersion: 1.0\n")
    for name, content in FILES.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(content)
    (information / "RECORD").write_text("".join(f"{name},,\n" for name in FILES))
    monkeypatch.syspath_prepend(str(site))
    return site


@pytest.mark.parametrize(
    ("robot", "file"),
    [
        ("talos_arm", "talos_data/robots/talos_arm.urdf"),
        ("talos", "talos_data/robots/talos_arm.urdf"),
        ("anymal_c/anymal", "anymal_c_description/urdf/anymal.urdf"),
        ("anymal_b", "anymal_b_description/urdf/anymal.urdf"),
        ("hopper", "hopper/hopper.xml"),
    ],
)
def test_a_robot_of_an_installed_package_is_found_by_file_or_folder(installed, robot, file):
    assert find_robot("some-robots", robot) == installed / file


def test_a_wrong_robot_is_an_error_that_lists_all(installed):
    with pytest.raises(UserInputError) as caught:
        find_robot("some-robots", "taros_arm")
    assert "did you mean 'talos_arm'?" in str(caught.value)
    listing = "anymal_b/anymal, anymal_c/anymal, hopper, talos_arm, talos_full"
    assert str(caught.value).endswith(f"there are: {listing}")


def test_a_wrong_collection_is_an_error_that_names_the_folders(caches):
    with pytest.raises(MissingFileError) as caught:
        find_robot("no-robots", "talos")
    assert "no robots of 'no-robots' are on this machine" in str(caught.value)
    assert str(caches / "robot_descriptions" / "no-robots") in str(caught.value)


@pytest.mark.parametrize(
    "folder",
    [
        "menagerie/models/franka_emika_panda-4f81f24a9aa3be3a",
        "robot_descriptions/mujoco_menagerie/franka_emika_panda",
    ],
)
def test_robots_of_the_menagerie_are_found_in_the_caches(caches, folder):
    (caches / folder).mkdir(parents=True)
    for name in ("hand", "panda", "scene"):
        (caches / folder / f"{name}.xml").write_text(MJCF.format(name))
    for robot in ("panda", "franka_emika_panda"):
        assert find_robot("menagerie", robot) == caches / folder / "panda.xml"
    assert find_robot("menagerie", "hand") == caches / folder / "hand.xml"


def test_the_suffix_robot_of_a_file_may_be_left_out(caches):
    folder = caches / "robot_descriptions" / "ur_description" / "urdf"
    folder.mkdir(parents=True)
    for name in ("ur3_robot", "ur10_robot", "ur10_joint_limited_robot"):
        (folder / f"{name}.urdf").touch()
    assert find_robot("ur_description", "ur10") == folder / "ur10_robot.urdf"


def test_a_scene_and_the_robot_of_a_scene_can_be_such_a_name(installed, tmp_path):
    config = load_scene("some-robots:hopper")
    assert config.robots[0].name == "hopper"
    assert assemble(config).model.njnt == 1
    scene = tmp_path / "scene.yaml"
    scene.write_text("robots: [{name: left, model: 'some-robots:hopper'}]")
    assert assemble(load_scene(str(scene))).model.joint(0).name == "left/joint0"
