"""Actuators with the attribute ``delay``."""

import pytest

MODEL = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body pos="0 0 1">
      <joint name="j" axis="0 1 0" damping="1"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
    </body>
  </worldbody>
  <actuator>
    <position name="p" joint="j" kp="200" kv="5" delay="0.01" nsample="10"/>
  </actuator>
  <keyframe><key name="home" qpos="0.5"/></keyframe>
</mujoco>"""


def test_a_delayed_servo_holds_the_start_and_a_reset(simulate):
    """MuJoCo fills the buffer with zeros, to which the servo would pull for the delay."""
    simulation = simulate(MODEL)
    for time in (0.0, 3.0):
        simulation.reset(time=time)
        for _ in range(30):
            assert simulation.step()
            assert simulation.sample.qpos[0] == pytest.approx(0.5, abs=0.02)
            assert abs(simulation.sample.qfrc_actuator[0]) < 5.0


def test_a_delayed_command_arrives_after_the_delay(simulate):
    simulation = simulate(MODEL)
    for _ in range(100):
        simulation.step()
    before = simulation.sample.qfrc_actuator[0]
    simulation.references.q[0] += 0.1
    efforts = []
    for _ in range(12):
        assert simulation.step()
        efforts.append(float(simulation.sample.qfrc_actuator[0]))
    assert max(abs(it - before) for it in efforts[:10]) < 1.0
    assert efforts[10] - before == pytest.approx(20.0, abs=1.0)
