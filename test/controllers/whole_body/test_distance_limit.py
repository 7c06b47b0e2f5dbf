"""Bodies of a robot stay apart, whatever its tasks demand."""

from collections.abc import Sequence

import numpy as np
import pytest

from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.controllers.whole_body.distance_limit import DistanceLimit
from mujoco_ros.controllers.whole_body.tasks import JointTask
from mujoco_ros.controllers.whole_body.whole_body_control import WholeBodyControl
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.plant import Plant

PERIOD = 0.005
HAND, THIGH = "left_hand", "left_thigh"
TURNED = 0.4
"""Rotation of the shoulder with which the hand is in the thigh [rad]."""


@pytest.fixture(scope="module")
def robot():
    return robot_model(Plant(assemble(load_scene("humanoid")), lambda _event: None), 0)


class Swing:
    """The left arm swings towards the thigh."""

    def __init__(self, robot, limits: Sequence[DistanceLimit]) -> None:
        self.joint = robot.joints.index("left_shoulder_roll")
        rest = JointTask(robot.home, weight=1.0)
        rest.q[self.joint] -= TURNED
        self.control = WholeBodyControl(
            robot, "pelvis", [rest], period=PERIOD, distances=limits, damping=1e-9
        )
        self.measured = DistanceLimit(HAND, THIGH, least=0.0, begins=1.0)
        self.measured.resolve(self.control.body, robot.prefix)
        self.row = np.zeros(self.control.body.size)

    def run(self, ticks: int) -> np.ndarray:
        """Return the distances of hand and thigh.  # (ticks,)"""
        found = []
        for _ in range(ticks):
            self.control.step()
            self.measured.compute(self.control.body, self.row)
            found.append(self.measured.distance)
        return np.array(found)


def test_a_hand_stops_at_its_least_distance_from_the_thigh(robot):
    free = Swing(robot, []).run(300)
    assert free[0] > 0.1
    assert free[-1] < 0.01
    limited = Swing(robot, [DistanceLimit(HAND, THIGH, least=0.03, begins=0.1)])
    distances = limited.run(300)
    np.testing.assert_allclose(distances[-1], 0.03, atol=1e-3)
    assert distances.min() > 0.0299
    fastest = -np.diff(distances[1:]).min() / PERIOD  # in the first tick they are far apart
    assert fastest < 0.5 * (1.0 + 1e-3), "it slows down"


def test_the_rate_of_a_distance_is_that_of_its_row(robot):
    swing = Swing(robot, [])
    body = swing.control.body
    swing.measured.compute(body, swing.row)
    before, row = swing.measured.distance, swing.row.copy()
    velocity = np.random.default_rng(0).normal(size=body.size)
    body.integrate(velocity, 1e-6)
    swing.measured.compute(body, swing.row)
    assert (swing.measured.distance - before) / 1e-6 == pytest.approx(row @ velocity, rel=1e-3)


def test_bodies_that_are_too_near_move_apart_within_the_limits_of_the_joints(robot):
    swing = Swing(robot, [DistanceLimit(HAND, THIGH, least=0.2, begins=0.21, fastest=100.0)])
    before = swing.control.q.copy()
    distances = swing.run(200)
    assert distances[-1] > 0.19
    assert (np.abs(swing.control.q - before) <= 200 * PERIOD * robot.velocity).all()
    assert (np.abs(swing.control.dq) <= robot.velocity).all()


def test_far_bodies_change_nothing(robot):
    far = [DistanceLimit("left_hand", "head"), DistanceLimit("left_hand", "right_foot")]
    swing, free = Swing(robot, far), Swing(robot, [])
    np.testing.assert_allclose(swing.run(50), free.run(50), atol=1e-9)
    assert {it.distance for it in far} == {float("inf")}


@pytest.mark.parametrize(
    ("second", "settings", "message"),
    [
        (HAND, {}, "a distance needs two bodies, got 'left_hand' twice"),
        (THIGH, {"least": 0.1}, r"least must be from 0 to less than begins 0\.08, got 0\.1"),
        (THIGH, {"fastest": 0.0}, "fastest must be positive, got 0"),
    ],
)
def test_wrong_distances_are_rejected(second, settings, message):
    with pytest.raises(UserInputError, match=message):
        DistanceLimit(HAND, second, **settings)


def test_wrong_bodies_are_rejected(robot):
    with pytest.raises(UserInputError, match="left_hamd"):
        Swing(robot, [DistanceLimit("left_hamd", THIGH)])
    with pytest.raises(UserInputError, match="body 'neck_link' has no collision geometry"):
        Swing(robot, [DistanceLimit("neck_link", THIGH)])
