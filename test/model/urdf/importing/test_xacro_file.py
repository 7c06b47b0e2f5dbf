"""Expansion of xacro files."""

import os
from pathlib import Path

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import SizeLimit
from mujoco_ros.model.urdf.importing import xacro_file
from mujoco_ros.model.urdf.importing.xacro_file import expand_xacro
from mujoco_ros.process.limits import WorkerLimits

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


@pytest.fixture
def expand(tmp_path: Path):
    """Expand the text of a xacro file; packages are folders beside it."""

    def find(package: str) -> Path:
        folder = tmp_path / package
        if not folder.is_dir():
            raise UserInputError(f"package '{package}' not found")
        return folder

    def expand(content: str, **arguments: str) -> str:
        path = tmp_path / "robot.urdf.xacro"
        path.write_text(f"{HEAD}{content}</robot>")
        return expand_xacro(path, arguments, find)

    return expand


LINKS = """
<xacro:arg name="count" default="1"/>
<xacro:arg name="prefix" default=""/>
<xacro:macro name="link" params="index"><link name="$(arg prefix)link_${index}"/></xacro:macro>
<xacro:link index="0"/>
<xacro:if value="${$(arg count) > 1}"><xacro:link index="${1 + 0}"/></xacro:if>
"""


def test_macros_are_expanded_with_default_arguments(expand):
    assert '<link name="link_0"/>' in expand(LINKS)
    assert "link_1" not in expand(LINKS)


def test_arguments_replace_the_defaults(expand):
    text = expand(LINKS, count="2", prefix="left_")
    assert '<link name="left_link_0"/>' in text
    assert '<link name="left_link_1"/>' in text


def test_the_name_of_the_robot_may_be_an_argument_with_a_default(tmp_path: Path):
    path = tmp_path / "robot.urdf.xacro"
    name = '<xacro:arg name="dof" default="7"/><link name="l"/>'
    head = HEAD.replace('"r"', '"arm$(arg dof)"')
    path.write_text(f"{head}{name}</robot>")
    assert 'name="arm7"' in expand_xacro(path, {}, Path)
    assert 'name="arm6"' in expand_xacro(path, {"dof": "6"}, Path)


def test_packages_need_not_be_installed(expand, tmp_path: Path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xacro").write_text(f'{HEAD}<link name="arm"/></robot>')
    include = '<xacro:include filename="$(find parts)/arm.xacro"/>'
    assert '<link name="arm"/>' in expand(include)


def test_a_source_tree_has_the_files_in_the_folders_from_which_cmake_installs_them(
    expand, tmp_path: Path
):
    (tmp_path / "parts" / "description" / "urdf").mkdir(parents=True)
    (tmp_path / "parts" / "package.xml").touch()
    part = tmp_path / "parts" / "description" / "urdf" / "arm.xacro"
    part.write_text(f'{HEAD}<link name="arm"/></robot>')
    include = '<xacro:include filename="$(find parts)/urdf/arm.xacro"/>'
    assert '<link name="arm"/>' in expand(include)


def test_an_expansion_leaves_no_state_for_the_next_one(expand):
    with pytest.raises(UserInputError):
        expand("${1 / 0}", prefix="left_")
    assert '<link name="link_0"/>' in expand(LINKS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (LINKS, r"argument 'side' .*count, prefix"),
        ('<link name="${undefined}"/>', "xacro: .*undefined"),
        ('<link name="$(find nothing)"/>', "package 'nothing' not found"),
        ('<xacro:include filename="missing.xacro"/>', r"missing\.xacro"),
        ("<link>", "xacro: .*mismatched tag"),
        ('<link name="$(arg side)"/>', "argument side; give it in `xacro_args`"),
        (
            '<xacro:arg name="dof" default=""/><xacro:arg name="arm" default="gen3"/>'
            '<xacro:include filename="gen3/$(arg dof)dof.xacro"/>',
            r"file '\S+/gen3/dof\.xacro' not found; of its arguments, dof are empty: .* give it in",
        ),
        ('<xacro:macro name="load"><link name="a"/></xacro:macro>', "no link, only macros"),
        ("<xacro:unknown/>", "xacro: .*unknown"),
        ('<link name="${().__class__}"/>', "xacro: "),
    ],
)
def test_mistakes_name_the_file_and_the_reason(expand, content: str, message: str):
    arguments = {"side": "left"} if content == LINKS else {}
    with pytest.raises(UserInputError, match=rf"robot\.urdf\.xacro(:1)?: .*{message}"):
        expand(content, **arguments)


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("<link name='a'/>\n<link\nname='${b}'/>", 2, "name 'b' is not defined"),
        ("<link name='a'>\n\n${b}</link>", 1, "name 'b' is not defined"),
        ("<xacro:macro name='m' params='k'>\n<link name='${b}'/></xacro:macro>\n<xacro:m k='1'/>",
         2, "name 'b' is not defined"),
        ("<xacro:macro name='m' params='k'/>\n<xacro:m/>", 2, "Undefined parameters"),
        ("\n\n<xacro:include filename='none.xacro'/>", 3, "none.xacro"),
        ("<link>\n<joint></link>", 2, "mismatched tag"),
    ],
)  # fmt: skip
def test_mistakes_name_the_line(expand, tmp_path: Path, content: str, line: int, reason: str):
    with pytest.raises(UserInputError, match=rf"robot\.urdf\.xacro:{line}: xacro: .*{reason}"):
        expand(content)
    (tmp_path / "part.xacro").write_text(f"{HEAD}{content}</robot>")
    if "include" not in content:
        inside = rf"part\.xacro:{line}: xacro: .*{reason}.*\(in the expansion of .*robot"
        with pytest.raises(UserInputError, match=inside):
            expand("<xacro:include filename='part.xacro'/>")


