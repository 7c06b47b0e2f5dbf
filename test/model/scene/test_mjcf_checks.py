"""The files of an MJCF: cycles and size. MuJoCo ends the process in some of these cases."""

import os
from itertools import pairwise
from pathlib import Path

import mujoco
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.mjcf_files import read_mjcf
from mujoco_ros.model.scene.parts import load_spec, part_from_text

BODY = "<worldbody><body name='{0}'><geom size='.1'/></body></worldbody>"


def attach(file: str) -> str:
    return (
        f"<asset><model name='k' file='{file}'/></asset>"
        "<worldbody><attach model='k' body='b' prefix='k_'/></worldbody>"
    )


def include(file: str) -> str:
    return f"<include file='{file}'/>"


def write(folder: Path, **contents: str) -> Path:
    """Write MJCF files, and return the first one; a folder precedes two underscores."""
    paths = []
    for name, content in contents.items():
        path = folder / f"{name.replace('__', '/')}.xml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"<mujoco>{content}</mujoco>")
        paths.append(path)
    return paths[0]


CYCLES = {
    "attached to itself": ({"a": attach("a.xml")}, "a.xml → a.xml"),
    "attached by its model": ({"a": attach("b.xml"), "b": attach("a.xml")}, "a.xml → b.xml → a"),
    "included and attached": (
        {"a": include("b.xml"), "b": attach("c.xml"), "c": include("b.xml")},
        "b.xml → c.xml → b.xml",
    ),
    "included by itself": ({"a": include("./a.xml")}, "a.xml → a.xml"),
    "in another folder": (
        {"a": attach("sub/b.xml"), "sub__b": include("c.xml"), "sub__c": attach("../a.xml")},
        "a.xml → b.xml → c.xml → a.xml",
    ),
    "below others": (
        {"a": attach("b.xml"), **{x: attach(f"{y}.xml") for x, y in zip("bcde", "cdeb", strict=1)}},
        "b.xml → c.xml → d.xml → e.xml → b.xml",
    ),
    "with entities": ({"a": attach("&#97;.xml")}, "a.xml → a.xml"),
}


@pytest.mark.parametrize(("contents", "cycle"), CYCLES.values(), ids=CYCLES)
def test_a_file_that_contains_itself_is_rejected_at_the_start_and_in_a_text(
    tmp_path: Path, contents: dict[str, str], cycle: str
) -> None:
    path = write(tmp_path, **contents)
    with pytest.raises(UserInputError, match=f"contains itself: {cycle}"):
        assemble(load_scene(str(path)))
    with pytest.raises(UserInputError, match="contains itself"):
        part_from_text(f"<mujoco>{attach(str(path))}</mujoco>", name="x")


def test_a_link_to_a_file_is_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, a=attach("b.xml"))
    (tmp_path / "b.xml").symlink_to(path)
    with pytest.raises(UserInputError, match=r"contains itself: a\.xml → a\.xml"):
        load_spec(path, "x")


def test_files_without_a_cycle_are_read_as_by_mujoco(tmp_path: Path) -> None:
    """Includes are relative to the model or else to the file, attached models to the file."""
    path = write(
        tmp_path,
        a=include("sub/b.xml") + include("d.xml") + "<!-- " + include("a.xml") + " -->",
        sub__b=include("c.xml") + attach("e.xml"),
        sub__c=include("../a.xml"),  # not used, because c.xml is in the folder of the model
        c=BODY.format("c"),
        d=BODY.format("d"),
        sub__e=BODY.format("b") + include("f.xml"),
        sub__f=BODY.format("f"),
        f=include("a.xml"),  # not used, because the attached model has a folder of its own
    )
    names = [body.name for body in load_spec(path, "x").bodies]
    assert names == [body.name for body in mujoco.MjSpec.from_file(str(path)).bodies]
    assert set(names) >= {"c", "d", "k_b"}


def test_many_files_in_files_are_too_large(tmp_path: Path) -> None:
    names = [f"m{i}" for i in range(40)]
    contents = {one: attach(f"{two}.xml") for one, two in pairwise(names)}
    path = write(tmp_path, **contents, **{names[-1]: BODY.format("b")})
    with pytest.raises(UserInputError, match=r"too large: files in files, 33 deep, limit 32"):
        read_mjcf(path, str(path))


def test_files_that_multiply_are_too_large(tmp_path: Path) -> None:
    """Each of 20 files attaches the next one twice, so that a million models would be read."""
    pair = "<asset><model name='k' file='{0}.xml'/><model name='l' file='{0}.xml'/></asset>"
    names = [f"m{i}" for i in range(20)]
    contents = {one: pair.format(two) for one, two in pairwise(names)}
    path = write(tmp_path, **contents, **{names[-1]: BODY.format("b")})
    with pytest.raises(UserInputError, match=r"too large: \d+ elements, limit 200000"):
        read_mjcf(path, str(path))


