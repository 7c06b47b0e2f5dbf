import struct
import zlib

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import FileAccess, SizeLimit
from mujoco_ros.model.scene import limits
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import SceneConfig, load_scene
from mujoco_ros.model.scene.parts import load_spec, part_from_text

TOO_LARGE = {
    "height field": (
        "<hfield name='alps' nrow='8001' ncol='8000' size='1 1 1 1'/>",
        "too large: 64008000 cells of hfield 'alps', limit 64000000",
    ),
    "more than an integer holds": (
        "<hfield name='alps' nrow='2000000000' ncol='2000000000' size='1 1 1 1'/>",
        "too large: 4000000000000000000 cells of hfield 'alps'",
    ),
    "texture": (
        "<texture name='sky' type='2d' builtin='flat' width='30000' height='30000'/>",
        "too large: 900000000 texels of texture 'sky'",
    ),
    "cube": (
        "<texture name='sky' type='skybox' builtin='flat' width='4000' height='1'/>",
        "too large: 96000000 texels of texture 'sky'",
    ),
}


def model(asset: str) -> str:
    return f"<mujoco><asset>{asset}</asset></mujoco>"


@pytest.mark.parametrize(("asset", "why"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_model_that_is_too_large_is_refused_in_a_text(asset: str, why: str) -> None:
    with pytest.raises(UserInputError, match=f"the text of 'x': {why}"):
        part_from_text(model(asset), name="x")


@pytest.mark.parametrize(("asset", "why"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_model_that_is_too_large_is_refused_in_a_file(tmp_path, asset: str, why: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(model(asset))
    with pytest.raises(UserInputError, match=f"{path}: {why}"):
        load_spec(path, "x")


def test_a_model_that_is_too_large_is_refused_in_an_included_file(tmp_path) -> None:
    (tmp_path / "alps.xml").write_text(model(TOO_LARGE["height field"][0]))
    path = tmp_path / "x.xml"
    path.write_text("<mujoco><include file='alps.xml'/></mujoco>")
    with pytest.raises(UserInputError, match="64008000 cells of hfield 'alps'"):
        load_spec(path, "x")


@pytest.mark.parametrize(
    "asset",
    [
        "<!-- <hfield name='alps' nrow='9000' ncol='9000' size='1 1 1 1'/> -->",
        "<hfield name='alps' nrow='8000' ncol='8000' size='1 1 1 1'/>",
        "<texture name='sky' type='2d' builtin='flat' width='8000' height='8000'/>",
    ],
)
def test_a_large_model_is_accepted(tmp_path, asset: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(model(asset))
    load_spec(path, "x")


def chain(count: int) -> str:
    """Return a URDF of a chain of links."""
    links = "".join(f"<link name='l{i}'/>" for i in range(count))
    joints = "".join(
        f"<joint name='j{i}' type='fixed'><parent link='l{i - 1}'/><child link='l{i}'/></joint>"
        for i in range(1, count)
    )
    return f"<robot name='chain'>{links}{joints}</robot>"


def replicated(*counts: int | str) -> str:
    begin = "".join(f"<replicate count='{count}'>" for count in counts)
    end = "</replicate>" * len(counts)
    return f"<mujoco><worldbody>{begin}<geom size='1'/>{end}</worldbody></mujoco>"


LONG = "a" * 40
TOO_MUCH = {
    "copies": (replicated(10**9), "1000000003 elements, limit 200000"),
    "copies of copies": (replicated(1000, 1000), "1001003 elements, limit 200000"),
    "copies with a sign": (replicated("+1000000000"), "1000000003 elements, limit 200000"),
    "grid": (
        "<mujoco><worldbody><flexcomp name='f' type='grid' count='999 999 9' dim='3'/>"
        "</worldbody></mujoco>",
        "8982011 elements, limit 200000",
    ),
    "MJCF text": (
        f"<mujoco><!--{'-' * (1 << 24)}--></mujoco>",
        "16777240 characters, limit",
    ),
    "URDF text": (
        f"<robot><!--{' ' * (1 << 24)}--></robot>",
        "16777238 characters, limit",
    ),
    "chain": (chain(1001), "a chain of 1001 links, to 'l1000', limit 1000"),
    "links": (chain(20_000), "20000 links, limit 5000"),
    "name in an MJCF": (
        f"<mujoco><worldbody><body name='{'a' * 100_000}'/></worldbody></mujoco>",
        f"the name '{LONG}…' of a body has 100000 characters, limit 200",
    ),
    "name of a texture": (
        f"<mujoco><asset><texture name='{'a' * 201}' builtin='flat' width='1' height='1'/>"
        "</asset></mujoco>",
        f"the name '{LONG}…' of a texture has 201 characters, limit 200",
    ),
    "memory": (
        "<mujoco><size memory='1T'/></mujoco>",
        "1099511627776 bytes of memory, limit 4294967296",
    ),
    "user data": (
        "<mujoco><size nuserdata='500000000'/></mujoco>",
        "500000000 nuserdata, limit 1000000",
    ),
    "keyframes": ("<mujoco><size nkey='100000000'/></mujoco>", "100000000 nkey, limit 1000000"),
    "user values": (
        "<mujoco><size nuser_body='500000'/></mujoco>",
        "500000 nuser_body, limit 1000",
    ),
    "name in a URDF": (
        f"<robot name='r'><link name='{'a' * 201}'/></robot>",
        f"the name '{LONG}…' of a body has 201 characters, limit 200",
    ),
}


@pytest.mark.parametrize(("text", "why"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_text_that_asks_for_too_much_is_rejected(text: str, why: str) -> None:
    with pytest.raises(UserInputError, match=f"too large: {why}"):
        part_from_text(text, name="x")


def png(width: int, height: int) -> bytes:
    """Return a grey image."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(width + 1) * height)
    chunks = chunk(b"IHDR", header), chunk(b"IDAT", rows), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


COMPILED = {
    "sensors": ("<sensor><user dim='1000001'/></sensor>", "1000001 numbers of sensors"),
    "iterations": ("<option iterations='10001'/>", "10001 iterations, limit 10000"),
    "line search": ("<option ls_iterations='10001'/>", "10001 ls_iterations"),
    "slip": ("<option noslip_iterations='2000000000'/>", "2000000000 noslip_iterations"),
    "collisions": ("<option ccd_iterations='10001'/>", "10001 ccd_iterations"),
    "height field of a file": (
        "<asset><hfield name='alps' file='large.png' size='1 1 1 1'/></asset>",
        "100 cells of height fields, limit 99",
    ),
    "texture of a file": (
        "<asset><texture name='sky' type='2d' file='large.png'/></asset>",
        "100 texels of texture 'sky', limit 99",
    ),
}


@pytest.mark.parametrize(("content", "why"), COMPILED.values(), ids=COMPILED)
def test_a_compiled_model_that_is_too_large_is_rejected(
    tmp_path, monkeypatch: pytest.MonkeyPatch, content: str, why: str
) -> None:
    few = SizeLimit(99, of_client=99)
    monkeypatch.setattr(limits, "MAX_CELLS", few)
    monkeypatch.setattr(limits, "MAX_TEXELS", few)
    (tmp_path / "large.png").write_bytes(png(10, 10))
    ball = "<worldbody><body><freejoint/><geom size='1'/></body></worldbody>"
    path = tmp_path / "x.xml"
    path.write_text(f"<mujoco>{content}{ball}</mujoco>")
    with pytest.raises(UserInputError, match=f"scene 'x': too large: {why}"):
        assemble(load_scene(str(path)))


def test_models_that_are_too_large_together_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    field = "<asset><hfield name='f' nrow='100' ncol='100' size='1 1 1 1'/></asset>"
    text = f"<mujoco>{field}<worldbody><body><geom size='1'/></body></worldbody></mujoco>"
    scene = assemble(SceneConfig(name="plain"))
    most = SizeLimit(scene.model.nbuffer + 60_000, of_client=0)
    monkeypatch.setattr(limits, "MAX_MODEL_BYTES", most)
    scene = rebuild(scene, add=[part_from_text(text, name="first")])
    with pytest.raises(UserInputError, match=r"too large: \d+ bytes of the model, limit"):
        rebuild(scene, add=[part_from_text(text, name="second")])


@pytest.mark.timeout(120)
def test_text_without_an_end_takes_time_proportional_to_its_length() -> None:
    for text in ("<!--" * 1_000_000, "<a '" * 1_000_000, "<mujoco " + "\"'" * 1_000_000):
        with pytest.raises(UserInputError, match="is not XML"):
            part_from_text(text, name="x")


@pytest.mark.timeout(120)  # where time grows with the square of their number at most
@pytest.mark.parametrize(("parent", "count"), [("0", 5000), ("{}", 1000)], ids=["star", "chain"])
def test_a_urdf_of_many_links_is_accepted(parent: str, count: int) -> None:
    links = "".join(f"<link name='l{i}'/>" for i in range(count))
    joints = "".join(
        f"<joint name='j{i}' type='fixed'><parent link='l{parent.format(i - 1)}'/>"
        f"<child link='l{i}'/></joint>"
        for i in range(1, count)
    )
    part = part_from_text(f"<robot name='many'>{links}{joints}</robot>", name="many")
    assert len(part.spec.bodies) == count + 1


def grid(points: int) -> str:
    return (
        f"<mujoco><worldbody><flexcomp name='f' type='grid' count='{points} {points} 1' dim='2' "
        "mass='1' spacing='1 1 1'/></worldbody></mujoco>"
    )


def cells(*sides: int) -> str:
    return model(
        "".join(f"<hfield name='f{n}' nrow='{n}' ncol='{n}' size='1 1 1 1'/>" for n in sides)
    )


def geoms(count: int) -> str:
    return "<mujoco><worldbody>" + "<geom size='.1'/>" * count + "</worldbody></mujoco>"


OF_CLIENTS = {
    "height field": (cells(2001), "4004001 cells of hfield 'f2001', limit 4000000"),
    "height fields": (cells(1999, 1000), "4996001 cells of height fields, limit 4000000"),
    "texture": (
        model("<texture name='sky' type='2d' builtin='flat' width='4097' height='4097'/>"),
        "16785409 texels of texture 'sky', limit 16777216",
    ),
    "elements": (geoms(2000), "2001 elements, limit 2000"),
    "copies": (replicated(302), "301 elements copied by replicate, limit 300"),
    "copies in copies": (replicated(20, 20), "418 elements copied by replicate, limit 300"),
    "grid": (grid(45), "2027 elements, limit 2000"),
    "MJCF text": (
        f"<mujoco><!--{'-' * (1 << 21)}--></mujoco>",
        "2097176 characters, limit 2097152",
    ),
    "links": (f"<robot name='r'>{'<link/>' * 1001}</robot>", "1001 links, limit 1000"),
}
"""Accepted at the start; they would hold the physics for longer than 20 ms."""


@pytest.mark.parametrize(("text", "why"), OF_CLIENTS.values(), ids=OF_CLIENTS)
def test_models_of_clients_are_smaller(tmp_path, text: str, why: str) -> None:
    access = FileAccess(lambda: [tmp_path])
    with access.for_client(), pytest.raises(UserInputError, match=f"too large: {why}"):
        part_from_text(text, name="x")


def test_a_client_changes_a_scene_that_is_larger_than_its_own_limits(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may not grow in the sizes that exceed them."""
    monkeypatch.setattr(limits, "MAX_GEOMS", SizeLimit(1000, of_client=2))
    path, ball = tmp_path / "x.xml", "<body><freejoint/><geom size='.1'/></body>"
    path.write_text(f"<mujoco><worldbody>{ball * 3}</worldbody></mujoco>")
    scene = assemble(load_scene(str(path)))
    frame = part_from_text("<mujoco><worldbody><body/></worldbody></mujoco>", name="frame")
    solid = part_from_text(geoms(1), name="solid")
    with FileAccess(lambda: [tmp_path]).for_client():
        scene = rebuild(scene, add=[frame])
        with pytest.raises(UserInputError, match="too large: 4 geoms, limit 2"):
            rebuild(scene, add=[solid])
        rebuild(scene, remove=["frame"])


@pytest.mark.parametrize(
    "name", ["a&#10;b", "a&#9;b", "a&#127;", "a\u202eb", "a\u200bb", "..", "a/../b", "."]
)
@pytest.mark.parametrize(
    "element",
    ["<body name='{}'/>", "<body><joint name='{}'/><geom size='1'/></body>", "<site name='{}'/>"],
)
def test_names_that_logs_and_frames_cannot_show_are_errors(element: str, name: str) -> None:
    text = f"<mujoco><worldbody>{element.format(name)}</worldbody></mujoco>"
    with pytest.raises(UserInputError, match=r"the text of 'x': the name '.*' of a \w+ is not val"):
        part_from_text(text, name="x")


@pytest.mark.parametrize("name", ["left/hand", "Arm élan", "🤖", "a.b..c", "~a", "%s", ""])
def test_other_names_are_those_of_models_of_others(name: str) -> None:
    text = f"<mujoco><worldbody><body name='{name}'/></worldbody></mujoco>"
    part_from_text(text, name="x")
