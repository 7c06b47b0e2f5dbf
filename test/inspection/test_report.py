"""The report of a model, against mechanics and against the topics of the simulator."""

import math

import numpy as np
import pytest

from mujoco_ros.bridge.publishing.topics import robot_topics
from mujoco_ros.inspection.report import inspect
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene, shipped_scenes

MASS, LENGTH, ARMATURE, DAMPING = 2.0, 0.5, 0.03, 0.4
TIP_MASS = 1000 * 4 / 3 * math.pi * 0.05**3
G = 9.81


def robot_of(reference):
    report, _ = inspect(str(reference), {})
    (robot,) = report.robots
    return report, robot


def test_gains_bandwidth_and_sag_are_those_of_a_pendulum(pendulum):
    report, robot = robot_of(pendulum)
    swing = robot.joints[0]
    tip = TIP_MASS * (LENGTH**2 + 0.4 * 0.05**2)
    inertia = MASS * LENGTH**2 + 1e-3 + ARMATURE + tip
    assert swing.inertia == pytest.approx(inertia, rel=1e-6)
    assert swing.bandwidth == pytest.approx(math.sqrt(swing.kp / inertia) / (2 * math.pi))
    expected = (swing.kd + DAMPING) / (2 * math.sqrt(swing.kp * inertia))
    assert swing.damping_ratio == pytest.approx(expected)
    assert swing.sag == pytest.approx((MASS + TIP_MASS) * G * LENGTH / swing.kp, rel=1e-6)
    assert swing.drift == pytest.approx(swing.sag, rel=1e-2)
    assert swing.speed < 1e-6
    assert report.seconds == pytest.approx(2.0)
    assert (swing.limits, swing.effort_limit, swing.drive) == ((-2, 2), 40, "pd")
    assert robot.joints[1].limits is None


def test_a_motor_that_cannot_carry_the_weight_is_weak(pendulum):
    weak = pendulum.with_name("weak.urdf")
    weak.write_text(pendulum.read_text().replace('effort="40"', 'effort="12"'))
    assert MASS * G * LENGTH < 12 < (MASS + TIP_MASS) * G * LENGTH
    assert [joint.is_weak for joint in robot_of(pendulum)[1].joints] == [False, False]
    report, robot = robot_of(weak)
    assert [joint.is_weak for joint in robot.joints] == [True, False]
    assert any("more than these motors can hold" in message for message in report.messages)


def test_gains_of_a_servo_and_of_a_tendon_actuator_are_found_in_the_model(tmp_path):
    path = tmp_path / "servos.xml"
    path.write_text(
        """<mujoco><option integrator="implicitfast"/><worldbody>
             <body><joint name="servo" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
               <body pos=".6 0 0"><joint name="pulled" axis="0 1 0"/>
                 <geom size=".05" pos=".2 0 0"/></body></body></worldbody>
           <tendon><fixed name="cord"><joint joint="pulled" coef=".5"/></fixed></tendon>
           <actuator><position joint="servo" kp="2000" kv="200" forcerange="-500 500"/>
             <position name="winch" tendon="cord" kp="4000" kv="80"/></actuator></mujoco>"""
    )
    _, robot = robot_of(path)
    servo, pulled = robot.joints
    assert (servo.kp, servo.kd) == (pytest.approx(2000), pytest.approx(200))
    assert (pulled.kp, pulled.kd) == (pytest.approx(1000), pytest.approx(20))
    assert (servo.drive, pulled.drive) == ("position", "tendon or other")
    assert servo.drift == pytest.approx(servo.sag, rel=0.05)
    assert pulled.drift == pytest.approx(pulled.sag, rel=0.05)
    joint, winch = robot.actuators
    assert (joint.command, joint.unit) == ("joint: position", "rad")
    assert (winch.name, winch.target) == ("winch", "tendon cord")
    assert winch.command == "/actuator_commands, by its name"
    names = {command.name: command.joints for command in robot.commands}
    assert names["/actuator_commands"] == names["/actuator_controller/commands"] == ("winch",)
    assert names["/joint_commands"] == ("servo",)


