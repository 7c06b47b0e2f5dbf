import os
import struct
import xml.etree.ElementTree as ET
from importlib import metadata
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.model.urdf.importing.imported_urdf import free_base
from mujoco_ros.model.urdf.importing.importer import COLLISION_GROUP, VISUAL_GROUP, import_urdf

DATA = Path(__file__).parents[1] / "data"

SOLID = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
)
BALL = '<geometry><sphere radius="0.1"/></geometry>'


def link(name: str, content: str = SOLID) -> str:
    return f'<link name="{name}">{content}</link>'


def joint(name: str, parent: str, child: str, content: str = "", type: str = "revolute") -> str:
    return (
        f'<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>'
        f"{content}</joint>"
    )


def robot(*parts: str, tail: str = "") -> str:
    return f'<robot name="r" {tail}>{"".join(parts)}</robot>'


@pytest.fixture
def load(tmp_path: Path):
    """Load a URDF given as text, from its own folder."""

    def loader(text: str) -> mujoco.MjSpec:
        path = tmp_path / "robot.urdf"
        path.write_text(text)
        return import_urdf(path).spec

    return loader


# --- agreement with MuJoCo's own reading of the format


def test_the_dynamics_equal_those_of_mujocos_own_parser():
    ours = import_urdf(DATA / "plain.urdf").spec.compile()
    spec = mujoco.MjSpec.from_file(str(DATA / "plain.urdf"))
    spec.compiler.fusestatic = False
    theirs = spec.compile()
    assert [ours.joint(i).name for i in range(ours.njnt)] == [
        theirs.joint(i).name for i in range(theirs.njnt)
    ]
    np.testing.assert_allclose(ours.jnt_range, theirs.jnt_range)
    np.testing.assert_array_equal(ours.jnt_limited, theirs.jnt_limited)
    np.testing.assert_allclose(ours.dof_damping, theirs.dof_damping)
    np.testing.assert_allclose(ours.dof_frictionloss, theirs.dof_frictionloss)
    rng = np.random.default_rng(7)
    for _ in range(10):
        datas = [mujoco.MjData(model) for model in (ours, theirs)]
        velocity = rng.normal(size=ours.nv)
        position = np.zeros(ours.nq)
        mujoco.mj_integratePos(ours, datas[0].qpos, velocity, 1.0)
        position[:] = datas[0].qpos
        for model, data in zip((ours, theirs), datas, strict=True):
            data.qpos[:], data.qvel[:] = position, velocity
            mujoco.mj_forward(model, data)
        np.testing.assert_allclose(datas[0].xpos, datas[1].xpos, atol=1e-12)
        np.testing.assert_allclose(datas[0].xmat, datas[1].xmat, atol=1e-12)
        np.testing.assert_allclose(datas[0].qfrc_bias, datas[1].qfrc_bias, atol=1e-10)
        masses = [np.zeros((ours.nv, ours.nv)) for _ in datas]
        for model, data, mass in zip((ours, theirs), datas, masses, strict=True):
            mujoco.mj_fullM(model, data, mass)
        np.testing.assert_allclose(*masses, atol=1e-12)


# --- links


def test_visuals_are_in_group_2_and_never_collide_and_collisions_are_in_group_3():
    model = import_urdf(DATA / "plain.urdf").spec.compile()
    hull, collision = model.geom("hull"), model.geom("hull_collision")
    assert (hull.group[0], hull.contype[0], hull.conaffinity[0]) == (VISUAL_GROUP, 0, 0)
    assert (collision.group[0], collision.contype[0]) == (COLLISION_GROUP, 1)
    np.testing.assert_allclose(hull.rgba, [0.8, 0.1, 0.1, 1])
    np.testing.assert_allclose(hull.size, [0.1, 0.15, 0.2])


def test_space_may_precede_the_declaration_of_xml(load):
    assert load(f"\n\n <?xml version='1.0'?>\n{robot(link('base'))}").body("base") is not None


def test_fixed_links_remain_separate_bodies():
    model = import_urdf(DATA / "plain.urdf").spec.compile()
    assert model.body("bracket").mass[0] == pytest.approx(0.4)
    assert model.body("bracket").jntnum[0] == 0


def test_a_link_without_inertial_has_no_mass_for_any_shape(load):
    model = load(
        robot(
            link("base", f"<collision>{BALL}</collision>"),
            link("arm"),
            link("camera", f"<visual>{BALL}</visual><collision>{BALL}</collision>"),
            joint("j", "base", "arm"),
            joint("f", "arm", "camera", type="fixed"),
        )
    ).compile()
    assert model.body("base").mass[0] == 0
    assert model.body("camera").mass[0] == 0


