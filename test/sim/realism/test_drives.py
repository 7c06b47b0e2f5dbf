"""Commands, play and limits of motors in a simulation, against their formulas."""

import numpy as np
import pytest

from mujoco_ros.model.realism_config import RealismConfig

STEP = 0.001
MODEL = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0"/>
  <worldbody>
    <body>
      <joint name="j" axis="0 0 1" damping="{damping}" frictionloss="{friction}"/>
      <geom type="box" size="0.1 0.1 0.1" mass="1"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="m" joint="j" gear="{gear}" ctrllimited="true" ctrlrange="-10 10"/>
  </actuator>
</mujoco>"""


def motor(simulate, *, gear=1.0, damping=0.0, friction=0.0, gains=(0.0, 0.0), **settings):
    config = RealismConfig(actuators={"drive": settings})
    mjcf = MODEL.format(gear=gear, damping=damping, friction=friction)
    return simulate(mjcf, gains={"j": gains}, realism=config)


def efforts(simulation, steps: int) -> np.ndarray:
    found = np.zeros(steps)
    for row in range(steps):
        assert simulation.step()
        found[row] = simulation.sample.qfrc_actuator[0]
    return found


def test_commands_arrive_after_the_delay_and_are_held_for_the_interval(simulate):
    simulation = motor(simulate, delay=0.003, interval=0.004)
    found = []
    for step in range(40):
        simulation.references.tau[0] = 0.01 * step
        found += efforts(simulation, 1).tolist()
    expected = 0.01 * 4 * (np.maximum(np.arange(40) - 3, 0) // 4)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_feedback_of_the_drive_is_not_delayed(simulate):
    """The PD law with a delayed reference is the undelayed one, later."""
    rows = {}
    for delay in (0.0, 0.02):
        simulation = motor(simulate, delay=delay, gains=(20.0, 1.0))
        simulation.step()
        simulation.references.q[0] = 0.1
        positions = []
        for _ in range(200):
            assert simulation.step()
            positions.append(simulation.sample.qpos[0])
        rows[delay] = np.array(positions)
    np.testing.assert_array_equal(rows[0.02][20:], rows[0.0][:-20])


def test_commands_are_quantised(simulate):
    simulation = motor(simulate, position_quantisation=0.01, gains=(1.0, 0.0), damping=1e6)
    for wanted in (0.004, 0.006, 0.0349):
        simulation.references.q[0] = wanted
        assert efforts(simulation, 1)[0] == pytest.approx(np.rint(wanted / 0.01) * 0.01, abs=1e-6)


def test_lost_commands_hold_the_last_one(simulate):
    simulation = motor(simulate, dropout=0.5)
    found = []
    for step in range(200):
        simulation.references.tau[0] = 0.001 * step
        found += efforts(simulation, 1).tolist()
    lost = np.diff(found) == 0.0
    assert 70 < lost.sum() < 130
    assert simulation.plant.realism.robots[simulation.assembly.robots[0]].commands.channel.lost


@pytest.mark.parametrize("gear", [1.0, -5.0])
def test_play_makes_a_hysteresis_loop_of_its_width(simulate, gear):
    """With friction, the joint lags half the play and the elastic part F/kp on each flank."""
    kp, friction, play = 200.0, 0.5, 0.04
    simulation = motor(simulate, gear=gear, gains=(kp, 2.0), friction=friction, backlash=play)
    period, amplitude = 4.0, 0.1
    wanted, found = [], []
    for step in range(round(2 * period / STEP)):
        reference = amplitude * np.sin(2 * np.pi * step * STEP / period)
        simulation.references.q[0] = reference
        assert simulation.step()
        wanted.append(reference)
        found.append(simulation.sample.qpos[0])
    cycle = slice(round(period / STEP), None)
    wanted, found = np.array(wanted[cycle]), np.array(found[cycle])
    rising = np.gradient(wanted) > 0.0
    middle = np.abs(wanted) < 0.02
    lag = wanted - found
    width = lag[rising & middle].mean() - lag[~rising & middle].mean()
    speed = amplitude * 2 * np.pi / period
    # The reference velocity is zero, so that damping adds kd·speed/kp.
    expected = play + 2.0 * (friction + 2.0 * speed) / kp
    assert width == pytest.approx(expected, rel=0.03)
    # At the end the joint rests half the play behind, within the elastic part.
    assert found.max() == pytest.approx(amplitude - 0.5 * play, abs=friction / kp)


def test_within_the_play_the_drive_exerts_nothing(simulate):
    simulation = motor(simulate, gains=(200.0, 5.0), backlash=0.02)
    simulation.data.qvel[0] = 0.05
    found = efforts(simulation, 190)  # 9.5 mrad
    np.testing.assert_allclose(found, 0.0, atol=1e-12)
    assert simulation.sample.qvel[0] == pytest.approx(0.05, rel=1e-9)
    assert efforts(simulation, 50).min() < -0.01  # at the flank, it brakes
    assert simulation.sample.qpos[0] == pytest.approx(0.01, rel=0.02)


@pytest.mark.parametrize("gear", [1.0, 4.0, -4.0])
def test_the_largest_effort_is_on_the_torque_speed_line(simulate, gear):
    stall, fastest = 6.0, 20.0
    simulation = motor(simulate, gear=gear, stall_effort=stall, no_load_velocity=fastest)
    simulation.references.tau[0] = 100.0
    for _ in range(400):
        velocity = simulation.data.qvel[0]
        line = stall * max(1.0 - velocity / fastest, 0.0)
        assert efforts(simulation, 1)[0] == pytest.approx(line, rel=1e-9, abs=1e-9)
    assert velocity > 0.5 * fastest
    # Against the motion, the effort is that of standstill.
    simulation.references.tau[0] = -100.0
    assert efforts(simulation, 1)[0] == pytest.approx(-stall, rel=1e-9)


def test_a_motor_accelerates_along_the_line_to_its_no_load_velocity(simulate):
    """I dω/dt = τ (1 - ω/ω0) has the solution ω = ω0 (1 - exp(-t τ/(I ω0)))."""
    stall, fastest = 0.5, 10.0
    simulation = motor(simulate, stall_effort=stall, no_load_velocity=fastest)
    inertia = 1.0 * (0.2**2 + 0.2**2) / 12.0
    simulation.references.tau[0] = 5.0
    constant = inertia * fastest / stall
    steps = round(2 * constant / STEP)
    efforts(simulation, steps)
    expected = fastest * -np.expm1(-2.0)
    assert simulation.data.qvel[0] == pytest.approx(expected, rel=0.01)


def test_the_peak_is_that_of_the_model_or_lower(simulate):
    for peak, most in ((3.0, 3.0), (50.0, 10.0), (0.0, 10.0)):
        simulation = motor(simulate, peak_effort=peak)
        simulation.references.tau[0] = 100.0
        assert efforts(simulation, 1)[0] == pytest.approx(most)


THERMAL = {
    "copper_loss": 2.0,
    "thermal_resistance": 0.5,
    "thermal_time_constant": 0.4,
    "ambient_temperature": 20.0,
    "derating_start": 60.0,
    "derating_end": 100.0,
}


def test_heat_follows_the_law_of_first_order(simulate):
    """Below derating: ΔT = P R (1 - exp(-t/τ)), with P = c τ²."""
    simulation = motor(simulate, gear=2.0, damping=1e6, **THERMAL)
    robot = simulation.plant.realism.robots[simulation.assembly.robots[0]]
    motors = robot.motors
    simulation.references.tau[0] = 5.0
    steps = 300
    efforts(simulation, steps)
    rise = 2.0 * 5.0**2 * 0.5 * -np.expm1(-steps * STEP / 0.4)
    assert motors.temperature[0] == pytest.approx(20.0 + rise, rel=1e-9)
    assert list(robot.temperatures.values()) == [motors.temperature[0]]
    simulation.references.tau[0] = 0.0
    efforts(simulation, 400)
    assert motors.temperature[0] == pytest.approx(20.0 + rise * np.exp(-1.0), rel=1e-9)


def test_a_hot_motor_is_derated_linearly_to_its_equilibrium(simulate):
    simulation = motor(simulate, damping=1e6, **THERMAL)
    motors = simulation.plant.realism.robots[simulation.assembly.robots[0]].motors
    simulation.references.tau[0] = 100.0
    found = []
    for _ in range(4000):
        factor = np.clip((100.0 - motors.temperature[0]) / 40.0, 0.0, 1.0)
        effort = efforts(simulation, 1)[0]
        assert effort == pytest.approx(10.0 * factor, rel=1e-9, abs=1e-12)
        found.append(effort)
    # Equilibrium: T = 20 + (10 f)² with f = (100 - T)/40.
    factor = np.roots([100.0, 40.0, -80.0]).max()
    assert found[0] == pytest.approx(10.0)
    assert found[-1] == pytest.approx(10.0 * factor, rel=1e-6)
    simulation.reset()
    assert motors.temperature[0] == 20.0
    simulation.references.tau[0] = 100.0
    assert efforts(simulation, 1)[0] == pytest.approx(10.0)


def test_commanded_limits_of_effort_and_those_of_the_motor_hold_together(simulate):
    simulation = motor(simulate, stall_effort=6.0, no_load_velocity=20.0)
    simulation.references.tau[0] = 100.0
    simulation.drives.limit_effort(0, 2.0)
    assert efforts(simulation, 1)[0] == pytest.approx(2.0)
    simulation.drives.limit_effort(0, 8.0)
    assert efforts(simulation, 1)[0] == pytest.approx(6.0, rel=0.2)
    simulation.drives.limit_effort(0, 0.0)
    assert efforts(simulation, 1)[0] == pytest.approx(6.0, rel=0.2)


def test_ideal_settings_restore_the_limits_of_the_model(simulate):
    simulation = motor(simulate, peak_effort=1.0)
    realism = simulation.plant.realism
    (part,) = realism.robots
    simulation.references.tau[0] = 100.0
    assert efforts(simulation, 1)[0] == pytest.approx(1.0)
    ideal = type(realism.robots[part].entries[0].settings)()
    realism.change(part, {("actuators", "drive"): ideal})
    assert efforts(simulation, 1)[0] == pytest.approx(10.0)
