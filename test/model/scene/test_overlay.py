"""Scenes that extend another one."""

from pathlib import Path

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import SceneConfig, load_scene, read_scene
from mujoco_ros.sim.simulation import Simulation

ROBOT = """
<mujoco>
  <worldbody>
    <body><joint name="hip" damping="1"/><geom size="0.1"/></body>
    <body pos="1 0 0"><joint name="knee" armature="2"/><geom size="0.1"/></body>
    <body pos="2 0 0"><joint name="free"/><geom size="0.1"/></body>
  </worldbody>
  <actuator><motor joint="hip"/><motor joint="knee"/></actuator>
</mujoco>
"""
SCENE = """
robots:
  - name: r
    model: r.xml
    joints: {"*": {friction: 0.5}, hip: {armature: 3.0}}
    realism: {actuators: {bus: {delay: 0.002, backlash: 0.01}}}
"""
OVERLAY = """
extends: {}
robots:
  - name: r
    joints: {{hip: {{friction: 0.7, kp: 40.0}}, knee: {{kd: 5.0}}}}
    realism: {{actuators: {{bus: {{delay: 0.004}}}}}}
"""


@pytest.fixture
def read(tmp_path: Path):
    """Read an overlay in another folder than the scene that it extends."""
    (tmp_path / "r.xml").write_text(ROBOT)
    (tmp_path / "scene.yaml").write_text(SCENE)
    (tmp_path / "fits").mkdir()

    def reader(text: str, name: str = "overlay.yaml") -> SceneConfig:
        path = tmp_path / "fits" / name
        path.write_text(text)
        return read_scene(path)

    return reader


def test_an_overlay_changes_single_values_of_the_scene_that_it_extends(read):
    simulation = Simulation(read(OVERLAY.format("../scene.yaml")))
    model, joints = simulation.model, simulation.layout.robots[0].joints
    hip, knee, free = joints.dof
    assert model.dof_frictionloss[[hip, knee, free]].tolist() == [0.7, 0.5, 0.5]
    assert model.dof_armature[[hip, knee]].tolist() == [3.0, 2.0]
    assert (simulation.drives.kp[0], simulation.drives.kd[1]) == (40.0, 5.0)
    (robot,) = simulation.assembly.config.robots
    assert robot.realism is not None
    assert robot.realism.actuators == {"bus": {"delay": 0.004, "backlash": 0.01}}


DAMPED = """
robots:
  - name: r
    model: r.xml
    joints: {{{}}}
"""


@pytest.mark.parametrize(
    ("joints", "change", "damping", "kp"),
    [
        ("hip: {damping: 1.0}, '*': {damping: 5.0}", "hip: {kp: 40.0}", [5.0, 5.0], 40.0),
        ("hip: {damping: 1.0}, '*': {damping: 5.0}", "hip: {damping: 2.0}", [2.0, 5.0], None),
        ("hip: {damping: 1.0, kp: 3.0}, '*e': {damping: 5.0}", "hip: {kp: 4.0}", [1.0, 5.0], 4.0),
        ("'*': {damping: 5.0}, hip: {damping: 1.0}", "'*': {friction: 2.0}", [1.0, 5.0], None),
        ("'*': {damping: 5.0}, hip: {damping: 1.0}", "'*': {damping: 2.0}", [2.0, 2.0], None),
    ],
)
def test_values_that_an_overlay_does_not_name_stay(read, tmp_path, joints, change, damping, kp):
    (tmp_path / "scene.yaml").write_text(DAMPED.format(joints))
    simulation = Simulation(
        read(f"extends: ../scene.yaml\nrobots: [{{name: r, joints: {{{change}}}}}]")
    )
    dof = simulation.layout.robots[0].joints.dof
    assert simulation.model.dof_damping[dof[:2]].tolist() == damping
    assert kp is None or simulation.drives.kp[0] == kp


def test_a_pattern_that_cannot_be_changed_alone_is_an_error(read, tmp_path):
    joints = "'*': {damping: 5.0, kp: 1.0}, hip: {damping: 1.0, kp: 2.0}"
    (tmp_path / "scene.yaml").write_text(DAMPED.format(joints))
    with pytest.raises(UserInputError, match=r"'\*' is in the scene too, .* name the joints"):
        read("extends: ../scene.yaml\nrobots: [{name: r, joints: {'*': {kp: 4.0}}}]")


def test_other_gains_stay_those_of_the_scene(read):
    derived = Simulation(read("extends: ../scene.yaml")).drives
    changed = Simulation(read(OVERLAY.format("../scene.yaml"))).drives
    assert (changed.kp[1], changed.kd[0]) == (derived.kp[1], derived.kd[0])


def test_an_overlay_can_extend_a_shipped_scene_a_model_or_an_overlay(read, tmp_path):
    assert read("extends: arm").robots == load_scene("arm").robots
    assert read("extends: ../r.xml").robots[0].name == "r"
    read(OVERLAY.format("../scene.yaml"), "first.yaml")
    second = read("extends: first.yaml\nrobots: [{name: r, joints: {hip: {damping: 9.0}}}]")
    assert second.name == "overlay"
    assert second.folder == tmp_path
    options = second.robots[0].joints["hip"]
    assert (options.friction, options.damping, options.kp) == (0.7, 9.0, 40.0)


def test_a_scene_that_extends_itself_is_an_error(read):
    with pytest.raises(UserInputError, match="more than 10 scenes extend one another"):
        read("extends: overlay.yaml")


@pytest.mark.parametrize(
    ("robots", "message"),
    [
        ("{name: q}", "robot 'q' not found; there are: r"),
        ("{name: r}, {name: r}", "robot 'r' is given twice"),
        ("{name: r, model: r.xml}", "key 'model' not found"),
        ("{name: r, realism: {profile: ideal}}", "'profile' belongs into the scene itself"),
        ("{name: r, joints: {hip: {kp: -1.0}}}", "'kp' must be from 0"),
    ],
)
def test_an_invalid_overlay_is_an_error_that_names_the_file(read, robots, message):
    with pytest.raises(UserInputError, match=rf"overlay.yaml.*{message}"):
        read(f"extends: ../scene.yaml\nrobots: [{robots}]")


def test_gains_of_a_joint_without_a_motor_are_an_error(read):
    text = "extends: ../scene.yaml\nrobots: [{name: r, joints: {free: {kp: 1.0}}}]"
    with pytest.raises(UserInputError, match=r"joint with a PD law 'free'.*hip, knee"):
        Simulation(read(text))
