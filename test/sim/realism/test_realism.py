"""Imperfect robots through resets, keyframes, changes of the model, logs and observations."""

from dataclasses import replace

import numpy as np
import pytest

from mujoco_ros.controllers.runtime.observation_source import ObservationSource
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.realism_config import RealismConfig
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.playback import Playback
from mujoco_ros.sim.state.snapshots import Keyframes
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter

TIMING = {"interval": 0.002, "delay": 0.004, "jitter": 0.003, "dropout": 0.1}
EVERYTHING = RealismConfig(
    sensors={"all": {**TIMING, "noise": 0.01, "bias": 0.02, "bias_walk": 0.01}},
    joints={"all": {**TIMING, "position_noise": 1e-3, "velocity_quantisation": 1e-3}},
    actuators={
        "all": {
            **TIMING,
            "backlash": 0.002,
            "peak_effort": 200.0,
            "stall_effort": 100.0,
            "no_load_velocity": 20.0,
            "copper_loss": 0.01,
            "thermal_time_constant": 0.5,
            "derating_start": 30.0,
            "derating_end": 90.0,
        }
    },
)
BOX = "<mujoco><worldbody><body name='it'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
FAR = PoseConfig(xyz=(20.0, 20.0, 500.0))


@pytest.fixture
def simulation() -> Simulation:
    return Simulation(load_scene("arm"), realism=EVERYTHING, seed=7)


def rows(simulation: Simulation, steps: int, first: int = 0) -> np.ndarray:
    """Return what the robot measures and how it moves, with references that change."""
    found = []
    for step in range(first, first + steps):
        simulation.references.q[:6] += 0.002 * np.sin(0.05 * step)
        assert simulation.step()
        sample = simulation.sample
        measured = (sample.sensordata, sample.measured_qpos[:7], sample.measured_qvel[:7])
        temperatures = [it.motors.temperature for it in simulation.plant.realism.robots.values()]
        found.append(np.concatenate([*measured, sample.qpos[:7], temperatures[0]]))
    return np.array(found)


def test_the_same_seed_gives_the_same_bits_and_a_reset_repeats_them(simulation):
    first = rows(simulation, 200)
    again = Simulation(load_scene("arm"), realism=EVERYTHING, seed=7)
    np.testing.assert_array_equal(rows(again, 200), first)
    simulation.reset()
    np.testing.assert_array_equal(rows(simulation, 200), first)
    other = Simulation(load_scene("arm"), realism=EVERYTHING, seed=8)
    assert (rows(other, 200) != first).any()


def test_after_a_reset_the_measured_numbers_are_the_true_ones(simulation):
    rows(simulation, 100)
    simulation.reset()
    sample, data = simulation.sample, simulation.data
    np.testing.assert_array_equal(sample.measured_qpos, data.qpos)
    np.testing.assert_array_equal(sample.measured_qvel, data.qvel)
    np.testing.assert_array_equal(sample.measured_effort, data.qfrc_actuator)
    np.testing.assert_array_equal(sample.sensordata, data.sensordata)


def test_a_scene_with_more_samples_in_flight_than_the_limit_is_rejected():
    scene = load_scene("arm")
    scene = replace(scene, physics=replace(scene.physics, timestep=1e-5))
    late = RealismConfig(joints={"all": {"delay": 1.0}})
    with pytest.raises(UserInputError, match=r"joints.all: too large: .* limit 1000000"):
        Simulation(scene, realism=late)


def test_a_keyframe_continues_with_the_same_bits(simulation):
    keyframes = Keyframes(simulation)
    rows(simulation, 123)
    keyframes.save("here")
    first = rows(simulation, 150, 123)
    keyframes.load("here")
    np.testing.assert_array_equal(rows(simulation, 150, 123), first)


def test_spawned_and_deleted_entities_change_no_bit_of_the_others(simulation):
    first = rows(simulation, 240)
    simulation.reset()
    before = rows(simulation, 80)
    box = part_from_text(BOX, name="far_box", pose=FAR)
    simulation.switch_model(simulation.build_plant(rebuild(simulation.assembly, add=(box,))))
    between = rows(simulation, 80, 80)
    simulation.switch_model(
        simulation.build_plant(rebuild(simulation.assembly, remove=("far_box",)))
    )
    after = rows(simulation, 80, 160)
    np.testing.assert_array_equal(before, first[:80])
    np.testing.assert_array_equal(between, first[80:160])
    np.testing.assert_array_equal(after, first[160:])


