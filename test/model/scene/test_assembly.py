import shutil
import subprocess
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene, read_scene
from mujoco_ros.sim.state.initial_state import InitialState, initial_state

DATA = Path(__file__).parents[1] / "data"
PENDULUM = DATA / "scene_pendulum.xml"
HOPPER = DATA / "scene_hopper.xml"
LINK = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
URDF = f"""
<robot name="two">
  <link name="base">{LINK}</inertial></link>
  <link name="arm">{LINK}</inertial></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="10" velocity="1"/></joint>
</robot>
"""


def mjcf(body: str, head: str = "", tail: str = "") -> str:
    return f"<mujoco>{head}<worldbody>{body}</worldbody>{tail}</mujoco>"


BALL = mjcf('<body name="ball"><freejoint/><geom size="0.1"/></body>')
TABLE = mjcf('<body name="top"><geom type="box" size="1 1 0.1"/></body>')
WORLD = """
<mujoco>
  <option timestep="0.005" gravity="0 0 -3.7" cone="elliptic"/>
  <worldbody><geom name="floor" type="plane" size="1 1 1"/></worldbody>
</mujoco>
"""


@pytest.fixture
def build(tmp_path: Path):
    """Assemble a scene given as text, from a folder with models to name."""
    files = {"two.urdf": URDF, "ball.xml": BALL, "table.xml": TABLE, "world.xml": WORLD}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    shutil.copy(PENDULUM, tmp_path / "pendulum.xml")
    shutil.copy(HOPPER, tmp_path / "hopper.xml")

    def builder(text: str) -> Assembly:
        path = tmp_path / "my.yaml"
        path.write_text(text)
        return assemble(read_scene(path))

    return builder


def start_of(assembly: Assembly) -> InitialState:
    return initial_state(assembly, lay_out(assembly))


def names(model: mujoco.MjModel, kind: str) -> list[str]:
    count = {"joint": model.njnt, "body": model.nbody, "actuator": model.nu}.get(kind)
    return [getattr(model, kind)(i).name for i in range(count or getattr(model, f"n{kind}"))]


# --- merging


def test_robots_and_objects_merge_with_their_prefixes_even_if_equal(build):
    model = build(
        """
        world: world.xml
        robots: [{name: a, model: pendulum.xml}, {name: b, model: pendulum.xml}]
        objects: [{name: c, model: ball.xml}, {name: d, model: ball.xml}]
        """
    ).model
    assert names(model, "joint") == [
        *("a/shoulder", "a/elbow", "b/shoulder", "b/elbow"),
        *("c/joint0", "d/joint0"),
    ]
    assert names(model, "actuator") == ["a/shoulder", "a/elbow", "b/shoulder", "b/elbow"]
    assert {"a/upper_imu", "b/upper_imu"} <= {model.site(i).name for i in range(model.nsite)}
    assert model.nsensor == 14
    assert model.geom("floor").bodyid[0] == 0


def test_models_of_all_formats_merge_with_each_other(build):
    model = build(
        """
        robots:
          - {name: m, model: pendulum.xml}
          - {name: u, model: two.urdf, base: free}
          - {name: f, model: hopper.xml}
        """
    ).model
    assert names(model, "joint") == [
        *("m/shoulder", "m/elbow"),
        *("u/base_free_joint", "u/j", "f/root", "f/hip"),
    ]


def test_an_object_can_be_a_urdf(build):
    model = build(
        "robots: [{name: r, model: pendulum.xml}]\nobjects: [{name: o, model: two.urdf}]"
    ).model
    assert "o/arm" in names(model, "body")


def test_attaching_gives_no_warning_about_conflicting_options(build):
    assembly = build("world: world.xml\nrobots: [{name: r, model: pendulum.xml}]")
    assert assembly.compiler_log == ()


# --- poses


