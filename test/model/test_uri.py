from pathlib import Path

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.packages import package_directory, share_directory
from mujoco_ros.model.uri import check_file, resolve


def test_the_share_directory_contains_the_shipped_files():
    assert (share_directory() / "config" / "scenes").is_dir()
    assert (share_directory() / "urdf_mjcf" / "worlds").is_dir()


def test_relative_paths_are_relative_to_the_base(tmp_path):
    assert resolve("a/b.xml", tmp_path) == tmp_path / "a" / "b.xml"
    assert resolve("../b.xml", tmp_path / "c") == tmp_path / "b.xml"


def test_absolute_paths_ignore_the_base(tmp_path):
    assert resolve(str(tmp_path / "b.xml"), Path("/elsewhere")) == tmp_path / "b.xml"


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve("~/b.xml", Path("/elsewhere")) == tmp_path / "b.xml"


@pytest.mark.parametrize("prefix", ["file://", "file://localhost"])
def test_file_uris_are_absolute_and_percent_decoded(tmp_path, prefix):
    assert resolve(f"{prefix}{tmp_path}/a%20b.xml", Path("/elsewhere")) == tmp_path / "a b.xml"


@pytest.mark.parametrize("uri", ["file://robot.xml", "file://", "file://host/robot.xml"])
def test_a_file_uri_without_an_absolute_local_path_is_refused(uri, tmp_path):
    with pytest.raises(UserInputError, match=f"'{uri}' is not on this machine; write file:///"):
        resolve(uri, tmp_path)


def test_package_uris_of_this_package_are_in_its_share_directory(tmp_path):
    found = resolve("package://mujoco_ros/config/scenes/arm.yaml", tmp_path)
    assert found == share_directory() / "config" / "scenes" / "arm.yaml"
    assert found.is_file()


def test_package_uris_follow_the_ament_prefixes_in_their_order(tmp_path, monkeypatch):
    for prefix in ("overlay", "underlay"):
        (tmp_path / prefix / "share" / "robots").mkdir(parents=True)
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}/overlay:{tmp_path}/underlay")
    share = tmp_path / "overlay" / "share" / "robots"
    assert package_directory("robots") == share
    (share / "a b.urdf").touch()
    assert resolve("package://robots/a%20b.urdf", tmp_path) == share / "a b.urdf"


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("My Robot.v2/a.stl", "package://My Robot.v2/a.stl"),
        ("My Robot.v2/base link.STL", "package://My%20Robot.v2/base%20link.STL"),
        ("Roböter-1/Füß.stl", "package://Roböter-1/Füß.stl"),
        ("Roböter-1/Füß.stl", "package://Rob%C3%B6ter-1/F%C3%BC%C3%9F.stl"),
        ("arm/meshes/a.stl", "package:///arm/meshes/a.stl"),
        ("SW/meshes/a.STL", r"package://SW\meshes\a.STL"),
        ("SW/meshes/a.STL", r"..\SW\meshes\a.STL"),
        ("SW/a%20b.STL", "package://SW/a%20b.STL"),
        ("SW/a b.STL", "../SW/a%20b.STL"),
        ("1st/a.stl", "package://1st/a.stl"),
    ],
)
def test_paths_as_exporters_of_cad_write_them_are_found(tmp_path, file, uri):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.touch()
    (tmp_path / "urdf").mkdir()
    assert resolve(uri, tmp_path / "urdf") == path


def test_a_source_tree_has_the_files_in_the_folders_from_which_cmake_installs_them(tmp_path):
    path = tmp_path / "arm" / "description" / "urdf" / "arm.urdf"
    path.parent.mkdir(parents=True)
    path.touch()
    (tmp_path / "arm" / "package.xml").write_text("<package><name>arm</name></package>")
    assert resolve("package://arm/urdf/arm.urdf", path.parent) == path


def test_a_missing_file_of_a_package_is_named_with_the_folders_searched(tmp_path, monkeypatch):
    for prefix in ("overlay", "underlay"):
        (tmp_path / prefix / "share" / "robots").mkdir(parents=True)
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}/overlay:{tmp_path}/underlay")
    with pytest.raises(UserInputError) as caught:
        resolve("package://robots/a.urdf", Path("/elsewhere"))
    searched = [f"{tmp_path}/{it}/share/robots/a.urdf" for it in ("overlay", "underlay")]
    assert str(caught.value) == (
        f"'package://robots/a.urdf' does not exist; searched: {', '.join(searched)}"
    )


def test_an_unknown_package_is_named_with_the_prefixes_searched(tmp_path, monkeypatch):
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    with pytest.raises(UserInputError, match=f"package 'missing' not found.*{tmp_path}"):
        resolve("package://missing/a.xml", tmp_path)


@pytest.mark.parametrize("uri", ["package://", "package:///a.xml", "package://../a.xml"])
def test_a_package_uri_without_a_package_is_refused(uri, tmp_path):
    with pytest.raises(
        UserInputError, match="lacks a package name; write package://<package>/<path>"
    ):
        resolve(uri, tmp_path)


@pytest.mark.parametrize("uri", ["http://host/a.xml", "model://a.xml", "PACKAGE://a/b"])
def test_other_schemes_are_refused_with_the_valid_ones(uri, tmp_path):
    with pytest.raises(UserInputError, match=r"is not supported; use package:// or file://"):
        resolve(uri, tmp_path)


@pytest.mark.parametrize(
    "uri", ["a\0b.xml", "x" * 5000 + ".xml", "~no_such_user/a.xml"], ids=["nul", "long", "user"]
)
def test_an_invalid_path_is_one_error(uri, tmp_path):
    with pytest.raises(UserInputError, match=r"is not a path|cannot be opened") as caught:
        resolve(uri, tmp_path)
    assert "\n" not in str(caught.value)


def test_circular_symlinks_are_not_a_file(tmp_path):
    (tmp_path / "loop.xml").symlink_to("loop.xml")
    with pytest.raises(UserInputError, match=r"loop\.xml"):  # Python 3.13 resolves such links
        check_file(resolve("loop.xml", tmp_path), "model file")


def test_the_errors_of_check_file_for_a_folder_and_a_missing_file_differ(tmp_path):
    with pytest.raises(UserInputError, match=f"model file '{tmp_path}' is not a file; or so"):
        check_file(tmp_path, "model file", "; or so")
    with pytest.raises(UserInputError, match=r"model file .*nope. does not exist"):
        check_file(tmp_path / "nope", "model file")
