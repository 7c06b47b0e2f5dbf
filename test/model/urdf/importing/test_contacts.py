from pathlib import Path

import mujoco

from mujoco_ros.model.urdf.importing.importer import import_urdf

LINK = """
  <link name="{name}">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.3"/></geometry></collision>
  </link>"""
JOINT = """
  <joint name="{child}_joint" type="{kind}">
    <parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/><origin xyz="0.2 0 0"/>
  </joint>"""


def contacts(path: Path, *joints: tuple[str, str, str]) -> set[frozenset[str]]:
    """Write a URDF of overlapping spheres and return the pairs of links that touch."""
    names = ["base", *(child for _, child, _ in joints)]
    text = "".join(LINK.format(name=name) for name in names)
    text += "".join(JOINT.format(parent=p, child=c, kind=k) for p, c, k in joints)
    path.write_text(f'<robot name="r">{text}</robot>')
    model = import_urdf(path).spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return {
        frozenset(model.body(model.geom_bodyid[g]).name for g in contact.geom)
        for contact in data.contact
    }


def test_a_link_does_not_collide_with_its_base(tmp_path: Path) -> None:
    touching = contacts(
        tmp_path / "r.urdf", ("base", "first", "continuous"), ("first", "second", "continuous")
    )
    assert touching == {frozenset({"base", "second"})}


def test_bodies_welded_to_the_base_or_the_link_count_as_the_same_body(tmp_path: Path) -> None:
    touching = contacts(
        tmp_path / "r.urdf",
        ("base", "mount", "fixed"),
        ("mount", "first", "continuous"),
        ("first", "cover", "fixed"),
    )
    assert touching == set()