@pytest.mark.parametrize(
    "rotation", ["rpy: [0.1, 0.2, 0.3]", "quaternion_xyzw: [0.0343, 0.1060, 0.1436, 0.9833]"]
)
def test_a_fixed_robot_has_the_pose_of_the_scene(build, rotation):
    model = build(
        f"robots: [{{name: r, model: pendulum.xml, pose: {{xyz: [1, 2, 3], {rotation}}}}}]"
    ).model
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    roll, pitch, yaw = 0.1, 0.2, 0.3
    about_x = [[1, 0, 0], [0, np.cos(roll), -np.sin(roll)], [0, np.sin(roll), np.cos(roll)]]
    about_y = [[np.cos(pitch), 0, np.sin(pitch)], [0, 1, 0], [-np.sin(pitch), 0, np.cos(pitch)]]
    about_z = [[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]]
    turn = np.array(about_z) @ about_y @ about_x
    np.testing.assert_allclose(data.body("r/base").xpos, [1, 2, 3], atol=1e-9)
    np.testing.assert_allclose(data.body("r/base").xmat.reshape(3, 3), turn, atol=2e-4)
    np.testing.assert_allclose(data.body("r/upper").xpos, [1, 2, 3] + turn[:, 2], atol=2e-4)


def test_objects_have_the_poses_of_the_scene_free_or_fixed(build):
    model = build(
        """
        robots: [{name: r, model: pendulum.xml}]
        objects:
          - {name: ball, model: ball.xml, pose: {xyz: [1, 0, 0.5], rpy: [0, 0, 1.5707963267948966]}}
          - {name: table, model: table.xml, pose: {xyz: [0, 1, 0]}}
        """
    ).model
    half = np.sqrt(0.5)
    np.testing.assert_allclose(model.qpos0[-7:], [1, 0, 0.5, half, 0, 0, half], atol=1e-12)
    np.testing.assert_allclose(model.body("table/top").pos, [0, 1, 0])


def test_a_keyframe_moves_with_the_pose_of_its_robot(build):
    assembly = build(
        """
        robots:
          - {name: still, model: pendulum.xml, keyframe: raised, pose: {xyz: [5, 5, 5]}}
          - name: hop
            model: hopper.xml
            keyframe: flying
            pose: {xyz: [10, 20, 30], rpy: [0, 0, 1.5707963267948966]}
        """
    )
    start = start_of(assembly)
    np.testing.assert_allclose(start.qpos[:2], [1.5, 0.0])
    # The scene turns by 90° about z: the key's (1, 2, 0.5) becomes (-2, 1, 0.5).
    np.testing.assert_allclose(start.qpos[2:5], [8, 21, 30.5], atol=1e-12)
    a, b = np.cos(np.pi / 4), np.sin(np.pi / 4)
    c, s = np.cos(np.pi / 8), np.sin(np.pi / 8)
    np.testing.assert_allclose(start.qpos[5:9], [a * c, a * s, b * s, b * c], atol=1e-12)
    assert start.qpos[9] == 0.2
    # A free joint's linear velocity is in the world frame, its angular velocity in the body's.
    np.testing.assert_allclose(start.qvel[2:], [0, 1, 0, 0, 0.5, 2, 0.1], atol=1e-12)
    np.testing.assert_allclose(start.ctrl, [0, 0, 0.25])


def test_two_equal_robots_start_in_their_own_keyframes(build):
    start = start_of(
        build(
            """
            robots:
              - {name: a, model: pendulum.xml, keyframe: raised}
              - {name: b, model: pendulum.xml, keyframe: home}
              - {name: c, model: pendulum.xml}
            """
        )
    )
    np.testing.assert_allclose(start.qpos, [1.5, 0, 0.3, -0.6, 0.3, -0.6])


