"""`grasp_reflex` closes the gripper on touch, and opens it on a flick."""

from collections.abc import Callable

import numpy as np
import pytest

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import JointCommand
from mujoco_ros.control.joints import Clamped
from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

WRIST, FINGER = 5, 6
BESIDE_A_PAD_M = 0.0293  # from the middle: first contact
SHORT = {state: {"pause": 0.6} for state in ("OPEN", "CLOSE", "HELD")}


class Hand:
    """The arm's gripper with the reflex, and a box at a fixed position."""

    def __init__(self) -> None:
        self.simulation = simulation = Simulation(load_scene("arm"))
        self.host = ControllerHost(simulation, load("grasp_reflex", settings=SHORT))
        self._box = dict(simulation.layout.free_objects)["box"]
        self.box_body = self._box.body
        self._site = simulation.model.site("arm/grasp").id
        self.joints = simulation.layout.robots[0].joints
        self.went: list[tuple[str, float, str]] = []

    def hold_box(self, aside: float = 0.0) -> None:
        data, base = self.simulation.data, self._box
        data.qpos[base.qpos : base.qpos + 3] = data.site_xpos[self._site] + [0.0, aside, 0.0]
        data.qpos[base.qpos + 3 : base.qpos + 7] = 1.0, 0.0, 0.0, 0.0
        data.qvel[base.dof : base.dof + 6] = 0.0

    def run(self, seconds: float, act: Callable[[float], object] = lambda _t: None) -> None:
        for step in range(round(1000 * seconds)):
            act(1e-3 * step)
            assert self.host.step()
        for event in self.host.supervised.log.since(len(self.went)):
            self.went.append((event.transition.goal, event.time, event.reason))

    def turn_wrist(self, angle: float) -> None:
        """Command the wrist over joint_commands."""
        command = JointCommand(
            joints=np.array([WRIST]),
            values=np.array([[angle], [np.nan], [np.nan]]),
            clamped=Clamped(),
        )
        (control,) = self.simulation.controls
        control.command(CommandSource.JOINT_COMMANDS, command, float(self.simulation.data.time))

    @property
    def goals(self) -> list[str]:
        return [goal for goal, _, _ in self.went]


def test_touch_closes_the_gripper_and_a_flick_opens_it():
    hand = Hand()
    hand.run(0.7)
    assert hand.goals == ["OPEN"], "no touch so far"
    hand.run(0.5, lambda t: hand.hold_box(BESIDE_A_PAD_M if t < 0.02 else 0.0))
    hand.run(0.4)
    assert hand.goals[1:] == ["CLOSE", "HELD"]
    sample = hand.simulation.sample
    assert sample.xpos[hand.box_body, 2] == pytest.approx(0.526, abs=0.01), "the box is held"
    assert 2.0 < abs(sample.qfrc_actuator[hand.joints.dof[FINGER]]) < 15.0
    (control,) = hand.simulation.controls
    assert control.owners()[CommandSource.CONTROLLER] == ("left_finger_joint",)
    home = sample.qpos[hand.joints.qpos[WRIST]]
    hand.run(0.3, lambda t: hand.turn_wrist(home + 0.3 * np.sin(np.pi * t / 0.3) ** 2))
    assert hand.host.supervised.state == "HELD", "a state has a minimum duration"
    hand.run(0.4)
    hand.run(0.3, lambda t: hand.turn_wrist(home + 0.3 * np.sin(np.pi * t / 0.3) ** 2))
    assert hand.goals[3:] == ["OPEN"]
    assert "rad/s" in hand.went[-1][2]
    hand.run(0.5)
    assert sample.xpos[hand.box_body, 2] < 0.4, "the box has dropped"
    times = [time for _, time, _ in hand.went[1:]]
    assert (np.diff(times) >= 0.6 - 1e-9).all()


def test_a_gripper_without_an_object_opens_again():
    hand = Hand()
    hand.run(0.7)
    hand.run(0.02, lambda _t: hand.hold_box(BESIDE_A_PAD_M))
    hand.run(0.7)
    assert hand.goals == ["OPEN", "CLOSE", "OPEN"]
    assert hand.went[-1][2] == "no object at an opening of 0.0 mm"
    hand.run(0.7)
    q = hand.simulation.sample.qpos[hand.joints.qpos[FINGER]]
    assert q == pytest.approx(0.030, abs=0.001)


def test_a_missing_sensor_or_gripper_is_reported():
    hand = Hand()
    controller = load("grasp_reflex", settings={"OPEN": {"touches": ["palm"]}})
    host = ControllerHost(hand.simulation, controller)
    for _ in range(10):
        host.step()
    assert "touch sensor 'palm' not found" in host.supervised.error
    assert "left_pad, right_pad" in host.supervised.error
    with pytest.raises(UserInputError, match="'grasp_reflex': robot 'quadruped' has no gripper"):
        ControllerHost(Simulation(load_scene("quadruped")), load("grasp_reflex"))
