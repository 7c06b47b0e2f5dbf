"""Policies that other software exports become settings of `Policy`."""

import copy

import pytest

from mujoco_ros.controllers.library.policy.config import PolicyConfig
from mujoco_ros.controllers.library.policy.importing import (
    read_deploy,
    settings_of_deploy,
    settings_of_metadata,
    table,
)
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.strict import from_dict

MOTORS = ["hip", "knee", "wrist", "ankle"]
"""The wrist is not part of the policy."""


def observation(size, scale=1.0, **others):
    return {"params": {}, "clip": None, "scale": [scale] * size, "history_length": 5, **others}


def of_joints(ids):
    return observation(1, params={"asset_cfg": {"joint_ids": ids}})


DEPLOY = {
    "joint_ids_map": [3, 0, 1],
    "step_dt": 0.02,
    "stiffness": [100.0, 150.0, 0.0, 40.0],
    "damping": [2.0, 4.0, 0.0, 1.0],
    "default_joint_pos": [-0.2, -0.1, 0.3],
    "commands": {
        "base_velocity": {
            "ranges": {
                "lin_vel_x": [-0.5, 1.0],
                "lin_vel_y": [-0.3, 0.3],
                "ang_vel_z": [-1.2, 1.1],
                "heading": None,
            }
        }
    },
    "actions": {
        "JointPositionAction": {
            "clip": None,
            "joint_names": [".*"],
            "scale": [0.25, 0.5, 0.5],
            "offset": [-0.2, -0.1, 0.3],
            "joint_ids": None,
        }
    },
    "observations": {
        "base_ang_vel": observation(3, 0.2),
        "projected_gravity": observation(3),
        "velocity_commands": observation(3, params={"command_name": "base_velocity"}),
        "joint_pos_rel": observation(3),
        "joint_vel_rel": observation(3, 0.05, clip=[-10.0, 10.0]),
        "last_action": observation(3),
        "gait_phase": observation(2, params={"period": 0.8}, history_length=1),
    },
}
METADATA = {
    "run_path": "someone/run",
    "joint_names": "hip,knee,ankle",
    "joint_stiffness": "100.000,150.000,40.000",
    "joint_damping": "2.000,4.000,1.000",
    "default_joint_pos": "-0.100,0.300,-0.200",
    "command_names": "twist",
    "observation_names": "base_lin_vel,base_ang_vel,projected_gravity,joint_pos,actions,command",
    "action_scale": "0.500,0.500,0.250",
}


def deploy(**changes):
    return {**copy.deepcopy(DEPLOY), **changes}


def as_config(settings):
    return from_dict(PolicyConfig, {"file": "policy.onnx", **settings}, "imported")


def test_a_deploy_file_becomes_the_settings_of_a_policy():
    settings, period = settings_of_deploy(DEPLOY, MOTORS, "deploy.yaml")
    config = as_config(settings)
    assert period == 0.02
    assert config.joints == ("ankle", "hip", "knee"), "in the order of the policy"
    assert config.default_pose == {"ankle": -0.2, "hip": -0.1, "knee": 0.3}
    (action,) = config.actions
    assert (action.kp, action.kd) == ((40.0, 100.0, 150.0), (1.0, 2.0, 4.0))
    assert (action.scale, action.offset) == ((0.25, 0.5, 0.5), (-0.2, -0.1, 0.3))
    assert (action.target, action.clip) == ("position", None)
    terms = config.inputs["obs"].terms
    assert [it.term for it in terms] == [
        *("base_angular_velocity", "projected_gravity", "command", "joint_position"),
        *("joint_velocity", "previous_action", "gait_phase"),
    ]
    assert [it.history for it in terms] == [5, 5, 5, 5, 5, 5, 1]
    assert {it.order for it in terms} == {"oldest_first"}
    assert [terms[0].scale, terms[1].scale, terms[4].scale] == [0.2, 1.0, 0.05]
    assert terms[2].clip == ((-0.5, -0.3, -1.2), (1.0, 0.3, 1.1))
    assert terms[4].clip == (-10.0, 10.0)
    assert terms[6].period == 0.8
    assert terms[6].phases == pytest.approx((0.025,)), "the phase of the first run is one step"


