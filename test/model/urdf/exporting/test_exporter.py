import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from mujoco_ros.cli.export_urdf import main
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.urdf.exporting.exporter import export_urdf
from mujoco_ros.model.urdf.importing.importer import import_urdf

DATA = Path(__file__).parents[1] / "data"
SCALAR = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


@pytest.fixture(scope="module")
def tricky() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(DATA / "tricky.xml"))


@pytest.fixture(scope="module")
def urdf(tricky) -> ET.Element:
    return ET.fromstring(export_urdf(tricky, frames=["tool"]))


def load(text: str, folder: Path) -> mujoco.MjModel:
    path = folder / "robot.urdf"
    path.write_text(text)
    return import_urdf(path).spec.compile()


def model_of(body: str, more: str = "") -> mujoco.MjModel:
    """Compile a model from the content of its worldbody."""
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><worldbody>{body}</worldbody>{more}</mujoco>'
    )


MASS = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


def scalar_joints(model: mujoco.MjModel) -> list[str]:
    return [
        model.joint(i).name
        for i in range(model.njnt)
        if mujoco.mjtJoint(model.jnt_type[i]) in SCALAR
    ]


def transforms(
    model: mujoco.MjModel, positions: dict[str, float], root: str
) -> dict[str, np.ndarray]:
    """Return the transform of each body in the frame of the root body."""
    data = mujoco.MjData(model)
    for name, position in positions.items():
        data.joint(name).qpos = position
    mujoco.mj_kinematics(model, data)
    found = {}
    for body in range(model.nbody):
        found[model.body(body).name] = np.eye(4)
        found[model.body(body).name][:3, :3] = data.xmat[body].reshape(3, 3)
        found[model.body(body).name][:3, 3] = data.xpos[body]
    inverse = np.linalg.inv(found[root])
    return {name: inverse @ transform for name, transform in found.items()}


def inertia_in_link_frame(model: mujoco.MjModel, name: str) -> np.ndarray:
    body = model.body(name)
    mat = np.zeros(9)
    mujoco.mju_quat2Mat(mat, body.iquat)
    mat = mat.reshape(3, 3)
    return mat @ np.diag(body.inertia) @ mat.T


def assert_same_robot(
    first: mujoco.MjModel, second: mujoco.MjModel, bodies: list[str], root: str, samples: int = 5
) -> None:
    """Compare masses, inertias, limits, joint axes in the world and forward kinematics."""
    joints = scalar_joints(first)
    assert set(joints) == set(scalar_joints(second))
    for name in bodies:
        a, b = first.body(name), second.body(name)
        assert a.mass[0] == pytest.approx(b.mass[0], rel=1e-6), name
        if a.mass[0]:
            np.testing.assert_allclose(a.ipos, b.ipos, atol=1e-6)
            scale = a.inertia.max()
            np.testing.assert_allclose(
                inertia_in_link_frame(first, name) / scale,
                inertia_in_link_frame(second, name) / scale,
                atol=1e-6,
            )
    for name in joints:
        a, b = first.joint(name), second.joint(name)
        assert first.jnt_type[a.id] == second.jnt_type[b.id]
        assert first.jnt_limited[a.id] == second.jnt_limited[b.id] or abs(b.range[0]) >= 1e9
        if first.jnt_limited[a.id]:
            np.testing.assert_allclose(a.range, b.range, atol=1e-6)
        np.testing.assert_allclose(a.damping, b.damping, rtol=1e-6)
        np.testing.assert_allclose(a.frictionloss, b.frictionloss, rtol=1e-6)
    rng = np.random.default_rng(11)
    for _ in range(samples):
        positions = {name: float(rng.uniform(-2, 2)) for name in joints}
        found = [transforms(model, positions, root) for model in (first, second)]
        for name in bodies:
            np.testing.assert_allclose(found[0][name], found[1][name], atol=1e-6, err_msg=name)
        for name in joints:
            axes = []
            for model in (first, second):
                data = mujoco.MjData(model)
                for joint, position in positions.items():
                    data.joint(joint).qpos = position
                mujoco.mj_kinematics(model, data)
                axes.append(data.xmat[model.body(root).id].reshape(3, 3).T @ data.joint(name).xaxis)
            np.testing.assert_allclose(*axes, atol=1e-6, err_msg=name)


