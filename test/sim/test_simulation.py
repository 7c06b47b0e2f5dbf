"""Samples, resets, repeatability and divergence."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import JointCommand
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble_part
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.limits import END_OF_TIME_S
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.simulation import DivergenceError, Simulation

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
INTEGRATORS = ["Euler", "implicit", "implicitfast", "RK4", "discrete"]

MACHINE = """
<mujoco>
  <option timestep="0.002" integrator="{integrator}"/>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body name="base" pos="0 0 0.6">
      <freejoint/>
      <geom size="0.1 0.08 0.05" type="box" mass="4"/>
      <site name="imu" pos="0.02 0.01 0.03" euler="10 20 30"/>
      <body name="arm" pos="0.15 0 0">
        <joint name="hinge" axis="0 1 0" damping="0.3" armature="0.01"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
        <body name="rod" pos="0.3 0 0">
          <joint name="slide" type="slide" axis="1 0 0" range="-0.1 0.1" damping="2"/>
          <geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.02" mass="0.5"/>
          <site name="ft"/>
        </body>
      </body>
    </body>
    <body name="ball" pos="0.2 0 1.2"><freejoint/><geom size="0.08" mass="1"/></body>
  </worldbody>
  <actuator>
    <motor name="hinge" joint="hinge" gear="20" ctrlrange="-1 1"/>
    <position name="slide" joint="slide" kp="300" kv="20" timeconst="0.05"/>
  </actuator>
  <equality><weld name="glue" body1="ball" body2="base" active="false"/></equality>
  <sensor>
    <gyro site="imu" noise="0.01"/>
    <accelerometer site="imu" noise="0.1"/>
    <framequat objtype="site" objname="imu"/>
    <force site="ft" noise="0.5"/>
    <torque site="ft"/>
    <actuatorfrc actuator="hinge"/>
  </sensor>
  <keyframe>
    <key qpos="0 0 0.6 1 0 0 0 0.3 0.02  0.2 0 1.2 1 0 0 0"
         qvel="0.1 0 0 0.3 0.2 0.1 1 0.1 0 0 0 0 0 0"/>
  </keyframe>