@pytest.mark.parametrize("values", [" [null, null, null]", "\n  - null\n  - null\n  - null"])
def test_all_joints_as_an_object_of_python_are_read_without_creating_one(tmp_path, values):
    path = tmp_path / "deploy.yaml"
    path.write_text(f"joint_ids: !!python/object/apply:builtins.slice{values}\nstep_dt: 0.02\n")
    assert read_deploy(path) == {"joint_ids": None, "step_dt": 0.02}
    path.write_text("joint_ids: !!python/object/apply:os.getcwd []\n")
    with pytest.raises(UserInputError, match="could not determine a constructor"):
        read_deploy(path)


def test_gains_may_be_of_the_used_motors_only():
    changes = {"stiffness": [100.0, 150.0, 40.0], "damping": [2.0, 4.0, 1.0]}
    settings, _ = settings_of_deploy(deploy(**changes), MOTORS, "deploy.yaml")
    assert settings["actions"][0]["kp"] == [40.0, 100.0, 150.0]


def test_histories_of_all_terms_and_several_inputs_are_imported():
    data = deploy()
    scaled = observation(3, 2.0, clip=[-4.0, 4.0])
    data["observations"] = {
        "obs": {"use_gym_history": True, "scale_first": True, "base_ang_vel": scaled},
        "state": {"joint_pos_rel": {**observation(2), "params": {"asset_cfg": {"joint_ids": [2]}}}},
    }
    settings, _ = settings_of_deploy(data, MOTORS, "deploy.yaml")
    config = as_config(settings)
    assert config.inputs["obs"].history == 5
    assert config.inputs["obs"].terms[0].history == 1
    assert config.inputs["obs"].terms[0].clip == ((-2.0,) * 3, (2.0,) * 3), "before the scale"
    assert config.inputs["state"].terms[0].joints == ("knee",)


def test_actions_of_some_joints_with_limits_are_imported():
    data = deploy()
    data["actions"] = {
        "JointVelocityAction": {
            "scale": [1.0],
            "offset": [0.0],
            "clip": [[-2.0, 3.0]],
            "joint_ids": [1],
        }
    }
    (action,) = as_config(settings_of_deploy(data, MOTORS, "deploy.yaml")[0]).actions
    assert (action.joints, action.target, action.kp) == (("hip",), "velocity", (100.0,))
    assert action.clip == ((-2.0,), (3.0,))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint_ids_map": [0, 4]}, "joint_ids_map must have different numbers below 4"),
        ({"step_dt": 0.0}, "deploy.yaml: step_dt must be positive"),
        ({"default_joint_pos": [0.0]}, "default_joint_pos has not 3 numbers"),
        ({"stiffness": [1.0]}, "deploy.yaml: stiffness has 1 number, too few for 3 joints"),
        ({"actions": {"EffortAction": {}}}, "action 'EffortAction' not found; there are: Joint"),
        (
            {"observations": {"motion_command": observation(6)}},
            "observations: observation 'motion_command' not found .*; there are: base_ang_vel, ",
        ),
        ({"observations": None}, "observations: expected a mapping, got NoneType"),
        (
            {"observations": {"use_gym_history": True, "a": 1}},
            "observations.a: expected a mapping, got int",
        ),
        (
            {"actions": {"JointPositionAction": None}},
            "actions.JointPositionAction: expected a mapping, got NoneType",
        ),
        (
            {"actions": {"JointPositionAction": {"joint_ids": [3]}}},
            r"JointPositionAction.joint_ids must have numbers from 0 to 2, got \[3\]",
        ),
        (
            {"observations": {"gait_phase": observation(2, params=[0.8])}},
            "observations.gait_phase.params: expected a mapping, got list",
        ),
        (
            {"observations": {"joint_pos_rel": of_joints([7])}},
            r"joint_pos_rel.params.asset_cfg.joint_ids must have numbers from 0 to 2, got \[7\]",
        ),
        ({"observations": {"joint_pos_rel": of_joints([-1])}}, r"from 0 to 2, got \[-1\]"),
        ({"observations": {"joint_pos_rel": of_joints([])}}, r"from 0 to 2, got \[\]"),
        (
            {"observations": {"joint_pos_rel": observation(3, params={"asset_cfg": "robot"})}},
            "joint_pos_rel.params.asset_cfg: expected a mapping, got str",
        ),
        (
            {"observations": {"scale_first": True, "last_action": observation(0, clip=[-1, 1])}},
            "observations.last_action.scale must not be empty",
        ),
        (
            {"observations": {"last_action": observation(3, clip=[-1.0])}},
            "observations.last_action.clip: expected 2 values, got 1",
        ),
        ({"commands": [1]}, "deploy.yaml: commands: expected a mapping, got list"),
        (
            {"commands": {"base_velocity": "fast"}},
            "deploy.yaml: commands.base_velocity: expected a mapping, got str",
        ),
        (
            {"commands": {"base_velocity": {"ranges": {"lin_vel_x": [0.0, 1.0, 2.0]}}}},
            "commands.base_velocity.ranges.lin_vel_x: expected 2 values, got 3",
        ),
    ],
)
def test_what_a_policy_cannot_be_is_named(changes, message):
    with pytest.raises(UserInputError, match=message):
        settings_of_deploy(deploy(**changes), MOTORS, "deploy.yaml")


