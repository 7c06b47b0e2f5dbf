"""Wheels of a URDF roll: castors and springs have no motors, and the base stands on the wheels."""

from dataclasses import replace
from pathlib import Path

import mujoco
import pytest

from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene

INERTIAL = (
    "<inertial><mass value='{mass}'/><inertia ixx='0.01' iyy='0.01' izz='0.01' ixy='0' ixz='0' "
    "iyz='0'/></inertial>"
)
CYLINDER = "<geometry><cylinder radius='0.1' length='0.04'/></geometry>"
ACROSS = "<origin xyz='0 0 0' rpy='1.5707963 0 0'/>"


def link(name: str, shape: str = "", mass: float = 1.0) -> str:
    collision = f"<collision>{shape}</collision>" if shape else ""
    return f"<link name='{name}'>{INERTIAL.format(mass=mass)}{collision}</link>"


def joint(name: str, kind: str, parent: str, child: str, xyz: str, axis: str = "0 1 0") -> str:
    limit = "<limit lower='-0.02' upper='0.02' effort='0' velocity='0'/>"
    return (
        f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>"
        f"<origin xyz='{xyz}'/><axis xyz='{axis}'/>{limit if kind == 'prismatic' else ''}</joint>"
    )


WHEEL = ACROSS + CYLINDER
BOX = "<geometry><box size='0.5 0.3 0.1'/></geometry>"
BALL = "<geometry><sphere radius='0.05'/></geometry>"
ROBOT = "".join(
    [
        link("base_link", BOX, 5.0),
        link("strut"),
        link("left", WHEEL),
        link("right", WHEEL),
        link("ball", BALL, 0.1),
        joint("spring", "prismatic", "base_link", "strut", "0 0.2 0", "0 0 1"),
        joint("left_wheel_joint", "continuous", "strut", "left", "0 0 0"),
        joint("right_wheel_joint", "continuous", "base_link", "right", "0 -0.2 0"),
        joint("ball_joint", "fixed", "base_link", "ball", "-0.2 0 -0.05"),
    ]
)
DECLARED = (
    "<ros2_control name='r' type='system'>"
    "<joint name='left_wheel_joint'><command_interface name='velocity'/></joint>"
    "<joint name='right_wheel_joint'><command_interface name='velocity'/></joint>"
    "<joint name='spring'><command_interface name='position'/></joint></ros2_control>"
)


def load(tmp_path: Path, *parts: str, **options: str) -> Assembly:
    path = tmp_path / "robot.urdf"
    path.write_text(f"<robot name='robot'>{''.join(parts)}</robot>")
    scene = load_scene(str(path))
    return assemble(replace(scene, robots=(replace(scene.robots[0], **options),)))


def actuators(model: mujoco.MjModel) -> list[str]:
    return [model.actuator(index).name for index in range(model.nactuator)]


def test_wheels_follow_velocities_and_springs_have_no_motors(tmp_path: Path) -> None:
    assembly = load(tmp_path, ROBOT)
    assert actuators(assembly.model) == ["left_wheel_joint", "right_wheel_joint"]
    (robot,) = lay_out(assembly).robots
    assert robot.drive is not None
    assert robot.drive.parameters["wheel_separation"] == pytest.approx(0.4)
    for name in actuators(assembly.model):
        actuator = assembly.model.actuator(name)
        assert actuator.biasprm[1] == 0.0 > actuator.biasprm[2] == -actuator.gainprm[0]


SWIVEL = "".join(
    [
        link("fork", mass=0.1),
        link("rear", WHEEL),
        joint("fork_joint", "continuous", "base_link", "fork", "-0.3 0 0", "0 0 1"),
        joint("rear_joint", "continuous", "fork", "rear", "-0.02 0 0"),
    ]
)


def test_a_castor_that_swivels_has_no_motors_unless_they_are_declared(tmp_path: Path) -> None:
    wheels = ["left_wheel_joint", "right_wheel_joint"]
    assert actuators(load(tmp_path, ROBOT, SWIVEL).model) == wheels
    steered = DECLARED.replace(
        "</ros2", "<joint name='fork_joint'><command_interface name='position'/></joint></ros2"
    )
    assert "fork_joint" in actuators(load(tmp_path, ROBOT, SWIVEL, steered).model)


def test_declared_drives_are_kept(tmp_path: Path) -> None:
    assembly = load(tmp_path, ROBOT, DECLARED)
    assert actuators(assembly.model) == ["spring", "left_wheel_joint", "right_wheel_joint"]