# --- kinematics


def test_links_have_the_poses_of_the_bodies_at_the_same_joint_values(tricky, link_transforms):
    text = export_urdf(tricky)
    names = [tricky.body(i).name for i in range(1, tricky.nbody) if tricky.body(i).name]
    rng = np.random.default_rng(5)
    for _ in range(20):
        positions = {name: float(rng.uniform(-3, 3)) for name in scalar_joints(tricky)}
        expected = transforms(tricky, positions, "base")
        found = link_transforms(text, positions)
        for name in names:
            np.testing.assert_allclose(found[name], expected[name], atol=1e-7, err_msg=name)


def test_a_robot_with_anchors_and_several_joints_a_body_survives_the_round_trip(tricky, tmp_path):
    again = load(export_urdf(tricky), tmp_path)
    bodies = [tricky.body(i).name for i in range(1, tricky.nbody) if tricky.body(i).name]
    assert_same_robot(tricky, again, bodies, "base")


numbers = st.floats(-2, 2, allow_subnormal=False).map(lambda x: round(x, 4))
vectors = st.tuples(numbers, numbers, numbers)
directions = vectors.filter(lambda v: np.linalg.norm(v) > 0.1)
quaternions = st.tuples(numbers, numbers, numbers, numbers).filter(
    lambda q: np.linalg.norm(q) > 0.1
)
joint_elements = st.builds(
    dict,
    type=st.sampled_from(["hinge", "slide"]),
    axis=directions,
    pos=st.one_of(st.just((0, 0, 0)), vectors),
    ref=st.one_of(st.just(0), numbers),
    damping=st.sampled_from([0, 0.5]),
    range=st.sampled_from(["", "-1 2"]),
)
body_elements = st.tuples(
    vectors,
    quaternions,
    st.lists(joint_elements, max_size=3),
    st.integers(0, 100),  # picks the parent
    vectors,
    quaternions,
    st.tuples(*[st.floats(0.01, 1).map(lambda x: round(x, 5))] * 3),
)


def chain(bodies: list) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    added = [spec.worldbody.add_body(name="base", mass=1, inertia=[1, 1, 1])]
    added[0].explicitinertial = True
    for number, (pos, quat, joints, parent, ipos, iquat, halves) in enumerate(bodies):
        body = added[parent % len(added)].add_body(name=f"b{number}", pos=pos, quat=quat)
        a, b, c = (half**2 for half in halves)  # of a solid box, so that the inertia is possible
        body.explicitinertial = True
        body.mass, body.ipos, body.iquat, body.inertia = 1.5, ipos, iquat, [b + c, a + c, a + b]
        for index, values in enumerate(joints):
            joint = body.add_joint(
                name=f"b{number}_j{index}",
                type=getattr(mujoco.mjtJoint, f"mjJNT_{values['type'].upper()}"),
                axis=values["axis"],
                pos=values["pos"],
                ref=values["ref"],
                damping=[values["damping"], 0, 0],
            )
            if values["range"]:
                joint.limited = mujoco.mjtLimited.mjLIMITED_TRUE
                joint.range = [float(word) for word in values["range"].split()]
        added.append(body)
    return spec.compile()


# Two slides along one axis are fine kinematics.
@pytest.mark.filterwarnings("ignore:Inertia matrix is too close to singular")
@settings(max_examples=60)
@given(st.lists(body_elements, min_size=1, max_size=5))
def test_any_tree_of_hinges_and_slides_survives_the_round_trip(tmp_path_factory, bodies):
    model = chain(bodies)
    again = load(export_urdf(model), tmp_path_factory.mktemp("chain"))
    names = [model.body(i).name for i in range(1, model.nbody)]
    assert_same_robot(model, again, names, "base", samples=2)


