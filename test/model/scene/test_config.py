from pathlib import Path

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import (
    ObjectConfig,
    PhysicsConfig,
    PoseConfig,
    RobotConfig,
    SceneConfig,
    load_scene,
    read_scene,
    shipped_scenes,
)

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def read(tmp_path: Path):
    """Read a scene given as text."""

    def reader(text: str) -> SceneConfig:
        path = tmp_path / "my.yaml"
        path.write_text(text)
        return read_scene(path)

    return reader


# --- shipped scenes


def test_the_package_has_the_expected_scenes():
    assert list(shipped_scenes()) == [
        "arm",
        "handover",
        "humanoid",
        "mobile_manipulator",
        "office",
        "quadruped",
        "rover",
        "walk_grasp",
        "warehouse",
        "zoo",
    ]


@pytest.mark.parametrize("name", ["arm", "handover", "humanoid", "quadruped", "walk_grasp", "zoo"])
def test_every_shipped_scene_loads_by_its_name_and_compiles(name):
    config = load_scene(name)
    assert config.name == name
    assert assemble(config).model.nu > 0


@pytest.mark.parametrize(
    ("file", "root", "name"),
    [
        ("scene.xml", '<mujoco model="panda scene"/>', "panda"),
        ("scene.xml", '<mujoco model="scene"/>', "my_panda"),
        ("scene.xml", "<mujoco/>", "my_panda"),
        ("hand-left.xml", '<mujoco model="MuJoCo Model"/>', "hand_left"),
        ("ur.urdf", '<robot name="ur10"/>', "ur10"),
        ("ur.urdf", '<robot name="7 dof"/>', "model_7_dof"),
        ("ur.urdf", "not XML", "ur"),
        ("iiwa.urdf.xacro", '<robot name="$(arg name)"/>', "iiwa"),
    ],
)
def test_a_robot_has_the_name_in_its_file_or_that_of_the_file_or_folder(tmp_path, file, root, name):
    path = tmp_path / "my-panda" / file
    path.parent.mkdir()
    path.write_text(root)
    scene = load_scene(str(path))
    assert [scene.name, scene.robots[0].name] == [name, name]


# --- reading


def test_every_key_of_a_scene_is_read(read, tmp_path):
    scene = read(
        """
        world: world.xml
        plugins: [plugins]
        physics: {timestep: 0.002, integrator: RK4, gravity: [0, 0, -1.62]}
        robots:
          - name: left
            model: robot.urdf
            base: free
            pose: {xyz: [1, 2, 3], rpy: [0, 0, 1.5]}
            keyframe: home
            gains: gains.yaml
            gripper: finger_joint
            urdf: package://robots/left.urdf
            namespace: team/left
            publish_rate: {imu: 1000, odom: 0}
          - {name: right, model: robot.xml, pose: {quaternion_xyzw: [0, 0, 1, 0]}}
        objects:
          - {name: box, model: box.xml, pose: {xyz: [0, 0, 1]}}
        """
    )
    assert scene == SceneConfig(
        name="my",
        folder=tmp_path,
        world="world.xml",
        plugins=("plugins",),
        physics=PhysicsConfig(timestep=0.002, integrator="RK4", gravity=(0.0, 0.0, -1.62)),
        robots=(
            RobotConfig(
                name="left",
                model="robot.urdf",
                base="free",
                pose=PoseConfig(xyz=(1.0, 2.0, 3.0), rpy=(0.0, 0.0, 1.5)),
                keyframe="home",
                gains="gains.yaml",
                gripper="finger_joint",
                urdf="package://robots/left.urdf",
                namespace="team/left",
                publish_rate={"imu": 1000.0, "odom": 0.0},
            ),
            RobotConfig(
                name="right",
                model="robot.xml",
                pose=PoseConfig(quaternion_xyzw=(0.0, 0.0, 1.0, 0.0)),
            ),
        ),
        objects=(ObjectConfig(name="box", model="box.xml", pose=PoseConfig(xyz=(0, 0, 1))),),
    )


