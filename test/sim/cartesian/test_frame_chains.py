"""Frames, the joints that move them, and what is refused."""

from collections.abc import Callable

import numpy as np
import pytest
from frame_robot import FrameRobot

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.simulation import Simulation


def controllers(scene: str) -> dict[str, CartesianController]:
    simulation = Simulation(load_scene(scene))
    found = {}
    for robot, control in zip(simulation.layout.robots, simulation.controls, strict=True):
        assert isinstance(control.cartesian, CartesianController)
        found[robot.name] = control.cartesian
    return found


def test_the_default_frame_of_an_arm_is_at_its_end(arm: FrameRobot, panda: FrameRobot) -> None:
    assert (arm.chain.frame.name, arm.chain.base.name) == ("grasp", "base_link")
    assert len(arm.chain.joints.names) == 6
    assert (panda.chain.frame.name, panda.chain.base.name) == ("panda_hand_tcp", "panda_link0")
    assert panda.chain.joints.names == tuple(f"panda_joint{i}" for i in range(1, 8))
    assert panda.chain.joints.max_velocity[0] == pytest.approx(2.175)  # of the URDF


def test_a_robot_with_several_limbs_has_no_default_frame() -> None:
    for controller in controllers("humanoid").values():
        assert controller.chain is None
        assert "set cartesian_controller.frame to one of:" in controller.no_frame()


def test_a_frame_of_a_humanoid_is_relative_to_its_base() -> None:
    (controller,) = controllers("humanoid").values()
    hand = controller.chains.names[-1]
    chain = controller.chains.find(hand)
    assert chain is not None
    assert chain.base_moves
    assert len(chain.joints.names) >= 1


def test_body_and_site_are_frames(arm: FrameRobot) -> None:
    for name in ("tool0", "wrist_ft", "forearm_link"):
        arm.configure(frame=name)
        assert arm.chain.frame.name == name
    assert len(arm.chain.joints.names) == 3  # of the forearm


def test_unknown_frames_and_joints_are_refused(arm: FrameRobot) -> None:
    with pytest.raises(UserInputError, match=r"frame 'tol0' not found .did you mean 'tool0'"):
        arm.configure(frame="tol0")
    with pytest.raises(UserInputError, match="'base_link' is moved by no joint"):
        arm.configure(frame="base_link")
    with pytest.raises(UserInputError, match="joint 'left_finger_joint' takes no commands"):
        arm.configure(joints=("elbow_joint", "left_finger_joint"))
    with pytest.raises(UserInputError, match="named twice"):
        arm.configure(joints=("elbow_joint", "elbow_joint"))
    with pytest.raises(UserInputError, match="frame 'absent' not found"):
        arm.controller.chains.resolve("absent", arm.chain.base)
    assert arm.chain.frame.name == "grasp"


def test_fewer_joints_move_the_frame_as_far_as_they_can(arm: FrameRobot) -> None:
    arm.configure(
        joints=("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint"), rotation_weight=0.0
    )
    goal = arm.home + np.array([0.0, 0.05, 0.05])
    arm.go(goal)
    wrist = arm.simulation.data.qpos[3:6].copy()
    np.testing.assert_allclose(arm.run(1.0)[-1], goal, atol=1e-3)
    np.testing.assert_allclose(arm.simulation.data.qpos[3:6], wrist, atol=5e-3)


def test_targets_in_other_frames(arm: FrameRobot) -> None:
    world = arm.controller.chains.resolve("world", arm.chain.base)
    assert world.body == 0
    arm.go((0.0, 0.0, 0.03), (1.0, 0.0, 0.0, 0.0), frame="grasp")  # 3 cm ahead of the tool
    moved = arm.run(1.0)[-1] - arm.home
    np.testing.assert_allclose(np.linalg.norm(moved), 0.03, atol=1e-4)
    assert moved[2] < -0.029  # the tool points down
    assert arm.angle_to(arm.turn) < 1e-3


MOBILE = """
<mujoco model="mobile">
  <option timestep="0.002" integrator="implicitfast" gravity="0 0 0"/>
  <worldbody>
    <body name="cart">
      <freejoint/>
      <geom type="box" size="0.2 0.2 0.1" mass="200"/>
      <body name="one" pos="0 0 0.2"><joint name="one" axis="0 0 1" armature="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
        <body name="two" pos="0.3 0 0" euler="0 0 60">
          <joint name="two" axis="0 0 1" armature="0.1"/>
          <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
          <body name="three" pos="0.3 0 0" euler="0 0 60">
            <joint name="three" axis="0 0 1" armature="0.1"/>
            <geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.02" mass="0.3"/>
            <site name="tool" pos="0.1 0 0"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="one" gear="100"/><motor joint="two" gear="100"/><motor joint="three" gear="100"/>
  </actuator>
</mujoco>
"""


@pytest.mark.parametrize("frame", ["world", "cart"])
def test_on_a_moving_base_a_target_is_fixed_to_what_it_was_given_in(
    simulate: Callable[..., Simulation], frame: str
) -> None:
    robot = FrameRobot(simulate(MOBILE, gains=dict.fromkeys(("one", "two", "three"), (2000, 100))))
    assert robot.chain.base_moves
    robot.go(robot.home, frame=frame)
    robot.simulation.data.qvel[:2] = 0.1, 0.05  # the cart rolls away
    robot.run(0.5)
    moved = robot.pose()[0] - robot.home  # relative to the cart
    expected = (-0.05, -0.025, 0.0) if frame == "world" else (0.0, 0.0, 0.0)
    np.testing.assert_allclose(moved, expected, atol=3e-3)