# --- names and frames


def test_site_frames_of_sensors_and_on_request_are_links(tricky, urdf):
    links = [link.get("name") for link in urdf.findall("link")]
    assert "base_site" in links  # the site 'base' on the body 'base'
    assert "tool" in links
    plain = ET.fromstring(export_urdf(tricky))
    assert "tool" not in [link.get("name") for link in plain.findall("link")]


def test_an_optical_frame_has_z_forward_and_y_down(urdf, link_transforms, tricky):
    # The optical axis is the body's x axis, with z up.
    frame = link_transforms(export_urdf(tricky), {})["eye_optical_frame"]
    np.testing.assert_allclose(frame[:3, 2], [1, 0, 0], atol=1e-8)
    np.testing.assert_allclose(frame[:3, 1], [0, 0, -1], atol=1e-8)
    np.testing.assert_allclose(frame[:3, 3], [0.2, 0, 0.1], atol=1e-8)


def test_bodies_sites_and_cameras_are_links_with_the_names_of_their_frames(tricky, urdf):
    written = {link.get("name") for link in urdf.findall("link")}
    bodies = {tricky.body(body).name for body in range(1, tricky.nbody)} - {""}
    assert {"wrist"} <= bodies <= written
    assert {"base_site", "tool", "eye_optical_frame"} <= written


def test_all_names_of_links_and_joints_differ(urdf):
    for tag in ("link", "joint"):
        names = [element.get("name") for element in urdf.findall(tag)]
        assert len(names) == len(set(names))
        assert all(names)


def test_one_of_two_robots_is_exported_without_its_prefix(tricky):
    scene = mujoco.MjSpec()
    for number, prefix in enumerate(("left/", "right/")):
        part = mujoco.MjSpec.from_file(str(DATA / "tricky.xml"))
        frame = scene.worldbody.add_frame(pos=[0, number, 0])
        scene.attach(part, prefix=prefix, frame=frame)
    model = scene.compile()
    alone = export_urdf(tricky)
    assert export_urdf(model, root="right/base", prefix="right/") == alone
    assert export_urdf(model, prefix="left/") == alone


def test_a_subtree_is_exported_without_the_joint_of_its_root(tricky):
    robot = ET.fromstring(export_urdf(tricky, root="arm"))
    assert robot.find("link").get("name") == "arm"
    joints = [joint.get("name") for joint in robot.findall("joint")]
    assert joints == ["wrist_roll", "wrist_reach", "wrist_yaw", "wrist_fixed", "probe_slide"]


def test_an_unknown_root_frame_or_prefix_is_an_error(tricky):
    with pytest.raises(UserInputError, match="body 'bse' not found"):
        export_urdf(tricky, root="bse")
    with pytest.raises(UserInputError, match="site 'tol' not found"):
        export_urdf(tricky, frames=["tol"])
    with pytest.raises(UserInputError, match="'robot/'"):
        export_urdf(tricky, prefix="robot/")


# --- roots


def test_a_root_body_on_a_hinge_is_a_child_of_a_world_link(link_transforms):
    model = model_of(f'<body name="arm" pos="1 2 3"><joint name="j"/>{MASS}</body>')
    text = export_urdf(model)
    found = link_transforms(text, {"j": 0.7})
    np.testing.assert_allclose(
        found["arm"], transforms(model, {"j": 0.7}, "world")["arm"], atol=1e-8
    )


def test_several_roots_are_children_of_a_world_link_by_fixed_or_floating_joints():
    model = model_of(
        f'<body name="a" pos="1 0 0">{MASS}</body><body name="b"><freejoint name="f"/>{MASS}</body>'
    )
    robot = ET.fromstring(export_urdf(model))
    kinds = {j.find("child").get("link"): j.get("type") for j in robot.findall("joint")}
    assert kinds == {"a": "fixed", "b": "floating"}
    assert {j.find("parent").get("link") for j in robot.findall("joint")} == {"world"}


