"""What two parts of an evaluation must have in common."""

import json
from dataclasses import replace

import pytest

from mujoco_ros.controllers.evaluation.episode import identity_of, scene_hash
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.model.realism_config import RealismConfig
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig
from mujoco_ros.model.scene.joint_options import JointOptions

MODEL = """<mujoco><asset><mesh name="mesh" file="mesh.obj"/></asset><worldbody><body name="base">
<joint name="hip"/><geom type="mesh" mesh="mesh"/></body></worldbody>
<actuator><motor name="hip" joint="hip"/></actuator></mujoco>"""
CORNERS = b"".join(b"v %d %d %d\n" % it for it in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)))


def identity(seed, tried):
    return identity_of(tried, seed, assemble(tried.scene_config()))


def test_the_identity_follows_the_conditions_the_settings_and_the_scene():
    tried = trial("pick_place")
    every = [
        identity(1, tried),
        identity(2, tried),
        identity(1, trial("pick_place", "table")),
        identity(1, trial("pick_place", "", {"IDLE": {"gains": "lab"}})),
        {**identity(1, tried), "scene": identity(1, trial("handover"))["scene"]},
    ]
    assert len({json.dumps(it) for it in every}) == len(every)
    assert identity(1, trial("pick_place")) == every[0]
    assert " at 0x" not in every[0]["trial"]


@pytest.fixture
def scene(tmp_path) -> SceneConfig:
    return made_in(tmp_path / "here")


def made_in(folder) -> SceneConfig:
    folder.mkdir()
    (folder / "mesh.obj").write_bytes(CORNERS + b"f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    (folder / "model.xml").write_text(MODEL)
    (folder / "gains.yaml").write_text("hip: {kp: 5, kd: 1}\n")
    robot = RobotConfig(name="robot", model="model.xml", gains="gains.yaml")
    return SceneConfig(name="scene", folder=folder, robots=(robot,), merged=False)


def test_the_hash_of_a_scene_does_not_follow_the_folder_of_its_files(scene, tmp_path):
    here, there = assemble(scene), assemble(made_in(tmp_path / "another_machine"))
    assert "here" in here.model.paths.decode()
    assert scene_hash(here) == scene_hash(there)


def with_mass(assembly: Assembly) -> Assembly:
    assembly.model.body_mass[1] = 0.5
    return assembly


def with_timestep(assembly: Assembly) -> Assembly:
    assembly.model.opt.timestep = 0.001
    return assembly


def with_shadows(assembly: Assembly) -> Assembly:
    assembly.model.vis.quality.shadowsize = 1
    return assembly


def with_gains(assembly: Assembly) -> Assembly:
    (assembly.config.folder / "gains.yaml").write_text("hip: {kp: 6, kd: 1}\n")
    return assembly


def with_robot(assembly: Assembly, **changes) -> Assembly:
    (robot,) = assembly.config.robots
    robots = (replace(robot, **changes),)
    return replace(assembly, config=replace(assembly.config, robots=robots))


@pytest.mark.parametrize(
    "change",
    [
        *(with_mass, with_timestep, with_shadows, with_gains),
        lambda it: with_robot(it, joints={"hip": JointOptions(kp=6.0)}),
        lambda it: with_robot(it, realism=RealismConfig(actuators={"late": {"delay": 0.02}})),
    ],
)
def test_the_hash_of_a_scene_follows_its_content(scene, change):
    before = scene_hash(assemble(scene))
    assert scene_hash(change(assemble(scene))) != before
