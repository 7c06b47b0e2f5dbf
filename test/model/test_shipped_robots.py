"""URDF and MJCF of each shipped robot agree."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.cli.export_urdf import main
from mujoco_ros.model.urdf.importing.importer import import_urdf

ROBOTS = Path(__file__).resolve().parents[2] / "urdf_mjcf"
SHIPPED = ("arm", "humanoid", "quadruped", "rover")

SCALAR = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


@pytest.fixture(scope="module", params=SHIPPED)
def folder(request) -> Path:
    return ROBOTS / request.param


@pytest.fixture(scope="module")
def mjcf(folder) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(folder / f"{folder.name}.xml"))


@pytest.fixture(scope="module")
def urdf(folder) -> mujoco.MjModel:
    return import_urdf(folder / f"{folder.name}.urdf").spec.compile()


@pytest.fixture(scope="module")
def joints(mjcf) -> list[str]:
    return [
        mjcf.joint(i).name for i in range(mjcf.njnt) if mujoco.mjtJoint(mjcf.jnt_type[i]) in SCALAR
    ]


def bodies(model: mujoco.MjModel) -> list[str]:
    return [model.body(i).name for i in range(1, model.nbody)]


def at(model: mujoco.MjModel, positions: dict[str, float]) -> mujoco.MjData:
    data = mujoco.MjData(model)
    for name, position in positions.items():
        data.joint(name).qpos = position
    mujoco.mj_kinematics(model, data)
    return data


def seen_from(data: mujoco.MjData, root: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation into the root body's frame and the origin of that frame."""
    return data.body(root).xmat.reshape(3, 3).T, data.body(root).xpos


def test_every_robot_that_has_both_files_is_tested_here():
    found = {
        path.parent.name for path in ROBOTS.glob("*/*.urdf") if path.with_suffix(".xml").is_file()
    }
    assert found == set(SHIPPED)


def test_the_shipped_urdf_equals_the_output_of_the_exporter(folder, tmp_path):
    output = tmp_path / "robot.urdf"
    uri = f"package://mujoco_ros/urdf_mjcf/{folder.name}/meshes"
    model = folder / f"{folder.name}.xml"
    assert main([str(model), "-o", str(output), "--mesh-uri", uri]) == 0
    assert output.read_text() == (folder / f"{folder.name}.urdf").read_text(), (
        "regenerate it with mujoco_ros.cli.export_urdf, see its --help"
    )


def test_every_body_of_the_mjcf_is_a_link(mjcf, urdf):
    assert set(bodies(mjcf)) <= set(bodies(urdf))


def test_the_joints_are_the_same(joints, urdf):
    assert [urdf.joint(i).name for i in range(urdf.njnt)] == joints


def test_masses_centres_and_inertias_agree(mjcf, urdf):
    assert urdf.body_mass.sum() == pytest.approx(mjcf.body_mass.sum(), rel=1e-6)
    for name in bodies(mjcf):
        tensors = []
        for body in (mjcf.body(name), urdf.body(name)):
            flat = np.zeros(9)
            mujoco.mju_quat2Mat(flat, body.iquat)
            frame = flat.reshape(3, 3)
            tensors.append(frame @ np.diag(body.inertia) @ frame.T)
        assert urdf.body(name).mass[0] == pytest.approx(mjcf.body(name).mass[0], rel=1e-6)
        np.testing.assert_allclose(urdf.body(name).ipos, mjcf.body(name).ipos, atol=1e-6)
        np.testing.assert_allclose(
            tensors[1], tensors[0], atol=1e-6 * tensors[0].max(), err_msg=name
        )


def test_limits_of_position_velocity_and_effort_agree(mjcf, urdf, joints):
    motors = {urdf.actuator(i).name: urdf.actuator(i) for i in range(urdf.nu)}
    for name in joints:
        here, there = mjcf.joint(name), urdf.joint(name)
        assert mjcf.jnt_limited[here.id] == urdf.jnt_limited[there.id]
        np.testing.assert_allclose(there.range, here.range, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(there.user, here.user, atol=1e-6, err_msg=name)
        assert there.user[0] > 0, f"{name} has no velocity limit"
    for index in range(mjcf.nu):
        actuator = mjcf.actuator(index)
        name = mjcf.joint(actuator.trnid[0]).name
        if actuator.forcelimited[0]:
            effort = np.abs(actuator.forcerange).max() * actuator.gear[0]
        else:
            effort = np.abs(actuator.ctrlrange).max() * actuator.gear[0]
        motor = motors[name]  # wheels have servos of velocities, whose force is limited
        limit = motor.forcerange[1] if motor.forcelimited[0] else motor.ctrlrange[1]
        assert limit == pytest.approx(effort, rel=1e-6), name


def test_links_and_joint_axes_have_the_poses_of_the_mjcf(mjcf, urdf, joints):
    rng = np.random.default_rng(17)
    root = mjcf.body(1).name
    for _ in range(20):
        positions = {name: float(rng.uniform(-2, 2)) for name in joints}
        here, there = at(mjcf, positions), at(urdf, positions)
        (turn_here, origin_here), (turn_there, origin_there) = (
            seen_from(data, root) for data in (here, there)
        )
        for name in bodies(mjcf):
            np.testing.assert_allclose(
                turn_there @ (there.body(name).xpos - origin_there),
                turn_here @ (here.body(name).xpos - origin_here),
                atol=1e-6,
                err_msg=name,
            )
            np.testing.assert_allclose(
                turn_there @ there.body(name).xmat.reshape(3, 3),
                turn_here @ here.body(name).xmat.reshape(3, 3),
                atol=1e-6,
                err_msg=name,
            )
        for name in joints:
            np.testing.assert_allclose(
                turn_there @ there.joint(name).xaxis,
                turn_here @ here.joint(name).xaxis,
                atol=1e-6,
                err_msg=name,
            )


def test_sensor_sites_and_cameras_are_frames_of_the_urdf(mjcf, urdf):
    here, there = at(mjcf, {}), at(urdf, {})
    root = mjcf.body(1).name
    (turn_here, origin_here), (turn_there, origin_there) = (
        seen_from(data, root) for data in (here, there)
    )
    sites = {
        int(mjcf.sensor_objid[i])
        for i in range(mjcf.nsensor)
        if mjcf.sensor_objtype[i] == mujoco.mjtObj.mjOBJ_SITE
    }
    assert sites
    for site in sites:
        name = mjcf.site(site).name
        np.testing.assert_allclose(
            turn_there @ (there.body(name).xpos - origin_there),
            turn_here @ (here.site_xpos[site] - origin_here),
            atol=1e-6,
        )
    for camera in range(mjcf.ncam):
        name = f"{mjcf.camera(camera).name}_optical_frame"
        optical_axis = -here_camera_axes(mjcf, camera)[:, 2]
        np.testing.assert_allclose(
            turn_there @ there.body(name).xmat.reshape(3, 3)[:, 2],
            turn_here @ optical_axis,
            atol=1e-6,
        )


def here_camera_axes(model: mujoco.MjModel, camera: int) -> np.ndarray:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return data.cam_xmat[camera].reshape(3, 3)