def test_keyframes_of_attached_models_keep_their_prefixes_nested_and_twice(build, tmp_path):
    def link(name: str, joint: str, inside: str = "", geom: str = "size='.01'") -> str:
        joint = f"<joint name='{joint}' type='slide'/>" if joint else ""
        return f"<body name='{name}'>{joint}<geom {geom}/>{inside}</body>"

    def attached(name: str, prefixes: str) -> str:
        tags = (f"<attach model='{name}' body='{name}' prefix='{p}_'/>" for p in prefixes)
        return "".join(tags)

    def key(name: str, positions: str) -> str:
        return f"<keyframe><key name='{name}' qpos='{positions}'/></keyframe>"

    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "box.ply")
    (tmp_path / "tip.xml").write_text(mjcf(link("tip", "s"), tail=key("home", "0.01")))
    assets = "<asset><mesh file='box.ply'/><model name='tip' file='tip.xml'/></asset>"
    hand = link("hand", "h", attached("tip", "tu"), "type='mesh' mesh='box'")
    (tmp_path / "hand.xml").write_text(mjcf(hand, assets, key("open", "0.1 0.2 0.3")))
    assets = "<asset><model name='hand' file='hand.xml'/></asset>"
    arm = link("base", "", attached("hand", "lr"))
    (tmp_path / "arm.xml").write_text(mjcf(arm, assets, key("own", "1 2 3 4 5 6")))

    robots = ", ".join(f"{{name: {n}, model: arm.xml, keyframe: r_u_home}}" for n in "ab")
    assembly = build(f"robots: [{robots}]")
    model = assembly.model
    joints, keys = names(model, "joint"), names(model, "key")
    own = ["own", *(f"{s}_{name}" for s in "lr" for name in ("open", "t_home", "u_home"))]
    assert sorted(keys) == sorted(f"{robot}/{name}" for robot in "ab" for name in own)
    opened = zip(joints, model.key_qpos[keys.index("b/l_open")], strict=True)
    values = {name: value for name, value in opened if value}
    assert values == {"b/l_h": 0.1, "b/l_t_s": 0.2, "b/l_u_s": 0.3}
    start = zip(joints, start_of(assembly).qpos, strict=True)
    assert {name for name, value in start if value == 0.01} == {"a/r_u_s", "b/r_u_s"}


def test_a_free_robot_without_a_keyframe_starts_at_its_pose_of_the_scene(build):
    assembly = build("robots: [{name: u, model: two.urdf, base: free, pose: {xyz: [1, 2, 3]}}]")
    np.testing.assert_allclose(start_of(assembly).qpos, [1, 2, 3, 1, 0, 0, 0, 0])


def test_the_error_for_an_unknown_keyframe_lists_the_valid_ones(build):
    assembly = build("robots: [{name: r, model: pendulum.xml, keyframe: hom}]")
    with pytest.raises(UserInputError) as caught:
        start_of(assembly)
    assert str(caught.value) == (
        "robot 'r': keyframe 'hom' not found (did you mean 'home'?); there are: home, raised"
    )


def test_the_error_for_a_keyframe_of_a_model_without_keyframes_names_the_cause(build):
    assembly = build("robots: [{name: r, model: two.urdf, keyframe: home}]")
    with pytest.raises(UserInputError, match="keyframe 'home' not found; there are none"):
        start_of(assembly)


# --- physics


def test_the_options_of_the_world_override_those_of_a_robot(build):
    option = build("world: world.xml\nrobots: [{name: r, model: pendulum.xml}]").model.opt
    assert option.timestep == 0.005
    np.testing.assert_allclose(option.gravity, [0, 0, -3.7])
    assert option.integrator == mujoco.mjtIntegrator.mjINT_EULER
    assert option.cone == mujoco.mjtCone.mjCONE_ELLIPTIC


def test_a_bare_model_keeps_its_own_options():
    option = assemble(load_scene(str(PENDULUM))).model.opt
    assert option.timestep == 0.004
    assert option.integrator == mujoco.mjtIntegrator.mjINT_RK4


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("timestep", 0.002, 0.002),
        *(("integrator", name, i) for i, name in enumerate(["Euler", "RK4", "implicit"])),
        ("integrator", "implicitfast", mujoco.mjtIntegrator.mjINT_IMPLICITFAST),
        ("integrator", "discrete", mujoco.mjtIntegrator.mjINT_DISCRETE),
        ("cone", "pyramidal", mujoco.mjtCone.mjCONE_PYRAMIDAL),
        ("solver", "PGS", mujoco.mjtSolver.mjSOL_PGS),
        ("solver", "CG", mujoco.mjtSolver.mjSOL_CG),
        ("jacobian", "sparse", mujoco.mjtJacobian.mjJAC_SPARSE),
        ("iterations", 7, 7),
        ("ls_iterations", 8, 8),
        ("tolerance", "1e-6", 1e-6),
        ("impratio", 10, 10),
        ("gravity", [0, 0, -1], (0, 0, -1)),
        ("wind", [1, 2, 3], (1, 2, 3)),
        ("density", 1.2, 1.2),
        ("viscosity", 0.00002, 0.00002),
    ],
)
def test_every_physics_option_of_a_scene_overrides_the_world(build, key, value, expected):
    option = build(
        f"world: world.xml\nphysics: {{{key}: {value}}}\nrobots: [{{name: r, model: pendulum.xml}}]"
    ).model.opt
    np.testing.assert_array_equal(getattr(option, key), expected)
    if key != "cone":
        assert option.cone == mujoco.mjtCone.mjCONE_ELLIPTIC  # the rest stays the world's