def test_models_that_are_attached_repeatedly_are_too_large(tmp_path: Path) -> None:
    """Each of 20 files attaches the model of the next one twice: a million bodies."""
    names = [f"m{i}" for i in range(20)]
    again = "<worldbody><attach model='k' body='b' prefix='l_'/></worldbody>"
    contents = {one: attach(f"{two}.xml") + again for one, two in pairwise(names)}
    path = write(tmp_path, **contents, **{names[-1]: BODY.format("b")})
    with pytest.raises(UserInputError, match=r"too large: \d+ elements, limit 200000"):
        read_mjcf(path, str(path))
    with pytest.raises(UserInputError, match=r"too large: \d+ elements, limit 200000"):
        part_from_text(f"<mujoco>{attach(str(path))}</mujoco>", name="x")


def test_a_chain_of_models_counts_each_of_them_with_what_it_attaches(tmp_path: Path) -> None:
    """Each of 20 files has 300 bodies and attaches the next one once: 6,000 bodies."""
    bodies = "<worldbody><body name='b'>" + "<body/>" * 299 + "{}</body></worldbody>"
    again = bodies.format("<attach model='k' body='b' prefix='k_'/>")
    names = [f"m{i}" for i in range(20)]
    contents = {
        one: f"<asset><model name='k' file='{two}.xml'/></asset>{again}"
        for one, two in pairwise(names)
    }
    path = write(tmp_path, **contents, **{names[-1]: bodies.format("")})
    assert len(read_mjcf(path, str(path)).bodies) == 1 + 20 * 300


def chain(count: int, name: str) -> str:
    """Return bodies of which each attaches the previous one twice; `name` is that of the last."""
    bodies = "".join(
        f"<body name='b{i}'><attach {name.format(i - 1)} prefix='p{i}'/>"
        f"<attach {name.format(i - 1)} prefix='q{i}'/></body>"
        for i in range(1, count)
    )
    first = "<body name='b0'><geom size='.1'/></body>"
    return f"<mujoco><worldbody>{first}{bodies}</worldbody></mujoco>"


@pytest.mark.parametrize("name", ["body='b{0}'", "body='world'", "body='p{0}b0'"])
def test_parts_that_a_model_attaches_to_itself_repeatedly_are_too_large(name: str) -> None:
    with pytest.raises(UserInputError, match=r"too large: \d+ elements, limit 200000"):
        part_from_text(chain(20, name), name="x")


def test_a_model_may_attach_parts_of_itself() -> None:
    text = chain(6, "body='b{0}'")
    names = [body.name for body in part_from_text(text, name="x").spec.bodies]
    assert names == [body.name for body in mujoco.MjSpec.from_string(text).bodies]


def test_files_that_are_included_in_a_replication_count_for_each_copy(tmp_path: Path) -> None:
    include_it = f"<worldbody><replicate count='300'>{include('b.xml')}</replicate></worldbody>"
    sites = "<replicate count='+999'><site/></replicate>"
    path = write(tmp_path, a=include_it, b=sites)
    with pytest.raises(UserInputError, match=r"too large: \d+ elements, limit 200000"):
        read_mjcf(path, str(path))


def test_missing_files_folders_and_binary_ones_are_left_to_the_reader(tmp_path: Path) -> None:
    path = write(tmp_path, a=include("missing.xml") + include("sub") + include("binary"))
    (tmp_path / "sub").mkdir()
    (tmp_path / "binary").write_bytes(os.urandom(1000))
    with pytest.raises(UserInputError, match=r"missing\.xml' does not exist"):
        load_spec(path, "x")


def test_a_text_names_its_models_by_absolute_paths() -> None:
    with pytest.raises(
        UserInputError, match=r"the text of 'x': attached model 'rec\.xml' is a relative"
    ):
        part_from_text(f"<mujoco>{attach('rec.xml')}</mujoco>", name="x")


@pytest.mark.parametrize(
    ("name", "value"), [("mass", "nan"), ("mass", "-NaN"), ("fromto", "0 0 0 0 0 nan")]
)
def test_nan_that_mujoco_ignores_is_rejected(tmp_path: Path, name: str, value: str) -> None:
    geom = f"<geom type='capsule' size='.1 .1' {name}='{value}'/>"
    body = f"<worldbody><body name='nan'>{geom}</body></worldbody>"
    message = f"{name} of <geom> has a number that is not finite: '{value}'"
    with pytest.raises(UserInputError, match=message):
        load_spec(write(tmp_path, model=body), "scene")
    with pytest.raises(UserInputError, match=message):
        part_from_text(f"<mujoco>{body}</mujoco>", name="x")
