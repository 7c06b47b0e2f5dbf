"""Gains that are derived from the inertia, with the engine as oracle."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.gains import LARGEST_GAIN
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.joint_options import BANDWIDTH_HZ, LEAST_INERTIA
from mujoco_ros.sim.simulation import Simulation

RATE = 2.0 * np.pi * BANDWIDTH_HZ
INTEGRATORS = ["Euler", "RK4", "implicit", "implicitfast", "discrete"]

PENDULUM = """
<body name="rod">
  <joint name="rod" axis="0 1 0" armature="0.02" damping="{damping}"/>
  <geom size="0.05" pos="0 0 -0.4" mass="2"/>
  {child}
</body>
"""
# About the joint: the sphere's own inertia, its distance from the axis, the armature.
PENDULUM_INERTIA = 0.4 * 2 * 0.05**2 + 2 * 0.4**2 + 0.02
ELBOW = """
<body pos="0 0 -0.4">
  <joint name="elbow" axis="0 1 0"/><geom size="0.01" pos="0 0 -0.3" mass="1"/>
</body>
"""
# The inertia about the arm's own axis is small while the elbow is straight.
UPPER_ARM = """
<body>
  <joint name="yaw" axis="0 0 1" range="-180 180"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3" mass="1"/>
  <body pos="0 0 -0.3">
    <joint name="elbow" axis="0 1 0" range="0 150"/>
    <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3" mass="1"/>
  </body>
</body>
"""
CHAIN_LINK = """
<body pos="0 0 -0.2">
  <joint name="joint{number}" axis="{axis}"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.2" mass="1"/>