# --- names


def test_elements_without_a_name_get_unique_ones(tmp_path):
    path = tmp_path / "nameless.xml"
    path.write_text(
        """
        <mujoco>
          <worldbody>
            <body name="body1"><joint/><geom size="0.1"/><camera/></body>
            <body><joint name="joint1"/><geom size="0.1"/><camera/></body>
            <body><joint/><geom size="0.1"/></body>
          </worldbody>
          <actuator><motor joint="joint1"/></actuator>
          <sensor><jointpos joint="joint1"/></sensor>
        </mujoco>
        """
    )
    model = assemble(load_scene(str(path))).model
    assert names(model, "joint") == ["joint0", "joint1", "joint2"]
    assert names(model, "body") == ["world", "body1", "unnamed_body1", "body2"]
    assert names(model, "actuator") == ["actuator0"]
    assert names(model, "sensor") == ["sensor0"]
    assert [model.cam(i).name for i in range(2)] == ["camera0", "camera1"]


# --- compiled models


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    """The pendulum, compiled."""
    path = tmp_path / "pendulum.mjb"
    mujoco.mj_saveModel(mujoco.MjModel.from_xml_path(str(PENDULUM)), str(path), None)
    return path


def test_a_compiled_model_runs_alone(binary):
    assembly = assemble(load_scene(str(binary)))
    assert assembly.base is None
    assert names(assembly.model, "joint") == ["shoulder", "elbow"]
    np.testing.assert_allclose(start_of(assembly).qpos, [0.3, -0.6])


@pytest.mark.parametrize(
    "text",
    [
        "robots: [{name: b, model: pendulum.mjb}, {name: m, model: pendulum.xml}]",
        "robots: [{name: m, model: pendulum.xml}, {name: b, model: pendulum.mjb}]",
        "robots: [{name: b, model: pendulum.mjb}]\nobjects: [{name: o, model: ball.xml}]",
        "robots: [{name: m, model: pendulum.xml}]\nobjects: [{name: b, model: pendulum.mjb}]",
        "world: world.xml\nrobots: [{name: b, model: pendulum.mjb}]",
        "world: pendulum.mjb\nrobots: [{name: m, model: pendulum.xml}]",
    ],
)
def test_a_compiled_model_cannot_be_merged(build, binary, text):
    with pytest.raises(
        UserInputError, match=r"pendulum.mjb' is a compiled model, which can only run"
    ):
        build(text)


@pytest.mark.parametrize("content", [b"", b"no model"])
def test_the_error_for_an_invalid_compiled_model_has_the_required_version(tmp_path, content):
    path = tmp_path / "broken.mjb"
    path.write_bytes(content)
    with pytest.raises(
        UserInputError, match=rf"{path}: .*one MuJoCo version, here {mujoco.__version__}"
    ):
        assemble(load_scene(str(path)))


# --- mistakes