def test_paths_are_relative_to_the_folder_of_the_scene(read, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    scene = read("robots: [{name: r, model: ../models/r.xml}]")
    assert scene.path(scene.robots[0].model) == tmp_path.parent / "models" / "r.xml"


def test_a_single_robot_has_no_namespace_and_several_have_their_names(read):
    alone = read("robots: [{name: a, model: a.xml}]")
    assert alone.namespace(alone.robots[0]) == ""
    several = read("robots: [{name: a, model: a.xml}, {name: b, model: a.xml, namespace: c/d}]")
    assert [several.namespace(robot) for robot in several.robots] == ["a", "c/d"]


# --- mistakes

ROBOT = "{name: r, model: r.xml}"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("robot: []", "", "key 'robot' not found (did you mean 'robots'?); there are: world, rob"),
        ("world: w.xml", "", "key 'robots' is missing"),
        ("robots: []", "", "'robots' is empty: a scene needs at least one robot"),
        ("robots:", ".robots", "expected a list, got None"),
        (f"robots: {ROBOT}", ".robots", "expected a list, got {'model': 'r.xml', 'name': 'r'}"),
        ("robots: [{name: r}]", ".robots[0]", "key 'model' is missing"),
        ("robots: [{nam: r}]", ".robots[0]", "key 'nam' not found (did you mean 'name'?)"),
        ("robots: [{name: 7, model: r.xml}]", ".robots[0].name", "expected a text, got 7 (int)"),
        (f"robots: [{ROBOT}, {ROBOT}]", "", "two robots or objects are named 'r'; names must dif"),
        (f"robots: [{ROBOT}]\nobjects: [{ROBOT}]", "", "two robots or objects are named 'r'"),
        (
            f"robots: [{ROBOT}, {{name: q, model: q.xml, namespace: r}}]",
            "",
            "two robots share the namespace 'r'",
        ),
        (
            f"robots: [{ROBOT}]\nobjects: [{{name: o, model: o.xml, keyframe: k}}]",
            ".objects[0]",
            "key 'keyframe' not found; there are: name, model, pose",
        ),
        (f"plugins: folder\nrobots: [{ROBOT}]", ".plugins", "expected a list, got 'folder' (str)"),
        (f"world: [a]\nrobots: [{ROBOT}]", ".world", "expected a text, got ['a'] (list)"),
        (f"robots: [{ROBOT}]\nrobots: [{ROBOT}]", "", "line 2: key 'robots' is given twice"),
    ],
)
def test_an_error_in_a_scene_has_its_location(read, tmp_path, text, place, message):
    with pytest.raises(UserInputError) as caught:
        read(text)
    assert str(caught.value).startswith(f"{tmp_path / 'my.yaml'}{place}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("extra", "place", "message"),
    [
        ("pose: {rpy: [0, 0, 0], quaternion_xyzw: [0, 0, 0, 1]}", ".pose", "give either 'rpy' or"),
        ("pose: {quaternion_xyzw: [0, 0, 0, 0]}", ".pose", "must have length 1, got 0"),
        ("pose: {quaternion_xyzw: [90, 0, 0, 1]}", ".pose", "must have length 1, got 90.0056"),
        ("pose: {xyz: [0, 0]}", ".pose.xyz", "expected 3 values, got 2"),
        ("pose: {xyz: [0, 0, .inf]}", ".pose.xyz[2]", "expected a finite number, got inf"),
        ("pose: {rpy: [.nan, 0, 0]}", ".pose.rpy[0]", "expected a finite number, got nan"),
        ("pose: {rpy: [90deg, 0, 0]}", ".pose.rpy[0]", "expected a number, got '90deg' (str)"),
        ("pose: [0, 0, 0]", ".pose", "expected a mapping, got [0, 0, 0] (list)"),
        ("pose: {position: [0, 0, 0]}", ".pose", "there are: xyz, rpy, quaternion_xyzw"),
        ("base: floating", ".base", "'floating' (str) is not one of auto, fixed, free"),
        ("namespace: /a", "", "namespace '/a' is not a relative ROS namespace"),
        ("namespace: a//b", "", "namespace 'a//b' is not a relative ROS namespace"),
        ("namespace: a b", "", "namespace 'a b' is not a relative ROS namespace"),
        ("gripper: [a]", ".gripper", "expected a text, got ['a'] (list)"),
        ("keyframe: 3", ".keyframe", "expected a text, got 3 (int)"),
        (
            "publish_rate: {imu: -1}",
            "",
            "publish_rate: rate 'imu' must be 0 (off), or from 0.001 to 100000 Hz, got -1",
        ),
        ("publish_rate: {imus: 1}", "", "publish_rate: key 'imus' not found (did you mean 'imu'?)"),
        ("publish_rate: 100", ".publish_rate", "expected a mapping, got 100 (int)"),
    ],
)
def test_an_error_in_a_robot_has_its_location(read, tmp_path, extra, place, message):
    with pytest.raises(UserInputError) as caught:
        read(f"robots: [{{name: r, model: r.xml, {extra}}}]")
    assert str(caught.value).startswith(f"{tmp_path / 'my.yaml'}.robots[0]{place}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["a b", "a/b", "1a", "", "_a", "a-b", "ä", "a\\n", "a" * 65])
def test_a_name_that_is_invalid_in_ros_is_refused_for_robots_and_objects(read, name):
    with pytest.raises(
        UserInputError, match=r"robots\[0\]: name '.*' is not valid: a letter, then"
    ):
        read(f'robots: [{{name: "{name}", model: r.xml}}]')
    with pytest.raises(UserInputError, match=r"objects\[0\]: name '.*' is not valid") as caught:
        read(f'robots: [{ROBOT}]\nobjects: [{{name: "{name}", model: r.xml}}]')
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("physics", "message"),
    [
        ("integrator: rk4", "is not one of Euler, RK4, implicit, implicitfast, discrete"),
        ("cone: round", "'round' (str) is not one of pyramidal, elliptic"),
        ("solver: newton", "'newton' (str) is not one of PGS, CG, Newton"),
        ("jacobian: on", "True (bool) is not one of dense, sparse, auto"),
        ("timestep: 0", "'timestep' must be from 1e-05 to 0.1 [s], got 0.0"),
        ("timestep: 1", "'timestep' must be from 1e-05 to 0.1 [s], got 1.0"),
        ("iterations: 1.5", "expected an integer, got 1.5 (float)"),
        ("iterations: -1", "'iterations' must be from 0 to 10000, got -1"),
        ("iterations: 99999999999", "'iterations' must be from 0 to 10000, got 99999999999"),
        ("density: -1", "'density' must be from 0 to 1e+09 [kg/m³; air has 1.2, water 1000], got"),
        ("impratio: 0", "'impratio' must be from 1e-09 to 1e+09, got 0.0"),
        ("flag: {contact: off}, gravty: 0", "did you mean 'gravity'"),
        ("flag: {contact: 0}", "physics.flag.contact: expected true or false, got 0 (int)"),
        ("flag: {contacts: true}", "(did you mean 'contact'?)"),
        ("gravity: -9.81", "expected a list, got -9.81 (float)"),
        ("gravty: [0, 0, 0]", "(did you mean 'gravity'?)"),
    ],
)
def test_a_physics_option_that_is_invalid_in_mujoco_is_refused(read, physics, message):
    with pytest.raises(UserInputError) as caught:
        read(f"physics: {{{physics}}}\nrobots: [{ROBOT}]")
    assert "my.yaml.physics" in str(caught.value)
    assert message in str(caught.value)