"""


def chain(links: int) -> str:
    opened = [CHAIN_LINK.format(number=i, axis="1 0 0" if i % 2 else "0 1 0") for i in range(links)]
    return "".join(opened) + "</body>" * links


@pytest.fixture
def load(tmp_path: Path):
    """Return a simulation of bodies without gravity and contacts, with a motor at each joint."""

    def loader(
        bodies: str,
        *,
        integrator: str = "implicitfast",
        timestep: float = 0.001,
        gravity: float = 0.0,
        torque: float = 0.0,
        more: str = "",
    ) -> Simulation:
        joints = [it.split('"')[0] for it in bodies.split('<joint name="')[1:]]
        limit = f'ctrllimited="true" ctrlrange="-{torque} {torque}"' if torque else ""
        motors = "".join(f'<motor name="{it}" joint="{it}" {limit}/>' for it in joints)
        path = tmp_path / "robot.xml"
        path.write_text(
            f"<mujoco><option timestep='{timestep}' integrator='{integrator}' "
            f"gravity='0 0 {-gravity}'><flag contact='disable'/></option>"
            f"<worldbody>{bodies}</worldbody>{more}<actuator>{motors}</actuator></mujoco>"
        )
        return Simulation(load_scene(str(path)))

    return loader


def gains(simulation: Simulation, joint: str) -> tuple[float, float]:
    index, drives = simulation.joints.names.index(joint), simulation.plant.drives
    return float(drives.kp[index]), float(drives.kd[index])


def run(simulation: Simulation, seconds: float) -> np.ndarray:
    """Return the positions of the joints over time."""
    steps = round(seconds / simulation.model.opt.timestep)
    positions = np.empty((steps, len(simulation.joints.names)))
    for step in range(steps):
        assert simulation.step()
        positions[step] = simulation.data.qpos[simulation.joints.qpos]
    return positions


def test_a_joint_has_the_stated_bandwidth_and_damping_for_its_inertia(load, caplog):
    kp, kd = gains(load(PENDULUM.format(damping=0, child="")), "rod")
    assert kp == pytest.approx(PENDULUM_INERTIA * RATE**2, rel=1e-9)
    assert kd == pytest.approx(2 * PENDULUM_INERTIA * RATE, rel=1e-9)
    assert "PD gains of its 1 torque motor are" in caplog.text


def test_the_inertia_is_the_largest_that_the_joint_carries(load):
    kp, _ = gains(load(PENDULUM.format(damping=0, child=ELBOW)), "rod")
    sphere = 0.4 * 0.01**2
    folded = PENDULUM_INERTIA + sphere + 0.1**2
    stretched = PENDULUM_INERTIA + sphere + 0.7**2
    assert folded < stretched
    # Random configurations come close to the largest one; the start is that one.
    assert kp == pytest.approx(stretched * RATE**2, rel=1e-9)


def test_the_inertia_includes_the_joints_that_mimic_it(load):
    mimic = '<equality><joint joint1="{}" joint2="rod" polycoef="0 2 0 0 0"/></equality>'
    wheel_body = '<body pos="1 0 0"><joint name="wheel" axis="0 1 0"/><geom size="0.1" mass="3"/>'
    bodies = PENDULUM.format(damping=0, child="") + wheel_body + "</body>"
    kp, _ = gains(load(bodies, more=mimic.format("wheel")), "rod")
    wheel = 0.4 * 3 * 0.1**2
    assert kp == pytest.approx((PENDULUM_INERTIA + 2**2 * wheel) * RATE**2, rel=1e-9)


def test_the_damping_of_the_model_counts(load):
    kp, kd = gains(load(PENDULUM.format(damping=30, child="")), "rod")
    assert kp == pytest.approx(PENDULUM_INERTIA * RATE**2, rel=1e-9)
    assert kd == pytest.approx(2 * PENDULUM_INERTIA * RATE - 30, rel=1e-9)


def test_a_joint_with_much_damping_is_as_fast_as_others(load):
    simulation = load(PENDULUM.format(damping=1000, child=""))
    kp, kd = gains(simulation, "rod")
    assert kd == 0.0
    assert kp == pytest.approx(1000 * RATE / 2)


def test_gains_are_at_most_the_largest_gain(load):
    heavy = PENDULUM.replace('mass="2"', 'mass="1e6"')
    assert gains(load(heavy.format(damping=0, child="")), "rod") == (LARGEST_GAIN, LARGEST_GAIN)


def test_the_step_response_is_that_of_the_stated_bandwidth(load):
    simulation = load(PENDULUM.format(damping=0, child=""), timestep=1e-5)
    simulation.references.q[:] = 0.01
    measured = run(simulation, 0.05)[:, 0]
    time = simulation.model.opt.timestep * np.arange(1, len(measured) + 1)
    expected = 0.01 * (1 - (1 + RATE * time) * np.exp(-RATE * time))
    np.testing.assert_allclose(measured, expected, atol=0.01 * 5e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("timestep", [0.001, 0.005])
def test_a_chain_of_links_comes_to_rest_after_a_step_of_all_joints(load, integrator, timestep):
    simulation = load(chain(6), integrator=integrator, timestep=timestep)
    simulation.references.q[:] = [0.5, -0.5, 0.5, 0.5, -0.5, 0.5]
    final = run(simulation, 10.0 if integrator in ("Euler", "RK4") else 3.0)[-1]
    np.testing.assert_allclose(final, simulation.references.q, atol=1e-4)
    assert abs(simulation.data.qvel).max() < 1e-3


def test_gains_that_an_explicit_integrator_reduces_are_named_with_what_was_wanted(load, caplog):
    load(chain(6), timestep=0.005)
    assert "smaller gains" not in caplog.text
    used = gains(load(chain(6), integrator="Euler", timestep=0.005), "joint1")
    found = re.search(r"joint1 \(kp (\S+) to (\S+), kd (\S+) to (\S+)\)", caplog.text)
    assert found is not None
    wanted_kp, used_kp, wanted_kd, used_kd = map(float, found.groups())
    assert (used_kp, used_kd) == pytest.approx(used, rel=1e-3)
    assert wanted_kp == pytest.approx(0.5 * wanted_kd * RATE, rel=1e-3)
    assert wanted_kp > 1.1 * used_kp


def test_only_the_torque_limit_of_a_drive_bounds_its_gains_by_the_smallest_inertia(load):
    tiny = '<body><joint name="{}" axis="0 0 1"/><geom size="0.01" mass="0.1"/></body>'
    smallest = 0.4 * 0.1 * 0.01**2
    bodies = tiny.format("finger")
    kp, _ = gains(load(bodies, timestep=0.002), "finger")
    assert kp == pytest.approx(LEAST_INERTIA[mujoco.mjtJoint.mjJNT_HINGE] * RATE**2)
    kp, _ = gains(load(bodies, timestep=0.002, torque=1.0), "finger")
    assert kp == pytest.approx(smallest * RATE / 0.002)


@pytest.mark.parametrize("torque", [0.0, 0.5, 3.0])
def test_a_drive_that_reached_its_torque_limit_comes_to_rest(load, torque):
    simulation = load(UPPER_ARM, timestep=0.002, torque=torque)
    simulation.references.q[:] = [1.5, 0.02]
    run(simulation, 6.0)
    assert abs(simulation.data.qvel).max() < 1e-3


def test_an_arm_holds_its_weight_with_a_small_sag(load):
    simulation = load(chain(4).replace("0 0 -0.2", "0.2 0 0"), gravity=9.81, timestep=0.002)
    sag = abs(run(simulation, 2.0)[-1]).max()
    assert 1e-5 < sag < 5e-3
    assert abs(simulation.data.qvel).max() < 1e-6


@pytest.mark.parametrize(("torque", "is_weak"), [(1.0, True), (60.0, False)])
def test_motors_that_cannot_carry_the_weight_are_named(load, caplog, torque, is_weak):
    load(chain(2).replace("0 0 -0.2", "0.2 0 0"), gravity=9.81, torque=torque)
    assert ("more than these motors can hold, in Nm or N: joint0 (" in caplog.text) is is_weak
