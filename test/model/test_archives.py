"""Archives of models: what they may contain, and how their files are named."""

import io
import os
import random
import stat
import struct
import time
import zipfile
from pathlib import Path

import mujoco
import pytest

from mujoco_ros.model import archives
from mujoco_ros.model.archives import model_on_disk, named, on_disk
from mujoco_ros.model.errors import MissingFileError, ParseError, UserInputError
from mujoco_ros.model.file_access import FileAccess, ForbiddenFileError, SizeLimit, read_file
from mujoco_ros.model.reading import recorded_reading, repeated_reading
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_file, part_from_text
from mujoco_ros.model.scene.worlds import describe_world
from mujoco_ros.model.uri import resolve

CORNERS = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
FACES = "123 243 576 678 152 256 347 487 135 375 264 468"
CUBE = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS) + "".join(
    f"f {' '.join(face)}\n" for face in FACES.split()
)
BODY = '<body name="b"><joint name="j"/><geom type="mesh" mesh="m"/></body>'
MODEL = f"""<mujoco model="boxy"><compiler meshdir="meshes"/>
  <asset><mesh name="m" file="cube.obj"/></asset>
  <worldbody>{BODY}</worldbody></mujoco>"""
URDF = """<robot name="boxy"><link name="base"/><link name="b">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><mesh filename="{}"/></geometry></collision></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="b"/></joint></robot>"""
FILES = {
    "model.xml": MODEL,
    "meshes/cube.obj": CUBE,
    "robot.urdf": URDF.format("meshes/cube.obj"),
    "parts/b.xml": f"<mujoco><worldbody>{BODY}</worldbody></mujoco>",
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    """A cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(archives, "_extracted", {})
    monkeypatch.setattr(archives, "_archives", {})
    return tmp_path / "cache" / "mujoco_ros" / "archives"


@pytest.fixture
def root(tmp_path) -> Path:
    """A folder with an archive of a model."""
    folder = tmp_path / "root"
    folder.mkdir()
    write(folder / "boxy.zip", FILES)
    return folder


def write(path: Path, files: dict[str, str], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def volume(model: mujoco.MjModel) -> float:
    """Return the volume of the box of the first mesh; 8e-3 m³ for the cube."""
    (geom,) = (g for g in range(model.ngeom) if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH)
    return float(8.0 * model.geom_aabb[geom, 3:].prod())


# --- what a path through an archive stands for


def test_a_path_through_an_archive_is_an_extracted_file(root):
    path = on_disk(root / "boxy.zip" / "meshes" / "cube.obj")
    assert path.read_text() == CUBE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert named(path) == root / "boxy.zip" / "meshes" / "cube.obj"
    assert on_disk(root / "other.obj") == named(root / "other.obj") == root / "other.obj"
    (root / "folder.zip").mkdir()
    assert on_disk(root / "folder.zip" / "a.obj") == root / "folder.zip" / "a.obj"


@pytest.mark.parametrize("suffix", [".zip", ".mjz", ".ZIP"])
@pytest.mark.parametrize("name", ["model.xml", "my.xml", "my/my.xml", "my/model.xml"])
def test_an_archive_stands_for_its_model_as_in_mujoco(tmp_path, name, suffix):
    path = write(tmp_path / f"my{suffix}", {name: MODEL, "other.xml": "<mujoco/>"})
    assert model_on_disk(path).read_text() == MODEL


def test_an_archive_without_a_model_is_an_error_that_lists_its_files(tmp_path):
    path = write(tmp_path / "my.zip", {"arm/arm.urdf": "", "b.xml": "", "c.xml": ""})
    with pytest.raises(MissingFileError) as caught:
        model_on_disk(path)
    assert str(caught.value) == (
        f"archive '{path}' has neither model.xml nor my.xml nor my/my.xml nor my/model.xml; "
        "name a file in it, as 'my.zip/<file>'; it has: arm/arm.urdf, b.xml, c.xml"
    )


def test_an_archive_that_changes_is_extracted_again_and_one_that_is_renamed_found(root, cache):
    before = on_disk(root / "boxy.zip" / "model.xml")
    write(root / "boxy.zip", {"model.xml": "<mujoco/>"})
    assert on_disk(root / "boxy.zip" / "model.xml").read_text() == "<mujoco/>"
    assert before.read_text() == MODEL
    (root / "boxy.zip").rename(root / "new.zip")
    assert on_disk(root / "new.zip" / "model.xml").parent.name == "new"
    assert len(list(cache.iterdir())) == 3


def test_extracted_archives_without_use_are_removed(root, cache):
    folder = on_disk(root / "boxy.zip" / "model.xml").parents[1]
    os.utime(folder, (0, 0))
    on_disk(write(root / "new.zip", FILES) / "model.xml")
    assert folder not in list(cache.iterdir())


def test_an_interrupted_removal_leaves_no_incomplete_archive(root, cache, monkeypatch):
    folder = on_disk(root / "boxy.zip" / "model.xml").parents[1]
    os.utime(folder, (0, 0))

    def interrupted(path: Path) -> None:
        next(Path(path).rglob("cube.obj")).unlink()
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(archives.shutil, "rmtree", interrupted)
        archives._remove_unused(cache)
    assert on_disk(root / "boxy.zip" / "meshes" / "cube.obj").read_text() == CUBE
    assert list(cache.iterdir()) == [folder]


@pytest.mark.parametrize("stem", [".", ".."])
def test_an_archive_without_a_name_leaves_the_others(root, cache, stem):
    kept = on_disk(root / "boxy.zip" / "model.xml")
    other = cache.parent / "other"
    other.mkdir()
    os.utime(other, (0, 0))
    path = write(root / f"{stem}.zip", FILES)
    with pytest.raises(ParseError) as caught:
        model_on_disk(path)
    assert str(caught.value) == f"archive '{path}' has no name before its suffix"
    assert other.is_dir()
    assert kept.is_file()


def test_an_archive_can_be_added_while_another_thread_names_files(root):
    class Adding(type(root)):
        def is_relative_to(self, *other) -> bool:
            on_disk(write(root / "new.zip", {"a": "1"}) / "a")
            return super().is_relative_to(*other)

    on_disk(root / "boxy.zip" / "model.xml")
    assert named(Adding(root / "b.xml")) == root / "b.xml"


# --- scenes, MJCF, URDF, spawning


@pytest.mark.parametrize("model", ["boxy.zip", "boxy.zip/robot.urdf", "file://{}/boxy.zip"])
def test_a_robot_of_a_scene_can_be_in_an_archive(root, model):
    (root / "scene.yaml").write_text(f"robots: [{{name: r, model: '{model.format(root)}'}}]")
    assert volume(assemble(load_scene(str(root / "scene.yaml"))).model) == pytest.approx(8e-3)


@pytest.mark.parametrize("scene", ["boxy.zip", "boxy.zip/robot.urdf"])
def test_an_archive_is_a_scene(root, scene):
    config = load_scene(str(root / scene))
    assert config.name == "boxy"
    assert volume(assemble(config).model) == pytest.approx(8e-3)


def test_an_archive_that_mujoco_wrote_is_a_scene(root, tmp_path):
    path = tmp_path / "exported.mjz"
    spec = mujoco.MjSpec.from_string(MODEL, assets={"meshes/cube.obj": CUBE.encode()})
    spec.compile()
    spec.to_zip(str(path))
    assert volume(assemble(load_scene(str(path))).model) == pytest.approx(8e-3)


@pytest.mark.parametrize("attribute", ["boxy.zip/meshes/cube.obj", "package://boxes/cube.obj"])
@pytest.mark.parametrize("meshdir", ["", "boxy.zip/meshes", "package://boxes"])
@pytest.mark.parametrize("include", ["boxy.zip/parts/b.xml", "package://boxes/b.xml"])
def test_an_mjcf_names_assets_and_includes_by_archive_and_package(
    root, attribute, meshdir, include
):
    boxes = root / "boxes"
    boxes.mkdir()
    (boxes / "cube.obj").write_text(CUBE)
    (boxes / "b.xml").write_text(FILES["parts/b.xml"])
    file = "cube.obj" if meshdir else attribute
    (root / "main.xml").write_text(f"""
        <mujoco><compiler meshdir="{meshdir}"/>
          <!-- <mesh file="http://host/none.obj"/> -->
          <asset><mesh name="m" file="{file}"/></asset>
          <include file="{include}"/></mujoco>""")
    assert volume(assemble(load_scene(str(root / "main.xml"))).model) == pytest.approx(8e-3)


def test_an_mjcf_attaches_the_model_of_an_archive(root):
    (root / "main.xml").write_text("""
        <mujoco><asset><model name="boxy" file="boxy.zip"/></asset>
          <worldbody><attach model="boxy" body="b" prefix="x_"/></worldbody></mujoco>""")
    model = assemble(load_scene(str(root / "main.xml"))).model
    assert model.body(1).name == "x_b"
    assert volume(model) == pytest.approx(8e-3)


def test_a_text_names_files_by_uris(root):
    uri = f"file://{root}/boxy.zip/meshes/cube.obj"
    asset = f'<asset><mesh name="m" file="{uri}"/></asset>'
    text = f"<mujoco>{asset}<worldbody>{BODY}</worldbody></mujoco>"
    for content in (text, URDF.format(uri)):
        part = part_from_text(content, name="boxy")
        assert [Path(file.path).read_text() for file in part.files] == [CUBE]


@pytest.mark.parametrize("kind", ["mesh", 'hfield size="1 1 1 1"', 'texture type="2d"'])
def test_an_asset_that_is_an_archive_is_refused(root, kind):
    """MuJoCo would parse the model in it, with all files that it names."""
    (root / "main.xml").write_text(f"""
        <mujoco><asset><{kind} name="m" file="boxy.zip"/></asset></mujoco>""")
    with pytest.raises(ParseError, match=r"is the archive '.*/boxy.zip'; name a file in it"):
        part_from_file(root / "main.xml", name="r")


@pytest.mark.parametrize(
    "text",
    [
        '<mujoco><asset><mesh file="http://host/a.obj"/></asset></mujoco>',
        '<mujoco><include file="https://host/a.xml"/></mujoco>',
        '<mujoco><asset><texture file="ftp://host/a.png"/></asset></mujoco>',
        '<mujoco><compiler meshdir="http://host/meshes"/></mujoco>',
        URDF.format("https://host/a.obj"),
    ],
)
def test_nothing_is_read_from_the_network(root, text):
    path = root / ("main.urdf" if text.startswith("<robot") else "main.xml")
    path.write_text(text)
    with pytest.raises(UserInputError, match="is not supported; use package:// or file://"):
        part_from_file(path, name="r")


def test_a_missing_file_of_a_package_is_named_with_the_folders_searched(root, monkeypatch):
    (root / "boxes").mkdir()
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    (root / "main.xml").write_text(
        '<mujoco><asset><mesh file="package://boxes/none.obj"/></asset></mujoco>'
    )
    with pytest.raises(UserInputError) as caught:
        part_from_file(root / "main.xml", name="r")
    assert str(caught.value) == (
        f"'package://boxes/none.obj' does not exist; searched: {root}/boxes/none.obj"
    )


def test_the_uri_of_a_world_in_an_archive_leads_through_it(root):
    path = resolve(str(root / "boxy.zip"), Path("/"))
    assert describe_world(path).uri == f"file://{root}/boxy.zip/model.xml"


# --- clients


def test_a_client_names_archives_in_its_folders_only(root, tmp_path):
    outside = write(tmp_path / "outside.zip", FILES)
    access = FileAccess(lambda: [root])
    (root / "link.zip").symlink_to(outside)
    with access.for_client():
        path = resolve(str(root / "boxy.zip"), Path("/"))
        assert read_file(path).decode() == MODEL
        assert part_from_file(path, name="r").spec is not None
        for name in (
            outside,
            outside / "model.xml",
            root / "link.zip",
            root / "link.zip/model.xml",
        ):
            with pytest.raises(ForbiddenFileError):
                resolve(str(name), Path("/"))
    with access.for_client(), pytest.raises(ForbiddenFileError):
        read_file(path)  # by the path of the copy alone


def test_models_in_archives_name_nothing_outside_for_clients(root, tmp_path):
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    for name, text in {
        "up.zip": '<mujoco><include file="../../../../../../../secret.xml"/></mujoco>',
        "absolute.zip": f'<mujoco><include file="{tmp_path}/secret.xml"/></mujoco>',
        "uri.zip": f'<mujoco><asset><mesh file="file://{tmp_path}/secret.xml"/></asset></mujoco>',
        "other.zip": f'<mujoco><include file="{tmp_path}/cache/x.xml"/></mujoco>',
    }.items():
        write(root / name, {"model.xml": text})
        with FileAccess(lambda: [root]).for_client():
            path = resolve(str(root / name), Path("/"))
            with pytest.raises(UserInputError, match="is not in a folder of which clients"):
                part_from_file(path, name="r")


def test_the_files_of_a_trial_are_the_same_in_the_next_process(root, monkeypatch):
    def build() -> None:
        part_from_file(resolve(str(root / "boxy.zip"), Path("/")), name="r")

    with recorded_reading() as reading:
        build()
    assert str(root / "boxy.zip") in reading.stamps
    monkeypatch.setattr(archives, "_extracted", {})
    with repeated_reading(reading):
        build()
    write(root / "boxy.zip", FILES | {"more": ""})
    with (
        pytest.raises(ParseError, match="changed while it was read"),
        repeated_reading(reading),
    ):
        build()


# --- hostile archives


def entry(name: str, mode: int = 0) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def encrypted(content: bytes) -> bytes:
    at = content.index(b"PK\1\2")
    return content[: at + 8] + b"\1" + content[at + 9 :]


@pytest.mark.parametrize(
    ("name", "mode", "message"),
    [
        ("../a", 0, "'../a' is not a relative path below the archive"),
        ("a/../../b", 0, "is not a relative path"),
        ("/etc/a", 0, "is not a relative path"),
        ("..\\a", 0, "is not a relative path"),
        ("C:/a", 0, "is not a relative path"),
        ("a\0b", 0, "is not a relative path"),
        ("link", stat.S_IFLNK | 0o777, "'link' is a symbolic link; only regular files are read"),
        ("pipe", stat.S_IFIFO | 0o666, "'pipe' is not a regular file"),
        ("device", stat.S_IFCHR | 0o666, "'device' is not a regular file"),
    ],
)
def test_a_file_that_leads_out_of_the_archive_is_refused(tmp_path, cache, name, mode, message):
    path = tmp_path / "bad.zip"
    info = entry("placeholder!"[: len(name)] if "\0" in name else name, mode)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.xml", MODEL)
        archive.writestr(info, "/etc/passwd")
    if "\0" in name:
        path.write_bytes(path.read_bytes().replace(info.filename.encode(), name.encode()))
    with pytest.raises(ParseError) as caught:
        model_on_disk(path)
    assert message in str(caught.value)
    assert f"archive '{path}'" in str(caught.value)
    assert list(cache.iterdir()) == []


def test_archives_of_enormous_content_are_refused_before_they_are_extracted(
    tmp_path, cache, monkeypatch
):
    many = write(tmp_path / "many.zip", {f"f{n}": "" for n in range(10_001)})
    with pytest.raises(UserInputError, match="too large: 10001 files, limit 10000"):
        model_on_disk(many)
    monkeypatch.setattr(archives.limits, "MAX_ARCHIVE_BYTES", 1 << 20)
    big = write(tmp_path / "big.zip", {"model.xml": MODEL, "zeros": "\0" * (1 << 20)})
    assert big.stat().st_size < 4096
    with pytest.raises(
        UserInputError,
        match=r"^archive '[^']*': too large: .*, limit 1048576$",
    ):
        model_on_disk(big)
    assert list(cache.iterdir()) == []


def test_a_file_with_more_than_its_list_states_is_refused(tmp_path, cache):
    path = write(tmp_path / "lie.zip", {"model.xml": "\0" * 100_000})
    content = path.read_bytes()
    path.write_bytes(content.replace(struct.pack("<I", 100_000), struct.pack("<I", 100)))
    with pytest.raises(ParseError, match="is not a valid zip file"):
        model_on_disk(path)
    assert list(cache.iterdir()) == []


def test_other_archives_are_refused_with_the_reason(tmp_path):
    path = write(tmp_path / "a.zip", FILES, zipfile.ZIP_LZMA)
    with pytest.raises(ParseError, match="is compressed by method 14; files must be stored or"):
        model_on_disk(path)
    path.write_bytes(encrypted(write(path, FILES).read_bytes()))
    with pytest.raises(ParseError, match=r"'model.xml' is encrypted"):
        model_on_disk(path)
    path.write_bytes(b"no archive")
    with pytest.raises(ParseError, match="is not a zip file"):
        model_on_disk(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", "1")
        archive.writestr("./a", "2")
    with pytest.raises(ParseError, match="it has two files named"):
        model_on_disk(path)
    write(path, {"a": "1", "a/b": "2"})
    with pytest.raises(UserInputError, match=f"archive '{path}' cannot be extracted: "):
        model_on_disk(path)


def nested(path: Path, inner: dict[str, str], outer: dict[str, str]) -> Path:
    """Write an archive with an ``inner.zip`` and further files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in inner.items():
            archive.writestr(name, text)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner.zip", content.getvalue())
        for name, text in outer.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize(
    "model",
    [
        '<mujoco><include file="inner.zip/b.xml"/></mujoco>',
        '<mujoco><asset><mesh file="inner.zip/cube.obj"/></asset></mujoco>',
        '<mujoco><asset><model name="b" file="inner.zip"/></asset></mujoco>',
        '<mujoco><asset><model name="b" file="inner.zip/b.xml"/></asset></mujoco>',
        '<mujoco><compiler meshdir="inner.zip"/><asset><mesh file="cube.obj"/></asset></mujoco>',
        URDF.format("inner.zip/cube.obj"),
    ],
)
def test_an_archive_in_an_archive_is_not_read_when_a_model_names_it(tmp_path, cache, model):
    """Each level would multiply the size by a thousand."""
    inner = {"b.xml": "<mujoco/>", "cube.obj": CUBE, "model.xml": "<mujoco/>"}
    name = "other.urdf" if model.startswith("<robot") else "other.xml"
    path = nested(tmp_path / "outer.zip", inner, {name: model})
    for file in (name, "inner.zip", "inner.zip/model.xml"):
        with pytest.raises(UserInputError, match="is an archive in an archive, which is not read"):
            part_from_file(resolve(str(path / file), Path("/")), name="r")
    (extracted,) = cache.iterdir()  # the outer one alone
    assert {it.name for it in (extracted / "outer").iterdir()} == {"inner.zip", name}


def test_the_archives_of_a_model_have_one_limit(root, monkeypatch):
    monkeypatch.setattr(
        archives.limits, "MAX_ARCHIVES_BYTES", SizeLimit(300_000, of_client=300_000)
    )
    names = [f"part{number}.zip" for number in range(3)]
    for name in names:
        write(root / name, {"b.xml": f"<mujoco><!-- {'-' * 100_000} --></mujoco>"})
        part_from_file(resolve(str(root / name / "b.xml"), root), name="r")
    files = "".join(f'<include file="{name}/b.xml"/>' for name in names)
    (root / "main.xml").write_text(f"<mujoco>{files}</mujoco>")
    with pytest.raises(UserInputError, match=r"archive '.*part2.zip': too large: \d+ bytes in it"):
        part_from_file(root / "main.xml", name="r")


def test_the_longest_unused_archives_make_room_for_others(root, cache, monkeypatch):
    monkeypatch.setattr(archives, "_CACHE_BYTES", 350_000)
    folders = []
    for number in range(5):
        path = write(root / f"part{number}.zip", {"a": f"{number}" * 100_000})
        folders.append(on_disk(path / "a").parents[1])
        os.utime(folders[-1], (number, time.time() - 1000 + number))
        on_disk(root / "part0.zip" / "a")  # used again and again
    assert set(cache.iterdir()) == {folders[0], folders[3], folders[4]}
    unfinished = cache / ".unfinished-of-a-process-that-was-killed"
    unfinished.mkdir()
    (unfinished / "a").write_text("1" * 100_000)
    os.utime(unfinished, (0, time.time() - 2000))
    on_disk(write(root / "new.zip", {"a": "1" * 100_000}) / "a")
    assert unfinished not in list(cache.iterdir())
    assert folders[0] in list(cache.iterdir())


def test_archives_that_are_read_together_are_not_removed(root, monkeypatch):
    monkeypatch.setattr(archives, "_CACHE_BYTES", 150_000)
    paths = [write(root / f"part{n}.zip", {"a": f"{n}" * 100_000}) / "a" for n in range(3)]
    with archives.archives_together():
        assert all(it.is_file() for it in [on_disk(path) for path in paths])
    on_disk(write(root / "new.zip", {"a": "1" * 100_000}) / "a")
    assert not any(it.is_file() for it in archives._archives if it.name.startswith("part"))


def test_an_archive_of_many_folders_is_refused(tmp_path, cache):
    deep = "/".join("a" * 700)
    path = write(tmp_path / "deep.zip", {f"{number}/{deep}/f": "" for number in range(20)})
    with pytest.raises(UserInputError, match=r"too large: 14021 folders, limit 10000"):
        model_on_disk(path)
    assert list(cache.iterdir()) == []


def test_a_long_list_of_files_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = write(tmp_path / "a.zip", FILES)
    content = path.read_bytes()
    end = content.rindex(b"PK\5\6")
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    for bad, what in (
        (content[: end + 12] + struct.pack("<I", 1 << 23) + content[end + 16 :], "8388608 bytes"),
        (content[:end] + locator + content[end:], "zip64"),
    ):
        path.write_bytes(bad)
        with pytest.raises(UserInputError, match=f"too large: .*{what}"):
            model_on_disk(path)


def test_damaged_archives_are_errors_of_the_user(tmp_path, cache):
    """Any damage of an archive is an error, or leaves its files as they were."""
    good = write(tmp_path / "good.zip", {"model.xml": MODEL, "meshes/cube.obj": CUBE}).read_bytes()
    chance = random.Random(1)
    refused = 0
    for number in range(600):
        content = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            content[chance.randrange(len(content))] = chance.choice((0, 1, 127, 255, 80))
        if number % 5 == 0:
            del content[chance.randrange(len(content)) :]
        path = tmp_path / "damaged.zip"
        path.write_bytes(bytes(content))
        try:
            assert model_on_disk(path).read_text() == MODEL
        except UserInputError:
            refused += 1
    assert refused > 300
    assert not [it for it in cache.iterdir() if it.name.startswith(".unfinished")]