# --- arguments of users


def test_the_error_for_an_unknown_scene_has_the_closest_and_lists_all():
    with pytest.raises(UserInputError) as caught:
        load_scene("humaniod")
    assert str(caught.value) == (
        "scene 'humaniod' not found (did you mean 'humanoid'?); "
        "there are: arm, handover, humanoid, mobile_manipulator, office, quadruped, rover, "
        "walk_grasp, warehouse, zoo; a robot of a collection is <collection>:<robot>, e.g. "
        "example-robot-data:ur10"
    )


@pytest.mark.parametrize("reference", ["", ".", "..", "x" * 300])
def test_an_invalid_name_of_a_scene_is_refused(reference):
    with pytest.raises(UserInputError, match=r"not found; there are: arm|cannot be opened"):
        load_scene(reference)


def test_the_error_for_a_missing_scene_file_lists_the_shipped_scenes(tmp_path):
    with pytest.raises(
        UserInputError, match=rf"'{tmp_path}/no.yaml' does not exist; .*arm, handover, humanoid"
    ):
        load_scene(str(tmp_path / "no.yaml"))
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(UserInputError, match=r"'.*/folder.yaml' is not a file"):
        load_scene(str(tmp_path / "folder.yaml"))


def test_an_unknown_file_type_is_refused_with_the_valid_ones(tmp_path):
    path = tmp_path / "robot.sdf"
    path.touch()
    with pytest.raises(
        UserInputError, match=r"'\.sdf'; a scene is .yaml, a model is one of .xml, .mj"
    ):
        load_scene(str(path))


def test_a_scene_is_found_relative_to_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "my.yml").write_text(f"robots: [{ROBOT}]")
    monkeypatch.chdir(tmp_path)
    assert load_scene("my.yml").folder == tmp_path


def test_a_scene_is_found_by_its_package_uri():
    assert load_scene("package://mujoco_ros/config/scenes/arm.yaml").name == "arm"


@pytest.mark.parametrize(
    ("file", "robot"),
    [
        ("arm.xml", "arm"),
        ("my arm-2.urdf", "my_arm_2"),
        ("7dof.mjcf", "model_7dof"),
        ("ärm.mjb", "rm"),
        ("x" * 100 + ".xml", "x" * 50),
    ],
)
def test_a_bare_model_file_is_a_scene_of_one_robot_named_after_it(tmp_path, file, robot):
    path = tmp_path / file
    path.touch()
    scene = load_scene(str(path))
    assert scene.robots == (RobotConfig(name=robot, model=str(path)),)
    assert not scene.merged
    assert scene.namespace(scene.robots[0]) == ""


def test_arguments_of_a_xacro_file_follow_its_path(tmp_path):
    path = tmp_path / "my arm.urdf.xacro"
    path.write_text("<robot/>")
    scene = load_scene(f"{path} ur_type:=ur5e  title:=two words")
    assert scene.robots[0].model == str(path)
    assert scene.robots[0].xacro_args == {"ur_type": "ur5e", "title": "two words"}
    with pytest.raises(UserInputError, match=r"'arm' is no xacro file, so .* \(heavy\)"):
        load_scene("arm heavy:=3")
