from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout, lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene, read_scene

DATA = Path(__file__).parents[1] / "data"
GEOM = '<geom size="0.1"/>'


@pytest.fixture
def bare(tmp_path: Path):
    """Lay out a bare model given as the content of its worldbody and the elements after it."""

    def builder(body: str, tail: str = "") -> tuple[mujoco.MjModel, ModelLayout]:
        path = tmp_path / "bare.xml"
        path.write_text(f"<mujoco><worldbody>{body}</worldbody>{tail}</mujoco>")
        assembly = assemble(load_scene(str(path)))
        return assembly.model, lay_out(assembly)

    return builder


@pytest.fixture
def scene(tmp_path: Path):
    """Lay out a scene given as text; other models given by name and worldbody."""

    def builder(text: str, **models: str) -> tuple[mujoco.MjModel, ModelLayout]:
        for name, body in models.items():
            (tmp_path / f"{name}.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
        path = tmp_path / "my.yaml"
        path.write_text(text)
        assembly = assemble(read_scene(path))
        return assembly.model, lay_out(assembly)

    return builder


def on_site(*sensors: str, tail: str = "") -> tuple[str, str]:
    """A moving body with a site `s`, and the sensors on it."""
    body = f'<body name="b"><joint name="j"/>{GEOM}<site name="s"/><site name="other"/></body>'
    return body, f"<sensor>{''.join(sensors)}</sensor>{tail}"


GYRO = '<gyro name="w" site="s"/>'
ACCELEROMETER = '<accelerometer name="a" site="s"/>'
ORIENTATION = '<framequat name="o" objtype="site" objname="s"/>'
FORCE = '<force name="f" site="s"/>'
TORQUE = '<torque name="t" site="s"/>'


def only_robot(layout: ModelLayout) -> RobotLayout:
    (robot,) = layout.robots
    return robot


# --- joints


def test_joints_are_scalar_and_in_model_order_with_their_addresses(bare):
    model, layout = bare(
        f"""
        <body name="base"><freejoint name="root"/>{GEOM}
          <body name="z"><joint name="z" type="slide"/>{GEOM}
            <body name="neck"><joint name="neck" type="ball"/>{GEOM}
              <body name="eye"><joint name="eye"/>{GEOM}</body></body></body>
          <body name="a"><joint name="a"/><joint name="a2" axis="1 0 0"/>{GEOM}</body>
        </body>
        """
    )
    joints = only_robot(layout).joints
    assert joints.names == ("z", "eye", "a", "a2")
    np.testing.assert_array_equal(joints.ids, [1, 3, 4, 5])
    np.testing.assert_array_equal(joints.qpos, model.jnt_qposadr[joints.ids])
    np.testing.assert_array_equal(joints.qpos, [7, 12, 13, 14])
    np.testing.assert_array_equal(joints.dof, [6, 10, 11, 12])


def test_every_robot_of_a_scene_has_its_own_joints_without_the_prefix(scene):
    pendulum = DATA / "scene_pendulum.xml"
    model, layout = scene(
        f"robots: [{{name: a, model: {pendulum}}}, {{name: b, model: {pendulum}}}]"
    )
    for robot, name in zip(layout.robots, "ab", strict=True):
        assert (robot.prefix, robot.namespace, robot.frame_prefix) == (f"{name}/", name, f"{name}/")
        assert robot.joints.names == ("shoulder", "elbow")
        assert [model.joint(i).name for i in robot.joints.ids] == [
            f"{name}/shoulder",
            f"{name}/elbow",
        ]
        assert [model.body(b).name for b in robot.roots] == [f"{name}/base"]
        assert robot.frame(f"{name}/lower") == f"{name}/lower"
        assert [imu.name for imu in robot.sensors["imu"]] == ["upper_imu"]
        assert [camera.name for camera in robot.cameras] == ["eye"]
        assert [state.name for state in robot.states] == ["shoulder_position"]
        assert robot.unused_sensors == ()
    first, second = (
        robot.sensors["imu"][0].addresses["angular_velocity"] for robot in layout.robots
    )
    assert (first, second) == (0, model.nsensordata // 2)


def test_a_robots_gripper_is_one_of_its_joints(scene):
    pendulum = DATA / "scene_pendulum.xml"
    text = f"robots: [{{name: a, model: {pendulum}, gripper: %s}}, {{name: b, model: {pendulum}}}]"
    _, layout = scene(text % "elbow")
    assert [robot.gripper for robot in layout.robots] == [1, None]
    with pytest.raises(UserInputError, match=r"gripper of robot 'a': .* 'elbo' .* 'elbow'"):
        scene(text % "elbo")


def test_the_only_robot_of_a_scene_has_neither_namespace_nor_frame_prefix(scene):
    _, layout = scene(f"robots: [{{name: a, model: {DATA / 'scene_pendulum.xml'}}}]")
    robot = only_robot(layout)
    assert (robot.prefix, robot.namespace, robot.frame_prefix) == ("a/", "", "")
    assert robot.frame("a/lower") == "lower"


# --- sensors


def test_gyro_accelerometer_and_orientation_on_one_site_are_an_imu(bare):
    model, layout = bare(*on_site(ORIENTATION, ACCELEROMETER, GYRO))
    robot = only_robot(layout)
    (imu,) = robot.sensors["imu"]
    assert (imu.name, imu.frame.name, imu.site) == ("s", "s", model.site("s").id)
    assert imu.addresses["quat_wxyz"] == model.sensor("o").adr[0]
    assert imu.addresses["linear_acceleration"] == model.sensor("a").adr[0]
    assert imu.addresses["angular_velocity"] == model.sensor("w").adr[0]
    assert robot.unused_sensors == ()


@pytest.mark.parametrize(
    ("sensors", "present"),
    [
        ((GYRO, ACCELEROMETER), {"angular_velocity", "linear_acceleration"}),
        ((GYRO,), {"angular_velocity"}),
        ((ACCELEROMETER,), {"linear_acceleration"}),
        ((ACCELEROMETER, ORIENTATION), {"linear_acceleration", "quat_wxyz"}),
    ],
)
def test_an_imu_can_lack_some_of_its_sensors(bare, sensors, present):
    _, layout = bare(*on_site(*sensors))
    (imu,) = only_robot(layout).sensors["imu"]
    assert imu.addresses.keys() == present


def test_an_orientation_alone_is_a_pose_and_not_an_imu(bare):
    robot = only_robot(bare(*on_site(ORIENTATION))[1])
    assert robot.sensors["imu"] == ()
    (pose,) = robot.sensors["pose"]
    assert (pose.name, pose.addresses.keys()) == ("o", {"quat_wxyz"})
    assert all(np.isnan(pose.constants[f"pose.position.{axis}"]) for axis in "xyz")


def test_an_orientation_relative_to_another_frame_is_not_that_of_an_imu(bare):
    relative = '<framequat name="r" objtype="site" objname="s" reftype="site" refname="other"/>'
    robot = only_robot(bare(*on_site(GYRO, relative))[1])
    assert "quat_wxyz" not in robot.sensors["imu"][0].addresses
    (pose,) = robot.sensors["pose"]
    assert (pose.name, pose.frame.name) == ("r", "other")


def test_the_orientation_of_a_body_is_not_that_of_a_site_with_the_same_number(bare):
    of_body = '<framequat name="q" objtype="body" objname="b"/>'
    robot = only_robot(bare(*on_site(GYRO, of_body))[1])
    assert "quat_wxyz" not in robot.sensors["imu"][0].addresses
    assert [pose.name for pose in robot.sensors["pose"]] == ["q"]


def test_the_second_of_two_sensors_of_a_kind_on_a_site_has_its_own_name(bare):
    model, layout = bare(*on_site('<gyro name="first" site="s"/>', '<gyro name="again" site="s"/>'))
    robot = only_robot(layout)
    found = [(imu.name, imu.addresses["angular_velocity"]) for imu in robot.sensors["imu"]]
    assert found == [("s", model.sensor("first").adr[0]), ("again", model.sensor("again").adr[0])]
    assert robot.unused_sensors == ()


def test_force_and_torque_on_one_site_are_a_force_torque_sensor(bare):
    model, layout = bare(*on_site(TORQUE, FORCE))
    (sensor,) = only_robot(layout).sensors["wrench"]
    assert (sensor.name, sensor.site) == ("s", model.site("s").id)
    assert sensor.addresses["force"] == model.sensor("f").adr[0]
    assert sensor.addresses["torque"] == model.sensor("t").adr[0]


@pytest.mark.parametrize(
    "sensors", [(FORCE,), (TORQUE,), (FORCE, '<torque name="t" site="other"/>')]
)
def test_a_force_torque_sensor_can_lack_one_of_them(bare, sensors):
    robot = only_robot(bare(*on_site(*sensors))[1])
    assert len(robot.sensors["wrench"]) == len(sensors)
    for sensor in robot.sensors["wrench"]:
        assert len(sensor.addresses) == 1
        assert np.isnan(list(sensor.constants.values())).all()
    assert robot.unused_sensors == ()


def test_touch_sensors_have_their_own_names_and_can_share_a_site(bare):
    model, layout = bare(*on_site('<touch name="l" site="s"/>', '<touch name="r" site="s"/>'))
    touches = only_robot(layout).sensors["contact"]
    assert [(t.name, t.frame.name, t.addresses["force"]) for t in touches] == [
        ("l", "s", model.sensor("l").adr[0]),
        ("r", "s", model.sensor("r").adr[0]),
    ]


def test_several_sites_are_several_sensors_in_the_order_of_the_sites(bare):
    sensors = [
        f'<{kind} site="{site}"/>' for site in ("other", "s") for kind in ("gyro", "accelerometer")
    ]
    robot = only_robot(bare(*on_site(*sensors))[1])
    assert [imu.name for imu in robot.sensors["imu"]] == ["s", "other"]


def test_a_bare_model_owns_the_sensors_and_cameras_on_the_world(bare):
    _, layout = bare(
        f'<body><joint/>{GEOM}</body><site name="post"/><camera name="overview"/>',
        '<sensor><gyro site="post"/><accelerometer site="post"/></sensor>',
    )
    robot = only_robot(layout)
    assert [imu.name for imu in robot.sensors["imu"]] == ["post"]
    assert [(camera.name, camera.body) for camera in robot.cameras] == [("overview", 0)]


def test_the_frame_of_a_site_differs_from_that_of_a_body_with_its_name(bare):
    _, layout = bare(
        f'<body name="hand"><joint/>{GEOM}<site name="hand"/></body>',
        '<sensor><force site="hand"/><torque site="hand"/></sensor>',
    )
    (sensor,) = only_robot(layout).sensors["wrench"]
    assert (sensor.name, sensor.frame.name) == ("hand", "hand_site")


# --- bases and free objects


def test_the_base_of_a_robot_is_the_free_body_that_carries_joints(bare):
    _, layout = bare(
        f"""
        <body name="ball"><freejoint/>{GEOM}</body>
        <body name="trunk"><freejoint name="root"/>{GEOM}
          <body name="leg"><joint name="hip"/>{GEOM}</body></body>
        """
    )
    (base,) = only_robot(layout).bases
    assert only_robot(layout).base is base
    assert (base.name, base.body, base.joint) == ("trunk", 2, 1)
    assert (base.qpos, base.dof) == (7, 6)
    assert [(frame, b.body) for frame, b in layout.free_objects] == [("ball", 1)]


def test_several_articulated_free_bodies_are_several_bases(bare):
    trunk = (
        '<body name="{0}"><freejoint/>'
        + GEOM
        + '<body name="{0}_leg"><joint/>'
        + GEOM
        + "</body></body>"
    )
    _, layout = bare(trunk.format("one") + trunk.format("two"))
    assert [base.name for base in only_robot(layout).bases] == ["one", "two"]
    assert only_robot(layout).base is None, "none of them is meant"
    assert layout.free_objects == ()


def test_the_base_of_a_robot_of_one_free_body_is_that_body(bare):
    _, layout = bare(f'<body name="drone"><freejoint/>{GEOM}</body>')
    assert [base.name for base in only_robot(layout).bases] == ["drone"]
    assert layout.free_objects == ()


def test_a_fixed_robot_beside_a_free_body_has_no_base(bare):
    _, layout = bare(
        f'<body name="arm"><joint name="j"/>{GEOM}</body><body name="cup"><freejoint/>{GEOM}</body>'
    )
    assert only_robot(layout).bases == ()
    assert [frame for frame, _ in layout.free_objects] == ["cup"]


def test_the_frame_of_a_free_object_is_its_name_in_the_scene(scene):
    _, layout = scene(
        f"""
        robots: [{{name: a, model: {DATA / "scene_pendulum.xml"}}}]
        objects: [{{name: cup, model: cup.xml}}, {{name: dice, model: dice.xml}}]
        """,
        cup=f'<body name="body"><freejoint/>{GEOM}</body>',
        dice=f'<body name="x"><freejoint/>{GEOM}</body><body name="y"><freejoint/>{GEOM}</body>',
    )
    assert [frame for frame, _ in layout.free_objects] == ["cup", "dice/x", "dice/y"]


def test_a_free_body_in_the_model_of_a_robot_keeps_its_name(scene):
    ball = f'<body name="ball"><freejoint/>{GEOM}</body>'
    models = {"juggler": f'<body name="arm"><joint/>{GEOM}</body>{ball}'}
    _, alone = scene("robots: [{name: j, model: juggler.xml}]", **models)
    assert [frame for frame, _ in alone.free_objects] == ["ball"]
    _, two = scene(
        "robots: [{name: j, model: juggler.xml}, {name: k, model: juggler.xml}]", **models
    )
    assert [frame for frame, _ in two.free_objects] == ["j/ball", "k/ball"]


def test_a_free_body_of_the_world_keeps_its_name(scene):
    _, layout = scene(
        f"world: w.xml\nrobots: [{{name: a, model: {DATA / 'scene_pendulum.xml'}}}]",
        w=f'<body name="stone"><freejoint/>{GEOM}</body>',
    )
    assert [frame for frame, _ in layout.free_objects] == ["stone"]


@pytest.mark.parametrize(
    ("name", "owner"), [("upper", "a body of robot 'a'"), ("world", "the world")]
)
def test_a_free_object_cannot_have_the_frame_of_another(scene, name, owner):
    with pytest.raises(
        UserInputError, match=f"free object '{name}': its TF frame would be the frame of {owner}"
    ):
        scene(
            f"""
            robots: [{{name: a, model: {DATA / "scene_pendulum.xml"}}}]
            objects: [{{name: {name}, model: cup.xml}}]
            """,
            cup=f'<body name="body"><freejoint/>{GEOM}</body>',
        )


# --- the robots of the package


def test_the_humanoid_has_its_documented_sensors():
    robot = only_robot(lay_out(assemble(load_scene("humanoid"))))
    assert len(robot.joints.names) >= 32
    assert [base.name for base in robot.bases] == ["pelvis"]
    assert [imu.name for imu in robot.sensors["imu"]] == ["pelvis_imu"]
    assert {sensor.name for sensor in robot.sensors["wrench"]} == {
        *("left_ankle_ft", "right_ankle_ft", "left_wrist_ft", "right_wrist_ft")
    }
    assert {touch.name for touch in robot.sensors["contact"]} == {"left_foot", "right_foot"}
    assert len(robot.cameras) == 1
    assert robot.unused_sensors == ()


def test_the_quadruped_has_its_documented_sensors():
    robot = only_robot(lay_out(assemble(load_scene("quadruped"))))
    assert len(robot.joints.names) == 12
    assert len(robot.bases) == len(robot.sensors["imu"]) == 1
    assert len(robot.sensors["contact"]) == 4


def test_the_arm_has_its_documented_sensors_and_a_box_in_front_of_it():
    layout = lay_out(assemble(load_scene("arm")))
    robot = only_robot(layout)
    assert len(robot.joints.names) == 8
    assert robot.bases == ()
    assert len(robot.sensors["wrench"]) == len(robot.cameras) == 1
    assert [frame for frame, _ in layout.free_objects] == ["box"]


def test_the_zoo_has_every_robot_in_its_own_namespace():
    layout = lay_out(assemble(load_scene("zoo")))
    expected = ["humanoid", "quadruped", "left_arm", "right_arm"]
    assert [robot.namespace for robot in layout.robots] == expected
    assert [frame for frame, _ in layout.free_objects] == ["left_box", "right_box"]
