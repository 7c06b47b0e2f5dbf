"""Measured sensors and joint states in a simulation."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism_config import RealismConfig

MODEL = """
<mujoco>
  <option timestep="0.001" integrator="{integrator}"/>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="link" pos="0 0 1">
      <joint name="j1" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1"/>
      <site name="imu" pos="0.3 0 0"/>
      <site name="up" pos="0.1 0 0" quat="1 0 0 0"/>
      <site name="down" pos="0.1 0 0" quat="0 1 0 0"/>
      <body pos="0.3 0 0">
        <joint name="j2" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1" contype="0"
          conaffinity="0"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="m1" joint="j1"/><motor name="m2" joint="j2"/></actuator>
  <sensor>
    <gyro name="imu_gyro" site="imu"/>
    <accelerometer name="imu_acc" site="imu"/>
    <framequat name="imu_quat" objtype="site" objname="imu"/>
    <rangefinder name="range_up" site="up" cutoff="5"/>
    <rangefinder name="range_down" site="down" cutoff="5"/>
    <jointpos name="pos" joint="j1"/>
  </sensor>
</mujoco>""".format(integrator="implicitfast")
STEPS = 60


def realism(**sections) -> RealismConfig:
    return RealismConfig(**sections)


def recorded(simulation, steps: int = STEPS) -> dict[str, np.ndarray]:
    names = ("qpos", "qvel", "qfrc_actuator", "measured_qpos", "measured_qvel", "measured_effort")
    rows = {name: [] for name in (*names, "sensordata", "truth")}
    for _ in range(steps):
        assert simulation.step()
        for name in (*names, "sensordata"):
            rows[name].append(getattr(simulation.sample, name).copy())
        rows["truth"].append(simulation.data.sensordata.copy())
    return {name: np.array(values) for name, values in rows.items()}


def test_without_channels_the_measured_numbers_are_the_true_arrays(simulate):
    sample = simulate(MODEL).sample
    assert sample.measured_qpos is sample.qpos
    assert sample.measured_qvel is sample.qvel
    assert sample.measured_effort is sample.qfrc_actuator


def test_joint_states_are_those_of_earlier_steps_and_the_physics_is_the_same(simulate):
    plain = recorded(simulate(MODEL))
    seen = recorded(simulate(MODEL, realism=realism(joints={"encoders": {"delay": 0.004}})))
    for truth, measured in (
        ("qpos", "measured_qpos"),
        ("qvel", "measured_qvel"),
        ("qfrc_actuator", "measured_effort"),
    ):
        np.testing.assert_array_equal(seen[truth], plain[truth])
        np.testing.assert_array_equal(seen[measured][4:], plain[truth][:-4])
        np.testing.assert_array_equal(seen[measured][:4], plain[truth][[0] * 4])
    np.testing.assert_array_equal(seen["sensordata"], plain["sensordata"])


def test_settings_of_joints_apply_to_the_joints_that_match(simulate):
    joints = {"coarse": {"match": "j2", "position_quantisation": 0.01, "velocity_noise": 0.1}}
    seen = recorded(simulate(MODEL, realism=realism(joints=joints)))
    np.testing.assert_array_equal(seen["measured_qpos"][:, 0], seen["qpos"][:, 0])
    np.testing.assert_array_equal(
        seen["measured_qpos"][:, 1], np.rint(seen["qpos"][:, 1] / 0.01) * 0.01
    )
    np.testing.assert_array_equal(seen["measured_qvel"][:, 0], seen["qvel"][:, 0])
    error = seen["measured_qvel"][:, 1] - seen["qvel"][:, 1]
    assert 0.05 < error.std() < 0.2


def test_sensors_are_selected_by_type_or_name_and_their_truth_stays(simulate):
    sensors = {
        "rates": {"type": "gyro", "delay": 0.003},
        "encoder": {"match": ["po?"], "quantisation": 0.001},
    }
    plain = recorded(simulate(MODEL))
    seen = recorded(simulate(MODEL, realism=realism(sensors=sensors)))
    np.testing.assert_array_equal(seen["truth"], plain["sensordata"])
    np.testing.assert_array_equal(seen["sensordata"][3:, :3], plain["sensordata"][:-3, :3])
    np.testing.assert_array_equal(seen["sensordata"][:, 3:12], plain["sensordata"][:, 3:12])
    np.testing.assert_array_equal(
        seen["sensordata"][:, 12], np.rint(plain["sensordata"][:, 12] / 0.001) * 0.001
    )


def test_parts_of_one_message_are_lost_together(simulate):
    sensors = {"imu": {"match": "imu_*", "dropout": 0.5}}
    seen = recorded(simulate(MODEL, realism=realism(sensors=sensors)))
    held = seen["sensordata"][1:] == seen["sensordata"][:-1]
    moving = seen["truth"][1:] != seen["truth"][:-1]
    gyro, acc, quat = 1, 3, 8  # numbers that change at every step
    assert moving[:, [gyro, acc, quat]].all()
    np.testing.assert_array_equal(held[:, gyro], held[:, acc])
    np.testing.assert_array_equal(held[:, gyro], held[:, quat])
    assert held[:, gyro].any()
    assert not held[:, gyro].all()


def test_quaternions_keep_their_length_and_missed_distances_their_value(simulate):
    sensors = {
        "pose": {"match": "imu_quat", "noise": 0.1, "quantisation": 0.05},
        "ranges": {"type": "rangefinder", "noise": 2.0},
    }
    seen = recorded(simulate(MODEL, realism=realism(sensors=sensors)))
    lengths = np.linalg.norm(seen["sensordata"][:, 6:10], axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-12)
    missed = (seen["truth"] < 0.0) | (seen["truth"] >= 5.0)
    up, down = 10, 11
    assert missed[:, up].all()
    assert not missed[:, down].any()
    np.testing.assert_array_equal(seen["sensordata"][:, up], seen["truth"][:, up])
    assert (seen["sensordata"][:, down] >= 0.0).all()
    assert (seen["sensordata"][:, down] == 0.0).any()
    assert (seen["sensordata"][:, down] != seen["truth"][:, down]).all()


def test_runge_kutta_measures_the_state_of_the_sample(simulate):
    model = MODEL.replace('integrator="implicitfast"', 'integrator="RK4"')
    plain = recorded(simulate(model))
    seen = recorded(simulate(model, realism=realism(sensors={"gyro": {"delay": 0.002}})))
    np.testing.assert_array_equal(seen["sensordata"][2:, :3], plain["sensordata"][:-2, :3])


def test_sensor_noise_of_the_model_precedes_the_channel(simulate):
    model = MODEL.replace('site="imu"/>\n    <acc', 'site="imu" noise="0.1"/>\n    <acc')
    noisy = recorded(simulate(model, sensor_noise=True, seed=2))
    delayed = realism(sensors={"gyro": {"type": "gyro", "delay": 0.005}})
    seen = recorded(simulate(model, sensor_noise=True, seed=2, realism=delayed))
    np.testing.assert_array_equal(seen["sensordata"][5:, :3], noisy["sensordata"][:-5, :3])


def test_another_timestep_keeps_the_delay_in_seconds(simulate):
    simulation = simulate(MODEL, realism=realism(joints={"encoders": {"delay": 0.004}}))
    simulation.set_timestep(0.002)
    seen = recorded(simulation)
    np.testing.assert_array_equal(seen["measured_qpos"][2:], seen["qpos"][:-2])


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (
            {"sensors": {"a": {"match": "gyro"}}},
            "realism of robot 'robot': sensors.a: sensor 'gyro' not found",
        ),
        ({"sensors": {"a": {"type": "gyros"}}}, "type of sensor 'gyros' not found"),
        (
            {"sensors": {"a": {"type": "gyro"}, "b": {}}},
            "sensors.b: sensor imu_gyro belongs to sensors.a as well",
        ),
        ({"joints": {"a": {"match": ["j1", "j3"]}}}, "joints.a: joint 'j3' not found"),
        ({"joints": {"a": {"match": "j*"}, "b": {"match": "j2"}}}, "joint j2 belongs to joints.a"),
        ({"actuators": {"a": {"match": "m1"}}}, "joint with an actuator 'm1' not found"),
        (
            {"actuators": {"a": {}, "b": {"match": "j2"}}},
            "actuators.b: joint j2 belongs to actuators.a as well",
        ),
        (
            {"actuators": {"a": {"copper_loss": 1.0}}},
            "actuator 'm1' has no limit of effort that heat can lower",
        ),
    ],
)
def test_entries_that_do_not_fit_the_robot_are_errors(simulate, sections, message):
    with pytest.raises(UserInputError) as error:
        simulate(MODEL, realism=realism(**sections))
    assert message in str(error.value)


FREE = """<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody>
<body name="trunk" pos="0 0 1"><freejoint/><geom type="box" size=".2 .1 .05" mass="3"/>
<body name="leg"><joint name="hip"/><geom size=".02" pos=".1 0 0" mass=".1"/></body></body>
</worldbody></mujoco>"""
SAMPLES = 4000


def flying(simulate, **settings):
    """Return a simulation of a base that moves and turns, measured with settings."""
    simulation = simulate(FREE, realism=realism(bases={"odometry": settings}), seed=3)
    simulation.data.qvel[:6] = (0.4, -0.2, 0.1, 0.3, -0.5, 0.7)
    return simulation


def test_a_base_is_measured_as_late_as_its_delay(simulate):
    rows = recorded(flying(simulate, delay=0.006, match="trunk"))
    # A quaternion that is sampled is normalised.
    np.testing.assert_allclose(
        rows["measured_qpos"][6:, :7], rows["qpos"][:-6, :7], rtol=0, atol=1e-15
    )
    np.testing.assert_array_equal(rows["measured_qvel"][6:, :6], rows["qvel"][:-6, :6])
    np.testing.assert_array_equal(rows["measured_qpos"][:, 7], rows["qpos"][:, 7])


def test_the_noise_of_a_base_is_that_of_its_settings_about_every_axis(simulate):
    noise = {"position": 0.01, "orientation": 0.02, "velocity": 0.03, "angular_velocity": 0.04}
    settings = {f"{name}_noise": value for name, value in noise.items()}
    rows = recorded(flying(simulate, **settings), SAMPLES)
    error = rows["measured_qpos"][:, :3] - rows["qpos"][:, :3]
    np.testing.assert_allclose(error.std(axis=0), noise["position"], rtol=0.1)
    measured, true = rows["measured_qpos"][:, 3:7], rows["qpos"][:, 3:7]
    np.testing.assert_allclose(np.linalg.norm(measured, axis=1), 1.0, atol=1e-12)
    turns = np.zeros((len(true), 3))
    for turn, first, second in zip(turns, true, measured, strict=True):
        mujoco.mju_subQuat(turn, second, first)
    np.testing.assert_allclose(turns.std(axis=0), noise["orientation"], rtol=0.1)
    twist = rows["measured_qvel"][:, :6] - rows["qvel"][:, :6]
    np.testing.assert_allclose(twist[:, :3].std(axis=0), noise["velocity"], rtol=0.1)
    np.testing.assert_allclose(twist[:, 3:].std(axis=0), noise["angular_velocity"], rtol=0.1)


def test_the_position_of_a_base_walks_away_as_odometry_does(simulate):
    rows = recorded(flying(simulate, position_walk=0.2), SAMPLES)
    error = rows["measured_qpos"][:, :3] - rows["qpos"][:, :3]
    steps = np.diff(error, axis=0)
    np.testing.assert_allclose(steps.std(axis=0), 0.2 * np.sqrt(0.001), rtol=0.1)
    np.testing.assert_array_equal(rows["measured_qvel"][:, :6], rows["qvel"][:, :6])


def test_a_robot_without_a_floating_base_has_no_odometry(simulate):
    simulation = simulate(MODEL, realism=realism(bases={"odometry": {"delay": 0.1}}))
    rows = recorded(simulation)
    np.testing.assert_array_equal(rows["measured_qpos"], rows["qpos"])
    with pytest.raises(UserInputError, match="floating base 'trunk' not found"):
        simulate(MODEL, realism=realism(bases={"odometry": {"match": "trunk"}}))
    with pytest.raises(UserInputError, match=r"base trunk belongs to bases\.a as well"):
        simulate(FREE, realism=realism(bases={"a": {}, "b": {}}))