def test_changed_settings_survive_a_change_of_the_model_and_a_reset(simulation):
    (part,) = simulation.plant.realism.robots
    joints = simulation.plant.realism.robots[part].entries[1]
    coarse = replace(joints.settings, position_quantisation=0.1, dropout=0.0)
    simulation.plant.realism.change(part, {("joints", "all"): coarse})
    box = part_from_text(BOX, name="far_box", pose=FAR)
    simulation.switch_model(simulation.build_plant(rebuild(simulation.assembly, add=(box,))))
    simulation.reset()
    rows(simulation, 30)
    measured = simulation.sample.measured_qpos[simulation.joints.qpos]
    np.testing.assert_allclose(measured, np.rint(measured / 0.1) * 0.1, atol=1e-12)


def test_a_spawned_robot_has_the_default_profile_and_its_own_random_numbers():
    simulation = Simulation(load_scene("zoo"), realism=EVERYTHING)
    names = [robot.name for robot in simulation.plant.realism.robots.values()]
    assert names == [robot.name for robot in simulation.layout.robots]
    first = Simulation(load_scene("zoo"), realism=EVERYTHING)
    left, right = (
        first.plant.realism.robots[part].measurements.channel for part in first.assembly.robots[-2:]
    )
    assert left.size == right.size
    turn_on = left._state.turn_on, right._state.turn_on
    assert (turn_on[0] != turn_on[1]).all()


def test_what_is_set_as_state_is_commanded_at_once():
    """Without the references of the time before, which would pull the robot back."""
    late = RealismConfig(actuators={"all": {"delay": 0.05}})
    simulation = Simulation(load_scene("arm"), realism=late)
    for _ in range(100):
        simulation.step()
    joints = simulation.layout.robots[0].joints
    simulation.data.qpos[joints.qpos[0]] += 0.5
    simulation.hold_robot(0, np.array([0]), simulation.data.qpos[joints.qpos[:1]], "set")
    target = float(simulation.data.qpos[joints.qpos[0]])
    for _ in range(30):
        simulation.step()
        assert simulation.sample.qpos[joints.qpos[0]] == pytest.approx(target, abs=0.01)


def test_an_observation_has_the_measured_numbers_and_a_true_base():
    simulation = Simulation(load_scene("quadruped"), realism=EVERYTHING)
    rows(simulation, 60)
    sample, robot = simulation.sample, simulation.layout.robots[0]
    seen = ObservationSource(simulation.plant, 0).observe(simulation.time)
    np.testing.assert_array_equal(seen.q, sample.measured_qpos[robot.joints.qpos])
    np.testing.assert_array_equal(seen.dq, sample.measured_qvel[robot.joints.dof])
    np.testing.assert_array_equal(seen.effort, sample.measured_effort[robot.joints.dof])
    assert (seen.q != sample.qpos[robot.joints.qpos]).any()
    base = robot.bases[0].qpos
    np.testing.assert_array_equal(seen.base.pose.position, sample.qpos[base : base + 3])
    (imu,) = robot.sensors["imu"]
    gyro = imu.addresses["angular_velocity"]
    reading = next(iter(seen.imus.values()))
    np.testing.assert_array_equal(reading.angular_velocity, sample.sensordata[gyro : gyro + 3])
    assert (reading.angular_velocity != simulation.data.sensordata[gyro : gyro + 3]).any()


def test_a_log_replays_measured_and_true_numbers(simulation, tmp_path):
    names = ("sensordata", "measured_qpos", "measured_qvel", "measured_effort", "qpos", "qvel")
    writer = StateLogWriter(tmp_path / "run.mjlog")
    ring = RingBuffer(simulation.plant, 1)
    writer.add(ring)
    logged = []
    for step in range(40):
        rows(simulation, 1, step)
        ring.add_step()
        sample = {name: getattr(simulation.sample, name).copy() for name in names}
        logged.append((sample, simulation.data.sensordata.copy()))
    writer.close()
    playback = Playback(StateLog.open(tmp_path / "run.mjlog"), lambda _number: None)
    assert playback.plant.realism is not None
    for sample, truth in logged:
        assert playback.step()
        np.testing.assert_array_equal(playback.data.sensordata, truth)
        for name, expected in sample.items():
            np.testing.assert_array_equal(getattr(playback.sample, name), expected, err_msg=name)


def test_an_ideal_profile_costs_nothing():
    simulation = Simulation(load_scene("arm"), realism=RealismConfig())
    assert simulation.plant.realism is None
