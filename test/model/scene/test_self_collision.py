"""Which links of a robot collide with each other."""

from itertools import pairwise
from pathlib import Path

import mujoco
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_file, part_from_text

LINK = """
  <link name="{name}">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.3"/></geometry></collision>
  </link>"""
JOINT = """
  <joint name="{child}_joint" type="prismatic">
    <parent link="{parent}"/><child link="{child}"/><axis xyz="1 0 0"/><origin xyz="{x} 0 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/>
  </joint>"""
LINKS = ("base", "first", "second", "third")
# Centres at 0, 0.2, 0.5 and 2 m: base and second overlap by 0.1 m.
OFFSETS = (0.2, 0.3, 1.5)
URDF = "".join(LINK.format(name=name) for name in LINKS) + "".join(
    JOINT.format(parent=parent, child=child, x=x)
    for (parent, child), x in zip(pairwise(LINKS), OFFSETS, strict=True)
)
URDF = f'<robot name="r">{URDF}</robot>'
MJCF = """
<mujoco>
  <worldbody>
    <body name="a"><joint/><geom size=".3"/>
      <body name="b" pos=".2 0 0"><joint/><geom size=".3"/>
        <body name="c" pos=".2 0 0"><joint/><geom size=".3"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def compiled(tmp_path: Path):
    """Compile a scene of one robot, given further keys of the robot."""

    def compile(keys: str = "", model: str = URDF, suffix: str = "urdf") -> mujoco.MjModel:
        (tmp_path / f"r.{suffix}").write_text(model)
        scene = tmp_path / "scene.yaml"
        scene.write_text(f"robots:\n- name: r\n  model: r.{suffix}\n{keys}")
        return assemble(load_scene(str(scene))).model

    return compile


def excluded(model: mujoco.MjModel) -> set[frozenset[str]]:
    """Return the excluded pairs of links, without prefixes."""
    pairs = ((int(it) & 0xFFFF, int(it) >> 16) for it in model.exclude_signature)
    return {frozenset(model.body(body).name.removeprefix("r/") for body in pair) for pair in pairs}


BASE = frozenset({"base", "first"})  # never collide, as neighbours of a fixed base
OVERLAPPING = frozenset({"base", "second"})


def test_links_of_a_urdf_that_overlap_at_the_start_do_not_collide_with_a_warning(compiled, caplog):
    assert excluded(compiled()) == {BASE, OVERLAPPING}
    (record,) = caplog.records
    assert "robot 'r': " in record.getMessage()
    assert "base and second (100.0 mm)" in record.getMessage()
    assert "third" not in record.getMessage()


def touching(model: mujoco.MjModel, second: float, third: float) -> list[set[str]]:
    """Return the pairs of links in contact at positions of two joints [m]."""
    data = mujoco.MjData(model)
    data.joint("r/second_joint").qpos = second
    data.joint("r/third_joint").qpos = third
    mujoco.mj_forward(model, data)
    bodies = [model.geom_bodyid[contact.geom] for contact in data.contact]
    return [{model.body(int(it)).name.removeprefix("r/") for it in pair} for pair in bodies]


def test_links_that_only_overlap_later_collide(compiled):
    model = compiled()
    assert touching(model, 0.0, 0.0) == []
    # Third, at 0.7 m, touches first, at 0.2 m; base and second overlap more than at the start.
    assert touching(model, -0.2, -1.1) == [{"first", "third"}]


def test_all_keeps_the_contacts_of_overlapping_links(compiled, caplog):
    assert excluded(compiled("  self_collision: all\n")) == {BASE}
    assert not caplog.records


def test_none_excludes_all_pairs_of_the_robot(compiled, caplog):
    model = compiled("  self_collision: none\n")
    assert excluded(model) == {frozenset({a, b}) for a in LINKS for b in LINKS if a != b}
    assert not caplog.records


def test_pairs_can_be_excluded_by_name(compiled):
    pairs = excluded(compiled("  self_collision: all\n  exclude: [[third, first], [base, first]]"))
    assert pairs == {BASE, frozenset({"first", "third"})}


def test_the_start_is_the_keyframe_of_the_robot(compiled, caplog):
    key = '<mujoco><keyframe><key name="near" qpos="0 0 -1.3"/></keyframe></mujoco></robot>'
    model = compiled("  keyframe: near\n", URDF.replace("</robot>", key))
    # Third is at 0.7 m: it overlaps first, and second, its neighbour, which never collides.
    assert excluded(model) == {BASE, OVERLAPPING, frozenset({"first", "third"})}
    assert "first and third (100.0 mm)" in caplog.text


def test_an_mjcf_decides_itself(compiled, caplog):
    assert excluded(compiled("", MJCF, "xml")) == set()
    assert not caplog.records
    pairs = excluded(compiled("  exclude: [[a, c]]\n", MJCF, "xml"))
    assert pairs == {frozenset({"a", "c"})}


@pytest.mark.parametrize("as_text", [False, True])
def test_overlapping_links_of_a_spawned_urdf_do_not_collide(tmp_path: Path, caplog, as_text: bool):
    path = tmp_path / "r.urdf"
    path.write_text(URDF)
    part = part_from_text(URDF, name="r") if as_text else part_from_file(path, name="r")
    assert part.spec is not None
    assert excluded(part.spec.copy().compile()) == {BASE, OVERLAPPING}
    assert "base and second (100.0 mm)" in caplog.text


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("exclude: [[base, frist]]", "robot 'r': exclude: .*'frist'.*first"),
        ("exclude: [[base, base]]", "link 'base' is paired with itself"),
        ("exclude: [[base]]", "exclude"),
        ("self_collision: some", "self_collision.*auto, none, all"),
    ],
)
def test_mistakes_are_named(compiled, keys: str, message: str):
    with pytest.raises(UserInputError, match=message):
        compiled(f"  {keys}\n")
