"""Mecanum and omni wheels move a robot in every direction, by rollers that follow the rim."""

from dataclasses import replace
from math import cos, hypot, pi, sin
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import SceneConfig, load_scene
from mujoco_ros.ros2_control.drive.kinematics import RollingWheels, Twist, Wheel
from mujoco_ros.sim.simulation import Simulation

RADIUS = 0.08
INERTIA = "<inertia ixx='{0}' iyy='{0}' izz='{0}' ixy='0' ixz='0' iyz='0'/>"
CORNERS = ((0.2, 0.2), (0.2, -0.2), (-0.2, -0.2), (-0.2, 0.2))
STAR = tuple((0.25 * cos(2 * pi * i / 3), 0.25 * sin(2 * pi * i / 3)) for i in range(3))


def urdf(places: tuple[tuple[float, float], ...], *, turned: bool) -> str:
    """Return a robot with wheels at places; the axles of `turned` ones meet in its middle."""
    parts = [
        f"<link name='base'><inertial><mass value='10'/>{INERTIA.format(0.3)}</inertial>"
        "<collision><geometry><box size='0.3 0.3 0.05'/></geometry></collision></link>"
    ]
    for index, (x, y) in enumerate(places):
        axle = f"{x} {y} 0" if turned else "0 1 0"
        yaw = np.arctan2(y, x) - pi / 2 if turned else 0.0
        wheel, inertia = f"w{index}", INERTIA.format(0.0016)
        parts.append(
            f"<link name='{wheel}'><inertial><mass value='0.5'/>{inertia}</inertial>"
            f"<collision><origin rpy='{pi / 2} 0 {yaw}'/><geometry>"
            f"<cylinder radius='{RADIUS}' length='0.05'/></geometry></collision></link>"
            f"<joint name='j{index}' type='continuous'><parent link='base'/><child link='{wheel}'/>"
            f"<origin xyz='{x} {y} 0'/><axis xyz='{axle}'/></joint>"
        )
    return f"<robot name='robot'>{''.join(parts)}</robot>"


def scene(tmp_path: Path, text: str, **options: str) -> SceneConfig:
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    config = load_scene(str(path))
    robots = (replace(config.robots[0], **options),)
    world = "package://mujoco_ros/urdf_mjcf/worlds/ground.xml"
    return replace(config, robots=robots, world=world, merged=True)


MECANUM = {"drive": "omnidirectional"}


@pytest.mark.parametrize(
    ("places", "options", "wanted"),
    [
        (CORNERS, MECANUM, Twist(0.0, 0.4, 0.0)),
        (CORNERS, MECANUM, Twist(0.4, 0.0, 0.0)),
        (CORNERS, MECANUM, Twist(0.0, 0.0, 0.8)),
        (STAR, {}, Twist(0.0, 0.3, 0.0)),
        (STAR, {}, Twist(0.2, 0.0, 0.5)),
    ],
)
def test_the_robot_moves_as_its_wheels_say(
    tmp_path: Path, places: tuple[tuple[float, float], ...], options: dict[str, str], wanted: Twist
) -> None:
    text = urdf(places, turned=places is STAR)
    simulation = Simulation(scene(tmp_path, text, **options))
    (robot,) = simulation.layout.robots
    drive = robot.drive
    assert drive is not None
    wheels = [
        Wheel(
            position=wheel.position[:2], radius=wheel.radius, direction=wheel.direction, grip=grip
        )
        for wheel, grip in zip(drive.wheels, drive.grips, strict=True)
    ]
    speeds, _ = RollingWheels(wheels).command(wanted, ())
    columns = [robot.joints.names.index(wheel.joint) for wheel in drive.wheels]
    simulation.references.dq[columns] = speeds
    assert simulation.advance(700)
    first, twist = robot.bases[0].dof, np.zeros(3)
    for _ in range(30):
        assert simulation.advance(10)
        x, y, _, _, _, turn = simulation.data.qvel[first : first + 6]
        w, _, _, z = simulation.data.qpos[robot.bases[0].qpos + 3 :][:4]
        heading = 2.0 * np.arctan2(z, w)
        ahead, left = cos(heading) * x + sin(heading) * y, cos(heading) * y - sin(heading) * x
        twist += np.array([ahead, left, turn]) / 30
    error = twist - np.array(wanted)
    size = hypot(wanted.x, wanted.y) + 0.3 * abs(wanted.turn)
    assert hypot(error[0], error[1]) + 0.3 * abs(error[2]) < 0.05 * size


def test_rollers_are_no_joints_of_the_robot_and_follow_the_rim(tmp_path: Path) -> None:
    assembly = assemble(scene(tmp_path, urdf(CORNERS, turned=False), **MECANUM))
    (robot,) = lay_out(assembly).robots
    assert robot.joints.names == ("j0", "j1", "j2", "j3")
    assert assembly.model.njnt == 1 + 4 + 4 * 12
    assert [wheel.radius for wheel in robot.wheels.wheels] == pytest.approx([RADIUS] * 4, rel=0.005)
    angles = [wheel.roller_angle for wheel in robot.wheels.wheels]
    assert [abs(angle) for angle in angles if angle] == pytest.approx([pi / 4] * 4)
    model = assembly.model
    shapes = [
        g for g in range(model.ngeom) if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_ELLIPSOID
    ]
    assert sum(bool(model.geom_contype[g]) for g in shapes) == 4 * 12
