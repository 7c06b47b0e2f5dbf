"""`Policy` runs ONNX files with declared inputs and outputs, and stops invalid ones."""

from dataclasses import replace

import numpy as np
import pytest
from onnx_policies import write_affine, write_counter, write_inverse, write_two_inputs

from mujoco_ros.controllers.interface.host import GAINS_GET
from mujoco_ros.controllers.interface.inputs import BodyVelocity
from mujoco_ros.controllers.library.policy.config import PolicyConfig
from mujoco_ros.controllers.ros.state_parameters import config_specs
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.strict import from_dict

HOME = np.array([0.1, -0.2])


def terms(*names, **settings):
    return {"obs": {"terms": [{"term": it} if isinstance(it, str) else it for it in names]}}


def identity(tmp_path, size, outputs=2):
    """Write a policy whose actions are the first numbers of its input."""
    return write_affine(tmp_path / "policy.onnx", np.eye(size, outputs))


def test_actions_become_positions_relative_to_the_default_pose(make_policy, tmp_path):
    write_affine(tmp_path / "policy.onnx", np.zeros((2, 2)), np.array([1.0, -0.5]))
    run = make_policy(
        file="policy.onnx", inputs=terms("joint_position"), actions=[{"scale": [0.2, 0.4]}]
    )
    run.step(2)
    np.testing.assert_allclose(run.simulation.references.q, HOME + np.array([0.2, -0.2]), atol=1e-7)
    run.step(400)
    assert run.host.supervised.error == ""
    np.testing.assert_allclose(run.inputs[0], 0.0, atol=1e-7)
    np.testing.assert_allclose(run.inputs[-1], [0.2, -0.2], atol=0.03)


def test_the_order_of_the_joints_is_that_of_the_policy(make_policy, tmp_path):
    write_affine(tmp_path / "policy.onnx", np.zeros((2, 2)), np.array([1.0, 2.0]))
    run = make_policy(
        file="policy.onnx",
        joints=["right", "left"],
        default_pose={"left": 0.3, "right": 0.0},
        inputs=terms("joint_position"),
        actions=[{"scale": 0.1}],
    )
    run.step(2)
    np.testing.assert_allclose(run.simulation.references.q, [0.5, 0.1], atol=1e-7)
    np.testing.assert_allclose(run.inputs[0], [-0.2, -0.2], atol=1e-7)


