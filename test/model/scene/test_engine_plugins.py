import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path

import mujoco
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene import engine_plugins as plugins
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.engine_plugins import (
    check_plugins_registered,
    load_plugins,
    registered_plugins,
    required_version,
    used_plugins,
)

RUNNING = mujoco.mj_versionString()


@pytest.fixture
def loaded(monkeypatch):
    """The libraries handed to MuJoCo, instead of running them."""
    paths = []
    registrations = count()
    monkeypatch.setattr(plugins, "_loaded", {})
    monkeypatch.setenv("MUJOCO_ROS_PLUGINS", "")
    monkeypatch.setattr(plugins, "registered_plugins", lambda: next(registrations))
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


def test_a_library_that_registers_nothing_is_refused(tmp_path, loaded, monkeypatch):
    monkeypatch.setattr(plugins, "registered_plugins", tuple)
    (tmp_path / "other.so").touch()
    with pytest.raises(
        UserInputError,
        match=r"other.so' registers no engine plugin, resource provider or decoder; it must",
    ):
        load_plugins(tmp_path)


def test_a_library_with_a_decoder_alone_is_loaded(tmp_path, loaded, monkeypatch):
    monkeypatch.setattr(plugins, "registered_plugins", tuple)
    (tmp_path / "decoder.so").write_bytes(b"\0mjp_registerDecoder\0")
    load_plugins(tmp_path)
    assert loaded == [str(tmp_path / "decoder.so")]


def test_child_processes_load_the_same_libraries_in_the_same_order(tmp_path, loaded, monkeypatch):
    for name in ("b.so", "a.so"):
        (tmp_path / name).touch()
        plugins.load_libraries([tmp_path / name])
    monkeypatch.setattr(plugins, "_loaded", {})  # as in another process
    plugins.load_inherited()
    assert loaded == [str(tmp_path / name) for name in ("b.so", "a.so", "b.so", "a.so")]


# --- versions


@pytest.mark.parametrize(
    ("content", "version"),
    [
        (b"\0libmujoco.so.3.9.1\0libm.so.6\0", "3.9.1"),
        (b"\0libmujoco.3.9.1.dylib\0", "3.9.1"),
        (b"mujoco_ros: compiled for MuJoCo header 3009001\0", "3.9.1"),
        (b"mujoco_ros: compiled for MuJoCo header 336\0", "3.3.6"),
        (f"libmujoco.so.{RUNNING}\0mujoco_ros: compiled for MuJoCo header 336\0".encode(), "3.3.6"),
        (f"libmujoco.so.{RUNNING}\0".encode(), RUNNING),
        (b"libm.so.6\0", None),
        (b"", None),
    ],
)
def test_the_version_is_read_from_the_file(tmp_path, content, version):
    (tmp_path / "x.so").write_bytes(content)
    assert required_version(tmp_path / "x.so") == version


def test_the_bundled_plugins_are_of_the_running_version():
    bundled = sorted((Path(mujoco.__file__).parent / "plugin").iterdir())
    assert {required_version(library) for library in bundled} == {RUNNING}


def test_a_library_linked_with_another_mujoco_is_refused_with_both_versions(tmp_path, monkeypatch):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path / "plugins"
    folder.mkdir()
    (tmp_path / "engine.c").write_text("int mjp_registerPlugin(void) { return 0; }")
    (tmp_path / "plugin.c").write_text(
        "int mjp_registerPlugin(void);"
        "__attribute__((constructor)) static void load(void) { mjp_registerPlugin(); }"
    )
    engine, shared = "libmujoco.so.3.9.1", (compiler, "-shared", "-fPIC")
    for command in (
        (*shared, f"-Wl,-soname,{engine}", "engine.c", "-o", engine),
        (*shared, "plugin.c", engine, "-o", "plugins/old.so"),
    ):
        subprocess.run(command, cwd=tmp_path, check=True)

    def load(_path):
        raise AssertionError("its code must not run")

    monkeypatch.setattr(mujoco, "mj_loadPluginLibrary", load)
    with pytest.raises(UserInputError) as caught:
        load_plugins(folder)
    assert str(caught.value) == (
        f"plugin '{folder}/old.so' was built for MuJoCo 3.9.1, and this is MuJoCo {RUNNING}; "
        "build it again"
    )


COLLISION = """
#include <mujoco/mujoco.h>

static int pass(const mjModel *m, const mjData *d, mjContact *c, int g1, int g2, mjtNum margin) {
  return 0;
}

mjPLUGIN_LIB_INIT(pass) { mjCOLLISIONFUNC[mjGEOM_PLANE][mjGEOM_SPHERE] = pass; }
"""
FALL = """
import mujoco, sys
from pathlib import Path
from mujoco_ros.model.scene.engine_plugins import load_plugins

geoms = "<geom type='plane' size='1 1 1'/><body><freejoint/><geom size='0.1'/></body>"
model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
before = data.ncon
load_plugins(Path(sys.argv[1]))
mujoco.mj_forward(model, data)
print(before, data.ncon)
"""


def test_a_library_may_replace_the_collision_function_of_a_pair_of_geoms(tmp_path):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder, engine = tmp_path / "plugins", Path(mujoco.__file__).parent
    folder.mkdir()
    (tmp_path / "collision.c").write_text(COLLISION)
    (library,) = engine.glob("libmujoco*.so*")
    shared = (compiler, "-shared", "-fPIC", f"-I{engine / 'include'}", "collision.c", str(library))
    subprocess.run((*shared, "-o", str(folder / "collision.so")), cwd=tmp_path, check=True)
    # The table is of the process.
    command = (sys.executable, "-c", FALL, str(folder))
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["1", "0"]


# --- plugins of compiled models


PID = """
<mujoco><extension><plugin plugin="mujoco.pid"/></extension>
  <worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>
  <actuator><plugin plugin="mujoco.pid" joint="j"/></actuator></mujoco>"""


@pytest.mark.parametrize("slot", [-1, 1000])
def test_a_compiled_model_whose_plugin_is_not_loaded_is_an_error(tmp_path: Path, slot: int):
    model = mujoco.MjModel.from_xml_string(PID)
    path = tmp_path / "pid.mjb"
    mujoco.mj_saveModel(model, str(path))
    assert assemble(load_scene(str(path))).model.nplugin == 1
    model.plugin[:] = slot
    mujoco.mj_saveModel(model, str(path))
    with pytest.raises(UserInputError, match=r"pid\.mjb' needs an engine plugin that is not load"):
        assemble(load_scene(str(path)))


def test_the_plugins_of_a_compiled_model_are_checked_by_name_and_slot():
    model = mujoco.MjModel.from_xml_string(PID)
    used = used_plugins(model)
    assert used == {"mujoco.pid": registered_plugins().index("mujoco.pid")}
    check_plugins_registered(used, "the log")
    for wrong in ({"mujoco.pid": used["mujoco.pid"] + 1}, {"my.plugin": 1000}):
        (name,) = wrong
        with pytest.raises(UserInputError, match=f"the log needs the engine plugin '{name}'"):
            check_plugins_registered(wrong, "the log")