def test_a_mocap_body_is_a_child_of_the_world_by_a_floating_joint():
    model = mujoco.MjModel.from_xml_string(
        """
        <mujoco>
          <worldbody>
            <body name="arm"><joint name="hinge"/><geom size="0.1"/></body>
            <body name="hand" mocap="true" pos="0 0 1"/>
          </worldbody>
        </mujoco>
        """
    )
    robot = ET.fromstring(export_urdf(model, root=None, name="r"))
    (joint,) = [j for j in robot.findall("joint") if j.find("child").get("link") == "hand"]
    assert (joint.get("type"), joint.find("parent").get("link")) == ("floating", "world")
    assert joint.find("origin") is None


def test_a_ball_joint_is_floating_and_alone_its_value_is_the_pose_of_the_body():
    model = model_of(
        f'<body name="a">{MASS}<body name="b" pos="0 0 1">'
        f'<joint name="ball" type="ball" pos="0 0 .2"/>{MASS}</body></body>'
    )
    (joint,) = ET.fromstring(export_urdf(model)).findall("joint")
    assert (joint.get("name"), joint.get("type")) == ("ball", "floating")
    assert joint.find("origin") is None


def test_a_ball_joint_among_others_is_a_rotation_about_its_anchor(link_transforms):
    model = model_of(
        f'<body name="a">{MASS}<body name="b" pos="0 0 1"><joint name="lift" type="slide"/>'
        f'<joint name="ball" type="ball" pos="0 0 .2"/>{MASS}</body></body>'
    )
    data = mujoco.MjData(model)
    data.qpos[:] = [0.3, *np.array([0.5, 0.5, -0.5, 0.5])]
    mujoco.mj_kinematics(model, data)
    turned = np.eye(4)
    turned[:3, :3] = Pose(quat_wxyz=data.qpos[1:]).matrix
    found = link_transforms(export_urdf(model), {"lift": 0.3, "ball": turned})["b"]
    np.testing.assert_allclose(found[:3, 3], data.body("b").xpos, atol=1e-9)
    np.testing.assert_allclose(found[:3, :3], data.body("b").xmat.reshape(3, 3), atol=1e-9)


# --- joints


def joint_of(urdf: ET.Element, name: str) -> ET.Element:
    (found,) = [joint for joint in urdf.findall("joint") if joint.get("name") == name]
    return found


def test_an_effort_limit_is_the_sum_of_those_of_the_actuators(urdf):
    efforts = {
        name: float(joint_of(urdf, name).find("limit").get("effort"))
        for name in ("shoulder", "finger", "wrist_roll", "wrist_yaw", "probe_slide")
    }
    # gear 50 · |-2|, gear 2 · 7, 4 + 3, a motor without limit, no actuator
    assert efforts == {
        "shoulder": 100, "finger": 14, "wrist_roll": 7, "wrist_yaw": 0, "probe_slide": 0
    }  # fmt: skip


def test_the_force_range_of_the_joint_limits_the_effort():
    model = model_of(
        f'<body name="a">{MASS}<body name="b">{MASS}<joint name="j" actuatorfrcrange="-5 5"/>'
        "</body></body>",
        '<actuator><motor joint="j" gear="50" ctrllimited="true" ctrlrange="-1 1"/></actuator>',
    )
    assert joint_of(ET.fromstring(export_urdf(model)), "j").find("limit").get("effort") == "5"


def test_velocity_damping_and_friction_are_written(urdf):
    shoulder = joint_of(urdf, "shoulder")
    assert shoulder.find("limit").get("velocity") == "3"
    assert shoulder.find("dynamics").attrib == {"damping": "0.2", "friction": "0.03"}


def test_every_revolute_and_prismatic_joint_has_all_limit_attributes(urdf):
    # urdfdom refuses the file otherwise.
    for joint in urdf.findall("joint"):
        if joint.get("type") in ("revolute", "prismatic"):
            assert {"lower", "upper", "effort", "velocity"} == set(joint.find("limit").keys())