</mujoco>"""
GAINS = {"hinge": (30.0, 2.0)}


def wave(simulation, step: int) -> None:
    """Set references that keep all joints in motion."""
    references = simulation.references
    references.q[:] = 0.3 * np.sin(0.05 * step + np.arange(len(references.q)))
    references.dq[:] = 0.2 * np.cos(0.03 * step)
    references.tau[:] = 0.1 * np.cos(0.07 * step)


def recorded(simulation, steps: int) -> np.ndarray:
    """Return all values of the samples of a run, row by row."""
    rows = []
    for step in range(steps):
        wave(simulation, step)
        assert simulation.step()
        sample = simulation.sample
        parts = [getattr(sample, name).ravel() for name in sample.__dataclass_fields__]
        rows.append(np.concatenate([[simulation.time], *parts]))
    return np.array(rows)


def assert_consistent(simulation, steps: int, every: int = 1) -> int:
    """Step, and compare samples with a fresh evaluation of the same state."""
    model, sample = simulation.model, simulation.sample
    other, state = mujoco.MjData(model), np.zeros(mujoco.mj_stateSize(model, STATE))
    contacts = 0
    for step in range(steps):
        wave(simulation, step)
        mujoco.mj_getState(model, simulation.data, state, STATE)
        time = simulation.data.time
        assert simulation.step()
        if step % every:
            continue
        mujoco.mj_setState(model, other, state, STATE)
        other.ctrl[:] = simulation.data.ctrl
        assert simulation.time == other.time == time
        np.testing.assert_array_equal(sample.qpos, other.qpos)
        np.testing.assert_array_equal(sample.qvel, other.qvel)
        mujoco.mj_forward(model, other)
        for name in ("qacc", "qfrc_actuator", "sensordata", "xpos", "xquat"):
            np.testing.assert_allclose(
                getattr(sample, name), getattr(other, name), rtol=1e-9, atol=1e-9, err_msg=name
            )
        contacts = max(contacts, other.ncon)
    return contacts


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_all_values_of_a_sample_have_one_time(simulate, integrator):
    simulation = simulate(MACHINE.format(integrator=integrator), gains=GAINS)
    assert assert_consistent(simulation, 400) > 0, "the machine must land"


@pytest.mark.parametrize("scene", ["humanoid", "zoo"])
def test_samples_of_shipped_scenes_are_consistent(shipped, scene):
    assert assert_consistent(shipped(scene), 60, every=6) > 0


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_first_sample_is_the_initial_state_at_time_zero(simulate, integrator):
    simulation = simulate(MACHINE.format(integrator=integrator), gains=GAINS)
    assert simulation.step()
    assert simulation.time == 0.0
    np.testing.assert_array_equal(simulation.sample.qpos, simulation.model.key_qpos[0])
    np.testing.assert_array_equal(simulation.sample.qvel, simulation.model.key_qvel[0])
    assert simulation.step()
    assert simulation.time == 0.002


def test_sample_arrays_remain_the_same_objects(simulate):
    simulation = simulate(MACHINE.format(integrator="RK4"), gains=GAINS, sensor_noise=True)
    addresses = {n: a.ctypes.data for n, a in vars(simulation.sample).items()}
    recorded(simulation, 3)
    simulation.reset()
    recorded(simulation, 3)
    assert {n: a.ctypes.data for n, a in vars(simulation.sample).items()} == addresses


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_joint_effort_is_the_torque_the_engine_applies(simulate, integrator):
    simulation = simulate(MACHINE.format(integrator=integrator), gains=GAINS)
    hinge, slide = simulation.layout.robots[0].joints.dof
    saturated = 0
    for step in range(300):
        wave(simulation, 3 * step)
        simulation.references.q[0] *= 4.0
        assert simulation.step()
        effort, sample = simulation.sample.qfrc_actuator, simulation.sample
        assert effort[hinge] == pytest.approx(20 * sample.sensordata[-1], abs=1e-12)
        q, dq = sample.qpos[7], sample.qvel[hinge]
        references = simulation.references
        pd = 30 * (references.q[0] - q) + 2 * (references.dq[0] - dq) + references.tau[0]
        assert effort[hinge] == pytest.approx(np.clip(pd, -20, 20), abs=1e-9)
        saturated += abs(pd) > 20
        assert abs(effort[slide]) < 300
    assert 0 < saturated < 300, "both sides of the limit must have been seen"


# --- the same again


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_same_scene_and_seed_give_identical_runs(simulate, integrator, noise):
    model = MACHINE.format(integrator=integrator)
    runs = [
        recorded(simulate(model, gains=GAINS, sensor_noise=noise, seed=11), 300) for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0], runs[1])


def test_another_seed_gives_other_readings_of_the_same_motion(simulate):
    model = MACHINE.format(integrator="implicitfast")
    one, two = (simulate(model, gains=GAINS, sensor_noise=True, seed=seed) for seed in (1, 2))
    assert not np.array_equal(recorded(one, 50), recorded(two, 50))
    np.testing.assert_array_equal(one.sample.qpos, two.sample.qpos)
    np.testing.assert_array_equal(one.sample.qacc, two.sample.qacc)


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_run_after_a_reset_equals_the_first(simulate, integrator, noise):
    simulation = simulate(MACHINE.format(integrator=integrator), gains=GAINS, sensor_noise=noise)
    first = recorded(simulation, 300)
    simulation.reset()
    np.testing.assert_array_equal(recorded(simulation, 300), first)


def test_shipped_scenes_run_identically_and_again_after_a_reset(shipped):
    one, two = (shipped("zoo", sensor_noise=True, seed=3) for _ in range(2))
    first = recorded(one, 150)
    np.testing.assert_array_equal(recorded(two, 150), first)
    one.reset()
    np.testing.assert_array_equal(recorded(one, 150), first)


# --- reset


def test_a_reset_restores_all_changeable_state(simulate):
    simulation = simulate(MACHINE.format(integrator="implicitfast"), gains=GAINS)
    data = simulation.data
    start = {n: getattr(data, n).copy() for n in ("qpos", "qvel", "act", "ctrl", "eq_active")}
    references = simulation.references
    commanded = references.q.copy()
    assert data.act[0] == pytest.approx(0.02), "the filter must start where the keyframe is"
    recorded(simulation, 100)
    simulation.drives.set_gains(np.array([1.0, 0.0]), np.array([0.5, 0.0]))
    data.eq_active[0] = 1
    data.xfrc_applied[1] = 5.0
    data.qfrc_applied[3] = 1.0
    simulation.reset()
    for name in ("qpos", "qvel", "act", "eq_active"):
        np.testing.assert_array_equal(getattr(data, name), start[name], err_msg=name)
    assert not data.xfrc_applied.any()
    assert not data.qfrc_applied.any()
    assert data.time == simulation.time == 0.0
    np.testing.assert_array_equal(references.q, commanded)
    np.testing.assert_array_equal(references.dq, 0.0)
    np.testing.assert_array_equal(references.tau, 0.0)
    assert (simulation.drives.kp[0], simulation.drives.kd[0]) == (30.0, 2.0)
    references.q[0] = 0.4
    assert simulation.step()
    expected = 30 * (0.4 - simulation.sample.qpos[7]) - 2 * simulation.sample.qvel[6]
    assert simulation.sample.qfrc_actuator[6] == pytest.approx(expected, abs=1e-9)


def test_a_reset_activates_an_equality_that_was_deactivated(simulate):
    glued = MACHINE.format(integrator="Euler").replace('active="false"', 'active="true"')
    simulation = simulate(glued, gains=GAINS)
    simulation.data.eq_active[0] = 0
    recorded(simulation, 10)
    simulation.reset()
    assert simulation.data.eq_active[0] == 1


def test_a_reset_can_continue_the_clock(simulate):
    simulation = simulate(MACHINE.format(integrator="RK4"), gains=GAINS)
    recorded(simulation, 100)
    simulation.reset(time=7.5)
    assert simulation.step()
    assert simulation.time == 7.5
    np.testing.assert_array_equal(simulation.sample.qpos, simulation.model.key_qpos[0])


# --- divergence


def not_a_number(simulation, array: str, value: float = float("nan")) -> None:
    getattr(simulation.data, array)[0] = value


TRIGGERS = {
    "qpos_nan": lambda s: not_a_number(s, "qpos"),
    "qvel_nan": lambda s: not_a_number(s, "qvel"),
    "qvel_huge": lambda s: not_a_number(s, "qvel", 1e20),
    "force_huge": lambda s: not_a_number(s, "qfrc_applied", 1e300),
    "force_nan": lambda s: s.data.xfrc_applied.__setitem__((1, 0), float("nan")),
}


def assert_finite(simulation) -> None:
    for name, array in vars(simulation.sample).items():
        assert np.isfinite(array).all(), name
    assert np.isfinite(simulation.time)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("trigger", TRIGGERS.values(), ids=TRIGGERS)
def test_a_diverged_simulation_resets_and_its_clock_continues(simulate, trigger, integrator):
    simulation = simulate(MACHINE.format(integrator=integrator), gains=GAINS)
    first = recorded(simulation, 50)
    simulation.drives.set_gains(np.array([1.0, 0.0]), np.array([0.5, 0.0]))
    trigger(simulation)
    results, times = [], [simulation.time]
    for step in range(50):
        wave(simulation, step)
        good = simulation.step()
        results.append(good)
        if good:
            assert_finite(simulation)
            assert simulation.time > times[-1]
            times.append(simulation.time)
            if len(times) == 2:
                np.testing.assert_array_equal(simulation.sample.qpos, simulation.model.key_qpos[0])
                np.testing.assert_array_equal(simulation.sample.qvel, simulation.model.key_qvel[0])
    assert results.count(False) == 1
    assert simulation.divergences == 1
    assert times[1] - times[0] <= 3 * 0.002 + 1e-9
    assert simulation.drives.kp[0] == 30.0
    assert not simulation.paused
    assert first.shape[0] == 50


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("trigger", TRIGGERS.values(), ids=TRIGGERS)
def test_a_diverged_simulation_pauses_at_its_last_valid_state(simulate, trigger, integrator):
    simulation = simulate(MACHINE.format(integrator=integrator), gains=GAINS, on_divergence="pause")
    recorded(simulation, 50)
    simulation.data.eq_active[0] = 1
    trigger(simulation)
    qpos, qvel = simulation.sample.qpos.copy(), simulation.sample.qvel.copy()
    time = simulation.time
    assert not simulation.step()
    assert simulation.paused
    assert simulation.divergences == 1
    for state in (simulation.data, simulation.sample):
        np.testing.assert_array_equal(state.qpos, qpos)
        np.testing.assert_array_equal(state.qvel, qvel)
    assert simulation.time == time
    assert simulation.data.time > time  # so that no stamp is repeated
    assert simulation.data.eq_active[0] == 1
    simulation.paused = False
    for _ in range(20):
        assert simulation.step()
        assert_finite(simulation)
    assert simulation.divergences == 1


def test_a_reference_that_is_not_a_number_is_a_divergence(simulate):
    simulation = simulate(MACHINE.format(integrator="Euler"), gains=GAINS)
    recorded(simulation, 50)
    simulation.references.q[0] = np.nan
    assert not simulation.step(), "the engine would take all controls for zero"
    assert simulation.divergences == 1
    assert simulation.step(), "the reset has replaced it"
    assert_finite(simulation)


def test_a_simulation_that_diverges_in_its_first_step_pauses_in_its_initial_state(simulate):
    simulation = simulate(MACHINE.format(integrator="Euler"), gains=GAINS, on_divergence="pause")
    simulation.data.qvel[0] = np.nan
    assert not simulation.step()
    np.testing.assert_array_equal(simulation.data.qpos, simulation.model.key_qpos[0])
    simulation.paused = False
    assert simulation.step()
    assert_finite(simulation)


@pytest.mark.parametrize("trigger", TRIGGERS.values(), ids=TRIGGERS)
def test_a_diverged_simulation_ends_with_an_error_if_configured_to_shut_down(simulate, trigger):
    simulation = simulate(
        MACHINE.format(integrator="implicitfast"), gains=GAINS, on_divergence="shutdown"
    )
    recorded(simulation, 50)
    trigger(simulation)
    with pytest.raises(DivergenceError, match=r"diverged at 0\.1000 s"):
        simulation.step()


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_extreme_stiffness_gives_no_nan_in_a_valid_sample(simulate, integrator):
    model = MACHINE.format(integrator=integrator).replace(' ctrlrange="-1 1"', "")
    simulation = simulate(model, gains={"hinge": (1e6, 0.0)})
    good = 0
    for step in range(3000):
        wave(simulation, step)
        if simulation.step():
            good += 1
            assert_finite(simulation)
    assert simulation.divergences == 3000 - good > 0


def test_engine_warnings_can_be_read(simulate):
    simulation = simulate(MACHINE.format(integrator="implicitfast"), gains=GAINS)
    assert list(simulation.engine_messages) == []
    simulation.data.qvel[0] = np.nan
    assert not simulation.step()
    assert any("QVEL" in message for message in simulation.engine_messages)


def test_a_robot_without_scalar_joints_can_be_simulated(simulate):
    simulation = simulate(
        """<mujoco><worldbody><body name="stone"><freejoint/><geom size="0.1"/></body>
        </worldbody></mujoco>"""
    )
    assert simulation.step()
    assert simulation.joints.names == ()
    assert [base.name for base in simulation.layout.robots[0].bases] == ["stone"]


def test_a_pause_after_a_divergence_keeps_inputs_of_other_components(simulate):
    model = """
    <mujoco>
      <size nuserdata="2"/>
      <worldbody>
        <site name="hook" pos="0 0 2"/>
        <body name="hand" mocap="true"/>
        <body name="arm"><joint/><geom size="0.1"/><site name="tip" pos="0.2 0 0"/></body>
      </worldbody>
      <tendon><spatial name="rope"><site site="hook"/><site site="tip"/></spatial></tendon>
      <actuator><motor tendon="rope"/></actuator>
    </mujoco>
    """
    simulation = simulate(model, on_divergence="pause")
    data = simulation.data
    data.mocap_pos[0], data.ctrl[0], data.userdata[:] = (1.0, 2.0, 3.0), 0.5, (4.0, 5.0)
    assert simulation.step()
    data.qvel[0] = np.nan
    assert not simulation.step()
    assert data.mocap_pos[0].tolist() == [1.0, 2.0, 3.0]
    assert data.ctrl.tolist() == [0.5]
    assert data.userdata.tolist() == [4.0, 5.0]


def test_a_start_whose_contacts_do_not_fit_into_the_memory_is_an_error():
    balls = "<body><freejoint/><geom size='.1'/></body>" * 60
    text = f"<mujoco><size memory='100K'/><worldbody>{balls}</worldbody></mujoco>"
    assembly = assemble_part(part_from_text(text, name="it"))
    with pytest.raises(UserInputError, match=r"the start of scene 'it': .*out of memory"):
        Simulation(assembly)


def test_the_clock_pauses_at_the_end_of_ros_time_and_runs_again_after_a_reset(simulate):
    simulation = simulate(MACHINE.format(integrator="Euler"), gains=GAINS)
    timestep = simulation.model.opt.timestep
    simulation.set_time(END_OF_TIME_S - 2.5 * timestep)
    assert [simulation.step() for _ in range(3)] == [True, True, False]
    assert simulation.paused
    assert simulation.time < simulation.data.time < END_OF_TIME_S
    assert "at the end of ROS time, 2^31 s" in simulation.engine_messages[-1]
    simulation.paused = False
    assert not simulation.step(), "nor does it run on"
    simulation.reset()
    assert simulation.step()


def test_a_timestep_that_reaches_the_end_of_ros_time_takes_no_step(simulate):
    simulation = simulate(MACHINE.format(integrator="Euler"), gains=GAINS)
    simulation.set_timestep(1e10)
    assert not simulation.step()
    assert simulation.data.time == 0.0


@pytest.mark.parametrize("scene", ["arm", "quadruped"])
def test_advancing_is_as_single_steps(scene: str) -> None:
    states, events = [], []
    for several in (True, False):
        simulation = Simulation(load_scene(scene))
        control = simulation.controls[0]
        control.stream = replace(control.stream, timeout=0.05)
        for target in (0.2, -0.1):
            values = np.full((3, 2), np.nan)
            values[0] = target
            command = JointCommand(joints=np.arange(2), values=values, clamped=())
            control.command(CommandSource.JOINT_COMMANDS, command, float(simulation.data.time))
            for count in (7, 1, 200):
                if several:
                    assert simulation.advance(count)
                else:
                    assert all(simulation.step() for _ in range(count))
        states.append([simulation.time, simulation.sample.state.tobytes()])
        states[-1] += [simulation.references.values.tobytes(), simulation.data.ctrl.tobytes()]
        events.append([(type(event), getattr(event, "time", 0.0)) for event in simulation.events])
    assert states[0] == states[1]
    assert events[0] == events[1]


def test_advancing_ends_with_an_invalid_step() -> None:
    simulation = Simulation(load_scene("arm"))
    assert simulation.advance(5)
    before = float(simulation.data.time)
    simulation.data.qvel[0] = np.nan
    assert not simulation.advance(100)
    assert simulation.divergences == 1
    timestep = float(simulation.model.opt.timestep)
    assert simulation.data.time == pytest.approx(before + timestep, abs=1e-9)
