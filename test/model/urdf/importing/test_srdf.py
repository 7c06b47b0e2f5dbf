"""SRDF files: disabled collisions and named states."""

from itertools import pairwise
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

LINK = """
<link name="{}">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.05"/></geometry></collision>
</link>
"""
JOINT = """
<joint name="{child}_joint" type="revolute">
  <parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/><origin xyz="0.2 0 0"/>
  <limit lower="-2" upper="2" effort="10" velocity="1"/>{mimic}
</joint>
"""
LINKS = ("base", "upper", "lower", "left", "right")
MIMIC = '<mimic joint="left_joint" multiplier="-2" offset="0.1"/>'
URDF = '<robot name="r">{}{}</robot>'.format(
    "".join(map(LINK.format, LINKS)),
    "".join(
        JOINT.format(parent=parent, child=child, mimic=MIMIC if child == "right" else "")
        for parent, child in pairwise(LINKS)
    ),
)
HOME = """
<group_state name="home" group="arm"><joint name="upper_joint" value="0.5"/></group_state>
<group_state name="home" group="hand"><joint name="left_joint" value="0.3"/></group_state>
<group_state name="up" group="arm"><joint name="lower_joint" value="-1"/></group_state>
"""


@pytest.fixture
def load(tmp_path: Path):
    """Return the scene of a robot with the content of an SRDF, and further keys of the robot."""

    def loader(content: str, keys: str = "") -> Assembly:
        (tmp_path / "r.urdf").write_text(URDF)
        (tmp_path / "r.srdf").write_text(f'<robot name="r">{content}</robot>')
        scene = tmp_path / "scene.yaml"
        robot = f"- name: r\n  model: r.urdf\n  srdf: r.srdf\n{keys}"
        scene.write_text(f"robots:\n{robot}")
        return assemble(load_scene(str(scene)))

    return loader


def excluded(model: mujoco.MjModel) -> set[frozenset[str]]:
    pairs = ((int(it) & 0xFFFF, int(it) >> 16) for it in model.exclude_signature)
    return {frozenset(model.body(body).name.removeprefix("r/") for body in pair) for pair in pairs}


def key(model: mujoco.MjModel, name: str) -> list[float]:
    return np.round(model.key(f"r/{name}").qpos, 9).tolist()


BASE = frozenset({"base", "upper"})  # never collide, as neighbours of a fixed base


def test_disabled_collisions_are_excluded(load, caplog):
    model = load('<disable_collisions link1="base" link2="left" reason="Never"/>').model
    assert excluded(model) == {BASE, frozenset({"base", "left"})}
    assert not caplog.records


def test_a_link_whose_default_is_disabled_collides_only_with_enabled_ones(load):
    model = load(
        '<disable_default_collisions link="right"/><enable_collisions link1="upper" link2="right"/>'
    ).model
    assert excluded(model) == {BASE} | {
        frozenset({"right", it}) for it in ("base", "lower", "left")
    }


def test_states_are_keyframes_that_groups_share_and_mimics_follow(load, caplog):
    model = load(HOME).model
    assert key(model, "home") == [0.5, 0.0, 0.3, 0.1 - 0.6]
    assert key(model, "up") == [0.0, -1.0, 0.0, 0.1]
    assert not caplog.records


def test_contradicting_states_and_missing_joints_and_links_are_named(load, caplog):
    model = load(
        HOME
        + '<group_state name="up" group="all"><joint name="lower_joint" value="1"/></group_state>'
        + '<group_state name="wave" group="arm"><joint name="thumb" value="1"/></group_state>'
        + '<disable_collisions link1="base" link2="tool"/>'
    ).model
    assert key(model, "up") == [0.0, -1.0, 0.0, 0.1]
    assert "states that are left out: up of all" in caplog.text
    assert "the robot has no joint: thumb" in caplog.text
    assert "the robot has no link: tool" in caplog.text
    assert excluded(model) == {BASE}


@pytest.mark.parametrize(("keys", "first"), [("", 0.5), ("  keyframe: up\n", 0.0)])
def test_the_robot_starts_in_the_first_state_or_a_named_one(load, tmp_path, keys, first):
    load(HOME, keys)
    simulation = Simulation(load_scene(str(tmp_path / "scene.yaml")))
    assert simulation.data.qpos[0] == first


def test_the_states_of_a_free_base_keep_its_pose(load):
    model = load(HOME, "  base: free\n").model
    assert key(model, "home") == [0, 0, 0, 1, 0, 0, 0, 0.5, 0.0, 0.3, -0.5]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('<disable_collisions link1="base"/>', "<disable_collisions> lacks the attribute 'link2'"),
        ('<group_state name="home"/>', "state 'home': <group_state> lacks the attribute 'group'"),
        (
            '<group_state name="up" group="g"><joint name="j" value="x"/></group_state>',
            "state 'up': joint 'j': .*expected a number",
        ),
        ("<", "not well-formed XML"),
    ],
)
def test_mistakes_name_the_file_and_the_element(load, content: str, message: str):
    with pytest.raises(UserInputError, match=rf"r\.srdf: .*{message}"):
        load(content)


def test_a_missing_file_is_named(load, tmp_path: Path):
    load("")
    (tmp_path / "r.srdf").unlink()
    with pytest.raises(UserInputError, match=r"robot 'r': SRDF file .*r\.srdf"):
        assemble(load_scene(str(tmp_path / "scene.yaml")))
