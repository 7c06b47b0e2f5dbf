"""Odometry twist, base acceleration and relative poses, compared with differences and MuJoCo."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.sim.kinematics import BaseMotion, RelativePoses

TIMESTEP = 5e-4
GRAVITY = np.array([0.3, -0.4, -9.81])  # askew, so that no axis hides a mistake

THROWN = f"""
<mujoco>
  <option timestep="{TIMESTEP}" integrator="RK4" gravity="{" ".join(map(str, GRAVITY))}"/>
  <worldbody>
    <body name="stone" pos="0 0 3">
      <freejoint/>
      <inertial pos="0.1 -0.05 0.2" mass="3" fullinertia="0.05 0.07 0.04 0.01 -0.005 0.008"/>
    </body>
  </worldbody>
  <keyframe>
    <key name="thrown" qpos="0.1 0.2 3 0.5 -0.1 0.7 0.5" qvel="1 -2 3 4 -3 2"/>
    <key name="at_rest" qpos="0.1 0.2 3 0.5 -0.1 0.7 0.5"/>
  </keyframe>
</mujoco>"""


def rotation(quat_wxyz: np.ndarray) -> np.ndarray:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, quat_wxyz)
    return flat.reshape(3, 3)


def flight(simulation, steps: int) -> list[dict[str, np.ndarray]]:
    """Return poses and motion of the base at consecutive samples."""
    (robot,) = simulation.layout.robots
    (base,) = robot.bases
    motion = BaseMotion(robot.bases, simulation.sample)
    rows = []
    for _ in range(steps):
        assert simulation.step()
        motion.update()
        sample = simulation.sample
        rows.append(
            {
                "position": sample.qpos[base.qpos : base.qpos + 3].copy(),
                "quat": sample.qpos[base.qpos + 3 : base.qpos + 7].copy(),
                "linear": motion.values[0, :3].copy(),
                "angular": sample.qvel[base.dof + 3 : base.dof + 6].copy(),
                "linear_acceleration": motion.values[0, 3:].copy(),
                "angular_acceleration": sample.qacc[base.dof + 3 : base.dof + 6].copy(),
            }
        )
    return rows


def test_the_twist_of_a_thrown_spinning_body_is_in_its_own_frame(simulate):
    rows = flight(simulate(THROWN), 400)
    for before, now, after in zip(rows, rows[1:], rows[2:], strict=False):
        velocity = (after["position"] - before["position"]) / (2 * TIMESTEP)
        to_base = rotation(now["quat"]).T
        np.testing.assert_allclose(now["linear"], to_base @ velocity, atol=1e-4)
        turned = np.zeros(3)
        mujoco.mju_subQuat(turned, after["quat"], before["quat"])
        np.testing.assert_allclose(now["angular"], turned / (2 * TIMESTEP), atol=1e-3)
    turned_by = rotation(rows[0]["quat"]).T @ rotation(rows[-1]["quat"])
    assert np.trace(turned_by) < 2.9, "the flight must turn the body, or frames look alike"


def test_the_acceleration_of_a_thrown_spinning_body_is_that_of_its_frames_origin(simulate):
    rows = flight(simulate(THROWN), 400)
    for before, now, after in zip(rows, rows[1:], rows[2:], strict=False):
        bend = after["position"] - 2 * now["position"] + before["position"]
        expected = rotation(now["quat"]).T @ (bend / TIMESTEP**2)
        np.testing.assert_allclose(now["linear_acceleration"], expected, atol=1e-3)
        spin_up = (after["angular"] - before["angular"]) / (2 * TIMESTEP)
        np.testing.assert_allclose(now["angular_acceleration"], spin_up, atol=1e-3)
    fall = rotation(rows[0]["quat"]).T @ GRAVITY
    swing = np.linalg.norm(rows[0]["linear_acceleration"] - fall)
    assert swing > 1.0, "the origin must swing about the centre of mass"


def test_the_acceleration_in_free_fall_is_gravity_in_the_frame_of_the_body(simulate):
    at_rest = THROWN.replace('qvel="1 -2 3 4 -3 2"', "")
    for row in flight(simulate(at_rest), 100):
        expected = rotation(row["quat"]).T @ GRAVITY
        np.testing.assert_allclose(row["linear_acceleration"], expected, atol=1e-9)
        np.testing.assert_allclose(row["angular_acceleration"], 0.0, atol=1e-9)


def test_a_body_on_the_ground_does_not_accelerate(shipped):
    simulation = shipped("quadruped")
    rows = flight(simulation, 3000)
    np.testing.assert_allclose(rows[-1]["linear"], 0.0, atol=1e-3)
    np.testing.assert_allclose(rows[-1]["linear_acceleration"], 0.0, atol=0.05)


def test_every_base_has_its_own_row(simulate):
    simulation = simulate(
        """<mujoco><option gravity="0 0 0"/><worldbody>
        <body name="one"><freejoint/><geom size="0.1"/></body>
        <body name="two" pos="1 0 0"><freejoint/><geom size="0.1"/></body>
        </worldbody><keyframe>
        <key qpos="0 0 0 1 0 0 0  1 0 0 0 0 0 1" qvel="1 2 3 0 0 0  4 5 6 0 0 0"/>
        </keyframe></mujoco>"""
    )
    (robot,) = simulation.layout.robots
    assert [base.name for base in robot.bases] == ["one", "two"]
    motion = BaseMotion(robot.bases, simulation.sample)
    assert simulation.step()
    motion.update()
    np.testing.assert_allclose(motion.values[0], [1, 2, 3, 0, 0, 0], atol=1e-12)
    # Turned by half a turn about the vertical.
    np.testing.assert_allclose(motion.values[1], [-4, -5, 6, 0, 0, 0], atol=1e-12)


def random_positions(model: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    qpos = model.qpos0.copy()
    mujoco.mj_integratePos(model, qpos, rng.normal(size=model.nv), 1.0)
    return qpos


@pytest.mark.parametrize("scene", ["humanoid", "arm"])
def test_relative_poses_equal_those_of_mujoco(shipped, scene):
    simulation = shipped(scene)
    model, rng = simulation.model, np.random.default_rng(3)
    bodies = list(range(1, model.nbody))
    parents = model.body_parentid[bodies].tolist()
    poses = RelativePoses(bodies, parents, simulation.sample)
    other = mujoco.MjData(model)
    for _ in range(10):
        simulation.data.qpos[:] = random_positions(model, rng)
        simulation.data.qvel[:] = 0.0
        assert simulation.step()
        poses.update()
        other.qpos[:] = simulation.sample.qpos
        mujoco.mj_kinematics(model, other)
        for body, parent, pose in zip(bodies, parents, poses.values, strict=True):
            position, quat = np.zeros(3), np.zeros(4)
            mujoco.mju_negPose(position, quat, other.xpos[parent], other.xquat[parent])
            mujoco.mju_mulPose(
                position, quat, position.copy(), quat.copy(), other.xpos[body], other.xquat[body]
            )
            np.testing.assert_allclose(pose[:3], position, atol=1e-12)
            np.testing.assert_allclose(rotation(pose[3:]), rotation(quat), atol=1e-12)


def test_the_relative_pose_of_a_body_is_its_offset_rotated_by_the_joint(simulate):
    simulation = simulate(
        """<mujoco><option gravity="0 0 0"/><worldbody>
        <body name="base" pos="1 2 3" quat="0.5 0.5 0.5 0.5"><geom size="0.1"/>
        <body name="link" pos="0.4 0 0"><joint name="j" axis="0 0 1"/><geom size="0.1"/></body>
        </body></worldbody><keyframe><key qpos="0.6"/></keyframe></mujoco>"""
    )
    poses = RelativePoses([2], [1], simulation.sample)
    assert simulation.step()
    poses.update()
    expected = [0.4, 0.0, 0.0, np.cos(0.3), 0.0, 0.0, np.sin(0.3)]
    np.testing.assert_allclose(poses.values[0], expected, atol=1e-12)