POPEN = "[c for c in ().__class__.__mro__[1].__subclasses__() if c.__name__ == 'Popen'][0]"
FRAME = "(x for x in 'a').gi_frame.f_back.f_back.f_globals['os'].system"
PROPERTY = "<xacro:property name='p' value=\"{}\"/>"


@pytest.mark.parametrize(
    "attack",
    [
        "<link name=\"${{(lambda: {popen}(['touch', '{file}']))()}}\"/>",
        "<link name=\"${{[{popen}(['touch', '{file}']) for i in 'a']}}\"/>",
        "<link name=\"${{(lambda: {frame}('touch {file}'))()}}\"/>",
        "<link name=\"${{python.vars(python.type)['mro'](int)[1]}}\"/>",
        "<link name=\"${{python.type(python.type(1))('X', (), dict())}}\"/>",
        PROPERTY.format("open('{file}', 'w').write('a')") + "<link name='$(eval ${{p}})'/>",
        PROPERTY.format(r"exec('\x5f\x5fimport\x5f\x5f(\'os\').mkdir(\'{file}\')')")
        + "<link name='$(eval ${{p}})'/>",
        PROPERTY.format("{frame}('touch {file}')") + "<link name='$(eval ${{p}})'/>",
        PROPERTY.format("{{0.gi_frame}}") + "<link name=\"${{p.format((x for x in 'a'))}}\"/>",
        "<link name=\"${{xacro.load_yaml('{folder}/object.yaml')}}\"/>",
        "<xacro:include filename='${{().__class__}}'/>",
        "<xacro:if value='${{(lambda: ().__class__)()}}'/>",
        "<xacro:macro name='m' params='x:=${{().__class__}}'><link name='${{x}}'/></xacro:macro>"
        "<xacro:m/>",
        "<xacro:arg name='a' default='${{().__class__}}'/>",
    ],
)
def test_a_file_runs_no_commands(expand, tmp_path: Path, attack: str):
    file = tmp_path / "made_by_the_file"
    (tmp_path / "object.yaml").write_text(f"!!python/object/apply:os.mkdir ['{file}']")
    content = attack.format(file=file, folder=tmp_path, popen=POPEN, frame=FRAME)
    with pytest.raises(UserInputError, match=r"robot\.urdf\.xacro(:1)?: xacro: ") as caught:
        expand(content)
    assert not file.exists()
    assert any(it in str(caught.value) for it in ("available", "not defined", "constructor"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<xacro:property name='p' value='max(n, 1 + 2) * len(str(n))'/>", "$(eval ${p})"),
        ("<xacro:property name='p' value='sum([n for x in range(2)])'/>", "$(eval ${p})"),
    ],
)
def test_python_functions_are_in_eval(expand, content: str, expected: str):
    argument = '<xacro:arg name="n" default="3"/>'
    with_n = content.replace("[n for x", "[1.5 for x")  # no names inside, as in Python 3.11
    assert '<link name="3' in expand(f'{argument}{with_n}<link name="{expected}"/>')


def test_yaml_files_have_items_as_attributes_and_units(expand, tmp_path: Path):
    (tmp_path / "config.yaml").write_text("arm: {length: !millimeters 500, names: [a, b]}")
    text = expand("""<xacro:property name="c" value="${xacro.load_yaml('config.yaml')}"/>
        <link name="${c.arm.length}_${c['arm']['names'][1]}_${'-'.join(c.arm.names)}"/>""")
    assert '<link name="0.5_b_a-b"/>' in text


