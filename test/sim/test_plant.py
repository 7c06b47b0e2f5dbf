"""Options that change during a simulation, and parts of a plant."""

import mujoco
import numpy as np
import pytest

MODEL = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body name="arm"><joint name="j" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
      <site name="tip" pos="0.3 0 0"/>
      <body pos="0.3 0 0"><joint name="k" axis="0 1 0"/><geom size="0.03"/></body>
    </body>
    <body pos="0 1 0"><joint name="head" type="ball"/><geom size="0.05"/></body>
  </worldbody>
  <actuator>
    <orientation name="head" joint="head"/>
    <motor joint="j" gear="2" ctrlrange="-1 1"/>
    <motor joint="k" gear="3" ctrlrange="-1 1"/>
  </actuator>
  <sensor><accelerometer site="tip"/></sensor>
</mujoco>
"""
GAINS = {"j": (20.0, 1.0), "k": (10.0, 0.5)}


def test_actuators_with_several_outputs_do_not_affect_the_limits_of_others(simulate):
    simulation = simulate(MODEL, gains=GAINS)
    model = simulation.model
    assert model.nout > model.nactuator
    assert model.actuator_forcerange[1:].tolist() == [[-1.0, 1.0], [-1.0, 1.0]]
    simulation.references.tau[:] = 1e4
    for _ in range(5):
        assert simulation.step()
    assert simulation.plant.saturation.steps() == {"j": 5, "k": 5}
    assert simulation.sample.qfrc_actuator[:2].tolist() == [2.0, 3.0]
    simulation.drives.limit_effort(1, 1.5)
    simulation.step()
    assert simulation.sample.qfrc_actuator[:2].tolist() == [2.0, 1.5]


def test_steps_at_a_limit_are_counted_with_the_limit_at_that_time(simulate):
    simulation = simulate(MODEL, gains=GAINS)
    simulation.references.tau[:] = 1.5, 1.5
    for effort, steps in ((1.0, 3), (0.0, 5), (1.25, 100), (0.0, 70)):  # 0 is its own, of 2
        simulation.drives.limit_effort(0, effort)
        for _ in range(steps):
            # The law commands 1.5 Nm for any motion.
            simulation.references.q[:] = simulation.data.qpos[simulation.joints.qpos]
            simulation.references.dq[:] = simulation.data.qvel[simulation.joints.dof]
            simulation.step()
    assert simulation.plant.saturation.steps() == {"j": 103}
    assert simulation.plant.saturation.steps() == {"j": 103}, "asked twice, nothing counts twice"


def test_samples_remain_consistent_after_a_change_to_runge_kutta(simulate):
    simulation = simulate(MODEL, gains=GAINS)
    arrays = list(vars(simulation.sample).values())
    simulation.references.tau[:] = 0.3
    simulation.step()
    for integrator in (mujoco.mjtIntegrator.mjINT_RK4, mujoco.mjtIntegrator.mjINT_IMPLICITFAST):
        simulation.model.opt.integrator = integrator
        simulation._options_changed()
        twin = mujoco.MjData(simulation.model)
        for _ in range(5):
            simulation.step()
            sample = simulation.sample
            twin.qpos[:], twin.qvel[:] = sample.qpos, sample.qvel
            twin.ctrl[:] = simulation.data.ctrl
            mujoco.mj_forward(simulation.model, twin)
            assert sample.sensordata == pytest.approx(twin.sensordata)
            assert sample.xpos == pytest.approx(twin.xpos)
            assert sample.qacc == pytest.approx(twin.qacc)
    assert all(
        a is getattr(simulation.sample, n) for a, n in zip(arrays, vars(sample), strict=True)
    )


def test_samples_do_not_change_a_run_with_runge_kutta(simulate):
    simulation = simulate(MODEL.replace("<option", '<option integrator="RK4"'), gains=GAINS)
    plain = mujoco.MjData(simulation.model)
    mujoco.mj_copyState(
        simulation.model, simulation.data, plain, mujoco.mjtState.mjSTATE_INTEGRATION
    )
    for _ in range(50):
        simulation.step()
        plain.ctrl[:] = simulation.data.ctrl
        mujoco.mj_step(simulation.model, plain)
    assert simulation.data.qpos.tobytes() == plain.qpos.tobytes()


def test_another_timestep_continues_from_the_end_of_the_last_step(simulate):
    simulation = simulate(MODEL, gains=GAINS)
    notified = []
    simulation.on_timestep.append(notified.append)
    times = []
    for timestep in (0.002, 0.003, 0.002):
        simulation.set_timestep(timestep)
        for _ in range(3):
            simulation.step()
            times.append(simulation.time)
    assert np.diff(times) == pytest.approx([0.002] * 3 + [0.003] * 3 + [0.002] * 2)
    assert notified == [0.003, 0.002]


def test_stamps_are_whole_steps_after_any_time_is_set(simulate):
    simulation = simulate(MODEL, gains=GAINS)
    for begin in (7.0, 0.0011, 0.0):
        simulation.reset(time=begin)
        times = []
        for _ in range(4):
            simulation.step()
            times.append(simulation.time)
        assert times[0] == begin
        assert np.diff(times) == pytest.approx([0.002] * 3)


def test_a_reset_can_return_to_a_settled_state(simulate):
    simulation = simulate(MODEL, gains=GAINS)
    start = simulation.plant.start
    bent = simulation.build_plant(simulation.assembly).start
    bent.qpos[:2] = 0.5, -0.5
    simulation.reset(time=2.0, state=simulation.plant.settle(bent))
    assert simulation.data.time == 2.0
    assert simulation.references.q.tolist() == [0.5, -0.5]
    simulation.reset()
    assert simulation.data.qpos.tolist() == start.qpos.tolist()
