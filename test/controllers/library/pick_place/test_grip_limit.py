"""The stated limit of the gripper, compared with a simulation."""

from copy import copy
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.library.pick_place.arm import (
    GRIP_MARGIN,
    closing_force,
    largest_mass,
    sliding_friction,
)
from mujoco_ros.sim.simulation import Simulation


@pytest.mark.parametrize(("size", "force"), [(0.040, 6.0), (0.044, 18.0), (0.060, 20.0)])
def test_the_force_follows_from_the_servo_and_its_limit(assembly, size, force):
    joint = assembly.model.joint("arm/left_finger_joint").id
    assert closing_force(assembly.model, joint, size / 2 - 0.019) == pytest.approx(force)


def test_the_friction_is_the_larger_one_unless_a_geom_has_priority(assembly):
    model = copy(assembly.model)
    pads = [model.geom(f"arm/{side}_pad").id for side in ("left", "right")]
    box = model.geom("box/box").id
    assert sliding_friction(model, pads, [box]) == 1.5
    model.geom_priority[box] = 1
    assert sliding_friction(model, pads, [box]) == 0.6
    assert sliding_friction(model, [], [box]) == 0.0


@pytest.mark.parametrize("part", [0.9, 1.15])
def test_a_mass_within_the_limit_stays_between_the_fingers_and_one_beyond_falls(assembly, part):
    """Hold a box in the air with closed fingers; the limit without its margin separates both."""
    model = copy(assembly.model)
    model.body_mass[model.body("box/box").id] = part * GRIP_MARGIN * largest_mass(6.0, 1.5)
    mujoco.mj_setConst(model, mujoco.MjData(model))
    simulation = Simulation(replace(assembly, model=model))
    data = simulation.data
    joint = data.joint("box/box_free")
    tool = data.site("arm/grasp")
    simulation.step()

    def box_in_hand() -> None:
        quat = np.empty(4)
        mujoco.mju_mat2Quat(quat, tool.xmat)
        joint.qpos[:], joint.qvel[:] = (*tool.xpos, *quat), 0.0

    references = simulation.references
    gripper = next(
        i for i, name in enumerate(simulation.joints.names) if name == "arm/left_finger_joint"
    )
    references.q[gripper] = 0.0
    for _ in range(500):
        box_in_hand()
        simulation.step()
    for _ in range(1000):
        simulation.step()
    has_fallen = np.linalg.norm(joint.qpos[:3] - tool.xpos) > 0.02
    assert has_fallen == (part > 1.0)


def test_the_page_states_the_limits_that_follow_from_the_model(assembly):
    page = (Path(__file__).parents[4] / "docs/reference/pick_place.md").read_text(encoding="utf-8")
    joint = assembly.model.joint("arm/left_finger_joint").id
    forces = [closing_force(assembly.model, joint, size / 2e3 - 0.019) for size in range(40, 46)]
    rows = {
        "F [N]": [f"{force:.0f}" for force in forces],
        "m with μ = 1.5 [kg]": [f"{largest_mass(force, 1.5):.2f}" for force in forces],
        "m with μ = 0.75 [kg]": [f"{largest_mass(force, 0.75):.2f}" for force in forces],
    }
    for name, cells in rows.items():
        assert f"| {name} | {' | '.join(cells)} |" in page
