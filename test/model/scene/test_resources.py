"""URIs of the engine's resource providers in models: assets, included and attached models."""

import base64
from pathlib import Path

import mujoco
import pytest

from mujoco_ros.model.errors import MissingAssetError, UserInputError
from mujoco_ros.model.file_access import FileAccess, SizeLimit
from mujoco_ros.model.scene.assembly import assemble, merged_model, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.model.scene.resources import is_provided, path_of, read_resource

_OBJ = "v 0 0 0\nv .2 0 0\nv 0 .2 0\nv 0 0 .2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
_MESH = f"data:model/obj;base64,{base64.b64encode(_OBJ.encode()).decode()}"
_BODY = "<body><joint name='hinge'/><geom type='mesh' mesh='shape' mass='1'/></body>"


def _mjcf(file: str, attributes: str = "", meshdir: str = "") -> str:
    return (
        f"<mujoco><compiler {meshdir}/><asset><mesh name='shape' {attributes} file='{file}'/>"
        f"</asset><worldbody>{_BODY}</worldbody></mujoco>"
    )


def _model(path: Path, text: str) -> mujoco.MjModel:
    path.write_text(text)
    return assemble(load_scene(str(path))).model


@pytest.mark.parametrize(
    ("uri", "content"),
    [
        ("data:,a%20b", b"a b"),
        ("data:text/plain,%C3%A4", "ä".encode()),
        ("data:text/plain;charset=utf-8;base64,aGVsbG8=", b"hello"),
        ("data:;base64,", b""),
    ],
)
def test_data_is_in_the_uri(uri: str, content: bytes) -> None:
    assert read_resource(uri) == content


@pytest.mark.parametrize("uri", ["data:no comma", "data:;base64,@", "data:;base64,aGVsbG8"])
def test_data_that_is_malformed_is_named(uri: str) -> None:
    with pytest.raises(MissingAssetError, match=f"'{uri}' cannot be read: "):
        read_resource(uri)


def test_paths_are_not_provided() -> None:
    assert is_provided(_MESH)
    for path in ("mesh.obj", "/tmp/mesh.obj", "file:///mesh.obj", "other:mesh.obj", ""):
        assert not is_provided(path)


def test_a_content_has_the_suffix_of_its_type() -> None:
    assert path_of(_MESH).endswith(".obj")
    assert path_of("data:,x", "image/png").endswith(".png")
    assert path_of("memory:a.stl").endswith(".stl")
    assert path_of("memory:a.stl") != path_of("memory:b.stl")


@pytest.mark.parametrize("attributes", ["", "content_type='model/obj'"])
@pytest.mark.parametrize("meshdir", ["", "meshdir='assets'"])
def test_a_mesh_is_in_its_model(tmp_path: Path, attributes: str, meshdir: str) -> None:
    model = _model(tmp_path / "robot.xml", _mjcf(_MESH, attributes, meshdir))
    assert model.mesh("shape").vertnum == 4


def test_a_mesh_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserInputError, match="'data:model/obj;base64,@' cannot be read"):
        _model(tmp_path / "robot.xml", _mjcf("data:model/obj;base64,@"))


def test_a_urdf_and_a_spawned_model_have_such_meshes(tmp_path: Path) -> None:
    urdf = (
        "<robot name='robot'><link name='base'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
        f"izz='1' ixy='0' ixz='0' iyz='0'/></inertial><visual><geometry><mesh filename='{_MESH}'/>"
        "</geometry></visual></link><link name='arm'><inertial><mass value='1'/><inertia ixx='1' "
        "iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='hinge' "
        "type='continuous'><parent link='base'/><child link='arm'/></joint></robot>"
    )
    path = tmp_path / "robot.urdf"
    path.write_text(urdf)
    assembly = assemble(load_scene(str(path)))
    assert assembly.model.nmesh == 1
    spawned = rebuild(assembly, add=[part_from_text(_mjcf(_MESH), name="thing")])
    assert spawned.model.nmesh == 2


def test_included_and_attached_models_are_provided(tmp_path: Path) -> None:
    def data(text: str) -> str:
        return f"data:text/xml;base64,{base64.b64encode(text.encode()).decode()}"

    included = data("<mujoco><worldbody><site name='tip'/></worldbody></mujoco>")
    attached = data(
        "<mujoco><worldbody><body name='part'><geom size='.1'/></body></worldbody></mujoco>"
    )
    model = _model(
        tmp_path / "robot.xml",
        f"<mujoco><asset><model name='m' file='{attached}'/></asset><include file='{included}'/>"
        "<worldbody><body name='base'><joint name='j'/><geom size='.1'/>"
        "<attach model='m' body='part' prefix='its_'/></body></worldbody></mujoco>",
    )
    assert model.site("tip")
    assert model.body("its_part")


@pytest.mark.parametrize(
    "key", ["gravity_compensation: true", "sdf: ['*']", "joints: {hinge: {damping: 2.0}}"]
)
def test_options_that_need_a_compiled_model_find_the_mesh(tmp_path: Path, key: str) -> None:
    (tmp_path / "robot.xml").write_text(_mjcf(_MESH))
    text = f"robots: [{{name: one, model: robot.xml, {key}}}]"
    assert _model(tmp_path / "scene.yaml", text).nmesh == 1


def test_a_model_that_attaches_keyframes_finds_the_mesh(tmp_path: Path) -> None:
    text = _mjcf(_MESH).replace("<body>", "<body name='b'>")
    key = "<keyframe><key name='up' qpos='1'/></keyframe></mujoco>"
    (tmp_path / "part.xml").write_text(text.replace("</mujoco>", key))
    attached = "<model name='part' file='part.xml'/></asset>"
    frame = "<frame><attach model='part' body='b' prefix='x_'/></frame></worldbody>"
    text = text.replace("</asset>", attached).replace("</worldbody>", frame)
    assert _model(tmp_path / "robot.xml", text).nmesh == 2


def test_a_scene_is_merged_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "other.obj").write_text(_OBJ)
    (tmp_path / "stone.xml").write_text(
        _mjcf(_MESH).replace("</asset>", "<mesh name='other' file='other.obj'/></asset>")
    )
    scene = tmp_path / "scene.yaml"
    scene.write_text("robots: [{name: stone, model: stone.xml}]")
    assembly = assemble(load_scene(str(scene)))
    for name in ("a", "b", "c"):
        assembly = rebuild(assembly, add=[part_from_text(_mjcf(_MESH), name=name)])
    assert assembly.model.nmesh == 5
    assert merged_model(assembly)[1].nmesh == 5


def test_a_content_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = SizeLimit(20, of_client=10)
    monkeypatch.setattr(read_resource, "__defaults__", (limit,))
    assert read_resource(f"data:,{20 * 'x'}") == 20 * b"x"
    with pytest.raises(UserInputError, match=r"'data:,x*': too large: 21 bytes, limit 20"):
        read_resource(f"data:,{21 * 'x'}")
    with FileAccess(list).for_client(), pytest.raises(UserInputError, match="limit 10"):
        read_resource("data:,12345678901")