def test_a_moving_link_without_mass_gets_the_density_of_water_with_a_warning(load, caplog):
    model = load(
        robot(
            link("base"), link("arm", f"<collision>{BALL}</collision>"), joint("j", "base", "arm")
        )
    ).compile()
    assert model.body("arm").mass[0] == pytest.approx(1000 * 4 / 3 * np.pi * 0.1**3)
    assert "arm" in caplog.text


def write_box(path: Path, size: tuple[float, float, float], *, faces: slice) -> None:
    """Write an STL of some of the twelve triangles of a box [m]."""
    box = trimesh.creation.box(size)
    box.faces = box.faces[faces]
    box.export(path)


@pytest.mark.parametrize(
    ("faces", "expected"),
    [
        (slice(0, 12), 0.012),
        (slice(0, 11), 0.012),  # open: the mass of its convex hull
    ],
)
def test_a_mesh_without_inertia_weighs_what_its_volume_of_water_does(
    load, tmp_path, caplog, faces, expected
):
    write_box(tmp_path / "finger.stl", (0.03, 0.02, 0.02), faces=faces)
    mesh = '<geometry><mesh filename="finger.stl"/></geometry>'
    shape = f"<visual>{mesh}</visual><collision>{mesh}</collision>"
    model = load(robot(link("base"), link("finger", shape), joint("j", "base", "finger"))).compile()
    body = model.body("finger")
    assert body.mass[0] == pytest.approx(expected, rel=1e-5)
    # A box: m/12 (a² + b²).
    moments = [expected / 12 * square for square in (8e-4, 13e-4, 13e-4)]
    np.testing.assert_allclose(np.sort(body.inertia), moments, rtol=1e-4)
    assert "become water: finger (0.012 kg)" in caplog.text


def test_a_hollow_mesh_without_inertia_weighs_what_its_walls_do(load, tmp_path):
    outer, inner = trimesh.creation.box((0.1,) * 3), trimesh.creation.box((0.08,) * 3)
    inner.invert()
    trimesh.util.concatenate([outer, inner]).export(tmp_path / "case.stl")
    shape = '<collision><geometry><mesh filename="case.stl"/></geometry></collision>'
    model = load(robot(link("base"), link("case", shape), joint("j", "base", "case"))).compile()
    assert model.body("case").mass[0] == pytest.approx(1000 * (0.1**3 - 0.08**3), rel=1e-5)


def test_a_flat_mesh_cannot_give_a_moving_link_its_mass(load, tmp_path):
    flat = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    flat.export(tmp_path / "sheet.stl")
    shape = '<collision><geometry><mesh filename="sheet.stl"/></geometry></collision>'
    with pytest.raises(UserInputError, match=r"link 'arm': mesh '.*sheet\.stl' has no volume"):
        load(robot(link("base"), link("arm", shape), joint("j", "base", "arm")))


def test_the_mass_of_a_moving_link_can_be_in_a_link_fixed_to_it(load):
    model = load(
        robot(
            link("base"),
            link("flange", ""),
            link("arm"),
            joint("j", "base", "flange"),
            joint("f", "flange", "arm", type="fixed"),
        )
    ).compile()
    assert model.body("flange").mass[0] == 0
    assert model.body("arm").mass[0] == 1


