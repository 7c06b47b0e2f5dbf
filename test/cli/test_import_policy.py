"""The executable `import_policy`."""

import numpy as np
import pytest
import yaml
from onnx_policies import write_affine

from mujoco_ros.cli.import_policy import main
from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


def term(size):
    return {"params": {}, "clip": None, "scale": [1.0] * size, "history_length": 2}


def run(table, scene="quadruped", ticks=20):
    host = ControllerHost(Simulation(load_scene(scene)), load(str(table)))
    for _ in range(ticks):
        assert host.tick()
    assert host.supervised.error == ""
    assert host.supervised.state == "RUN"
    return host


def test_a_deploy_file_becomes_a_table_that_runs(tmp_path):
    scene = Simulation(load_scene("quadruped"))
    (robot,) = scene.layout.robots
    (tmp_path / "params").mkdir()
    (tmp_path / "exported").mkdir()
    size = len(robot.joints.names)
    order = list(reversed(range(size)))
    home = scene.data.qpos[robot.joints.qpos][order].tolist()
    deploy = {
        "joint_ids_map": order,
        "step_dt": 0.02,
        "stiffness": [100.0] * size,
        "damping": [3.0] * size,
        "default_joint_pos": home,
        "commands": {},
        "actions": {
            "JointPositionAction": {
                "clip": None,
                "scale": [0.25] * size,
                "offset": home,
                "joint_ids": None,
            }
        },
        "observations": {"base_ang_vel": term(3), "joint_pos_rel": term(size)},
    }
    source, table = tmp_path / "params/deploy.yaml", tmp_path / "walk.yaml"
    source.write_text(yaml.safe_dump(deploy))
    write_affine(tmp_path / "exported/policy.onnx", np.zeros((2 * (3 + size), size)))
    assert main([str(source), "--scene", "quadruped", "-o", str(table)]) == 0
    settings = yaml.safe_load(table.read_text())["states"]["RUN"]
    assert settings["file"] == "exported/policy.onnx", "relative to the table"
    assert settings["imu"] == "trunk_imu"
    assert settings["joints"] == [robot.joints.names[it] for it in order]
    host = run(table)
    assert host.supervised.controller.period == 0.005


def test_the_metadata_of_an_onnx_file_become_a_table_that_runs(tmp_path, capsys):
    (robot,) = Simulation(load_scene("quadruped")).layout.robots
    joints = ",".join(robot.joints.names)
    size = len(robot.joints.names)
    metadata = {
        "joint_names": joints,
        "default_joint_pos": ",".join(["0.000"] * size),
        "observation_names": "projected_gravity,joint_pos,joint_vel",
        "action_scale": "0.000",
    }
    policy = tmp_path / "policy.onnx"
    write_affine(policy, np.zeros((3 + 2 * size, size)), metadata=metadata)
    arguments = [str(policy), "--period", "0.02", "--decimation", "2", "--imu", "trunk_imu"]
    assert main(arguments) == 0
    table = tmp_path / "walk.yaml"
    table.write_text(capsys.readouterr().out)
    assert run(table).supervised.controller.period == 0.01


@pytest.fixture
def with_two_imus(tmp_path):
    xml = """<mujoco><worldbody><body name="base"><freejoint/><geom size=".1"/>
      <site name="pelvis"/><site name="torso"/>
      <body><joint name="a"/><geom size=".1"/></body></body></worldbody>
      <actuator><position name="a" joint="a" kp="10"/></actuator>
      <sensor><gyro name="g0" site="pelvis"/><gyro name="g1" site="torso"/>
        <framequat name="q0" objtype="site" objname="pelvis"/>
        <framequat name="q1" objtype="site" objname="torso"/></sensor></mujoco>"""
    path = tmp_path / "two.xml"
    path.write_text(xml)
    return path


METADATA = {
    "joint_names": "a",
    "default_joint_pos": "0",
    "observation_names": "joint_pos",
    "action_scale": "1",
}


def test_a_table_behind_a_link_names_the_policy_from_where_it_is(tmp_path):
    (tmp_path / "deep" / "tables").mkdir(parents=True)
    (tmp_path / "tables").symlink_to(tmp_path / "deep" / "tables")
    path = write_affine(tmp_path / "policy.onnx", np.zeros((1, 1)), metadata=METADATA)
    table = tmp_path / "tables" / "walk.yaml"
    assert main([str(path), "--period", "0.02", "-o", str(table)]) == 0
    file = yaml.safe_load(table.read_text())["states"]["RUN"]["file"]
    assert (table.resolve().parent / file).resolve() == path