def test_a_fixed_base_is_held_and_has_no_drive(tmp_path: Path) -> None:
    assembly = load(tmp_path, ROBOT, base="fixed")
    (robot,) = lay_out(assembly).robots
    assert not robot.bases
    assert (robot.drive, robot.no_drive) == (None, "its base is fixed")


def geom(model: mujoco.MjModel, link: str) -> int:
    return int(model.body_geomadr[model.body(link).id])


def test_tyres_touch_the_ground_at_one_point_and_castors_slide(tmp_path: Path) -> None:
    model = load(tmp_path, ROBOT).model
    wheel, ball = geom(model, "left"), geom(model, "ball")
    assert model.geom_type[wheel] == mujoco.mjtGeom.mjGEOM_ELLIPSOID
    assert model.geom_size[wheel] == pytest.approx([0.1, 0.1, 0.02])
    assert (model.geom_condim[wheel], model.geom_condim[ball]) == (3, 1)
    assert model.geom_priority[wheel] == model.geom_priority[ball] == 1


def test_a_base_that_drags_is_named_with_its_depth(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    low = link("skid", "<geometry><box size='0.1 0.1 0.04'/></geometry>", 0.1)
    load(tmp_path, ROBOT, low, joint("skid_joint", "fixed", "base_link", "skid", "0.2 0 -0.09"))
    assert "slide on it without friction: skid (10 mm deep)" in caplog.text


PLANAR = "<gazebo><plugin name='p' filename='libgazebo_ros_planar_move.so'/></gazebo>"


def test_a_robot_with_a_plugin_that_moves_it_everywhere_has_mecanum_wheels(tmp_path: Path) -> None:
    corners = (
        ("fl", "0.2 0.2 0"),
        ("fr", "0.2 -0.2 0"),
        ("rl", "-0.2 0.2 0"),
        ("rr", "-0.2 -0.2 0"),
    )
    parts = [link("base_link", BOX, 5.0)]
    parts += [link(name, WHEEL) for name, _ in corners]
    parts += [joint(f"{n}_joint", "continuous", "base_link", n, xyz) for n, xyz in corners]
    (skid,) = lay_out(load(tmp_path, *parts)).robots
    (robot,) = lay_out(load(tmp_path, *parts, PLANAR)).robots
    assert skid.drive is not None
    assert robot.drive is not None
    assert skid.drive.type.startswith("diff_drive")
    assert robot.drive.type.startswith("mecanum")


def test_wheels_that_skid_have_soft_tyres(tmp_path: Path) -> None:
    places = ("0.2 0.2 0", "0.2 -0.2 0", "-0.2 0.2 0", "-0.2 -0.2 0")
    parts = [link("base_link", BOX, 5.0)]
    parts += [link(f"w{i}", WHEEL) for i in range(4)]
    parts += [
        joint(f"j{i}", "continuous", "base_link", f"w{i}", xyz) for i, xyz in enumerate(places)
    ]
    model = load(tmp_path, *parts).model
    assert model.geom_solimp[geom(model, "w0"), 0] == 0.5


SPRING = (
    "<gazebo reference='spring'><springStiffness>450</springStiffness>"
    "<springReference>0.03</springReference></gazebo>"
)


def test_springs_of_gazebo_are_read(tmp_path: Path) -> None:
    model = load(tmp_path, ROBOT, SPRING).model
    spring = model.joint("spring")
    assert spring.stiffness.flat[0] == 450.0
    assert model.qpos_spring[spring.qposadr[0]] == pytest.approx(0.03)


def test_a_planar_joint_drives_its_link(tmp_path: Path) -> None:
    planar = joint("floor_joint", "planar", "floor", "base_link", "0 0 0.1", "0 0 1")
    parts = ("<link name='floor'/>", link("base_link", BOX, 5.0), planar)
    (robot,) = lay_out(load(tmp_path, *parts)).robots
    assert robot.drive is not None
    assert robot.drive.type == "mujoco_ros/PlanarDriveController"
    assert robot.drive.parameters["planar_joint"] == "floor_joint"
    frames = [robot.drive.parameters[f"{kind}_frame_id"] for kind in ("odom", "base")]
    assert frames == ["floor", "base_link"]
    (robot,) = lay_out(load(tmp_path, *parts, drive="none")).robots
    assert robot.drive is None
