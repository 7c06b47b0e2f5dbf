"""All files that an MJCF names are read here, and none by MuJoCo's parser."""

from contextlib import suppress
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

from mujoco_ros.model.errors import MissingAssetError, ParseError, UserInputError
from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.model.scene.mjcf_files import read_mjcf, read_mjcf_text, without_comments

TETRAHEDRON = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model that names files in all ways, beside a folder `outside`."""
    root = tmp_path / "root"
    for name, text in {
        "main.xml": """
            <mujoco model="main">
              <!-- files -- of all kinds: <include file="none.xml"/> -->
              <compiler meshdir="meshes" texturedir="textures"/>
              <asset><mesh name="m" file="a.obj"/><model name="sub" file="sub/sub.xml"/></asset>
              <include file="parts/one.xml"/>
              <worldbody><attach model="sub" body="b" prefix="s_"/></worldbody>
            </mujoco>""",
        "parts/one.xml": """
            <mujoco><include file="two.xml"/>
              <worldbody><body name="one"><geom type="mesh" mesh="m"/></body></worldbody>
            </mujoco>""",
        "parts/two.xml": '<mujoco><worldbody><body name="two"/></worldbody></mujoco>',
        "sub/sub.xml": """
            <mujoco model="sub"><compiler meshdir="own"/>
              <asset><mesh name="m" file="a.obj"/></asset>
              <include file="body.xml"/>
            </mujoco>""",
        "sub/body.xml": """
            <mujoco><worldbody><body name="b"><geom type="mesh" mesh="m"/></body></worldbody>
            </mujoco>""",
        "meshes/a.obj": TETRAHEDRON.format(1),
        "sub/own/a.obj": TETRAHEDRON.format(2),
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (tmp_path / "outside").mkdir()
    return root


@pytest.fixture
def access(folder: Path) -> FileAccess:
    return FileAccess(lambda: [folder])


def names(spec: mujoco.MjSpec) -> list[str]:
    return [body.name for body in spec.bodies]


def test_the_result_equals_that_of_the_parser(folder, access):
    expected = mujoco.MjSpec.from_file(str(folder / "main.xml"))
    with access.for_client():
        spec = read_mjcf(folder / "main.xml", "main")
    assert names(spec) == names(expected) == ["world", "two", "one", "s_b"]
    model, other = spec.compile(), expected.compile()
    assert (model.mesh_vert == other.mesh_vert).all()
    assert [mesh.file for mesh in spec.meshes] == [
        str(folder / "meshes" / "a.obj"),
        str(folder / "sub" / "own" / "a.obj"),
    ]


@pytest.mark.parametrize("kind", ["stl_ascii", "stl", "ply", "off", "glb"])
def test_meshes_that_the_engine_does_not_read_are_converted(folder, access, caplog, kind):
    caplog.set_level("INFO")
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    if kind == "stl":
        while len(box.faces) <= 200_000:
            box = box.subdivide()
    name = f"box.{kind.removesuffix('_ascii')}"
    box.export(folder / "sub" / "own" / name, file_type=kind)
    sub = (folder / "sub" / "sub.xml").read_text()
    (folder / "sub" / "sub.xml").write_text(
        sub.replace('name="m" file="a.obj"', f'file="{name}" scale=".1 .1 .1"')
    )
    body = (folder / "sub" / "body.xml").read_text()
    (folder / "sub" / "body.xml").write_text(body.replace('mesh="m"', 'mesh="box"'))
    with access.for_client():
        model = read_mjcf(folder / "main.xml", "main").compile()
    mesh = model.mesh("s_box")
    assert model.mesh_facenum[mesh.id] == len(box.faces)
    (geom,) = np.flatnonzero(model.geom_dataid == mesh.id)
    np.testing.assert_allclose(np.sort(model.geom_aabb[geom, 3:]), [0.05, 0.1, 0.15], rtol=1e-5)
    assert ("triangles, more than the 200000" in caplog.text) == (kind == "stl")


def test_paths_are_absolute_also_with_stripped_paths(folder):
    (folder / "strip.xml").write_text("""
        <mujoco><compiler meshdir="meshes" strippath="true"/>
          <asset><mesh file="x/a.obj"/></asset>
        </mujoco>""")
    spec = read_mjcf(folder / "strip.xml", "strip")
    assert spec.meshes[0].file == str(folder / "meshes" / "a.obj")
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="a")
    assert spec.compile().nmesh == 1


REFERENCES = {
    "include": '<include file="{}"/>',
    "model": '<asset><model name="x" file="{}"/></asset>',
    "flexcomp": """
        <worldbody><body name="b"><flexcomp name="f" type="mesh" file="{}"/></body></worldbody>""",
}


@pytest.mark.parametrize("kind", REFERENCES)
@pytest.mark.parametrize("way", ["absolute", "relative", "link", "escaped"])
def test_what_the_parser_reads_is_in_the_allowed_folder(folder, access, kind, way):
    secret = folder.parent / "outside" / "secret.xml"
    secret.write_text('<mujoco><worldbody><body name="secret"/></worldbody></mujoco>')
    (folder / "link.xml").symlink_to(secret)
    named = {
        "absolute": str(secret),
        "relative": "../outside/secret.xml",
        "link": "link.xml",
        "escaped": "..&#x2f;outside&#47;secret.xml",
    }[way]
    (folder / "bad.xml").write_text(f"<mujoco>{REFERENCES[kind].format(named)}</mujoco>")
    with (
        access.for_client(),
        pytest.raises(MissingAssetError, match=r"is not in a folder of which"),
    ):
        read_mjcf(folder / "bad.xml", "bad.xml")


@pytest.mark.parametrize("kind", ["model", "flexcomp"])
def test_what_the_parser_reads_of_a_text_is_in_the_allowed_folder(folder, access, kind):
    text = f"<mujoco>{REFERENCES[kind].format('/etc/passwd')}</mujoco>"
    with access.for_client(), pytest.raises(MissingAssetError, match="'/etc/passwd' is not in"):
        read_mjcf_text(text, "the text")


@pytest.mark.parametrize(
    "hidden",
    [
        "<![CDATA[ <!-- ]]>{}<![CDATA[ --> ]]>",
        '<size><!-- a="&lt;!--" --></size>{}<size/>',
        '<size a="<!--"/>{}<size a="-->"/>',
        "<?x <!-- ?>{}<?x --> ?>",
        "<!-- a <? --> {} <!-- ?> -->",
    ],
)
def test_no_file_is_hidden_in_markup(folder, access, hidden):
    """The parser does not see it, or the file is rejected: it is never read."""
    secret = folder.parent / "outside" / "secret.xml"
    secret.write_text('<mujoco><worldbody><body name="secret"/></worldbody></mujoco>')
    text = f"<mujoco>{hidden.format(REFERENCES['include'].format(secret))}</mujoco>"
    (folder / "bad.xml").write_text(text)
    with access.for_client(), suppress(UserInputError):
        assert names(read_mjcf(folder / "bad.xml", "bad.xml")) == ["world"]


@pytest.mark.parametrize(
    "text", ["<mujoco", '<mujoco><a b="<"/></mujoco>', "<mujoco>\udcff</mujoco>"]
)
def test_a_client_gives_well_formed_xml(folder, access, text):
    (folder / "bad.xml").write_bytes(text.encode(errors="surrogateescape"))
    with access.for_client(), pytest.raises(ParseError, match="not well-formed XML"):
        read_mjcf(folder / "bad.xml", "bad.xml")


def test_a_doctype_is_rejected(folder, access):
    text = '<!DOCTYPE mujoco [<!ENTITY x SYSTEM "/etc/passwd">]><mujoco>&x;</mujoco>'
    with access.for_client(), pytest.raises(ParseError, match="DOCTYPE"):
        read_mjcf_text(text, "the text")


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_model_that_attaches_itself_is_rejected(folder, length):
    for number in range(length):
        (folder / f"m{number}.xml").write_text(
            f'<mujoco><asset><model name="k" file="m{(number + 1) % length}.xml"/></asset></mujoco>'
        )
    with pytest.raises(ParseError, match="contains itself"):
        read_mjcf(folder / "m0.xml", "m0.xml")


def test_a_missing_include_is_named(folder, access):
    (folder / "bad.xml").write_text('<mujoco><include file="none.xml"/></mujoco>')
    with access.for_client(), pytest.raises(MissingAssetError, match=r"none\.xml' does not exist"):
        read_mjcf(folder / "bad.xml", "bad.xml")


def test_errors_name_the_line(folder):
    (folder / "bad.xml").write_text(
        "<mujoco>\n<!-- a\n\n -->\n<worldbody>\n<bad/></worldbody></mujoco>"
    )
    with pytest.raises(ParseError, match=r"bad\.xml: .*unrecognized element .* line 6"):
        read_mjcf(folder / "bad.xml", "bad.xml")


def test_comments_leave_their_lines():
    assert without_comments("a<!-- b\nc -->d<?e\n?>f") == "a\nd\nf"
