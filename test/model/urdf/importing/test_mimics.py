"""Joints that mimic others: at the start, after a reset, in chains, and under load."""

from pathlib import Path

import numpy as np
import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

INERTIA = 1e-4  # of a finger [kg m²]
EFFORT = 5.0  # [Nm]
OBJECT_M = 0.04
LINK = f"""<link name="l_{{name}}"><inertial><mass value="0.03"/><inertia ixx="{INERTIA}"
iyy="{INERTIA}" izz="{INERTIA}"/></inertial>{{shape}}</link>"""
FINGER = """<collision><origin xyz="0 0 0.05"/><geometry><box size="0.01 0.02 0.1"/></geometry>
</collision>"""
JOINT = f"""<joint name="{{name}}" type="{{kind}}"><parent link="{{parent}}"/>
<child link="l_{{name}}"/><origin xyz="{{x}} 0 0"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="{EFFORT}" velocity="2"/>{{mimic}}</joint>"""


def moving(
    name: str, mimic: str = "", *, x: float = 0.0, kind: str = "revolute", shape: str = ""
) -> str:
    tag = f"<mimic {mimic}/>" if mimic else ""
    joint = JOINT.format(name=name, kind=kind, parent="palm", x=x, mimic=tag)
    return LINK.format(name=name, shape=shape) + joint


def simulated(
    folder: Path, content: str, robot: str = "", world: str = "", integrator: str = "discrete"
) -> Simulation:
    (folder / "hand.urdf").write_text(f'<robot name="hand"><link name="palm"/>{content}</robot>')
    (folder / "world.xml").write_text(f"<mujoco><worldbody>{world}</worldbody></mujoco>")
    scene = folder / "scene.yaml"
    scene.write_text(
        f"world: world.xml\nphysics: {{gravity: [0, 0, 0], integrator: {integrator}}}\n"
        f"robots: [{{name: hand, model: hand.urdf{robot}}}]\n"
    )
    return Simulation(load_scene(str(scene)))


# The mimics come before their leader, and follow it through others.
CHAIN = (
    moving("tip", 'joint="middle" multiplier="0.5" offset="0.1"')
    + moving("middle", 'joint="drive" multiplier="-1" offset="0.2"')
    + moving("slide", 'joint="drive" multiplier="0.1" offset="0.005"', kind="prismatic")
    + moving("drive")
)


def mimics(simulation: Simulation) -> tuple[list[float], list[float]]:
    """Return the positions of mimics, and those that the leader demands."""
    at = {name: float(simulation.data.joint(f"hand/{name}").qpos[0]) for name in
          ("drive", "middle", "tip", "slide")}  # fmt: skip
    drive = at["drive"]
    demanded = [0.2 - drive, 0.5 * (0.2 - drive) + 0.1, 0.1 * drive + 0.005]
    return [at["middle"], at["tip"], at["slide"]], demanded


@pytest.mark.parametrize("start", [0.0, 0.4])
def test_offsets_and_chains_hold_from_the_first_instant_and_after_a_reset(tmp_path, start):
    option = f", joints: {{drive: {{start: {start}}}}}" if start else ""
    simulation = simulated(tmp_path, CHAIN, option)
    for _ in range(2):
        found, demanded = mimics(simulation)
        assert found == pytest.approx(demanded, abs=1e-12)
        assert simulation.data.joint("hand/drive").qpos[0] == start
        simulation.step()
        assert abs(simulation.data.qvel).max() < 1e-6  # nothing pulls
        simulation.data.qpos[:] = 0.3
        simulation.reset()


def test_couplings_are_stiff_in_a_motion(tmp_path):
    simulation = simulated(tmp_path, CHAIN)
    largest = 0.0
    for _ in range(500):
        simulation.plant.references.q[:] = min(0.5, simulation.time)
        simulation.step()
        found, demanded = mimics(simulation)
        largest = max(largest, float(np.abs(np.subtract(found, demanded)).max()))
    assert simulation.data.joint("hand/drive").qpos[0] == pytest.approx(0.5, abs=0.01)
    assert largest < 1e-3


@pytest.mark.parametrize("integrator", ["discrete", "implicitfast"])
def test_a_blocked_finger_stays_within_0_01_rad_of_the_finger_that_it_mimics(tmp_path, integrator):
    fingers = moving("left", x=0.05) + moving(
        "right", 'joint="left" multiplier="-1"', x=-0.05, shape=FINGER
    )
    half = OBJECT_M / 2
    size = f"{half} {half} {half}"
    stiff = 'priority="1" solref="0.004 1" solimp="0.9999 0.9999 0.001"'
    block = f'<geom type="box" size="{size}" pos="0 0 0.09" {stiff}/>'
    gains = ", joints: {left: {kp: 50, kd: 0.2}}"
    simulation = simulated(tmp_path, fingers, gains, block, integrator)
    for _ in range(1000):
        simulation.plant.references.q[:] = -min(1.0, simulation.time)
        simulation.step()
    left, right = (float(simulation.data.joint(f"hand/{name}").qpos[0]) for name in
                   ("left", "right"))  # fmt: skip
    assert -0.9 < left < -0.1  # blocked
    effort = float(simulation.data.joint("hand/left").qfrc_actuator[0])
    assert effort == pytest.approx(-EFFORT, rel=0.05)
    assert right == pytest.approx(-left, abs=0.01)
