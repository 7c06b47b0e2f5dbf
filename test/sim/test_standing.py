"""The shipped robots hold their keyframes from the first step."""

import numpy as np
import pytest

SPEED = 0.01 / 60.0
"""Largest drift [m/s]."""


@pytest.mark.parametrize("scene", ["humanoid", "quadruped"])
def test_a_robot_stands_without_drift(shipped, scene):
    simulation = shipped(scene)
    (robot,) = simulation.layout.robots
    (base,) = robot.bases
    position = slice(base.qpos, base.qpos + 3)
    assert simulation.step()
    start, places = simulation.sample.qpos.copy(), []
    for _ in range(round(15.0 / simulation.model.opt.timestep)):
        assert simulation.step()
        places.append(simulation.sample.qpos[position].copy())
    assert simulation.time == pytest.approx(15.0)
    assert np.abs(places - start[position]).max() < 0.01
    third = len(places) // 3
    assert np.linalg.norm(places[-1] - places[third]) < 10.0 * SPEED
    quat = simulation.sample.qpos[base.qpos + 3 : base.qpos + 7]
    tilt = 2 * np.arccos(min(1.0, abs(quat @ start[base.qpos + 3 : base.qpos + 7])))
    assert tilt < np.radians(0.5)
    assert simulation.divergences == 0
    assert not simulation.engine_messages


@pytest.mark.parametrize("scene", ["humanoid", "quadruped", "arm", "zoo"])
def test_no_joint_drops_before_the_first_command(shipped, scene):
    simulation = shipped(scene)
    joints = simulation.joints.qpos
    assert simulation.step()
    start = simulation.sample.qpos[joints].copy()
    scalar = {"slide": 0.005, "hinge": np.radians(2)}
    limits = np.where(simulation.model.jnt_type[simulation.joints.ids] == 2, *scalar.values())
    for _ in range(2000):
        assert simulation.step()
        moved = np.abs(simulation.sample.qpos[joints] - start)
        assert (moved < limits).all(), simulation.joints.names[int(np.argmax(moved / limits))]


@pytest.mark.parametrize(
    ("scene", "keyframes"),
    [
        ("humanoid", {"humanoid": "half_sitting"}),
        ("quadruped", {"quadruped": "stand"}),
        ("arm", {"arm": "home"}),
        (
            "zoo",
            {
                "humanoid": "half_sitting",
                "quadruped": "stand",
                "left_arm": "home",
                "right_arm": "home",
            },
        ),
    ],
)
def test_the_start_is_the_keyframe(shipped, scene, keyframes):
    simulation = shipped(scene)
    model = simulation.model
    assert simulation.step()
    assert {robot.name for robot in simulation.layout.robots} == set(keyframes)
    for robot in simulation.layout.robots:
        key = model.key(f"{robot.name}/{keyframes[robot.name]}")
        joints = robot.joints
        assert np.abs(key.qpos[joints.qpos]).max() > 0.1, "a keyframe of zeros would prove nothing"
        np.testing.assert_array_equal(simulation.sample.qpos[joints.qpos], key.qpos[joints.qpos])


@pytest.mark.parametrize(
    ("scene", "objects"), [("arm", {"box"}), ("zoo", {"left_box", "right_box"})]
)
def test_objects_rest_at_their_poses_of_the_scene(shipped, scene, objects):
    simulation = shipped(scene)
    bases = dict(simulation.layout.free_objects)
    assert set(bases) == objects
    assert simulation.step()
    start = simulation.sample.qpos.copy()
    for _ in range(2000):
        assert simulation.step()
    for name, base in bases.items():
        position = slice(base.qpos, base.qpos + 3)
        moved = simulation.sample.qpos[position] - start[position]
        assert np.linalg.norm(moved) < 0.001, name
