"""Keys of a robot in a scene file that change its joints, start and weight."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

LINK = """
<link name="{}">
  <inertial>
    <origin xyz="0.2 0 0"/>
    <mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
  </inertial>
</link>
"""
JOINT = """
<joint name="{child}" type="revolute">
  <parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/><origin xyz="0.4 0 0"/>
  <limit lower="{lower}" upper="{upper}" effort="50" velocity="1"/>{mimic}
</joint>
"""
URDF = (
    '<robot name="r">'
    + "".join(LINK.format(name) for name in ("base", "hip", "knee", "toe"))
    + JOINT.format(parent="base", child="hip", lower=-2, upper=2, mimic="")
    + JOINT.format(parent="hip", child="knee", lower=0.5, upper=2.5, mimic="")
    + JOINT.format(
        parent="knee", child="toe", lower=-3, upper=3, mimic='<mimic joint="knee" multiplier="-1"/>'
    )
    + "</robot>"
)
MJCF = """
<mujoco>
  <worldbody>
    <body><joint name="left_knee"/><geom size="0.1"/></body>
    <body pos="1 0 0"><joint name="right_knee"/><geom size="0.1"/></body>
    <body pos="2 0 0"><joint name="hip"/><geom size="0.1"/></body>
  </worldbody>
  <actuator><position name="hip" joint="hip" kp="100" kv="10"/><motor joint="left_knee"/></actuator>
  <keyframe>
    <key name="home" qpos="0.1 0.2 0.3" ctrl="0.3 0"/><key name="up" qpos="1 1 1"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture
def load(tmp_path: Path):
    """Return the simulation of a robot of some content, with further keys of the robot."""

    def loader(content: str, keys: str = "") -> Simulation:
        name = "r.urdf" if content.startswith("<robot") else "r.xml"
        (tmp_path / name).write_text(content)
        scene = tmp_path / "scene.yaml"
        scene.write_text(f"robots: [{{name: r, model: {name}, {keys}}}]")
        return Simulation(load_scene(str(scene)))

    return loader


def start(simulation: Simulation) -> dict[str, float]:
    return dict(
        zip(
            (name.removeprefix("r/") for name in simulation.joints.names),
            simulation.data.qpos[simulation.joints.qpos].tolist(),
            strict=True,
        )
    )


def test_joints_get_their_armature_friction_and_damping(load):
    keys = (
        "joints: {'*_knee': {armature: 0.1, friction: 0.2}, left_knee: {damping: 3, friction: 0}}"
    )
    model = load(MJCF, keys).model
    np.testing.assert_allclose(model.dof_armature, [0.1, 0.1, 0.0])
    np.testing.assert_allclose(model.dof_frictionloss, [0.0, 0.2, 0.0])
    np.testing.assert_allclose(model.dof_damping, [3.0, 0.0, 0.0])


def test_a_start_position_changes_the_keyframe_of_the_start_alone(load):
    simulation = load(MJCF, "keyframe: home, joints: {right_knee: {start: -1}}")
    assert start(simulation) == pytest.approx({"left_knee": 0.1, "right_knee": -1, "hip": 0.3})
    np.testing.assert_allclose(simulation.model.key_qpos, [[0.1, -1, 0.3], [1, 1, 1]])


def test_a_servo_holds_its_start_position(load):
    simulation = load(MJCF, "joints: {hip: {start: -0.7}}")
    assert start(simulation)["hip"] == pytest.approx(-0.7)
    for _ in range(500):
        simulation.step()
    assert start(simulation)["hip"] == pytest.approx(-0.7, abs=1e-6)


def test_joints_of_a_urdf_whose_limits_exclude_zero_start_in_the_middle(load):
    assert start(load(URDF)) == pytest.approx({"hip": 0.0, "knee": 1.5, "toe": -1.5})


def test_mimic_joints_follow_a_start_position(load):
    simulation = load(URDF, "joints: {knee: {start: 0.8}, hip: {start: 0.1}}")
    assert start(simulation) == pytest.approx({"hip": 0.1, "knee": 0.8, "toe": -0.8})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("joints: {kne: {armature: 1}}", r"robot 'r': joints: joint 'kne' not found .*'knee'"),
        ("joints: {'*_x': {armature: 1}}", r"joint '\*_x' not found"),
        ("joints: {knee: {armature: -1}}", r"joints\.knee: 'armature' must be from 0 to 1e\+06"),
        ("joints: {knee: {friction: .nan}}", r"joints\.knee\.friction: expected a finite number"),
        ("joints: {knee: {mass: 1}}", r"joints\.knee: key 'mass' not found"),
        (
            "joints: {knee: {start: 0.1}}",
            r"position 0.1 of 'knee' is outside its limits \[0.5, 2.5",
        ),
        ("base: free, gravity_compensation: true", r"needs a fixed base.*and would float"),
    ],
)
def test_wrong_settings_are_one_clear_error(load, keys, message):
    with pytest.raises(UserInputError, match=message):
        load(URDF, keys)


def test_a_compiled_model_takes_no_settings(tmp_path):
    model = mujoco.MjModel.from_xml_string(MJCF)
    mujoco.mj_saveModel(model, str(tmp_path / "r.mjb"))
    scene = tmp_path / "scene.yaml"
    scene.write_text("robots: [{name: r, model: r.mjb, gravity_compensation: true}]")
    with pytest.raises(UserInputError, match="'gravity_compensation' have no effect"):
        assemble(load_scene(str(scene)))


def test_a_robot_with_gravity_compensation_holds_without_an_error(load):
    free, held = load(URDF), load(URDF, "gravity_compensation: true")
    before = start(held)
    for _ in range(1000):
        free.step()
        held.step()
    assert abs(start(free)["hip"] - before["hip"]) > 1e-4
    assert start(held) == pytest.approx(before, abs=1e-7)


def test_compensation_is_part_of_the_measured_effort(load):
    simulation = load(URDF, "gravity_compensation: true")
    simulation.step()
    weight = np.zeros(simulation.model.nv)
    data = mujoco.MjData(simulation.model)
    data.qpos[:] = simulation.data.qpos
    mujoco.mj_forward(simulation.model, data)
    weight[:] = data.qfrc_bias
    assert abs(weight).max() > 10.0
    np.testing.assert_allclose(simulation.sample.qfrc_actuator, weight, rtol=1e-3, atol=1e-3)


def test_compensation_stays_within_the_effort_limit(load):
    simulation = load(URDF.replace('effort="50"', 'effort="5"'), "gravity_compensation: true")
    before = start(simulation)["hip"]
    for _ in range(200):
        simulation.step()
        assert abs(simulation.sample.qfrc_actuator[0]) <= 5.0 + 1e-9
    assert start(simulation)["hip"] - before > 0.1, "a motor that is too weak falls"
