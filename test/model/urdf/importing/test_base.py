"""Whether the base of a URDF is fixed or free."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from mujoco_ros.model.urdf.importing.base import decide_base
from mujoco_ros.model.urdf.importing.urdf_file import read_urdf


def link(name: str) -> str:
    return f"<link name='{name}'/>"


def joint(
    name: str, parent: str, child: str, *, kind: str, z: float = 0.0, axis: str = "0 1 0"
) -> str:
    limit = "" if kind == "continuous" else "<limit lower='-1' upper='1' effort='1' velocity='1'/>"
    return (
        f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>"
        f"<origin xyz='0 0 {z}'/><axis xyz='{axis}'/>{limit}</joint>{link(child)}"
    )


def legs(names: Iterable[str], segments: int, length: float = 0.3) -> str:
    """Legs of revolute joints that hang from the trunk, with a foot at their ends."""
    text = link("trunk")
    for name in names:
        parent = "trunk"
        for index in range(segments):
            child = f"{name}{index}"
            text += joint(f"j{child}", parent, child, kind="revolute", z=-length * (index > 0))
            parent = child
        text += joint(f"end_{name}", parent, f"end_{name}", kind="fixed", z=-length)
    return text


def turning(names: str, axis: str, kind: str = "continuous") -> str:
    return "".join(joint(name, "base", f"l_{name}", kind=kind, axis=axis) for name in names)


ARM = link("base") + joint("a", "base", "l1", kind="continuous") + joint(
    "b", "l1", "l2", kind="continuous", z=0.3
)  # fmt: skip
PLUGIN = "<gazebo><plugin name='p' filename='libgazebo_ros_diff_drive.so'/></gazebo>"
FREE = {
    "wheels about a level axis": link("base") + turning("lr", "0 1 0"),
    "a wheel beside a castor that swivels": link("base")
    + turning("lr", "0 1 0")
    + joint("swivel", "base", "fork", kind="continuous", axis="0 0 1"),
    "wheels that reach below a castor": re.sub(
        r"<link name='l_(.)'/>",
        r"<link name='l_\1'><visual><geometry><cylinder radius='0.1' length='0.05'/></geometry>"
        "</visual></link>",
        link("base") + turning("lr", "0 1 0") + joint("f", "base", "ball", kind="fixed", z=-0.05),
    ),
    "two legs": legs(("left", "right"), 3),
    "four legs of one joint": legs("abcd", 1),
    "the root link of REP 120": link("base_footprint")
    + joint("a", "base_footprint", "l", kind="revolute"),
    "a plugin that drives wheels": ARM + PLUGIN,
    "a floating joint": ARM.replace("continuous", "floating", 1),
}
FIXED = {
    "an arm of continuous joints": ARM,
    "a root link that is the world": link("world")
    + joint("c", "world", "base", kind="fixed").replace(link("base"), "")
    + link("base")
    + turning("lr", "0 1 0"),
    "continuous joints that are high up": link("base")
    + joint("a", "base", "high", kind="revolute", z=1.0)
    + turning("lr", "0 1 0").replace("'base'", "'high'"),
    "a map": link("map") + turning("lr", "0 1 0").replace("'base'", "'map'"),
    "a turntable with two plates": link("base") + turning("lr", "0 0 1"),
    "a gripper": link("base") + turning("lr", "0 1 0", "prismatic"),
    "arms that hang": legs(("left_arm", "right_arm"), 3),
    "fingers that point up": legs("abcd", 3, -0.1),
}


@pytest.mark.parametrize(
    ("content", "is_free"),
    [(text, True) for text in FREE.values()] + [(text, False) for text in FIXED.values()],
    ids=[*FREE, *FIXED],
)
def test_what_a_robot_stands_on_decides(content: str, is_free: bool):
    urdf = read_urdf(Path("r.urdf"), f"<robot name='r'>{content}</robot>")
    free, reason = decide_base(urdf)
    assert free == is_free, reason
    assert reason


def test_wheels_may_have_their_name_at_the_link_alone(tmp_path: Path) -> None:
    axles = [f"<joint name='{side}_axle' type='continuous'><parent link='{side}_wheel_carrier'/>"
             f"<child link='{side}_wheel'/><axis xyz='0 1 0'/></joint>{link(f'{side}_wheel')}"
             for side in ("left", "right")]  # fmt: skip
    carriers = [joint(f"{side}_steering", "base", f"{side}_wheel_carrier", kind="revolute",
                      z=-0.3, axis="0 0 1") for side in ("left", "right")]  # fmt: skip
    (tmp_path / "r.urdf").write_text(
        f"<robot name='r'>{link('base')}{''.join(carriers + axles)}</robot>"
    )
    expected = True, "it has wheels (left_axle, right_axle)"
    assert decide_base(read_urdf(tmp_path / "r.urdf")) == expected