def test_a_linear_coupling_becomes_a_mimic_of_the_actuated_joint(tricky, urdf):
    assert joint_of(urdf, "finger").find("mimic") is None
    mimic = joint_of(urdf, "thumb").find("mimic")
    assert mimic.get("joint") == "finger"
    multiplier, offset = float(mimic.get("multiplier")), float(mimic.get("offset"))
    # In the engine, with references: finger - 0.02 = 0.01 + 0.5 (thumb - 0.3)
    for finger in (0.0, 0.05):
        thumb = (finger - 0.02 - 0.01) / 0.5 + 0.3
        assert multiplier * finger + offset == pytest.approx(thumb)


def test_a_nonlinear_coupling_is_omitted(urdf):
    assert joint_of(urdf, "shoulder").find("mimic") is None


def test_a_mimic_survives_the_round_trip(tricky, tmp_path):
    again = load(export_urdf(tricky), tmp_path)
    assert again.neq == 1
    equality = again.equality(0)
    assert equality.name == "thumb_mimic"
    data = mujoco.MjData(again)
    data.joint("finger").qpos, data.joint("thumb").qpos = 0.03, 0.3
    mujoco.mj_forward(again, data)
    (row,) = np.flatnonzero(data.efc_type[: data.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    assert data.efc_pos[row] == pytest.approx(0, abs=1e-9)


# --- shapes


def test_visuals_are_visible_geoms_and_collisions_are_colliding_geoms(urdf):
    (base,) = [link for link in urdf.findall("link") if link.get("name") == "base"]
    assert [visual.get("name") for visual in base.findall("visual")] == ["shell"]
    named = [element.get("name") for element in base.findall("collision") if element.get("name")]
    assert named == ["shell", "bumper"]


def test_a_capsule_is_a_cylinder_with_a_ball_at_each_end(tricky, urdf):
    (base,) = [link for link in urdf.findall("link") if link.get("name") == "base"]
    cylinder, *balls = base.findall("collision")[1:]
    assert cylinder.find("geometry/cylinder").attrib == {"radius": "0.05", "length": "0.4"}
    ends = [[float(x) for x in ball.find("origin").get("xyz").split()] for ball in balls]
    axis = np.array([0, -np.sin(0.4), np.cos(0.4)])
    np.testing.assert_allclose(ends, [0.2 * axis, -0.2 * axis], atol=1e-8)


def test_the_material_gives_the_colour_unless_the_geom_has_its_own(urdf):
    (material,) = urdf.findall("material")
    assert material.get("name") == "blue"
    assert material.find("color").get("rgba") == "0.1 0.2 0.8 1"


def test_shapes_unknown_to_urdf_are_omitted_with_a_warning(tricky, caplog):
    text = export_urdf(tricky)
    assert "egg" in caplog.text
    assert "egg" not in text


@pytest.fixture
def with_mesh(tmp_path) -> Path:
    """A model with one mesh far from its own centre, tilted, scaled and mirrored."""
    (tmp_path / "meshes").mkdir()
    mesh = trimesh.creation.cone(radius=0.1, height=0.3)
    mesh.apply_transform(trimesh.transformations.euler_matrix(0.3, 0.5, 0.7))
    mesh.apply_translation((0.4, 0.5, 0.6))
    mesh.export(tmp_path / "meshes" / "horn.stl")
    path = tmp_path / "horned.xml"
    path.write_text(
        '<mujoco model="horned"><compiler meshdir="meshes" angle="radian"/>'
        '<asset><mesh name="horn" file="horn.stl" scale="1 -2 0.5"/></asset>'
        '<worldbody><body name="head" pos="1 1 1"><geom type="mesh" mesh="horn" pos=".1 .2 .3"'
        ' euler=".4 .5 .6" contype="0" conaffinity="0"/></body></worldbody></mujoco>'
    )
    return path


def test_a_mesh_has_the_pose_of_mujoco(with_mesh, link_transforms):
    model = mujoco.MjModel.from_xml_path(str(with_mesh))
    robot = ET.fromstring(export_urdf(model))
    mesh = robot.find("link/visual/geometry/mesh")
    file = with_mesh.parent / "meshes" / "horn.stl"
    assert mesh.get("filename") == file.as_uri()
    # The URDF's own meaning: scale the file's points, then place them.
    points = trimesh.load_mesh(file).vertices * [float(x) for x in mesh.get("scale").split()]
    visual = robot.find("link/visual/origin")
    np.testing.assert_allclose(
        [float(x) for x in visual.get("xyz").split()], [0.1, 0.2, 0.3], atol=1e-7
    )
    chain = (
        '<robot><link name="a"/><link name="b"/><joint type="fixed"><parent link="a"/>'
        f'<child link="b"/>{ET.tostring(visual, encoding="unicode")}</joint></robot>'
    )
    pose = link_transforms(chain, {})["b"]
    drawn = points @ pose[:3, :3].T + pose[:3, 3] + [1, 1, 1]
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    inside = model.mesh_vert @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
    for point in inside:
        assert np.linalg.norm(drawn - point, axis=1).min() < 1e-6


def test_a_mesh_without_a_file_is_omitted_with_a_warning(caplog):
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><asset><mesh name="inline" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody>'
        '<body name="a"><geom name="tetra" type="mesh" mesh="inline"/></body></worldbody></mujoco>'
    )
    assert "<mesh" not in export_urdf(model)
    assert "tetra" in caplog.text


# --- the text


def test_the_text_is_reproducible(tricky):
    again = mujoco.MjModel.from_xml_path(str(DATA / "tricky.xml"))
    assert export_urdf(tricky) == export_urdf(again)


def test_special_characters_in_names_are_escaped(tmp_path):
    model = model_of(f'<body name="a&lt;b&quot;">{MASS}</body>')
    assert load(export_urdf(model, name="r&d"), tmp_path).body('a<b"').mass[0] == 1


# --- the command line


def test_the_command_writes_the_file_with_the_requested_mesh_uris(with_mesh, tmp_path):
    output = tmp_path / "out.urdf"
    assert main([str(with_mesh), "-o", str(output), "--mesh-uri", "package://p/meshes/"]) == 0
    robot = ET.parse(output).getroot()
    assert robot.get("name") == "horned"
    assert robot.find("link/visual/geometry/mesh").get("filename") == "package://p/meshes/horn.stl"


def test_the_command_writes_meshes_for_shapes_unknown_to_urdf(tmp_path):
    output, meshes = tmp_path / "out.urdf", tmp_path / "meshes"
    arguments = ["-o", str(output), "--mesh-folder", str(meshes), "--mesh-uri", "package://p/m"]
    assert main([str(DATA / "tricky.xml"), *arguments]) == 0
    (file,) = meshes.iterdir()
    found = {mesh.get("filename") for mesh in ET.parse(output).iter("mesh")}
    assert found == {f"package://p/m/{file.name}"}


def test_the_command_writes_to_standard_output_by_default(capsys):
    assert main([str(DATA / "tricky.xml"), "--name", "x", "--frame", "tool"]) == 0
    robot = ET.fromstring(capsys.readouterr().out)
    assert robot.get("name") == "x"
    assert "tool" in [link.get("name") for link in robot.findall("link")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.xml"], "none.xml' does not exist"),
        (["arm"], "'arm' is a scene; give the model of a robot: "),
        ([str(DATA / "two_boxes.dae")], "two_boxes.dae"),
        ([str(DATA / "tricky.xml"), "--root", "bse"], "body 'bse' not found"),
        ([str(DATA / "tricky.xml"), "-o", "/no/such/folder/x.urdf"], "/no/such/folder"),
    ],
)
def test_an_invalid_command_line_is_one_line_and_exit_code_1(capsys, arguments, message):
    assert main(arguments) == 1
    reason = capsys.readouterr().err
    assert reason.startswith("mujoco_ros: error: ")
    assert reason.count("\n") == 1
    assert message in reason