def test_the_metadata_of_an_onnx_file_become_settings():
    config = as_config(settings_of_metadata(METADATA, "policy.onnx"))
    assert config.joints == ("hip", "knee", "ankle")
    assert config.default_pose == {"hip": -0.1, "knee": 0.3, "ankle": -0.2}
    (action,) = config.actions
    assert (action.scale, action.kp, action.kd) == (
        (0.5, 0.5, 0.25),
        (100.0, 150.0, 40.0),
        (2.0, 4.0, 1.0),
    )
    assert [it.term for it in config.inputs["obs"].terms] == [
        *("base_linear_velocity", "base_angular_velocity", "projected_gravity"),
        *("joint_position", "previous_action", "command"),
    ]
    lengths = {"observation_history_lengths": "1.000,0.000,5.000,1.000,3.000,1.000"}
    long = as_config(settings_of_metadata({**METADATA, **lengths}, "policy.onnx"))
    assert [it.history for it in long.inputs["obs"].terms] == [1, 1, 5, 1, 3, 1]
    single = settings_of_metadata({**METADATA, "action_scale": "0.5"}, "policy.onnx")
    assert single["actions"][0]["scale"] == 0.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint_names": None}, "the metadata lack 'joint_names'; they have: run_path, "),
        ({"default_joint_pos": "0.1"}, "default_joint_pos has not 3 numbers"),
        ({"action_scale": "a,b"}, "action_scale: could not convert"),
        ({"command_names": "motion"}, "command 'motion' not found; there are: twist, base_vel"),
        ({"observation_names": "height_scan"}, "observation 'height_scan' not found"),
        ({"action_joint_names": "toe"}, "action_joint_names: joint 'toe' not found"),
        ({"joint_damping": "1.0"}, "joint_damping has not 3 numbers"),
        ({"observation_history_lengths": "5.0"}, "history_lengths has not 6 whole numbers"),
    ],
)
def test_what_the_metadata_lack_is_named(changes, message):
    metadata = {key: it for key, it in {**METADATA, **changes}.items() if it is not None}
    with pytest.raises(UserInputError, match=message):
        settings_of_metadata(metadata, "policy.onnx")


def test_a_table_has_the_rate_of_the_policy_times_the_decimation():
    made = table({"inputs": {}}, file="a.onnx", period=0.02, decimation=4, imu="pelvis")
    assert made["rate"] == 200.0
    assert made["states"]["RUN"]["imu"] == "pelvis"
    without = table({"inputs": {}}, file="a.onnx", period=0.02, decimation=4, imu="")
    assert "imu" not in without["states"]["RUN"]