def test_the_network_runs_with_its_own_period_and_its_targets_hold(make_policy, tmp_path):
    write_counter(tmp_path / "counter.onnx", 2)
    one = {"term": "previous_action", "scale": 0.0, "offset": 1.0}
    run = make_policy(
        file="counter.onnx",
        decimation=5,
        inputs=terms(one),
        memory={"h_in": "h_out"},
        actions=[{"scale": 0.01}],
    )
    held = []
    for _ in range(21):
        run.step(1)
        held.append(run.machine.instances["RUN"]._action[0])
    assert held == [float(1 + tick // 5) for tick in range(21)]
    assert [it[0] for it in run.actions] == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_the_memory_begins_with_zeros_after_a_reset(make_policy, tmp_path):
    write_counter(tmp_path / "counter.onnx", 2)
    one = {"term": "previous_action", "scale": 0.0, "offset": 1.0}
    run = make_policy(file="counter.onnx", inputs=terms(one), memory={"h_in": "h_out"})
    run.step(3)
    run.simulation.reset()
    run.step(1)
    assert [it[0] for it in run.actions] == [1.0, 2.0, 3.0, 1.0]


def test_every_term_has_the_measured_values(make_policy, tmp_path):
    names = [
        "joint_position",
        "joint_velocity",
        "joint_effort",
        "base_angular_velocity",
        "base_linear_velocity",
        "projected_gravity",
        {"term": "base_angular_velocity", "sensor": "imu"},
        {"term": "base_linear_velocity", "sensor": "velocity"},
        {"term": "projected_gravity", "sensor": "imu"},
        "command",
        {"term": "sensor", "sensor": "touch"},
        {"term": "sensor", "sensor": "tip", "value": "force"},
        {"term": "sensor", "sensor": "encoder"},
        {"term": "gait_phase", "period": 0.4, "phases": [0.0, 0.5]},
        "previous_action",
    ]
    size = 3 * 2 + 3 * 3 + 3 * 3 + 3 + 1 + 3 + 1 + 4 + 2
    write_affine(tmp_path / "policy.onnx", np.zeros((size, 2)), np.array([0.7, 0.9]))
    run = make_policy(file="policy.onnx", inputs=terms(*names), velocity_y=0.25)
    seen = []
    run.host.observation_filter = lambda it: seen.append(it) or it
    run.simulation.data.qvel[3:6] = [0.3, 0.5, -0.7]
    run.simulation.data.qvel[0:3] = [0.2, 0.4, 0.1]
    run.step(26)
    run.velocity.receive(BodyVelocity(0.5, 0.0, -1.0), run.simulation.time)
    run.step(1)
    assert run.went == []
    observation, time = seen[-1], 26 * 0.004
    imu = observation.imus["imu"]
    assert np.abs(imu.angular_velocity).min() > 0.1
    down = observation.base.pose.matrix.T @ [0.0, 0.0, -1.0]
    angle = 2.0 * np.pi * time / 0.4
    expected = [
        *(observation.q - HOME),
        *observation.dq,
        *observation.effort,
        *observation.base.angular,
        *observation.base.linear,
        *down,
        *imu.angular_velocity,
        *observation.velocimeters["velocity"].linear,
        *(down[1], -down[0], down[2]),  # the IMU is turned by 90°
        *(0.5, 0.0, -1.0),
        observation.touches["touch"],
        *observation.wrenches["tip"].force,
        observation.sensor_states["encoder"][0],
        *(np.sin(angle), np.sin(angle + np.pi), np.cos(angle), np.cos(angle + np.pi)),
        *(0.7, 0.9),
    ]
    np.testing.assert_allclose(run.inputs[-1], expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(run.inputs[0][-2:], 0.0)
    np.testing.assert_allclose(run.inputs[0][24:27], [0.0, 0.25, 0.0])
    run.step(200)
    np.testing.assert_allclose(run.inputs[-1][24:27], [0.0, 0.25, 0.0], err_msg="too old")


def test_noise_follows_the_seed_and_a_reset_repeats_it(make_policy, tmp_path):
    identity(tmp_path, 4)
    noisy = [
        {"term": "previous_action", "scale": 0.0},
        {"term": "joint_velocity", "noise": {"uniform": 0.2}},
    ]
    noisy[0]["noise"], noisy[0]["scale"] = {"gaussian": [0.1, 0.0]}, 1.0

    def inputs(seed):
        run = make_policy(file="policy.onnx", inputs=terms(*noisy), seed=seed)
        run.step(20)
        run.simulation.reset()
        run.step(20)
        return np.array(run.inputs)

    first = inputs(3)
    assert np.array_equal(first, inputs(3))
    assert np.array_equal(first[:20], first[20:])
    assert not np.array_equal(first, inputs(4))
    assert np.abs(first[0, 2:]).max() <= 0.2
    assert first[0, 0] != 0.0
    assert first[0, 1] == 0.0


def test_limits_apply_before_the_scale_and_to_the_whole_input_after_it(make_policy, tmp_path):
    identity(tmp_path, 3)
    command = {
        "term": "command",
        "clip": [[-0.5, -0.3, -1.0], [1.0, 0.3, 1.0]],
        "scale": [2.0, 2.0, 0.25],
        "offset": 0.5,
    }
    inputs = terms(command)
    inputs["obs"]["clip"] = [-10.0, 2.0]
    run = make_policy(
        file="policy.onnx", inputs=inputs, velocity_x=3.0, velocity_y=-3.0, velocity_yaw=0.4
    )
    run.step(1)
    np.testing.assert_allclose(run.inputs[0], [2.0, -0.1, 0.6], atol=1e-7)


def test_a_gait_stops_without_a_command_and_begins_again_from_its_phases_at_rest(
    make_policy, tmp_path
):
    write_affine(tmp_path / "policy.onnx", np.zeros((2, 2)), input_shape=[1, 2])
    phase = {"term": "gait_phase", "period": 1.0, "phases": [0.0, 0.5], "functions": ["sin"]}
    run = make_policy(
        file="policy.onnx", inputs=terms({**phase, "at_rest": [0.25, 0.75]}), command_timeout=0.1
    )
    run.step(20)
    np.testing.assert_allclose(run.inputs[-1], [1.0, -1.0], atol=1e-6)
    run.velocity.receive(BodyVelocity(0.5, 0.0, 0.0), run.simulation.time)
    at = len(run.inputs)
    run.step(20)
    for number, values in enumerate(run.inputs[at:], start=1):
        angle = 2.0 * np.pi * (0.25 + 0.004 * number)
        np.testing.assert_allclose(values, [np.sin(angle), -np.sin(angle)], atol=1e-6)
    run.step(20)  # the command has ended
    np.testing.assert_allclose(run.inputs[-1], [1.0, -1.0], atol=1e-6)


@pytest.mark.parametrize("order", ["oldest_first", "newest_first"])
@pytest.mark.parametrize("stacked", [False, True])
def test_histories_are_of_a_term_or_of_all_terms(make_policy, tmp_path, order, stacked):
    shape = [1, 3, 4] if stacked else [1, 12]
    write_affine(tmp_path / "policy.onnx", np.zeros((12, 2)), input_shape=shape)
    phase = {"term": "gait_phase", "period": 1.0}
    history = {"history": 3, "order": order}
    two = [phase, {**phase, "phases": [0.25]}]
    if stacked:
        inputs = {"obs": {"terms": two, **history}}
    else:
        inputs = {"obs": {"terms": [{**it, **history} for it in two]}}
    run = make_policy(file="policy.onnx", decimation=5, inputs=inputs)
    run.step(25)

    def frame(number):
        angle = 2.0 * np.pi * max(number, 0) * 0.02
        return [np.sin(angle), np.cos(angle)], [np.cos(angle), -np.sin(angle)]

    for newest, values in enumerate(run.inputs):
        frames = [frame(newest - age) for age in (2, 1, 0)]
        if order == "newest_first":
            frames.reverse()
        both = [left + right for left, right in frames] if stacked else zip(*frames, strict=True)
        expected = np.concatenate([np.ravel(it) for it in both])
        np.testing.assert_allclose(values, expected, atol=1e-6)


def test_velocities_and_efforts_are_targets_with_own_gains(make_policy, tmp_path):
    write_affine(tmp_path / "policy.onnx", np.zeros((2, 2)), np.array([1.0, 2.0]))
    left = {"joints": ["left"], "target": "velocity", "scale": 0.5, "kp": 0.0, "kd": 3.0}
    right = {"joints": ["right"], "target": "effort", "scale": 0.25, "kp": 0.0, "kd": 0.0}
    run = make_policy(
        file="policy.onnx",
        inputs=terms("joint_position"),
        actions=[left, right],
        transitions={"RUN": {"stop": {"to": "STOPPED", "trigger": "request"}}},
    )
    gains = run.host.supervised.controller.store.get(GAINS_GET)
    run.step(2)
    references = run.simulation.references
    assert references.dq.tolist() == [0.5, 0.0]
    assert references.tau.tolist() == [0.0, 0.5]
    assert (gains().kp.tolist(), gains().kd.tolist()) == ([0.0, 0.0], [3.0, 0.0])
    run.step(200)
    assert run.simulation.data.qvel[6] == pytest.approx(0.5, abs=0.3)
    run.host.supervised.request("stop")
    run.step(2)
    assert (gains().kp.tolist(), gains().kd.tolist()) == ([50.0, 30.0], [2.0, 1.0])


def test_a_branch_restores_the_gains_of_its_own_joints(make_policy, tmp_path):
    write_affine(tmp_path / "policy.onnx", np.zeros((2, 2)), np.zeros(2))
    write_affine(tmp_path / "single.onnx", np.zeros((1, 1)), np.zeros(1))

    def single(joint, **settings):
        term = {"term": "joint_position", "joints": [joint]}
        return {
            "class": "Policy",
            "file": "single.onnx",
            "joints": [joint],
            "inputs": {"obs": {"terms": [term]}},
            "actions": [{"kp": 7.0, "kd": 0.5}],
            **settings,
        }

    branch = {
        "initial": "REACH",
        "states": {"REACH": single("left", timeout=0.02), "REST": {"class": "Hold"}},
        "transitions": {
            "REACH": {"timeout": "REST", "fell": "REST", "invalid": "REST"},
            "REST": {"again": {"to": "REACH", "trigger": "request"}},
        },
    }
    both = {
        "parallel": {"ARM": {"machine": branch}, "LEG": single("right")},
        "join": [
            {"when": {"LEG": "invalid"}, "outcome": "invalid"},
            {"when": {"LEG": "fell"}, "outcome": "fell"},
        ],
    }
    run = make_policy(
        file="policy.onnx",
        inputs=terms("joint_position"),
        actions=[{}],
        states={"BOTH": both},
        transitions={
            "RUN": {"both": {"to": "BOTH", "trigger": "request"}},
            "BOTH": {"stop": {"to": "STOPPED", "trigger": "request"}},
        },
    )
    gains = run.host.supervised.controller.store.get(GAINS_GET)
    run.step(2)
    run.host.supervised.request("both")
    run.step(3)
    assert (gains().kp.tolist(), gains().kd.tolist()) == ([7.0, 7.0], [0.5, 0.5])
    run.step(10)
    assert (gains().kp.tolist(), gains().kd.tolist()) == ([50.0, 7.0], [2.0, 0.5])
    run.host.supervised.request("stop")
    run.step(2)
    assert (gains().kp.tolist(), gains().kd.tolist()) == ([50.0, 30.0], [2.0, 1.0])


def test_smoothing_mixes_the_previous_target(make_policy, tmp_path):
    write_affine(tmp_path / "policy.onnx", np.zeros((2, 2)), np.array([1.0, 1.0]))
    run = make_policy(
        file="policy.onnx", inputs=terms("joint_position"), actions=[{"smoothing": 0.75}]
    )
    moved = []
    for _ in range(3):
        run.step(1)
        moved.append(run.host.supervised.controller._context.references.q - HOME)
    np.testing.assert_allclose(moved, np.outer([0.25, 0.4375, 0.578125], [1, 1]), atol=1e-6)


def test_targets_are_limited(make_policy, tmp_path):
    write_affine(tmp_path / "policy.onnx", np.zeros((2, 2)), np.array([9.0, -9.0]))
    clip = [[-0.5, -0.6], [0.4, 0.5]]
    run = make_policy(file="policy.onnx", inputs=terms("joint_position"), actions=[{"clip": clip}])
    run.step(2)
    np.testing.assert_allclose(run.simulation.references.q, [0.4, -0.6])


def test_another_model_does_not_load_the_file_again(make_policy, tmp_path):
    write_affine(tmp_path / "policy.onnx", np.zeros((2, 2)), np.array([1.0, 1.0]))
    run = make_policy(file="policy.onnx", inputs=terms("joint_position"))
    run.step(3)
    network = run.machine.instances["RUN"]._network
    (tmp_path / "policy.onnx").unlink()
    run.host._configure()  # as after a change of the model
    run.simulation.reset()
    run.step(3)
    assert run.machine.instances["RUN"]._network is network
    assert len(run.actions) == 7, "one while the arrays were allocated"
    np.testing.assert_allclose(run.simulation.references.q, HOME + 1.0, atol=1e-6)


def test_several_inputs_with_open_batches(make_policy, tmp_path):
    write_two_inputs(tmp_path / "two.onnx", 2)
    inputs = {
        "command": {"terms": [{"term": "sensor", "sensor": "encoder"}]},
        "position": {"terms": [{"term": "joint_position"}]},
    }
    run = make_policy(file="two.onnx", inputs=inputs)
    run.step(1)
    np.testing.assert_allclose(run.actions[0], [1.0, 1.0], atol=1e-6)


def test_a_policy_that_is_not_a_number_fails(make_policy, tmp_path):
    write_inverse(tmp_path / "log.onnx", 2)
    pose = {"left": 0.2, "right": -0.5}  # the first input is negative
    run = make_policy(file="log.onnx", inputs=terms("joint_position"), default_pose=pose)
    run.step(3)
    assert run.went == [("STOPPED", "the action of joint 'left' is nan; the limit is 100")]
    assert np.isfinite(run.simulation.references.values).all()


def test_a_policy_that_leaves_its_range_fails(make_policy, tmp_path):
    write_counter(tmp_path / "counter.onnx", 2)
    one = {"term": "previous_action", "scale": 0.0, "offset": [0.0, 1.0]}
    run = make_policy(
        file="counter.onnx",
        inputs=terms(one),
        memory={"h_in": "h_out"},
        actions=[{"scale": 0.01, "largest": 3.5}],
    )
    run.step(5)
    assert run.went == [("STOPPED", "the action of joint 'right' is 4; the limit is 3.5")]
    assert run.simulation.references.q[1] == pytest.approx(HOME[1] + 0.03)


def test_an_input_that_is_not_a_number_fails(make_policy, tmp_path):
    identity(tmp_path, 4)
    run = make_policy(file="policy.onnx", inputs=terms("joint_position", "joint_velocity"))
    run.host.observation_filter = lambda it: replace(it, dq=it.dq * np.nan)
    run.step(2)
    assert run.went == [("STOPPED", "the term joint_velocity of input 'obs' is not a number")]
    assert run.actions == []


def test_a_robot_that_is_tilted_has_fallen(make_policy, tmp_path):
    identity(tmp_path, 2)
    run = make_policy(file="policy.onnx", inputs=terms("joint_position"), max_tilt=0.4, imu="imu")
    run.step(2)
    assert run.went == []
    run.simulation.data.qvel[3] = 5.0
    run.step(60)
    goal, reason = run.went[0]
    assert goal == "STOPPED"
    assert reason.startswith("the robot is tilted by 0.4")


def test_policies_of_a_table_are_switched_by_transitions(make_policy, tmp_path):
    write_affine(tmp_path / "policy.onnx", np.zeros((2, 2)), np.array([0.3, 0.3]))
    write_affine(tmp_path / "other.onnx", np.zeros((2, 2)), np.array([-0.3, -0.3]))
    other = {"class": "Policy", "file": "other.onnx", "inputs": terms("joint_velocity")}
    run = make_policy(
        file="policy.onnx",
        inputs=terms("joint_position"),
        states={"OTHER": other},
        transitions={
            "RUN": {"switch": {"to": "OTHER", "trigger": "request"}},
            "OTHER": {"switch": {"to": "RUN", "trigger": "request"}},
        },
    )
    run.step(2)
    np.testing.assert_allclose(run.simulation.references.q, HOME + 0.3, atol=1e-7)
    run.host.supervised.request("switch")
    run.step(2)
    np.testing.assert_allclose(run.simulation.references.q, HOME - 0.3, atol=1e-7)
    run.host.supervised.request("switch")
    run.step(2)
    np.testing.assert_allclose(run.simulation.references.q, HOME + 0.3, atol=1e-7)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"inputs": terms("joint_position", "joint_velocity", "command")},
            r"input 'obs' has 4 values, and its terms have 7: the term command does not fit "
            r"\(joint_position 0:2, joint_velocity 2:4, command 4:7\)",
        ),
        (
            {"inputs": terms("joint_position")},
            "input 'obs' has 4 values, and its terms have 2: 2 values are missing after "
            "joint_position",
        ),
        (
            {"inputs": {"obs": {"terms": [{"term": "joint_position"}], "history": 3}}},
            r"does not fit \(joint_position 0:2 in each of 3 frames\)",
        ),
        (
            {"inputs": terms({"term": "joint_position", "scale": [1.0, 2.0, 3.0]})},
            "input 'obs', term joint_position: scale has 3 numbers, and the term has 2 values",
        ),
        ({"inputs": {"state": {"terms": [{"term": "command"}]}}}, "input 'state' not found"),
        (
            {
                "inputs": {
                    "state": {"terms": [{"term": "image", "sensor": "front", "value": "depth"}]}
                }
            },
            "input 'state' not found",
        ),
        ({"inputs": terms({"term": "sensor", "sensor": "tips"})}, "sensor 'tips' not found"),
        (
            {"inputs": terms({"term": "sensor", "sensor": "tip"})},
            "sensor 'tip' has several values, so choose a 'value': force, torque",
        ),
        ({"imu": "gyros"}, "IMU 'gyros' not found; there are: imu"),
        ({"joints": ["left", "middle"]}, "robot 'cart': joint 'middle' not found"),
        ({"default_pose": {"up": 1.0}}, "default_pose: joint 'up' not found"),
        (
            {"actions": [{"joints": ["left"]}]},
            "the output has 2 values, and the actions are for 1 joint",
        ),
        (
            {"actions": [{"joints": ["left"]}, {"joints": ["left"]}]},
            "actions: joint 'left' is commanded twice",
        ),
        ({"actions": [{"scale": [1.0]}]}, "actions: scale has 1 number, and the term has 2"),
        ({"output": "action"}, r"output 'action' not found \(did you mean 'actions'\?\)"),
        ({"memory": {"h": "actions"}}, "input 'h' not found"),
        ({"file": "none.onnx"}, "none.onnx' does not exist"),
        ({"decimation": 0}, "decimation must be positive, got 0"),
        (
            {"inputs": terms({"term": "velocity"})},
            r"inputs.obs.terms\[0\].term: 'velocity' \(str\) is not one of joint_position, ",
        ),
        ({"inputs": terms({"term": "gait_phase"})}, "period must be positive, got 0"),
        (
            {"inputs": terms({"term": "gait_phase", "period": 1.0, "at_rest": [0.0, 0.5]})},
            "at_rest must have as many phases as 'phases', 1",
        ),
        ({"inputs": terms({"term": "command", "history": 0})}, "history must be from 1 to 1000"),
        (
            {"inputs": terms({"term": "command", "noise": {"uniform": -1.0}})},
            "uniform must not be negative",
        ),
        (
            {"inputs": terms({"term": "command", "clip": [2.0, 1.0]}, "joint_velocity")},
            "term command: clip: a lower limit is above the upper one",
        ),
        (
            {"inputs": {"obs": {"terms": [{"term": "command"}], "clip": [5.0, -5.0]}}},
            "inputs.obs: clip: the lower limit is above the upper one",
        ),
        (
            {"inputs": terms({"term": "joint_position", "sensor": "tip"})},
            r"\[0\]: term 'joint_position': key 'sensor' not found; there are: term, .*, joints",
        ),
        (
            {"inputs": terms({"term": "command", "joints": ["left"]})},
            "term 'command': key 'joints' not found",
        ),
        (
            {"inputs": terms({"term": "joint_velocity", "period": 0.5})},
            "term 'joint_velocity': key 'period' not found",
        ),
        (
            {"inputs": terms({"term": "base_linear_velocity", "value": "linear"})},
            "the value 'linear' needs the name of its 'sensor'",
        ),
        (
            {"memory": {"h_in": "h_out", "c_in": "h_out"}},
            "memory: the inputs 'h_in' and 'c_in' have the same output 'h_out'",
        ),
    ],
)
def test_the_error_of_an_invalid_table_names_the_culprit(make_policy, tmp_path, changes, message):
    identity(tmp_path, 4)
    settings = {
        "file": "policy.onnx",
        "inputs": terms("joint_position", "joint_velocity"),
        **changes,
    }
    with pytest.raises(UserInputError, match=message):
        make_policy(**settings)


@pytest.mark.parametrize(
    ("gains", "message"),
    [
        ({"kp": -1.0}, r"actions\[0\]: kp: a gain must be from 0 to 1e\+06, got -1"),
        ({"kd": [1.0, 2e6]}, r"actions\[0\]: kd: a gain must be from 0 to 1e\+06, got 2e\+06"),
    ],
)
def test_gains_out_of_range_are_rejected_before_the_state_starts(gains, message):
    table = {"file": "policy.onnx", "inputs": terms("command"), "actions": [gains]}
    with pytest.raises(UserInputError, match=message):
        from_dict(PolicyConfig, table, "table")


def test_only_velocities_and_limits_are_parameters(make_policy, tmp_path):
    identity(tmp_path, 2)
    run = make_policy(file="policy.onnx", inputs=terms("joint_position"))
    fields = {name for name, _ in config_specs("RUN", run.machine.configs["RUN"])}
    assert fields == {*("velocity_x", "velocity_y", "velocity_yaw", "command_timeout", "max_tilt")}
