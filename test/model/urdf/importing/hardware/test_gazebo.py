"""<gazebo> elements of a URDF."""

import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.rendering.lidar import Scanner

STANDARD_GRAVITY = 9.81


def on(reference: str, content: str) -> str:
    """Return the elements of a link or joint."""
    return f'<gazebo reference="{reference}">{content}</gazebo>'


def sensor(kind: str, content: str = "", name: str = "eye") -> str:
    """Return a sensor."""
    return f'<sensor name="{name}" type="{kind}"><always_on>1</always_on>{content}</sensor>'


def at_rest(model: mujoco.MjModel, *positions: float) -> mujoco.MjData:
    """Return the state of the joints at rest, with their sensors."""
    data = mujoco.MjData(model)
    data.qpos[:] = positions
    mujoco.mj_inverse(model, data)  # without acceleration
    mujoco.mj_sensorAcc(model, data)
    mujoco.mj_sensorPos(model, data)
    return data


def unused(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the entries of the warning of elements without effect."""
    found = [it.partition("without effect: ")[2] for it in caplog.messages if "effect" in it]
    return found[0].split(", ") if found else []


IMU = """
  <pose>0.1 0 0 1.57079632679 0 0</pose>
  <imu><angular_velocity><x><noise type="gaussian"><stddev>0.002</stddev></noise></x>
  </angular_velocity></imu>
"""
OLD_NOISE = """
  <imu><noise><type>gaussian</type><rate><stddev>0.002</stddev><mean>0</mean></rate>
  <accel><stddev>0.03</stddev></accel></noise></imu>
"""


def test_an_imu_reads_gravity_in_its_pose(assembled, caplog):
    found = assembled(on("base", sensor("imu", IMU)))
    data = at_rest(found.model, 0, 0)
    expected = [0, STANDARD_GRAVITY, 0]  # its y axis is up
    assert data.sensor("eye_accelerometer").data.tolist() == pytest.approx(expected, abs=1e-9)
    half = math.sqrt(0.5)
    assert data.sensor("eye_framequat").data.tolist() == pytest.approx([half, half, 0, 0])
    assert found.model.site("eye").pos.tolist() == [0.1, 0, 0]
    assert found.model.sensor("eye_gyro").noise[0] == 0.002
    assert [it.name for it in lay_out(found).robots[0].sensors["imu"]] == ["eye"]
    assert unused(caplog) == []


def test_both_formats_of_noise_are_read(assembled, caplog):
    model = assembled(on("base", sensor("imu", OLD_NOISE))).model
    noise = [model.sensor(f"eye_{it}").noise[0] for it in ("gyro", "accelerometer", "framequat")]
    assert noise == [0.002, 0.03, 0.0]
    assert unused(caplog) == []


@pytest.mark.parametrize(("frame", "axis"), [("child", 0), ("parent", 2)])
def test_a_force_torque_sensor_reads_the_load_of_its_joint(assembled, frame, axis):
    # The child's x axis is down, with the wheel's weight 0.1 m along it.
    content = f"<force_torque><frame>{frame}</frame></force_torque>"
    found = assembled(on("spin", sensor("force_torque", content, "load")))
    data = at_rest(found.model, 0, 0)
    expected = np.zeros(3)
    expected[axis] = 3 * STANDARD_GRAVITY * (-1 if frame == "child" else 1)
    assert data.sensor("load_force").data.tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    assert data.sensor("load_torque").data.tolist() == pytest.approx([0, 0, 0], abs=1e-6)
    assert [it.name for it in lay_out(found).robots[0].sensors["wrench"]] == ["load"]


def test_a_contact_sensor_reads_the_weight_on_its_link(assembled_in):
    content = "<contact><collision>box</collision></contact>"
    floor = '<geom type="plane" size="5 5 1"/>'
    found = assembled_in(floor, on("wheel", sensor("contact", content, "foot")), z=0.0)
    model, data = found.model, mujoco.MjData(found.model)
    assert model.site("r/foot").size.tolist() == pytest.approx([0.105, 0.205, 0.305])
    assert model.site("r/foot").pos.tolist() == pytest.approx([0, 0, 0.1])
    mujoco.mj_step(model, data, 3000)
    # Without commands, all above the lift stands on the box.
    assert data.sensor("r/foot").data[0] == pytest.approx(4 * STANDARD_GRAVITY, rel=1e-3)
    assert [it.name for it in lay_out(found).robots[0].sensors["contact"]] == ["foot"]


CAMERA = """
  <update_rate>12</update_rate><pose>0.1 0 0.2 0 0 1.57079632679</pose>
  <camera><horizontal_fov>1.2</horizontal_fov>
    <image><width>640</width><height>400</height></image>
    <noise><type>gaussian</type><mean>0</mean><stddev>0.02</stddev></noise></camera>
"""


@pytest.mark.parametrize("kind", ["camera", "depth", "depth_camera", "rgbd_camera"])
def test_a_camera_has_the_resolution_and_the_field_of_view(assembled, caplog, kind):
    found = assembled(on("base", sensor(kind, CAMERA)))
    (camera,) = lay_out(found).robots[0].cameras
    assert (camera.name, camera.width, camera.height, camera.rate) == ("eye", 640, 400, 12.0)
    focal = 640 / 2 / math.tan(1.2 / 2)
    optics = camera.intrinsics
    assert (optics.fx, optics.fy) == pytest.approx((focal, focal), rel=1e-6)
    assert (optics.cx, optics.cy) == pytest.approx((319.5, 199.5))
    data = at_rest(found.model, 0, 0)
    view = -data.cam_xmat[0].reshape(3, 3)[:, 2]
    assert view.tolist() == pytest.approx([0, 1, 0], abs=1e-9)
    assert data.cam_xpos[0].tolist() == pytest.approx([0.1, 0, 0.2])
    is_depth = kind.startswith("depth")
    assert camera.noise.colour == pytest.approx(0.0 if is_depth else 0.02 * 255)
    assert unused(caplog) == (["gazebo/sensor/camera/noise (1)"] if is_depth else [])


def test_defaults_are_those_of_gazebo(assembled):
    found = assembled(on("base", sensor("camera", "<camera/>") + sensor("ray", "<ray/>", "scan")))
    (camera,), (lidar,) = lay_out(found).robots[0].cameras, lay_out(found).robots[0].lidars
    assert (camera.width, camera.height, camera.rate) == (320, 240, 30.0)
    assert 2 * math.atan(160 / camera.intrinsics.fx) == pytest.approx(1.047)
    assert (lidar.columns, lidar.rows) == (360, 1)


def test_settings_of_the_scene_precede(assembled):
    keys = "cameras: [{name: eye, rate: 5, resolution: [320, 200]}]"
    found = assembled(on("base", sensor("camera", CAMERA)), keys)
    (camera,) = lay_out(found).robots[0].cameras
    assert (camera.width, camera.rate) == (320, 5.0)
    assert camera.intrinsics.fx == pytest.approx(160 / math.tan(0.6), rel=1e-6)


LIDAR = """
  <update_rate>7</update_rate><pose>0 0 0.3 0 0 0</pose>
  <{0}><scan><horizontal><samples>181</samples><resolution>1</resolution>
    <min_angle>-1.57079632679</min_angle><max_angle>1.57079632679</max_angle></horizontal></scan>
  <range><min>0.1</min><max>12</max></range>
  <noise><type>gaussian</type><mean>0</mean><stddev>0</stddev></noise></{0}>
"""


@pytest.mark.parametrize(
    ("kind", "tag"),
    [("ray", "ray"), ("gpu_ray", "ray"), ("lidar", "lidar"), ("gpu_lidar", "lidar")],
)
def test_a_lidar_measures_the_distance_to_a_wall(assembled_in, caplog, kind, tag):
    wall = '<geom type="box" size="0.1 20 20" pos="2.1 0 0"/>'
    found = assembled_in(wall, on("base", sensor(kind, LIDAR.format(tag))), z=1.0)
    (lidar,) = lay_out(found).robots[0].lidars
    ranges = Scanner(found.model, lidar).cast(at_rest(found.model, 0, 0)).ravel()
    assert (lidar.name, lidar.config.rate, len(ranges)) == ("eye", 7.0, 181)
    expected = 2.0 / np.cos(np.linspace(-math.pi / 2, math.pi / 2, 181))
    expected[expected > 12] = np.inf
    np.testing.assert_allclose(ranges, expected, rtol=1e-6)
    assert unused(caplog) == []


@pytest.mark.parametrize(
    ("topic", "expected"),
    [("/scan", "robot/scan"), ("front/scan", "robot/front/scan"), ("a b", "robot/lidar/eye/scan")],
)
def test_a_lidar_has_the_topic_of_its_element(assembled, topic, expected):
    content = f"<topic>{topic}</topic>{LIDAR.format('ray')}"
    found = assembled(on("base", sensor("ray", content)))
    (lidar,) = lay_out(found).robots[0].lidars
    assert replace(lidar, namespace="robot").topic == expected
    assert lidar.source == "lidar/eye"


def test_of_lidars_with_the_same_topic_the_first_has_it(assembled, caplog):
    content = f"<topic>scan</topic>{LIDAR.format('ray')}"
    two = sensor("ray", content) + sensor("ray", content).replace("eye", "rear")
    lidars = lay_out(assembled(on("base", two))).robots[0].lidars
    assert [lidar.topic for lidar in lidars] == ["scan", "lidar/rear/scan"]
    assert any("topic" in entry for entry in unused(caplog))


def test_a_whole_turn_with_rounding_errors_and_several_rows_is_a_lidar(assembled):
    content = (
        LIDAR.format("ray")
        .replace("1.57079632679", "3.1416")
        .replace(
            "</horizontal>",
            "</horizontal><vertical><samples>4</samples><min_angle>-0.2</min_angle>"
            "<max_angle>0.2</max_angle></vertical>",
        )
    )
    found = assembled(on("base", sensor("ray", content.replace("<max>12<", "<max>inf<"))))
    (lidar,) = lay_out(found).robots[0].lidars
    assert (lidar.rows, lidar.columns, lidar.config.range.max) == (4, 181, 1e4)
    assert lidar.config.horizontal.last < math.pi


def test_sensors_of_the_same_name_begin_with_their_links(assembled):
    elements = "".join(on(link, sensor("camera", CAMERA)) for link in ("base", "wheel"))
    elements += "".join(on(link, sensor("imu", name="imu")) for link in ("base", "wheel"))
    robot = lay_out(assembled(elements)).robots[0]
    assert [it.name for it in robot.cameras] == ["eye", "wheel_eye"]
    assert [it.name for it in robot.sensors["imu"]] == ["imu", "wheel_imu"]


def test_a_sensor_that_ros2_control_reads_is_one_sensor(assembled, caplog):
    names = ("eye", "base_sensor")  # of the same name, and on the same link
    states = '<state_interface name="angular_velocity.x"/>'
    blocks = "".join(f'<sensor name="{name}">{states}</sensor>' for name in names)
    control = f'<ros2_control name="c" type="system">{blocks}</ros2_control>'
    robot = lay_out(assembled(on("base", sensor("imu")) + control)).robots[0]
    assert [it.name for it in robot.sensors["imu"]] == ["eye"]
    assert unused(caplog) == []


@pytest.mark.parametrize(
    ("element", "entry"),
    [
        (on("base", sensor("sonar")), "sensor eye sonar: no sensor of this type is simulated"),
        (on("base", sensor("ray")), "sensor eye ray: it has no <ray> or <lidar>"),
        (
            on("base", sensor("camera", CAMERA.replace("1.2<", "3.5<"))),
            "sensor eye camera: a horizontal_fov of 3.5 rad has no image plane",
        ),
        (
            on("tip", sensor("contact")),
            "sensor eye contact: the link 'tip' has no collision shape",
        ),
    ],
)
def test_an_impossible_sensor_is_named_with_the_reason(assembled, caplog, element, entry):
    model = assembled(element).model
    assert (model.nsensor, model.ncam) == (0, 0)
    assert unused(caplog) == [f"gazebo/{entry} (1)"]


@pytest.mark.parametrize(("friction", "expected", "priority"), [(0.3, 0.3, 1), (5, 1.0, 0)])
def test_the_smaller_friction_counts(assembled, friction, expected, priority):
    text = f"<mu1>{friction}</mu1><mu2>{friction}</mu2>"
    model = assembled(on("wheel", text)).model
    assert model.geom("box").friction[0] == expected
    assert model.geom("box").priority[0] == priority
    assert model.geom("ball").friction[0] == 1.0


def test_a_plugin_that_drives_wheels_makes_them_velocity_servos(assembled, caplog):
    plugin = '<plugin name="d" filename="libgazebo_ros_diff_drive.so">{}</plugin>'
    content = "<left_joint>spin</left_joint><wheel_separation>1</wheel_separation>"
    model = assembled(f"<gazebo>{plugin.format(content)}</gazebo>").model
    assert model.actuator("spin").biasprm[2] < 0
    assert unused(caplog) == ["gazebo/plugin/wheel_separation (1)"]


def test_a_plugin_of_an_imu_a_force_torque_sensor_or_a_mimic_is_read(assembled):
    elements = """<gazebo>
      <plugin name="imu" filename="libhector_gazebo_ros_imu.so"><bodyName>base</bodyName></plugin>
      <plugin name="ft" filename="libgazebo_ros_ft_sensor.so"><jointName>fixed</jointName></plugin>
      <plugin name="m" filename="libroboticsgroup_gazebo_mimic_joint_plugin.so">
        <joint>lift</joint><mimicJoint>spin</mimicJoint><multiplier>-1</multiplier></plugin>
    </gazebo>"""
    found = assembled(elements)
    sensors = lay_out(found).robots[0].sensors
    assert [it.name for key in ("imu", "wrench") for it in sensors[key]] == ["imu", "ft"]
    assert found.model.equality("spin_mimic").data[:2].tolist() == [0.0, -1.0]


def test_elements_without_effect_are_counted_in_one_warning(assembled, caplog):
    elements = on("base", "<material>Gazebo/Red</material><kp>1</kp><kd>2</kd>") + on(
        "wheel", "<material>Gazebo/Red</material><selfCollide>1</selfCollide>"
    )
    elements += on("spin", "<implicitSpringDamper>1</implicitSpringDamper>") + on("no", "<mu1/>")
    elements += '<gazebo><plugin name="p" filename="libgazebo_ros_p3d.so"><x/></plugin></gazebo>'
    elements += '<gazebo><plugin name="c" filename="libgazebo_ros2_control.so"/></gazebo>'
    assembled(elements)
    assert unused(caplog) == [
        "gazebo/material (2)",
        "gazebo/kp (1)",
        "gazebo/kd (1)",
        "gazebo/selfCollide (1)",
        "gazebo/implicitSpringDamper (1)",
        "gazebo: the robot has no link or joint 'no' (1)",
        "gazebo/plugin p libgazebo_ros_p3d.so (1)",
    ]


def test_sensors_of_one_name_on_different_links_keep_apart(assembled):
    """Gazebo wants unique names on each link only."""
    camera = sensor("camera", "<camera></camera>", name="sensor")
    elements = (
        on("base", sensor("imu", name="sensor"))
        + on("upper", sensor("ray", "<ray></ray>", name="sensor") + camera)
        + on("wheel", camera + camera)
    )
    (robot,) = lay_out(assembled(elements)).robots
    assert [it.name for it in robot.lidars] == ["sensor"]
    assert [it.name for it in robot.sensors["imu"]] == ["base_sensor"]
    assert len({it.name for it in robot.cameras}) == len(robot.cameras) == 3


def test_a_camera_and_a_lidar_on_a_massless_link_within_a_joint_are_left_out(assembled, caplog):
    chain = """
    <link name="between"/><link name="end"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="first" type="continuous"><parent link="wheel"/><child link="between"/></joint>
    <joint name="second" type="continuous"><parent link="between"/><child link="end"/>
      <axis xyz="0 1 0"/></joint>"""
    elements = sensor("camera", "<camera></camera>", name="left") + sensor(
        "ray", "<ray></ray>", name="right"
    )
    (robot,) = lay_out(assembled(chain + on("between", elements))).robots
    assert (robot.cameras, robot.lidars) == ((), ())
    assert "part of a joint are left out: left, right" in caplog.text
