"""The PD law inside the engine, and references of every kind of actuator."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.joints import Mode
from mujoco_ros.control.references import References
from mujoco_ros.model.robot.actuators import joint_effort
from mujoco_ros.model.robot.layout import Joints
from mujoco_ros.sim.drives import Drives

START = 0.7
"""The joint position of the keyframes."""


def joint_model(actuators: str, *, key: str = "", extra: str = "", gravity: str = "0 0 0") -> str:
    """One hinge about a horizontal axis, with its actuators."""
    return f"""
    <mujoco>
      <option timestep="0.001" integrator="implicitfast" gravity="{gravity}"/>
      <worldbody>
        <body name="link">
          <joint name="j" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1"/>
        </body>
      </worldbody>
      {extra}
      <actuator>{actuators}</actuator>
      <keyframe><key qpos="{START}" {key}/></keyframe>
    </mujoco>"""


def advance(simulation, seconds: float) -> np.ndarray:
    """Step, and return the positions of the first joint."""
    positions = []
    for _ in range(round(seconds / simulation.model.opt.timestep)):
        assert simulation.step()
        positions.append(simulation.sample.qpos[0])
    return np.array(positions)


# --- torque motors under the PD law

MOTORS = {  # attributes, and the torque range at the joint that follows from them
    "plain": ("", (-np.inf, np.inf)),
    "geared": ('gear="80" ctrlrange="-1.5 1.5"', (-120.0, 120.0)),
    "reversed": ('gear="-30" ctrlrange="-0.5 2"', (-60.0, 15.0)),
    "in_newton_metres": ('ctrlrange="-7 9"', (-7.0, 9.0)),
    "force_range": ('gear="10" forcerange="-3 2"', (-30.0, 20.0)),
    "both_ranges": ('gear="10" ctrlrange="-2 5" forcerange="-3 4"', (-20.0, 40.0)),
}

_BODIES = "".join(
    f'''<body name="{name}" pos="{i} 0 0">
      <joint name="{name}" type="{"slide" if i % 2 else "hinge"}" axis="0.3 1 0.2"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1"/>
    </body>'''
    for i, name in enumerate(MOTORS)
)
_ACTUATORS = "".join(
    f'<motor name="{name}" joint="{name}" {attributes}/>'
    for name, (attributes, _) in MOTORS.items()
)
SIX_JOINTS = f"""
<mujoco>
  <option timestep="0.001" integrator="implicitfast"/>
  <worldbody>{_BODIES}</worldbody>
  <actuator>{_ACTUATORS}</actuator>