MOVING = '<body name="b"><joint name="j"/>{}</body>'
SPHERE = MOVING.format('<geom size="1"/>')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty file"),
        ("<mujoco><worldbody></mujoco>", "XML parse error"),
        ("<html/>", "Unrecognized XML model type: 'html'"),
        (mjcf('<body><joint/><geom siez="1"/></body>'), "siez"),
        (mjcf('<body name="a"><geom size="1"/></body>'), "the model has no joint, so nothing can"),
        (mjcf(MOVING.format("")), "does not compile"),  # no mass
        (
            mjcf(
                MOVING.format('<geom type="mesh" mesh="m"/>'),
                '<asset><mesh name="m" file="no.stl"/></asset>',
            ),
            "no.stl",
        ),
        (
            mjcf(
                MOVING.format('<geom type="mesh" mesh="m"/>'),
                '<asset><mesh name="m" file="bad.stl"/></asset>',
            ),
            "bad.stl",
        ),
        (
            mjcf(
                MOVING.format('<geom size="1"/>'), '<extension><plugin plugin="a.b"/></extension>'
            ),
            "plugin a.b not found",
        ),
        (
            mjcf(MOVING.format('<geom size="1"/>'), "", '<keyframe><key qpos="1 2"/></keyframe>'),
            "invalid qpos size",
        ),
        # References that MuJoCo's copies of a model omit.
        (mjcf(SPHERE, "", '<actuator><motor joint="i"/></actuator>'), "transmission target 'i'"),
        (mjcf(SPHERE, "", '<sensor><gyro site="s"/></sensor>'), "'s' of sensorized object"),
        (mjcf(SPHERE, "", '<contact><exclude body1="b" body2="c"/></contact>'), "body 'c' not"),
        (mjcf(SPHERE, "", '<equality><joint joint1="i"/></equality>'), "unknown element 'i'"),
        (
            mjcf('<body name="b" pos="nan 0 0"><joint/><geom size="1"/></body>'),
            "has a number that is not finite",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:XML contains a 'NaN'")
def test_an_invalid_model_is_an_error_of_one_line_with_model_and_cause(
    tmp_path, build, content, message
):
    path = tmp_path / "broken.xml"
    path.write_text(content)
    (tmp_path / "bad.stl").write_bytes(b"no mesh")
    for load in (
        lambda: assemble(load_scene(str(path))),
        lambda: build("robots: [{name: r, model: broken.xml}]"),
    ):
        with pytest.raises(UserInputError) as caught:
            load()
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore:XML contains a 'NaN'")
@pytest.mark.parametrize("number", ['qpos="nan"', 'time="nan"', 'mpos="0 nan 0"'])
def test_a_keyframe_with_nan_or_infinity_is_refused(tmp_path, number):
    path = tmp_path / "key.xml"
    bodies = MOVING.format('<geom size="1"/>') + '<body name="hand" mocap="true"/>'
    path.write_text(mjcf(bodies, "", f'<keyframe><key name="k" {number}/></keyframe>'))
    with pytest.raises(UserInputError, match="of <key> 'k' has a number that is not finite"):
        assemble(load_scene(str(path)))


@pytest.mark.parametrize("time", ["-3", "1e300", "2147483648"])
def test_a_keyframe_with_a_time_out_of_range_of_stamps_is_refused(tmp_path, time):
    path = tmp_path / "key.xml"
    keyframe = f'<keyframe><key name="k" time="{time}"/></keyframe>'
    path.write_text(mjcf(MOVING.format('<geom size="1"/>'), "", keyframe))
    with pytest.raises(
        UserInputError,
        match=r"key 'k' of the model has the time .* s; a time is from 0 to 2000000000 s",
    ):
        assemble(load_scene(str(path)))


@pytest.mark.filterwarnings("ignore:XML contains a 'NaN'")
@pytest.mark.parametrize(
    ("geom", "culprit"),
    [
        ('<geom name="g" size="1" friction="nan"/>', "friction of <geom> 'g'"),
        ('<geom name="g" size="1" friction="inf"/>', "friction of <geom> 'g'"),
        ('<geom size="1"/><site name="s" pos="nan 0 0"/>', "pos of <site> 's'"),
        ('<geom size="1"/><joint name="j2" damping="nan"/>', "damping of <joint> 'j2'"),
        (
            '<geom size="1"/><joint name="j2" range="-1 nan" limited="true"/>',
            "range of <joint> 'j2'",
        ),
    ],
)
def test_nan_and_infinity_are_refused_in_any_attribute(tmp_path, geom, culprit):
    path = tmp_path / "model.xml"
    path.write_text(mjcf(MOVING.format(geom)))
    with pytest.raises(UserInputError, match=f"{culprit} has a number that is not finite"):
        assemble(load_scene(str(path)))


def test_a_range_can_be_infinite(tmp_path):
    path = tmp_path / "model.xml"
    joint = '<joint name="j2" range="-1 inf" limited="true"/>'
    path.write_text(mjcf(MOVING.format(f'<geom size="1"/>{joint}')))
    assemble(load_scene(str(path)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("robots: [{name: r, model: no.xml}]", "robot 'r': model file '{}/no.xml' does not exist"),
        (
            "robots: [{name: r, model: .}]",
            "robot 'r': '{}' is not a model; it must be one of .xml, .mjcf, .ur",
        ),
        (
            "robots: [{name: r, model: my.yaml}]",
            "robot 'r': '{}/my.yaml' is not a model; it must be one of",
        ),
        (
            "world: no.xml\nrobots: [{name: r, model: pendulum.xml}]",
            "the world: model file '{}/no.xml' does not exist",
        ),
        (
            'world: ""\nrobots: [{name: r, model: pendulum.xml}]',
            "the world: '{}' is not a model; it must be one of",
        ),
        (
            "robots: [{name: r, model: pendulum.xml}]\nobjects: [{name: o, model: no.xml}]",
            "object 'o': model file '{}/no.xml' does not exist",
        ),
        (
            "robots: [{name: r, model: hopper.xml, base: fixed}]",
            "robot 'r': 'base: fixed', but '{}/hopper.xml' has a free joint",
        ),
        (
            "robots: [{name: r, model: hopper.xml, base: free}]",
            "robot 'r': the base 'trunk' cannot be freed: it moves on 'root'",
        ),
        (
            "plugins: [none]\nrobots: [{name: r, model: pendulum.xml}]",
            "plugin folder '{}/none' does not exist",
        ),
        (
            "robots: [{name: r, model: 'http://a/r.xml'}]",
            "'http://a/r.xml': URI scheme 'http' is not supported; use package:// or file://",
        ),
    ],
)
def test_the_error_for_an_invalid_reference_of_a_scene_names_it(build, tmp_path, text, message):
    with pytest.raises(UserInputError) as caught:
        build(text)
    assert message.format(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


# --- engine plugins

PLUGIN = """
#include <mujoco/mujoco.h>
static int nstate(const mjModel* m, int instance) { return 0; }
static void push(const mjModel* m, mjData* d, int instance, int capability) {
  d->qfrc_passive[0] += 2.0;
}
mjPLUGIN_LIB_INIT(test_push) {
  mjpPlugin plugin;
  mjp_defaultPlugin(&plugin);
  plugin.name = "mujoco_ros.test.push";
  plugin.capabilityflags = mjPLUGIN_PASSIVE;
  plugin.nstate = nstate;
  plugin.compute = push;
  mjp_registerPlugin(&plugin);
}
"""


def test_an_engine_plugin_in_a_folder_of_the_scene_is_active_in_the_model(build, tmp_path):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path / "plugins"
    folder.mkdir()
    (tmp_path / "push.c").write_text(PLUGIN)
    engine = Path(mujoco.__file__).parent
    (library,) = engine.glob("libmujoco*.so*")
    subprocess.run(
        [
            *(compiler, "-shared", "-fPIC", f"-I{engine / 'include'}", "push.c", str(library)),
            *("-o", str(folder / "push.so")),
        ],
        cwd=tmp_path,
        check=True,
    )
    (tmp_path / "pushed.xml").write_text(
        mjcf(
            '<body><joint/><geom size="0.1"/><plugin instance="push"/></body>',
            '<extension><plugin plugin="mujoco_ros.test.push"><instance name="push"/></plugin>'
            "</extension>",
        )
    )
    model = build("plugins: [plugins]\nrobots: [{name: r, model: pushed.xml}]").model
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.qfrc_passive[0] == 2.0