ENDLESS = {
    "power": "<link name='${9**9**9}'/>",
    "sum": "<link name='${len([i for i in range(10**12) if i &lt; 0])}'/>",
    "factorial": "<link name='${math.factorial(10**9)}'/>",
    "pattern": "<link name=\"${xacro.tokenize('x' + 'a' * 40 + '!', 'x](a+)+$[y')}\"/>",
    "macros": "<xacro:macro name='m0'><a/></xacro:macro>"
    + "".join(
        f"<xacro:macro name='m{n + 1}'>{f'<xacro:m{n}/>' * 10}</xacro:macro>" for n in range(12)
    )
    + "<xacro:m12/>",
}
ENORMOUS = {
    "text": "<link name=\"${'a' * 10**11}\"/>",
    "list": "<link name='${[0] * 10**10}'/>",
    "replaced": "<link name=\"${('a' * 10**6).replace('a', 'b' * 10**6)}\"/>",
    "width": "<link name=\"${'%99999999999d' % 1}\"/>",
    "properties": "<xacro:property name='p0' value='aaaaaaaa'/>"
    + "".join(f"<xacro:property name='p{n + 1}' value='${{p{n}}}${{p{n}}}'/>" for n in range(40))
    + "<link name='${p40}'/>",
    "aliases": "<link name=\"${xacro.load_yaml('aliases.yaml')}\"/>",
}


@pytest.mark.parametrize("content", ENDLESS.values(), ids=ENDLESS)
def test_what_takes_too_long_ends(expand, monkeypatch, content: str):
    limits = WorkerLimits(processor_s=1.0, wall_s=900.0, memory_bytes=4 << 30)
    monkeypatch.setattr(xacro_file, "LIMITS", limits)
    with pytest.raises(UserInputError, match="xacro: it takes more than 1 s of processor time"):
        expand(content)


@pytest.mark.parametrize("content", ENORMOUS.values(), ids=ENORMOUS)
def test_what_needs_too_much_memory_ends(expand, monkeypatch, tmp_path: Path, content: str):
    limits = WorkerLimits(processor_s=60.0, wall_s=900.0, memory_bytes=1 << 26)
    monkeypatch.setattr(xacro_file, "LIMITS", limits)
    lines = [
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9 if n else ['x' * 10_000])}]" for n in range(12)
    ]
    (tmp_path / "aliases.yaml").write_text("\n".join(lines))
    with pytest.raises(UserInputError, match=r"xacro: it takes more than 0\.1 GiB of memory"):
        expand(content)


@pytest.mark.parametrize(
    "content",
    [
        "<xacro:macro name='m'><xacro:m/></xacro:macro><xacro:m/>",
        "<xacro:include filename='robot.urdf.xacro'/>",
        "<link name='${(lambda f: f(f))(lambda f: f(f))}'/>",
    ],
)
def test_what_contains_itself_ends(expand, content: str):
    with pytest.raises(UserInputError, match=r"xacro: a macro, a file or .* contains itself"):
        expand(content)


@pytest.mark.parametrize("content", ["<xacro:include filename='{}'/>", "${{load_yaml('{}')}}"])
def test_devices_and_pipes_are_not_opened(expand, tmp_path: Path, content: str):
    os.mkfifo(tmp_path / "pipe")
    for file, kind in (("pipe", "a named pipe"), ("/dev/zero", "a device")):
        with pytest.raises(UserInputError, match=f"is {kind}; only regular files are read"):
            expand(content.format(file))


def test_an_optional_file_may_be_missing(expand):
    include = "<xacro:include filename='missing.xacro' optional='true'/>"
    assert '<link name="a"/>' in expand(f'{include}<link name="a"/>')


def test_the_expansion_has_a_largest_size(expand, monkeypatch):
    monkeypatch.setattr(xacro_file, "LARGEST_TEXT", SizeLimit(3000, of_client=3000))
    with pytest.raises(UserInputError, match=r"too large: \d+ characters after the expansion"):
        expand(ENDLESS["macros"].replace("<xacro:m12/>", "<xacro:m3/>"))


def test_an_expansion_changes_nothing_in_this_process(expand):
    import xacro

    before = xacro.safe_eval, dict(xacro._global_symbols["python"])
    expand("<link name='${1}'/>")
    assert (xacro.safe_eval, dict(xacro._global_symbols["python"])) == before
    assert not xacro.filestack
