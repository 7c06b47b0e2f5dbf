import mujoco
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene import engine_plugins as plugins
from mujoco_ros.model.scene.engine_plugins import load_plugins


@pytest.fixture
def loaded(monkeypatch):
    """The libraries handed to MuJoCo, instead of running them."""
    paths = []
    monkeypatch.setattr(plugins, "_loaded", {})
    monkeypatch.setattr(mujoco, "mj_loadPluginLibrary", paths.append)
    return paths


def test_every_library_of_a_folder_is_loaded_in_order_and_once(tmp_path, loaded):
    for name in ("b.so", "a.so", "readme.txt"):
        (tmp_path / name).touch()
    load_plugins(tmp_path)
    load_plugins(tmp_path)
    assert loaded == [str(tmp_path / "a.so"), str(tmp_path / "b.so")]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(UserInputError, match=f"plugin folder '{tmp_path}/nope' does not exist"):
        load_plugins(tmp_path / "nope")


def test_a_file_is_refused_as_a_folder(tmp_path):
    (tmp_path / "x.so").touch()
    with pytest.raises(UserInputError, match=r"plugin folder '.*x.so' does not exist"):
        load_plugins(tmp_path / "x.so")


def test_a_folder_without_a_library_is_refused_with_the_expected_file_name(tmp_path):
    (tmp_path / "plugin.cpp").touch()
    with pytest.raises(UserInputError, match=r"has no library \(\.dll, \.dylib, \.so\)"):
        load_plugins(tmp_path)


@pytest.mark.parametrize("make", ["garbage", "folder"])
def test_an_invalid_library_is_an_error_of_one_line_that_names_it(tmp_path, make):
    library = tmp_path / "broken.so"
    if make == "folder":
        library.mkdir()
    else:
        library.write_bytes(b"\x7fELF and no more")
    with pytest.raises(UserInputError, match=rf"plugin '{library}' cannot be loaded") as caught:
        load_plugins(tmp_path)
    assert "\n" not in str(caught.value)