</mujoco>"""


def test_the_torque_of_the_engine_is_the_pd_law_clipped_to_the_range_of_the_motor(simulate):
    rng = np.random.default_rng(1)
    gains = {name: (float(rng.uniform(200, 600)), float(rng.uniform(1, 20))) for name in MOTORS}
    simulation = simulate(SIX_JOINTS, gains=gains)
    kp, kd = np.array(list(gains.values())).T
    low, high = np.array([limits for _, limits in MOTORS.values()]).T
    seen = np.zeros((3, len(MOTORS)), dtype=int)
    references = simulation.references
    for _ in range(300):
        simulation.data.qpos[:] = rng.normal(size=6)
        simulation.data.qvel[:] = rng.normal(size=6)
        references.q[:] = simulation.data.qpos + rng.normal(size=6) * rng.uniform(0.0, 0.5)
        references.dq[:] = rng.normal(size=6)
        references.tau[:] = rng.normal(size=6) * 5
        assert simulation.step()
        sample = simulation.sample
        law = kp * (references.q - sample.qpos) + kd * (references.dq - sample.qvel)
        law += references.tau
        np.testing.assert_allclose(sample.qfrc_actuator, np.clip(law, low, high), atol=1e-9)
        seen += [law < low, (law > low) & (law < high), law > high]
    assert (seen[1] > 0).all()
    assert (seen[[0, 2], 1:] > 0).all(), "every limit must have been reached, on both sides"
    assert not seen[[0, 2], 0].any()


@pytest.mark.parametrize("gain", [4.0, -4.0, 0.25])
def test_the_gain_of_a_motor_changes_its_range_but_not_the_law(simulate, gain):
    motor = (
        f'<general joint="j" gear="5" gainprm="{gain}" ctrlrange="-1 2" biastype="none"'
        ' dyntype="none"/>'
    )
    simulation = simulate(joint_model(motor), gains={"j": (50.0, 3.0)})
    low, high = sorted((-1 * 5 * gain, 2 * 5 * gain))
    for reference in np.linspace(-1.0, 2.5, 30):
        simulation.data.qpos[0], simulation.data.qvel[0] = START, 0.4
        simulation.references.q[0] = reference
        assert simulation.step()
        law = 50.0 * (reference - START) + 3.0 * (0.0 - 0.4)
        assert simulation.sample.qfrc_actuator[0] == pytest.approx(np.clip(law, low, high))


def test_a_motor_that_became_a_servo_has_the_limits_it_had(simulate):
    simulation = simulate(SIX_JOINTS, gains=dict.fromkeys(MOTORS, (1.0, 0.1)))
    found = [joint_effort(simulation.model, int(joint)) for joint in simulation.joints.ids]
    np.testing.assert_allclose(found, [max(-low, high) for _, (low, high) in MOTORS.values()])


def test_gains_of_zero_leave_plain_effort_control(simulate):
    motor = '<motor joint="j" gear="10" ctrlrange="-1 1"/>'
    simulation = simulate(joint_model(motor), gains={"j": (0.0, 0.0)})
    for effort, torque in ((0.0, 0.0), (3.5, 3.5), (-20.0, -10.0)):
        simulation.references.tau[0] = effort
        simulation.references.q[0] = 100.0
        assert simulation.step()
        assert simulation.sample.qfrc_actuator[0] == pytest.approx(torque, abs=1e-12)


def test_without_the_pd_law_the_effort_acts_alone_until_it_is_switched_on(simulate):
    simulation = simulate(joint_model('<motor joint="j"/>'), gains={"j": (100.0, 5.0)})
    drives, references, joint = simulation.drives, simulation.references, np.array([0])
    references.q[0], references.dq[0], references.tau[0] = START + 0.5, 1.0, 0.25

    def torque():
        simulation.step()
        return simulation.data.qfrc_actuator[0]

    drives.switch_pd(joint, on=False)
    assert torque() == pytest.approx(0.25)
    drives.set_gains(np.array([200.0]), np.array([8.0]))
    assert torque() == pytest.approx(0.25)
    assert drives.kp[0] == 200.0
    drives.switch_pd(joint, on=True)
    q, dq = simulation.data.qpos[0], simulation.data.qvel[0]
    expected = 200.0 * (references.q[0] - q) + 8.0 * (1.0 - dq) + 0.25
    assert torque() == pytest.approx(expected)


def test_an_effort_of_zero_is_a_command(simulate):
    simulation = simulate(joint_model('<motor joint="j"/>'), gains={"j": (0.0, 0.0)})
    for effort in (2.0, 0.0):
        simulation.references.tau[0] = effort
        assert simulation.step()
        assert simulation.sample.qfrc_actuator[0] == effort


def test_new_gains_take_effect_with_the_next_step(simulate):
    simulation = simulate(joint_model('<motor joint="j" gear="-4"/>'), gains={"j": (50.0, 3.0)})
    simulation.references.q[0] = START + 0.1
    assert simulation.step()
    assert simulation.sample.qfrc_actuator[0] == pytest.approx(5.0)
    simulation.drives.set_gains(np.array([200.0]), np.array([0.0]))
    assert simulation.step()
    law = 200.0 * (START + 0.1 - simulation.sample.qpos[0])
    assert simulation.sample.qfrc_actuator[0] == pytest.approx(law, abs=1e-9)


def test_the_pd_law_moves_a_joint_like_a_spring_and_damper(simulate):
    motor = simulate(joint_model('<motor joint="j" gear="7"/>'), gains={"j": (40.0, 1.5)})
    spring = joint_model("").replace(
        'axis="0 1 0"', f'axis="0 1 0" stiffness="40" damping="1.5" springref="{np.degrees(-0.2)}"'
    )
    passive = simulate(spring)
    motor.references.q[0] = -0.2
    np.testing.assert_allclose(advance(motor, 1.0), advance(passive, 1.0), atol=1e-9)
    assert motor.sample.qpos[0] != pytest.approx(START, abs=0.05)


# --- every kind of actuator holds its start and follows references

TENDON = '<tendon><fixed name="t"><joint joint="j" coef="2"/></fixed></tendon>'

SERVOS = {  # actuators and their interfaces
    "motor": ('<motor joint="j" gear="20" ctrlrange="-1 1"/>', {Mode.PD}),
    "position": ('<position joint="j" kp="30" kv="3"/>', {Mode.POSITION}),
    "position_geared": ('<position joint="j" kp="3" kv="0.3" gear="-3"/>', {Mode.POSITION}),
    "position_limited": (
        '<position joint="j" kp="30" kv="3" ctrlrange="-2 2" forcerange="-30 30"/>',
        {Mode.POSITION},
    ),
    "position_filtered": ('<position joint="j" kp="30" kv="3" timeconst="0.05"/>', {Mode.POSITION}),
    "position_early": (
        '<general joint="j" dyntype="filter" dynprm="0.05" gainprm="30" biastype="affine"'
        ' biasprm="0 -30 -3" actearly="true"/>',
        {Mode.POSITION},
    ),
    "affine_with_offset": (
        '<general joint="j" gainprm="60" biastype="affine" biasprm="4 -30 -3" gear="2"/>',
        {Mode.POSITION},
    ),
    "velocity": ('<velocity joint="j" kv="5"/>', {Mode.VELOCITY}),
    "velocity_geared": ('<velocity joint="j" kv="5" gear="-2"/>', {Mode.VELOCITY}),
    "position_and_velocity": (
        '<position joint="j" kp="30"/><velocity joint="j" kv="3"/>',
        {Mode.POSITION, Mode.VELOCITY},
    ),
    "intvelocity": ('<intvelocity joint="j" kp="30" kv="3"/>', {Mode.VELOCITY}),
    "intvelocity_geared": ('<intvelocity joint="j" kp="8" kv="1" gear="-2"/>', {Mode.VELOCITY}),
    "pid": (
        '<pid joint="j" kp="30" kv="3" input="pos vel ff"/>',
        {Mode.POSITION, Mode.VELOCITY, Mode.EFFORT},
    ),
    "pid_geared": (
        '<pid joint="j" kp="8" kv="1" gear="-2" input="pos vel ff"/>',
        {Mode.POSITION, Mode.VELOCITY, Mode.EFFORT},
    ),
    "pid_integral": ('<pid joint="j" kp="30" kv="3" ki="5"/>', {Mode.POSITION, Mode.VELOCITY}),
    "pid_slow": ('<pid joint="j" kp="30" kv="3" slewmax="2"/>', {Mode.POSITION, Mode.VELOCITY}),
    "pid_slow_integral": (
        '<pid joint="j" kp="30" kv="3" ki="5" slewmax="2"/>',
        {Mode.POSITION, Mode.VELOCITY},
    ),
    "dcmotor": (
        '<dcmotor joint="j" motorconst="0.1" resistance="1" input="pos vel ff"'
        ' controller="30 0 3"/>',
        {Mode.POSITION, Mode.VELOCITY, Mode.EFFORT},
    ),
    "dcmotor_slow": (
        '<dcmotor joint="j" motorconst="0.1" resistance="1" inductance="0.001" input="pos vel"'
        ' controller="30 0 3 2"/>',
        {Mode.POSITION, Mode.VELOCITY},
    ),
}
POSITIONED = [name for name, (_, modes) in SERVOS.items() if modes & {Mode.PD, Mode.POSITION}]
ON_TENDONS = {
    "position": '<position tendon="t" kp="10" kv="1"/>',
    "position_filtered": '<position tendon="t" kp="10" kv="1" timeconst="0.1"/>',
    "affine_with_offset": (
        '<general tendon="t" gainprm="20" biastype="affine" biasprm="3 -10 -1"/>'
    ),
    "intvelocity": '<intvelocity tendon="t" kp="10" kv="1"/>',
    "pid": '<pid tendon="t" kp="10" kv="1"/>',
    "pid_slow": '<pid tendon="t" kp="10" kv="1" slewmax="1"/>',
}
IDLE = {
    "passive": "",
    "motor_on_a_tendon": '<motor tendon="t"/>',
    "velocity_on_a_tendon": '<velocity tendon="t" kv="2"/>',
    "integrator_of_force": '<general joint="j" dyntype="integrator" gainprm="3"/>',
    "filtered_motor": '<general joint="j" dyntype="filter" dynprm="0.1" gainprm="3"/>',
    "damper": '<damper joint="j" kv="2" ctrlrange="0 1"/>',
    "dcmotor_in_volts": '<dcmotor joint="j" motorconst="0.1" resistance="1" input="voltage"/>',
    "two_motors": '<motor joint="j"/><motor joint="j" gear="-2"/>',
}


def driven(simulate, actuators: str, **options):
    gains = {"j": (30.0, 3.0)} if actuators.startswith("<motor joint") else None
    return simulate(joint_model(actuators, **options), gains=gains)


@pytest.mark.parametrize(("actuators", "modes"), SERVOS.values(), ids=SERVOS)
def test_a_joint_has_the_interfaces_of_its_actuators(simulate, actuators, modes):
    simulation = driven(simulate, actuators)
    assert set(simulation.drives.modes(0)) == modes
    assert list(simulation.drives.servo_joints) == ([0] if Mode.PD in modes else [])


@pytest.mark.parametrize("actuators", [a for a, _ in SERVOS.values()], ids=SERVOS)
def test_a_driven_joint_holds_its_keyframe(simulate, actuators):
    simulation = driven(simulate, actuators)
    np.testing.assert_allclose(advance(simulation, 0.5), START, atol=1e-9)
    assert simulation.references.q[0] == START


@pytest.mark.parametrize("actuators", ON_TENDONS.values(), ids=ON_TENDONS)
def test_a_servo_on_a_tendon_holds_the_keyframe(simulate, actuators):
    simulation = simulate(joint_model(actuators, extra=TENDON))
    np.testing.assert_allclose(advance(simulation, 0.5), START, atol=1e-9)


@pytest.mark.parametrize("actuators", IDLE.values(), ids=IDLE)
def test_an_actuator_without_a_reference_exerts_no_force(simulate, actuators):
    simulation = simulate(joint_model(actuators, extra=TENDON))
    np.testing.assert_allclose(advance(simulation, 0.2), START, atol=1e-9)


def test_a_passive_joint_swings_under_gravity(simulate):
    simulation = simulate(joint_model("", gravity="0 0 -9.81"))
    model = simulation.model
    inertia = model.body_inertia[1, 0] + model.body_mass[1] * 0.2**2
    assert simulation.drives.modes(0) == ()
    assert simulation.step()
    expected = model.body_mass[1] * 9.81 * 0.2 * np.cos(START) / inertia
    assert simulation.sample.qacc[0] == pytest.approx(expected, rel=1e-6)
    assert simulation.sample.qfrc_actuator[0] == 0.0


@pytest.mark.parametrize("name", POSITIONED)
def test_a_joint_moves_to_its_position_reference(simulate, name):
    simulation = driven(simulate, SERVOS[name][0])
    simulation.references.q[0] = -0.4
    positions = advance(simulation, 5.0)
    assert positions[-1] == pytest.approx(-0.4, abs=0.01)
    assert abs(positions[1] - START) < 0.01, "it moves there, it does not jump"


@pytest.mark.parametrize(
    "name", [n for n, (_, modes) in SERVOS.items() if modes == {Mode.VELOCITY}]
)
def test_a_joint_moves_at_its_velocity_reference(simulate, name):
    simulation = driven(simulate, SERVOS[name][0])
    simulation.references.dq[0] = -1.5
    positions = advance(simulation, 3.0)
    assert simulation.sample.qvel[0] == pytest.approx(-1.5, rel=1e-3)
    assert positions[-1] == pytest.approx(START - 1.5 * 3.0, abs=0.2)


@pytest.mark.parametrize(
    "name", [n for n, (_, m) in SERVOS.items() if m >= {Mode.POSITION, Mode.VELOCITY}] + ["motor"]
)
def test_position_and_velocity_references_together_track_a_ramp(simulate, name):
    simulation = driven(simulate, SERVOS[name][0])
    rate = 0.8
    simulation.references.dq[0] = rate
    for _ in range(3000):
        simulation.references.q[0] += rate * 1e-3
        assert simulation.step()
    lag = simulation.references.q[0] - simulation.sample.qpos[0]
    # The sample is of the beginning of the step; without the velocity reference it lags by 80 mrad.
    assert lag == pytest.approx(0.0, abs=4e-3)


@pytest.mark.parametrize("name", ["pid", "pid_geared", "dcmotor"])
def test_a_feedforward_input_takes_newton_metres_at_the_joint(simulate, name):
    simulation = driven(simulate, SERVOS[name][0])
    simulation.references.tau[0] = 1.75
    assert simulation.step()
    assert simulation.sample.qfrc_actuator[0] == pytest.approx(1.75, abs=1e-9)


@pytest.mark.parametrize(
    "actuators",
    [
        '<motor joint="j" gear="5"/><position joint="j" kp="0.001"/>',
        '<general joint="j" gear="-5" gainprm="3"/><position joint="j" kp="0.001"/>',
        '<motor joint="j" gear="3"/><motor joint="j" gear="-2"/>',
    ],
    ids=["beside_a_servo", "with_a_gain", "two"],
)
def test_motors_that_share_a_joint_sum_to_the_commanded_effort(simulate, actuators):
    simulation = simulate(joint_model(actuators))
    simulation.references.tau[0] = -2.5
    assert simulation.step()
    assert simulation.sample.qfrc_actuator[0] == pytest.approx(-2.5, abs=1e-6)


@pytest.mark.parametrize("actuators", [a for a, _ in SERVOS.values()], ids=SERVOS)
def test_references_of_other_joints_do_not_affect_a_joint(simulate, actuators):
    other = """<worldbody><body name="other" pos="3 0 0"><joint name="k" axis="0 0 1"/>
        <geom size="0.1"/></body></worldbody>"""
    model = joint_model(actuators, extra=other).replace(f'qpos="{START}"', f'qpos="{START} 0"')
    gains = {"j": (30.0, 3.0)} if "<motor" in actuators and "dcmotor" not in actuators else None
    simulation = simulate(model, gains=gains)
    assert simulation.joints.names == ("j", "k")
    simulation.references.q[1] = 2.0
    simulation.references.dq[1] = 2.0
    simulation.references.tau[1] = 2.0
    np.testing.assert_allclose(advance(simulation, 0.1), START, atol=1e-9)
    assert simulation.sample.qpos[1] == 0.0


# --- controls of a keyframe


@pytest.mark.parametrize(
    ("actuators", "ctrl", "q", "dq", "tau"),
    [
        ('<position joint="j" kp="30" kv="3"/>', "0.2", 0.2, 0.0, 0.0),
        ('<position joint="j" kp="3" gear="-2"/>', "0.2", -0.1, 0.0, 0.0),
        (
            '<general joint="j" gainprm="60" biastype="affine" biasprm="6 -30 -3"/>',
            "0.2",
            0.6,  # 60·0.2 + 6 = 30·0.6
            0.0,
            0.0,
        ),
        ('<velocity joint="j" kv="5" gear="2"/>', "0.6", START, 0.3, 0.0),
        ('<pid joint="j" kp="30" kv="3" input="pos vel ff"/>', "0.2 0.1 0.5", 0.2, 0.1, 0.5),
        ('<motor joint="j" gear="20" ctrlrange="-1 1"/>', "0.05", START, 0.0, 1.0),
        ('<general joint="j" gear="2" gainprm="3"/>', "0.5", START, 0.0, 3.0),
        ('<position joint="j" kp="30" kv="3"/>', "0", START, 0.0, 0.0),
    ],
    ids=[
        "position",
        "position_geared",
        "affine",
        "velocity",
        "pid",
        "motor",
        "motor_with_gain",
        "zeros_say_nothing",
    ],
)
def test_the_controls_of_a_keyframe_become_references(simulate, actuators, ctrl, q, dq, tau):
    motor = actuators.startswith(("<motor", '<general joint="j" gear'))
    gains = {"j": (30.0, 3.0)} if motor else None
    simulation = simulate(joint_model(actuators, key=f'ctrl="{ctrl}"'), gains=gains)
    references = simulation.references
    commanded = (references.q[0], references.dq[0], references.tau[0])
    assert commanded == pytest.approx((q, dq, tau))
    assert simulation.step()
    if motor:
        assert simulation.sample.qfrc_actuator[0] == pytest.approx(tau)


def test_actuators_that_are_not_driven_keep_the_control_of_a_keyframe(simulate):
    simulation = simulate(joint_model('<motor tendon="t"/>', extra=TENDON, key='ctrl="0.4"'))
    for _ in range(5):
        assert simulation.step()
        assert simulation.sample.qfrc_actuator[0] == pytest.approx(2 * 0.4)


def test_the_activation_of_a_keyframe_is_kept(simulate):
    actuator = '<position joint="j" kp="30" kv="3" timeconst="0.05"/>'
    simulation = simulate(joint_model(actuator, key='act="0.5"'))
    assert simulation.step()
    assert simulation.sample.qfrc_actuator[0] == pytest.approx(30 * (0.5 - START))


def test_an_actuator_with_a_gear_of_zero_drives_no_joint(simulate):
    simulation = simulate(joint_model('<motor joint="j" gear="0"/>'))
    assert simulation.drives.modes(0) == ()
    np.testing.assert_allclose(advance(simulation, 0.05), START)


def test_saturation_shows_in_the_force_of_the_actuator(simulate):
    simulation = simulate(
        joint_model('<motor name="m" joint="j" gear="20" ctrlrange="-1 1"/>'),
        gains={"j": (1000.0, 0.0)},
    )
    simulation.references.q[0] = START + 1.0
    assert simulation.step()
    assert simulation.data.actuator("m").force[0] == pytest.approx(1.0)
    assert simulation.model.actuator_gaintype[0] == mujoco.mjtGain.mjGAIN_FIXED


def test_an_extreme_reference_of_one_joint_does_not_affect_the_others():
    model = mujoco.MjModel.from_xml_string("""
        <mujoco><worldbody>
          <body><joint name="a" axis="0 1 0"/><geom size=".1"/></body>
          <body pos="1 0 0"><joint name="b" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body>
        </worldbody><actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>""")
    data = mujoco.MjData(model)
    joints = Joints(names=("a", "b"), ids=np.arange(2), qpos=np.arange(2), dof=np.arange(2))
    drives = Drives(model, joints)
    drives.set_gains(np.full(2, 100.0), np.full(2, 20.0))
    references = References.holding(np.zeros(2))
    references.dq[0] = 1e9
    drives.write(references, data.ctrl)
    mujoco.mj_forward(model, data)
    assert np.abs(data.ctrl).max() < 1e10, "beyond that the engine zeroes all of them"
    assert data.ctrl[0] > 1e8