@pytest.mark.parametrize(
    ("moments", "largest", "word"),
    [
        # A kilogram of water is a ball of radius r = (3/4π · 0.001)^(1/3); its inertia is 2/5 r².
        ("0 0 0", 0.4 * (0.00075 / np.pi) ** (2 / 3), "mass without inertia"),
        ("0.01 0.01 0.09", 0.09, "impossible inertia"),
        ("-0.01 0.01 0.01", 0.01, "impossible inertia"),
    ],
)
def test_an_impossible_inertia_is_corrected_with_a_warning(load, caplog, moments, largest, word):
    ixx, iyy, izz = moments.split()
    inertial = (
        f'<inertial><mass value="1"/><inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}"'
        ' ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    model = load(robot(link("base"), link("arm", inertial), joint("j", "base", "arm"))).compile()
    a, b, c = np.sort(model.body("arm").inertia)
    assert a > 0
    assert a + b >= c * (1 - 1e-9)
    assert c == pytest.approx(largest, rel=1e-6)
    assert word in caplog.text
    before = " ".join(f"{moment:.3g}" for moment in sorted(map(float, moments.split())))
    after = " ".join(f"{moment:.3g}" for moment in (a, b, c))
    assert f"arm (1 kg, {before} becomes {after} kg m²)" in caplog.text


def test_a_mass_without_the_element_inertia_gets_one_with_a_warning(load, caplog):
    arm = link("arm", '<inertial><origin xyz="0 0 1"/><mass value="1"/></inertial>')
    model = load(robot(link("base"), arm, joint("j", "base", "arm"))).compile()
    np.testing.assert_allclose(model.body("arm").inertia, 0.4 * (0.00075 / np.pi) ** (2 / 3))
    np.testing.assert_allclose(model.body("arm").ipos, [0, 0, 1])
    assert "mass without inertia, which get the inertia of a ball of water: arm (" in caplog.text


def test_a_moving_link_without_mass_and_shape_becomes_a_gram_with_a_warning(load, caplog):
    # Such as the virtual wheels of a car, which the others mimic.
    model = load(robot(link("a"), link("b", ""), joint("j", "a", "b"))).compile()
    assert model.body("b").mass[0] == pytest.approx(0.001)
    assert "moving links without mass and shape become a gram of water: b" in caplog.text


def test_a_valid_inertia_is_kept_without_a_warning(load, caplog):
    # A thin plate: A + B = C to the last bit.
    plate = (
        '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.02" izz="0.03"'
        ' ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    model = load(robot(link("base"), link("arm", plate), joint("j", "base", "arm"))).compile()
    np.testing.assert_allclose(np.sort(model.body("arm").inertia), [0.01, 0.02, 0.03], rtol=1e-6)
    assert not caplog.text


def test_a_repeated_geom_name_belongs_to_the_first_geom(load):
    shape = f'<visual name="shell">{BALL}</visual>'
    model = load(
        robot(link("base", SOLID + shape), link("arm", SOLID + shape), joint("j", "base", "arm"))
    ).compile()
    assert model.ngeom == 2
    assert model.geom("shell").bodyid[0] == model.body("base").id


def test_the_colour_of_one_visual_does_not_affect_the_next(load):
    red = '<material name="m"><color rgba="1 0 0 1"/></material>'
    shapes = f"<visual>{BALL}{red}</visual><visual>{BALL}</visual>"
    model = load(robot(link("base", SOLID + shapes))).compile()
    np.testing.assert_allclose(model.geom_rgba, [[1, 0, 0, 1], [0.5, 0.5, 0.5, 1]])


# --- joints


def test_each_scalar_joint_gets_a_motor_with_its_name_and_effort_limit():
    model = import_urdf(DATA / "plain.urdf").spec.compile()
    motors = {"yaw": 30, "extend": 80, "spin": 5}
    ranges = {name: model.actuator(name).ctrlrange.tolist() for name in motors}
    assert ranges == {name: [-effort, effort] for name, effort in motors.items()}
    data = mujoco.MjData(model)
    data.ctrl[:] = 100  # beyond every effort
    mujoco.mj_forward(model, data)
    forces = [data.actuator(name).force[0] for name in motors]
    np.testing.assert_allclose(forces, list(motors.values()))


def test_the_parts_of_a_planar_joint_follow_velocities():
    imported = import_urdf(DATA / "plain.urdf")
    model = imported.spec.compile()
    for name in ("slide_TX", "slide_TY", "slide_RZ"):
        actuator = model.actuator(name)
        assert not actuator.ctrllimited[0]
        assert actuator.biasprm[2] == -actuator.gainprm[0] < 0.0
        assert model.joint(name).id == actuator.trnid[0]


def test_a_joint_without_effort_gets_an_unlimited_motor(load):
    for limit in ("", '<limit lower="-1" upper="1" effort="0" velocity="0"/>'):
        model = load(robot(link("base"), link("arm"), joint("j", "base", "arm", limit))).compile()
        assert not model.actuator("j").ctrllimited[0]
        assert model.jnt_user[0, 0] == 0


def test_the_velocity_limit_is_the_first_user_number_also_after_merging():
    scene = mujoco.MjSpec()
    for prefix in ("a/", "b/"):
        part = import_urdf(DATA / "plain.urdf").spec
        scene.attach(part, prefix=prefix, frame=scene.worldbody.add_frame())
    model = scene.compile()
    assert model.joint("a/yaw").user[0] == 4
    assert model.joint("b/spin").user[0] == 20
    assert model.actuator("b/yaw").ctrlrange.tolist() == [-30, 30]


def test_a_continuous_joint_has_no_limits_even_if_the_file_gives_some(load):
    limit = '<limit lower="-1" upper="1" effort="2" velocity="3"/>'
    model = load(
        robot(link("base"), link("arm"), joint("j", "base", "arm", limit, type="continuous"))
    ).compile()
    assert not model.jnt_limited[0]


def test_a_missing_bound_is_zero(load):
    limit = '<limit upper="1" effort="2" velocity="3"/>'
    model = load(robot(link("base"), link("arm"), joint("j", "base", "arm", limit))).compile()
    assert model.jnt_limited[0]
    np.testing.assert_allclose(model.jnt_range[0], [0, 1])


def test_a_mimic_joint_follows_with_multiplier_and_offset_and_has_no_motor(load):
    axis = '<axis xyz="0 0 1"/><dynamics damping="0.5"/>'
    model = load(
        robot(
            link("base"),
            link("left"),
            link("right"),
            joint("l", "base", "left", axis),
            joint("r", "base", "right", axis + '<mimic joint="l" multiplier="-2" offset="0.3"/>'),
            '<mujoco><option gravity="0 0 0"/></mujoco>',
        )
    ).compile()
    assert [model.actuator(i).name for i in range(model.nu)] == ["l"]
    data = mujoco.MjData(model)
    for _ in range(2000):
        data.ctrl[0] = 20 * (0.5 - data.joint("l").qpos[0])
        mujoco.mj_step(model, data)
    assert data.joint("l").qpos[0] == pytest.approx(0.5, abs=0.01)
    assert data.joint("r").qpos[0] == pytest.approx(-2 * data.joint("l").qpos[0] + 0.3, abs=1e-3)


def test_massless_links_between_axes_are_merged_into_the_next_link(load, link_transforms):
    text = robot(
        link("base"),
        link("gimbal1", ""),
        link("gimbal2", ""),
        link("arm"),
        joint("yaw", "base", "gimbal1", '<origin xyz="0.1 0 1" rpy="0.3 0 0.2"/>'),
        joint(
            "reach",
            "gimbal1",
            "gimbal2",
            '<origin xyz="0 0.2 0" rpy="0 0.7 0"/><axis xyz="0 1 0"/>',
            type="prismatic",
        ),
        joint(
            "roll", "gimbal2", "arm", '<origin xyz="0 0 0.3" rpy="1 0 0"/><axis xyz="0 0.6 0.8"/>'
        ),
    )
    model = load(text).compile()
    data = mujoco.MjData(model)
    assert [model.body(i).name for i in range(model.nbody)] == ["world", "base", "arm"]
    rng = np.random.default_rng(3)
    for _ in range(10):
        positions = dict(zip(("yaw", "reach", "roll"), rng.uniform(-2, 2, 3), strict=True))
        for name, position in positions.items():
            data.joint(name).qpos = position
        mujoco.mj_forward(model, data)
        expected = link_transforms(text, positions)["arm"]
        np.testing.assert_allclose(data.body("arm").xpos, expected[:3, 3], atol=1e-9)
        np.testing.assert_allclose(data.body("arm").xmat.reshape(3, 3), expected[:3, :3], atol=1e-9)


# --- the base


def test_a_urdf_robot_is_fixed_unless_its_base_is_floating():
    spec = import_urdf(DATA / "plain.urdf").spec
    fixed = spec.compile()
    free_base(spec)
    freed = spec.compile()
    assert freed.nv == fixed.nv + 6
    data = mujoco.MjData(freed)
    mujoco.mj_forward(freed, data)
    assert data.body("base").cvel[:3] == pytest.approx(0)
    assert data.qacc[2] == pytest.approx(-9.81, rel=1e-6)


def test_a_base_becomes_floating_only_once():
    spec = import_urdf(DATA / "plain.urdf").spec
    free_base(spec)
    with pytest.raises(UserInputError, match=r"base.*freed: it moves on 'base_free_joint'"):
        free_base(spec)


def test_a_base_without_mass_cannot_float_and_the_robot_remains_usable(load):
    spec = load(robot(link("pelvis", ""), link("leg"), joint("j", "pelvis", "leg")))
    with pytest.raises(UserInputError, match=r"'pelvis' cannot be freed.*mass"):
        free_base(spec)
    assert spec.compile().nv == 1


def test_a_root_link_named_world_is_the_world(load):
    spec = load(
        robot(
            link("world", f"<visual>{BALL}</visual>"),
            link("base"),
            joint("anchor", "world", "base", '<origin xyz="0 0 2"/>', type="fixed"),
        )
    )
    model = spec.compile()
    assert model.nbody == 2
    assert model.geom_bodyid[0] == 0
    np.testing.assert_allclose(model.body("base").pos, [0, 0, 2])
    free_base(spec)
    np.testing.assert_allclose(spec.compile().qpos0[:3], [0, 0, 2])


@pytest.mark.parametrize("root", ["world", "odom"])
def test_a_floating_joint_at_the_root_is_a_free_base(load, root):
    model = load(
        robot(
            link(root, ""),
            link("base"),
            joint("float", root, "base", '<origin xyz="0 0 2"/>', type="floating"),
        )
    ).compile()
    assert model.joint("float").type[0] == mujoco.mjtJoint.mjJNT_FREE
    np.testing.assert_allclose(model.qpos0, [0, 0, 2, 1, 0, 0, 0])


# --- meshes


def mesh_link(name: str, uri: str, tag: str = "visual") -> str:
    mesh = f'<geometry><mesh filename="{uri}"/></geometry>'
    return link(name, f"{SOLID}<{tag}>{mesh}</{tag}>")


def extent(model: mujoco.MjModel, geom: int) -> np.ndarray:
    """Return the box around a geom's mesh in the world, as lower and upper corner."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    mesh = model.geom_dataid[geom]
    start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    rotation = data.geom_xmat[geom].reshape(3, 3)
    points = model.mesh_vert[start : start + count] @ rotation.T + data.geom_xpos[geom]
    return np.array([points.min(axis=0), points.max(axis=0)])


def off_centre_box() -> trimesh.Trimesh:
    box = trimesh.creation.box((0.2, 0.4, 0.6))
    box.apply_translation((1, 2, 3))
    return box


OFF_CENTRE = [[0.9, 1.8, 2.7], [1.1, 2.2, 3.3]]


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "glb", "stl_ascii"])
def test_every_mesh_format_keeps_its_pose(load, tmp_path, suffix):
    name = f"part.{suffix.removesuffix('_ascii')}"
    (tmp_path / name).write_bytes(
        trimesh.exchange.export.export_mesh(off_centre_box(), None, suffix)
        if not suffix.startswith(("stl_", "obj"))
        else off_centre_box().export(file_type=suffix).encode()
    )
    model = load(robot(mesh_link("base", name))).compile()
    np.testing.assert_allclose(extent(model, 0), OFF_CENTRE, atol=1e-6)


def test_a_collada_file_is_merged_in_metres_with_the_colour_of_its_largest_part(load):
    # Two boxes in millimetres, one under a node that moves it; the larger one is blue.
    uri = (DATA / "two_boxes.dae").as_uri()
    model = load(robot(mesh_link("base", uri))).compile()
    np.testing.assert_allclose(extent(model, 0), [[0, 0, 0], [0.1, 0.1, 0.35]], atol=1e-6)
    np.testing.assert_allclose(model.geom_rgba[0], [0, 0, 1, 1])


@pytest.mark.parametrize("colour", ["0 0 0.01.0", "0 0 1", "blue", ""])
def test_a_malformed_colour_of_a_collada_file_costs_no_geometry(load, tmp_path, colour):
    text = (DATA / "two_boxes.dae").read_text()
    (tmp_path / "part.dae").write_text(text.replace("<color>0 0 1 1<", f"<color>{colour}<"))
    model = load(robot(mesh_link("base", "part.dae"))).compile()
    np.testing.assert_allclose(extent(model, 0), [[0, 0, 0], [0.1, 0.1, 0.35]], atol=1e-6)


def test_an_stl_file_may_have_more_faces_than_the_decoder_of_mujoco_reads(load, tmp_path, caplog):
    caplog.set_level("INFO")
    faces = np.tile([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]], (50_001, 1))
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    large = trimesh.Trimesh(corners, faces, process=False)
    large.export(tmp_path / "part.stl")
    shapes = mesh_link("base", "part.stl") + mesh_link("arm", "part.stl", tag="collision")
    model = load(robot(shapes, joint("j", "base", "arm"))).compile()
    assert model.mesh_facenum[0] == len(faces) > 200_000
    assert "200004 triangles, more than the 200000" in caplog.text


@pytest.mark.parametrize("depth", [1, 3])
def test_a_relative_path_may_begin_in_a_folder_above_the_urdf(tmp_path, depth):
    (tmp_path / "assets").mkdir()
    trimesh.creation.box((2.0, 2.0, 2.0)).export(tmp_path / "assets" / "part.stl")
    folder = tmp_path.joinpath(*"abc"[:depth])
    folder.mkdir(parents=True)
    path = folder / "robot.urdf"
    path.write_text(robot(mesh_link("base", "assets/part.stl")))
    assert extent(import_urdf(path).spec.compile(), 0)[1] == pytest.approx(1.0)
    (folder / "assets").mkdir()
    trimesh.creation.box((4.0, 4.0, 4.0)).export(folder / "assets" / "part.stl")
    assert extent(import_urdf(path).spec.compile(), 0)[1] == pytest.approx(2.0)


@pytest.mark.parametrize("uri", ["part.STL", "package://meshes/part.STL"])
def test_the_suffix_of_a_mesh_may_be_in_the_other_case(tmp_path, uri):
    (tmp_path / "meshes").mkdir()
    for folder in (tmp_path, tmp_path / "meshes"):
        trimesh.creation.box((2.0, 2.0, 2.0)).export(folder / "part.stl")
    path = tmp_path / "robot.URDF"
    path.write_text(robot(mesh_link("base", uri)))
    assert extent(import_urdf(path).spec.compile(), 0)[1] == pytest.approx(1.0)


def test_meshes_of_the_same_name_in_two_folders_are_two_meshes(load, tmp_path):
    for folder, size in (("visual", 1.0), ("collision", 2.0)):
        (tmp_path / folder).mkdir()
        trimesh.creation.box((size,) * 3).export(tmp_path / folder / "part.stl")
    model = load(
        robot(
            mesh_link("base", "visual/part.stl"),
            mesh_link("arm", "collision/part.stl", tag="collision"),
            joint("j", "base", "arm"),
        )
    ).compile()
    assert extent(model, 0)[1] == pytest.approx(0.5)
    assert extent(model, 1)[1] == pytest.approx(1.0)


def test_a_size_of_zero_becomes_a_millimetre_with_a_warning(load, caplog):
    # Some describe the points of a foot that touch the ground as balls, and paper as a box.
    shapes = ('<sphere radius="0"/>', '<box size="1 2 0"/>', '<capsule radius="1" length="0"/>')
    parts = "".join(f"<collision><geometry>{s}</geometry></collision>" for s in shapes)
    model = load(robot(link("a", parts))).compile()
    np.testing.assert_allclose(model.geom_size[0], [0.001, 0, 0])
    np.testing.assert_allclose(model.geom_size[1], [0.5, 1, 0.0005])
    np.testing.assert_allclose(model.geom_size[2], [1, 0.0005, 0])
    assert "link 'a': collision: a size of 0 of a sphere becomes 0.001 m" in caplog.text
    assert caplog.text.count("becomes 0.001 m") == 3


def test_one_number_scales_a_mesh_in_all_directions(load, tmp_path):
    trimesh.creation.box((2.0, 4.0, 6.0)).export(tmp_path / "part.stl")
    mesh = '<visual><geometry><mesh filename="part.stl" scale="0.5"/></geometry></visual>'
    model = load(robot(link("a", mesh))).compile()
    np.testing.assert_allclose(np.abs(extent(model, 0)[1]), [0.5, 1, 1.5], atol=1e-6)


def test_one_mesh_at_two_scales_is_two_assets_and_at_one_scale_one(load, tmp_path):
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "part.stl")
    shapes = "".join(
        f'<visual><geometry><mesh filename="part.stl" scale="{s} {s} {s}"/></geometry></visual>'
        for s in (1, 2, 1)
    )
    model = load(robot(link("base", SOLID + shapes))).compile()
    assert model.nmesh == 2
    assert [extent(model, geom)[1, 0] for geom in range(3)] == pytest.approx([0.5, 1.0, 0.5])


def test_a_flat_visual_mesh_is_accepted(load, tmp_path):
    sheet = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    sheet.export(tmp_path / "sheet.stl")
    model = load(robot(mesh_link("base", "sheet.stl"))).compile()
    np.testing.assert_allclose(extent(model, 0), [[0, 0, 0], [1, 1, 0]], atol=1e-6)


def test_a_package_is_found_above_the_urdf_or_on_the_ament_path(tmp_path, monkeypatch):
    description = tmp_path / "my_description"
    installed = tmp_path / "prefix" / "share" / "other"
    for folder in (description / "urdf", description / "meshes", installed):
        folder.mkdir(parents=True)
    trimesh.creation.box((1, 1, 1)).export(description / "meshes" / "a part.stl")
    trimesh.creation.box((1, 1, 1)).export(installed / "part.stl")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    path = description / "urdf" / "robot.urdf"
    path.write_text(
        robot(
            mesh_link("base", "package://my_description/meshes/a%20part.stl"),
            mesh_link("arm", "package://other/part.stl"),
            joint("j", "base", "arm"),
        )
    )
    assert import_urdf(path).spec.compile().nmesh == 2


def test_the_meshdir_of_the_mujoco_extension_is_used(load, tmp_path):
    (tmp_path / "shapes").mkdir()
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "shapes" / "part.stl")
    extension = (
        '<mujoco><compiler meshdir="shapes" strippath="true"/><option timestep="0.005"/></mujoco>'
    )
    model = load(robot(extension, mesh_link("base", "part.stl"))).compile()
    assert model.nmesh == 1
    assert model.opt.timestep == 0.005


def test_a_converted_mesh_survives_merging_under_a_prefix(tmp_path):
    off_centre_box().export(tmp_path / "part.ply")
    path = tmp_path / "robot.urdf"
    path.write_text(robot(mesh_link("base", "part.ply")))
    scene = mujoco.MjSpec()
    for prefix in ("a/", "b/"):
        scene.attach(import_urdf(path).spec, prefix=prefix, frame=scene.worldbody.add_frame())
    model = scene.compile()
    for geom in range(2):
        np.testing.assert_allclose(extent(model, geom), OFF_CENTRE, atol=1e-6)


# --- third-party robots


@pytest.mark.parametrize("package", ["scikit-robot", "icub-models"])
def test_third_party_robots_load_with_their_masses_and_link_poses(package, link_transforms):
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing(f"{package} is not installed; requirements/models.txt has it")
    paths = [Path(str(file.locate())).resolve() for file in files if file.suffix == ".urdf"]
    assert paths
    rng = np.random.default_rng(2)
    for path in paths:
        model = import_urdf(path).spec.compile()
        element = ET.parse(path).getroot()
        for mass in element.findall("link/inertial/mass/.."):
            name = next(part.get("name") for part in element if mass in part)
            expected = float(mass.find("mass").get("value"))
            if expected > 0:  # else it may have become part of the next link
                assert model.body(name).mass[0] == pytest.approx(expected), f"{path}: {name}"
        joints = [model.joint(i).name for i in range(model.njnt)]
        assert joints
        positions = {name: float(rng.uniform(-2, 2)) for name in joints}
        data = mujoco.MjData(model)
        for name, position in positions.items():
            data.joint(name).qpos = position
        mujoco.mj_kinematics(model, data)
        links = link_transforms(path.read_text(), positions)
        for body in range(1, model.nbody):
            expected = links[model.body(body).name]
            np.testing.assert_allclose(data.xpos[body], expected[:3, 3], atol=1e-9)
            np.testing.assert_allclose(data.xmat[body].reshape(3, 3), expected[:3, :3], atol=1e-9)


# --- mistakes

_FILE = '<geometry><mesh filename="{}"/></geometry>'
MISTAKES = {
    "an unclosed tag": ("<robot>\n<link name='a'>\n</robot>", "not well-formed XML.*line 3"),
    "an unclosed tag below a late declaration": (
        "\n <?xml version='1.0'?>\n<robot>\n</robo>",
        "not well-formed XML.*line 4",
    ),
    "an empty file": ("", "not well-formed XML"),
    "another format": ("<mujoco/>", "starts with <robot>"),
    "a doctype": ('<!DOCTYPE r [<!ENTITY x SYSTEM "/etc/passwd">]><robot/>', "DOCTYPE"),
    "xacro": (
        robot('<xacro:include filename="x"/>', tail='xmlns:xacro="http://www.ros.org/wiki/xacro"'),
        "expand it with the program 'xacro'",
    ),
    "no link": (robot(), "no link"),
    "a nameless link": (robot("<link/>"), "<link> has no name"),
    "two links of a name": (robot(link("a"), link("a")), "two links are named 'a'"),
    "too many links": (robot(*["<link/>"] * 5001), "too large: 5001 links, limit 5000"),
    "two joints of a name": (
        robot(link("a"), link("b"), link("c"), joint("j", "a", "b"), joint("j", "a", "c")),
        "two joints are named 'j'",
    ),
    "two roots": (robot(link("a"), link("b")), "several links have no parent: a, b"),
    "two parents": (
        robot(link("a"), link("b"), joint("i", "a", "b"), joint("j", "a", "b")),
        "'j'.*'b' is also the child of joint 'i'",
    ),
    "a loop": (
        robot(link("a"), link("b"), link("c"), joint("i", "b", "c"), joint("j", "c", "b")),
        "loop: b, c",
    ),
    "an unknown parent": (
        robot(link("arm"), joint("j", "amr", "arm")),
        "joint 'j': parent link 'amr' not found.*did you mean 'arm'",
    ),
    "an unknown joint type": (
        robot(link("a"), link("b"), joint("j", "a", "b", type="revolving")),
        "type 'revolving' not found",
    ),
    "a zero axis": (
        robot(link("a"), link("b"), joint("j", "a", "b", '<axis xyz="0 0 0"/>')),
        "'j': its axis is zero",
    ),
    "limits the wrong way round": (
        robot(link("a"), link("b"), joint("j", "a", "b", '<limit lower="2" upper="1"/>')),
        "'j': its lower limit 2 exceeds the upper one 1",
    ),
    "a word for a number": (
        robot(link("a"), link("b"), joint("j", "a", "b", '<origin xyz="0 0 zero"/>')),
        "'j': <origin xyz=\"0 0 zero\">: expected 3 numbers",
    ),
    "not a number": (
        robot(link("a", '<inertial><mass value="nan"/></inertial>')),
        "link 'a': <mass value=\"nan\">: expected a number",
    ),
    "no mass value": (
        robot(link("a", "<inertial><mass/></inertial>")),
        "lacks the attribute 'value'",
    ),
    "a negative mass": (
        robot(link("a", '<inertial><mass value="-1"/></inertial>')),
        "link 'a': its mass is negative",
    ),
    "no geometry": (robot(link("a", "<visual/>")), "link 'a': visual: <geometry> is missing"),
    "an unknown shape": (
        robot(link("a", "<visual><geometry><cone/></geometry></visual>")),
        "contains <cone>; known shapes",
    ),
    "a negative size": (
        robot(link("a", '<collision><geometry><box size="1 1 -1"/></geometry></collision>')),
        "sizes of a box must not be negative",
    ),
    "a missing mesh": (
        robot(link("a", f"<visual>{_FILE.format('meshes/none.stl')}</visual>")),
        "link 'a': mesh 'meshes/none.stl' not found; looked for: .*/meshes/none.stl",
    ),
    "a mesh of an unknown package": (
        robot(link("a", f"<visual>{_FILE.format('package://no_such_pkg/x.stl')}</visual>")),
        "link 'a': mesh 'package://no_such_pkg/x.stl': package 'no_such_pkg' not found; searched: ",
    ),
    "a mesh on the web": (
        robot(link("a", f"<visual>{_FILE.format('http://x/y.stl')}</visual>")),
        "scheme 'http' is not supported",
    ),
    "a mimic of nothing": (
        robot(link("a"), link("b"), joint("j", "a", "b", '<mimic joint="k"/>')),
        "mimicked joint 'k' not found",
    ),
    "a mimic of itself": (
        robot(link("a"), link("b"), joint("j", "a", "b", '<mimic joint="j"/>')),
        "mimics itself",
    ),
    "mimics in a circle": (
        robot(
            link("a"), link("b"), link("c"), joint("i", "a", "b", '<mimic joint="j"/>'),
            joint("j", "b", "c", '<mimic joint="i"/>'),
        ),
        "'i': these joints mimic each other in a circle: i, j",
    ),
    "a mimic of a fixed joint": (
        robot(
            link("a"), link("b"), link("c"),
            joint("i", "a", "b", type="fixed"), joint("j", "b", "c", '<mimic joint="i"/>'),
        ),
        "mimics 'i', which is fixed",
    ),
    "a floating joint inside the tree": (
        robot(
            link("a"), link("b"), link("c"),
            joint("i", "a", "b"), joint("j", "b", "c", type="floating"),
        ),
        "'j': a floating joint must leave the root link, 'a'",
    ),
    "world inside the tree": (
        robot(link("a"), link("world"), joint("j", "a", "world", type="fixed")),
        "only the root link may be named 'world'",
    ),
    "an unknown setting in the extension": (
        robot('<mujoco><option timestop="1"/></mujoco>', link("a")),
        "in its <mujoco> extension: .*timestop",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_an_error_is_one_line_that_names_the_file_and_the_cause(load, text, message):
    with pytest.raises(UserInputError, match=f"robot.urdf.*{message}") as caught:
        load(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("broken.stl", struct.pack("<80xI", 1) + bytes(50)),
        ("broken.stl", b"solid nothing\nendsolid\n"),
        ("broken.obj", b"rubbish"),
        ("broken.dae", b"<COLLADA"),
        ("broken.glb", b"rubbish"),
        ("broken.xyzzy", b""),
    ],
)
def test_an_invalid_mesh_is_an_error_that_names_the_file(load, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserInputError, match="broken"):
        load(robot(mesh_link("base", name, tag="collision")))


def gltf(folder: Path) -> Path:
    """Write a glTF file, whose mesh is in further files, and return one of those."""
    for name, content in trimesh.exchange.gltf.export_gltf(off_centre_box().scene()).items():
        (folder / name.replace("model.gltf", "part.gltf")).write_bytes(content)
    return next(folder.glob("*.bin"))


def test_a_gltf_file_is_read_with_its_buffers(load, tmp_path):
    gltf(tmp_path)
    model = load(robot(mesh_link("base", "part.gltf"))).compile()
    np.testing.assert_allclose(extent(model, 0), OFF_CENTRE, atol=1e-6)


@pytest.mark.timeout(60)  # a named pipe without a writer is read forever
def test_files_of_a_gltf_file_are_regular_ones_in_the_folders_of_clients(load, tmp_path):
    buffer = gltf(tmp_path)
    buffer.unlink()
    os.mkfifo(buffer)
    with pytest.raises(UserInputError, match=f"{buffer.name}' is a named pipe; only regular files"):
        load(robot(mesh_link("base", "part.gltf")))
    outside = tmp_path.with_name(f"{tmp_path.name}_outside.bin")
    outside.write_bytes(b"secret")
    description = tmp_path / "part.gltf"
    description.write_text(description.read_text().replace(buffer.name, f"../{outside.name}"))
    text = robot(mesh_link("base", "part.gltf"))
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    with (
        FileAccess(lambda: [tmp_path]).for_client(),
        pytest.raises(UserInputError, match="is not in a folder of which clients may name files"),
    ):
        import_urdf(path)


@pytest.mark.parametrize("suffix", ["zae", "bz2"])
def test_archives_of_meshes_are_not_read(load, tmp_path, suffix):
    (tmp_path / f"part.{suffix}").write_bytes(b"PK")
    with pytest.raises(UserInputError, match=rf"'\.{suffix}' is not one of \.dae, \.glb, \.gltf"):
        load(robot(mesh_link("base", f"part.{suffix}")))


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(UserInputError, match="does not exist"):
        import_urdf(tmp_path / "none.urdf")