def test_one_of_several_imus_is_chosen(tmp_path, capsys, with_two_imus):
    policy = write_affine(tmp_path / "policy.onnx", np.eye(1), metadata=METADATA)
    arguments = [str(policy), "--period", "0.02", "--scene", str(with_two_imus)]
    assert main(arguments) == 1
    assert "several IMUs, so choose one as --imu: pelvis, torso;" in capsys.readouterr().err
    for imu in ("torso", ""):
        assert main([*arguments, "--imu", imu]) == 0
        made = yaml.safe_load(capsys.readouterr().out)
        assert made["states"]["RUN"].get("imu", "") == imu


def test_spaces_around_names_of_joints_are_ignored(tmp_path, capsys):
    deploy = {
        "joint_ids_map": [0, 1],
        "step_dt": 0.02,
        "stiffness": [1.0, 1.0],
        "damping": [1.0, 1.0],
        "default_joint_pos": [0.0, 0.0],
        "actions": {"JointPositionAction": {"scale": [1.0, 1.0], "offset": [0.0, 0.0]}},
        "observations": {"joint_pos_rel": term(2)},
    }
    source, policy = tmp_path / "deploy.yaml", tmp_path / "policy.onnx"
    source.write_text(yaml.safe_dump(deploy))
    arguments = [str(source), "--joints", "a, b", "--policy", str(policy)]
    assert main(arguments) == 1
    assert f"policy '{policy}' does not exist; give it as --policy" in capsys.readouterr().err
    write_affine(policy, np.zeros((4, 2)))
    assert main(arguments) == 0
    assert yaml.safe_load(capsys.readouterr().out)["states"]["RUN"]["joints"] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["policy.onnx"], "lacks the period of the policy; give it as --period"),
        (["deploy.yaml"], "give their joints in order as --scene or --joints"),
        (["deploy.yaml", "--joints", "a,b"], "deploy.yaml: key 'step_dt' is missing"),
        (
            ["deploy.yaml", "--joints", "a,b", "--period", "0.02"],
            "--period is for ONNX files; ",
        ),
        (["none.onnx"], "none.onnx' does not exist"),
    ],
)
def test_errors_are_one_line(tmp_path, capsys, arguments, message):
    write_affine(tmp_path / "policy.onnx", np.eye(1), metadata=METADATA)
    (tmp_path / "deploy.yaml").write_text("joint_ids_map: [0, 1]")
    assert main([str(tmp_path / arguments[0]), *arguments[1:]]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mujoco_ros: error: ")
    assert message in line


@pytest.mark.parametrize("legs", [("FL", "FR", "RL", "RR"), ("RR", "RL", "FR", "FL")])
def test_motors_of_unitree_are_numbered_as_by_unitree_whatever_the_order_of_the_model(
    tmp_path, capsys, legs
):
    parts = ("hip", "thigh", "calf")
    leg = "".join(
        f'<body><joint name="{{0}}_{part}_joint"/><geom size=".1"/></body>' for part in parts
    )
    bodies = "".join(leg.format(name) for name in legs)
    (tmp_path / "dog.xml").write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    assert made_joints(tmp_path, capsys, "dog.xml") == [
        f"{name}_{part}_joint" for name in ("FR", "FL", "RR", "RL") for part in parts
    ]


def test_motors_of_other_robots_are_the_joints_of_the_scene_in_an_order_that_is_printed(
    tmp_path, capsys
):
    bodies = "".join(f'<body><joint name="j{it}"/><geom size=".1"/></body>' for it in range(12))
    (tmp_path / "robot.xml").write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    joints = [f"j{it}" for it in range(12)]
    assert made_joints(tmp_path, capsys, "robot.xml", printed=", ".join(joints)) == joints


def made_joints(tmp_path, capsys, scene, printed=""):
    """Return the joints of a table that is made of a deploy.yaml with 12 motors."""
    deploy = {
        "joint_ids_map": list(range(12)),
        "step_dt": 0.02,
        "stiffness": [1.0] * 12,
        "damping": [1.0] * 12,
        "default_joint_pos": [0.0] * 12,
        "actions": {"JointPositionAction": {"scale": [1.0] * 12, "offset": [0.0] * 12}},
        "observations": {"joint_pos_rel": term(12)},
    }
    (tmp_path / "deploy.yaml").write_text(yaml.safe_dump(deploy))
    policy = write_affine(tmp_path / "policy.onnx", np.zeros((24, 12)))
    source, model = str(tmp_path / "deploy.yaml"), str(tmp_path / scene)
    assert main([source, "--policy", str(policy), "--scene", model]) == 0
    output = capsys.readouterr()
    if printed:
        assert f"numbered as the joints of the scene: {printed};" in output.err
    else:
        assert output.err == ""
    return yaml.safe_load(output.out)["states"]["RUN"]["joints"]
