"""Folders of ROS packages."""

import os
import sysconfig
from pathlib import Path

import pytest

from mujoco_ros.model.errors import MissingFileError, UserInputError
from mujoco_ros.model.packages import package_directories, package_directory


@pytest.fixture(autouse=True)
def no_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH"):
        monkeypatch.delenv(variable, raising=False)


def test_installed_packages_precede_those_of_source_folders_and_those_above(tmp_path, monkeypatch):
    installed = tmp_path / "install" / "share" / "arm_description"
    source = tmp_path / "source" / "arm_description"
    around = tmp_path / "around" / "arm_description"
    for folder in (installed, source, around / "urdf"):
        folder.mkdir(parents=True)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "source"))
    found = package_directories("arm_description", above=around / "urdf")
    assert found == [installed, source, around]
    given = tmp_path / "given"
    given.mkdir()
    packages = {"arm_description": given}
    assert package_directory("arm_description", around / "urdf", packages) == given


def test_the_share_folder_of_a_wheel_of_cmeel_is_found():
    prefix = Path(sysconfig.get_path("purelib")) / "cmeel.prefix"
    shares = sorted(it.name for it in (prefix / "share").glob("example-robot-data"))
    if not shares:
        report = pytest.fail if os.environ.get("CI") else pytest.skip
        report("example-robot-data is not installed; requirements/models.txt has it")
    assert package_directory(shares[0]) == prefix / "share" / shares[0]


def test_a_source_folder_can_be_the_package_itself(tmp_path, monkeypatch):
    (tmp_path / "arm_description").mkdir()
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/missing:{tmp_path}/arm_description")
    assert package_directory("arm_description") == tmp_path / "arm_description"


def test_a_package_beside_a_folder_above_is_found(tmp_path):
    (tmp_path / "arm_meshes").mkdir()
    (tmp_path / "arm" / "urdf").mkdir(parents=True)
    assert package_directory("arm_meshes", tmp_path / "arm" / "urdf") == tmp_path / "arm_meshes"


def test_a_clone_can_have_another_name_than_its_package(tmp_path, monkeypatch):
    clone = tmp_path / "Arm_ROS2_Description"
    (clone / "urdf").mkdir(parents=True)
    (clone / "package.xml").write_text("<package><name> arm_description </name></package>")
    assert package_directory("arm_description", clone / "urdf") == clone
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(clone))
    assert package_directory("arm_description") == clone


def test_packages_are_found_anywhere_below_a_source_folder_as_rospack_does(tmp_path, monkeypatch):
    names = {"stack/arm_description": "arm_description", "stack/Hand.v2": "hand_description"}
    for folder, name in names.items():
        (tmp_path / "ws" / folder).mkdir(parents=True)
        manifest = tmp_path / "ws" / folder / "package.xml"
        manifest.write_text(f"<package><name>{name}</name></package>")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ws"))
    assert package_directory("arm_description") == tmp_path / "ws" / "stack" / "arm_description"
    assert package_directory("hand_description") == tmp_path / "ws" / "stack" / "Hand.v2"
    (tmp_path / "ws" / "stack" / "COLCON_IGNORE").touch()
    manifest.unlink()  # and forget the hand
    with pytest.raises(MissingFileError):
        package_directory("hand_description")


def test_packages_are_found_in_the_src_of_the_workspace_of_a_file(tmp_path):
    other = tmp_path / "src" / "base" / "common" / "base_description"
    other.mkdir(parents=True)
    (other / "package.xml").write_text("<package><name>base_description</name></package>")
    urdf = tmp_path / "src" / "robot" / "robot_description" / "urdf"
    urdf.mkdir(parents=True)
    assert package_directory("base_description", urdf) == other


def test_a_missing_package_is_named_with_the_remedies(tmp_path):
    with pytest.raises(MissingFileError) as caught:
        package_directory("arm_description", tmp_path)
    message = str(caught.value)
    assert message.startswith("package 'arm_description' not found; searched: ")
    assert str(tmp_path) in message
    assert all(word in message for word in ("source its workspace", "ROS_PACKAGE_PATH", "packages"))


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "a\0b"])
def test_other_names_are_refused(name: str, tmp_path: Path):
    with pytest.raises(UserInputError, match="is not the name of a package"):
        package_directory(name, tmp_path)