def test_every_sensor_is_listed_with_its_topic_and_message(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(
        """<mujoco model="arm"><worldbody><body name="link"><joint name="hinge"/>
             <geom size=".1"/><site name="tip"/></body></worldbody>
           <actuator><motor name="m" joint="hinge"/></actuator>
           <sensor><framepos name="where" objtype="site" objname="tip"/>
             <actuatorfrc name="load" actuator="m"/><user name="own" dim="2"/></sensor></mujoco>"""
    )
    _, robot = robot_of(path)
    assert [(it.name, it.kind, it.topic, it.message) for it in robot.sensors] == [
        ("where", "framepos", "/pose/where", "geometry_msgs/msg/PoseStamped"),
        ("load", "actuatorfrc", "/sensor_states", "control_msgs/msg/DynamicJointState"),
        ("own", "user", "/sensor_array/own", "std_msgs/msg/Float64MultiArray"),
    ]


def test_masses_name_their_origin(pendulum):
    _, robot = robot_of(pendulum)
    links = {link.name: link for link in robot.links}
    assert (links["stand"].model, links["stand"].file, links["stand"].remark) == (5, 5, "")
    assert links["tip"].file is None
    assert links["tip"].model == pytest.approx(TIP_MASS)
    assert links["tip"].remark == "from the solid collision shapes"
    assert robot.mass == pytest.approx(5 + MASS + TIP_MASS)
    assert robot.file_mass == pytest.approx(5 + MASS)


def test_an_mjcf_with_masses_of_shapes_has_no_other_total(tmp_path):
    body = '<body name="{}" pos="{} 0 0"><joint name="{}"/>{}<geom size=".1" mass="2"/></body>'
    inertial = '<inertial mass="3" pos="0 0 0" diaginertia="1 1 1"/>'
    path = tmp_path / "two.xml"
    for more, total in (("", None), (inertial, 6)):
        bodies = body.format("a", 0, "i", inertial) + body.format("b", 1, "j", more)
        path.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
        _, robot = robot_of(path)
        assert robot.mass == pytest.approx(6 if total else 5)
        assert robot.file_mass == total


def test_a_mass_that_differs_from_the_file_is_marked(tmp_path):
    path = tmp_path / "bounded.xml"
    path.write_text(
        """<mujoco><compiler boundmass="1"/><worldbody><body name="light"><joint/>
             <inertial mass=".5" pos="0 0 0" diaginertia=".01 .01 .01"/></body>
             <body name="shaped"><joint/><geom size=".1" mass="2"/></body></worldbody></mujoco>"""
    )
    _, robot = robot_of(path)
    found = [(link.model, link.file, link.remark) for link in robot.links]
    assert found == [(1, 0.5, "differs"), (2, None, "from the shapes")]


def test_elements_that_the_import_does_not_read_are_counted(pendulum):
    _, robot = robot_of(pendulum)
    assert robot.ignored["unheard_of"] == 1


def test_overlaps_have_the_depth_of_the_shapes_and_whether_they_collide(tmp_path):
    balls = "".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>'
        '</inertial><collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
        for name in ("left", "right")
    )
    joints = "".join(
        f'<joint name="{name}_joint" type="revolute"><parent link="base"/><child link="{name}"/>'
        f'<origin xyz="{x} 0 0"/><limit lower="-1" upper="1" effort="9" velocity="1"/></joint>'
        for name, x in (("left", 0), ("right", 0.17))
    )
    path = tmp_path / "balls.urdf"
    path.write_text(f'<robot name="balls"><link name="base"/>{balls}{joints}</robot>')
    report, _ = inspect(str(path), {})
    (overlap,) = report.overlaps
    assert (overlap.first, overlap.second, overlap.excluded) == ("left", "right", True)
    assert overlap.depth == pytest.approx(0.03)
    scene = tmp_path / "scene.yaml"
    scene.write_text("robots: [{name: it, model: balls.urdf, self_collision: all}]")
    report, _ = inspect(str(scene), {})
    assert [overlap.excluded for overlap in report.overlaps] == [False]


@pytest.mark.parametrize("scene", shipped_scenes())
def test_sensors_have_the_topics_that_the_simulator_publishes(scene):
    report, plant = inspect(scene, {})
    layout = lay_out(plant.assembly)
    for index, (robot, own) in enumerate(zip(layout.robots, report.robots, strict=True)):
        topics = {
            f"/{topic.name}": type(topic.message).__name__
            for topic in robot_topics(index, robot, 0, "child_on_parent")
        }
        cameras = [it.topic for it in own.sensors if "/camera/" in it.topic]
        assert all(topic.endswith("/image_raw") for topic in cameras)
        lidars = [it for it in own.sensors if "/lidar/" in it.topic]
        for lidar in lidars:
            kind = {"scan": "LaserScan", "points": "PointCloud2"}[lidar.topic.rpartition("/")[2]]
            assert lidar.message == f"sensor_msgs/msg/{kind}"
        sensors = [it for it in own.sensors if it.topic not in cameras and it not in lidars]
        for sensor in sensors:
            assert topics[sensor.topic] == sensor.message.rpartition("/")[2]
        assert len(sensors) == len(robot.every_sensor)


def test_the_drift_of_a_floating_base_is_that_of_its_fall(tmp_path):
    path = tmp_path / "falling.xml"
    path.write_text(
        """<mujoco><worldbody><body><freejoint/><geom size=".1"/>
             <body pos="0 0 .3"><joint/><geom size=".1"/></body></body></worldbody></mujoco>"""
    )
    report, robot = robot_of(path)
    assert robot.base == "floating"
    assert report.base_drift == pytest.approx(0.5 * G * report.seconds**2, rel=1e-2)
    assert report.base_speed == pytest.approx(G * report.seconds, rel=1e-2)
    assert all(joint.sag is None for joint in robot.joints)


def test_a_model_stays_as_the_scene_describes_it(pendulum):
    _, plant = inspect(str(pendulum), {})
    fresh = assemble(load_scene(str(pendulum))).model
    assert np.array_equal(plant.data.qpos, fresh.qpos0)
    assert plant.data.xpos.any()


def test_arguments_need_a_xacro_file(pendulum, tmp_path):
    xacro = tmp_path / "arm.urdf.xacro"
    text = pendulum.read_text().replace("<robot", "<robot xmlns:xacro='http://ros.org/wiki/xacro'")
    text = text.replace("<gazebo/>", "<xacro:arg name='heavy' default='2'/>")
    xacro.write_text(text.replace('mass value="2.0"', "mass value='$(arg heavy)'"))
    report, _ = inspect(f"{xacro} heavy:=3", {})
    assert report.robots[0].file_mass == pytest.approx(5 + 3)
    with pytest.raises(UserInputError, match="no xacro file"):
        inspect(f"{pendulum} heavy:=3", {})
