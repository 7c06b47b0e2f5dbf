"""Expansion of xacro files."""

from pathlib import Path

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.urdf.importing.xacro_file import expand_xacro

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


def test_packages_need_not_be_installed(expand, tmp_path: Path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xacro").write_text(f'{HEAD}<link name="arm"/></robot>')
    include = '<xacro:include filename="$(find parts)/arm.xacro"/>'
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
        ("<xacro:unknown/>", "xacro: .*unknown"),
        ('<link name="${().__class__}"/>', "xacro: "),
    ],
)
def test_mistakes_name_the_file_and_the_reason(expand, content: str, message: str):
    arguments = {"side": "left"} if content == LINKS else {}
    with pytest.raises(UserInputError, match=rf"robot\.urdf\.xacro: .*{message}"):
        expand(content, **arguments)
