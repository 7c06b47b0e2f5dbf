"""Tasks are fulfilled within the limits of the joints, by the solution of the program."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.planning.kinematics.sole import find_soles
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.controllers.whole_body.tasks import ComTask, FrameTask, JointTask, WholeBodyTask
from mujoco_ros.controllers.whole_body.whole_body_control import WholeBodyControl
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.plant import Plant

PERIOD = 0.005
FEET = ("left_foot", "right_foot")
LEGS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
LEG_JOINTS = tuple(f"{side}_{name}" for side in ("left", "right") for name in LEGS)


@pytest.fixture(scope="module")
def robot():
    return robot_model(Plant(assemble(load_scene("humanoid")), lambda _event: None), 0)


class Balance:
    """The humanoid over its feet, with tasks of trunk and centre of mass."""

    def __init__(
        self, robot, joints: tuple[str, ...] = (), damping: float = 1e-6, distances=()
    ) -> None:
        self.robot = robot
        hold = JointTask(robot.home, weight=1e-2)
        if joints:
            hold = JointTask(robot.home[[robot.joints.index(it) for it in joints]], weight=1e-2)
        self.control = WholeBodyControl(
            *(robot, FEET[0], [hold]),
            period=PERIOD,
            joints=joints,
            damping=damping,
            distances=distances,
        )
        body = self.control.body
        self.soles = find_soles(robot.model, body.data, robot.prefix, FEET)
        self.feet = [FrameTask.of_sole(sole, weight=1e4) for sole in self.soles]
        self.com = ComTask(weight=1e2)
        self.trunk = FrameTask(body.base, weight=[0, 0, 0, 10, 10, 10])
        for task in (*self.feet, self.com, self.trunk):
            task.hold(body)
        self.start, self.hold = self.com.position.copy(), hold
        self.control.tasks = (self.com, *self.feet, self.trunk, hold)


@pytest.mark.parametrize("joints", [(), LEG_JOINTS], ids=["all joints", "legs"])
def test_the_centre_of_mass_moves_over_feet_that_stay(robot, joints):
    balance = Balance(robot, joints)
    control = balance.control
    for tick in range(600):
        phase = 0.01 * tick
        balance.com.position[:] = balance.start
        balance.com.position += 0.03 * np.sin(phase), 0.06 * np.sin(2.0 * phase), -0.04
        before = control.q.copy()
        control.step()
        np.testing.assert_allclose(control.q, before + PERIOD * control.dq, atol=1e-12)
        if tick > 100:
            np.testing.assert_allclose(control.body.com, balance.com.position, atol=5e-4)
            for foot in balance.feet:
                position, axes = foot.frame(control.body)
                np.testing.assert_allclose(position, foot.position, atol=1e-4)
                np.testing.assert_allclose(axes, foot.rotation, atol=1e-4)
    assert (control.q >= robot.lower[control.joints] - 1e-9).all()
    assert (control.q <= robot.upper[control.joints] + 1e-9).all()


def test_velocity_and_position_limits_hold_where_a_task_demands_too_much(robot):
    balance = Balance(robot)
    control = balance.control
    balance.com.position[2] -= 0.3  # at once
    limit = robot.velocity[control.joints]
    for _ in range(300):
        control.step()
        assert (np.abs(control.dq) <= limit).all()
        assert (control.q >= robot.lower - 1e-9).all()
        assert (control.q <= robot.upper + 1e-9).all()
    assert control.body.com[2] == pytest.approx(balance.com.position[2], abs=5e-3)


def test_a_step_is_the_solution_of_the_bounded_least_squares_problem(robot):
    balance = Balance(robot, damping=1e-4)
    control, body = balance.control, balance.control.body
    balance.com.position[2] -= 0.05
    rows, targets = [], []
    for task in control.tasks:
        task.compute(body, PERIOD)
        root = np.sqrt(task.weight)
        rows.append(root[:, None] * task.jacobian)
        targets.append(root * task.velocity)
    rows.append(1e-2 * np.eye(body.size))
    targets.append(np.zeros(body.size))
    fastest = 0.95 * robot.velocity
    high = np.minimum((robot.upper - body.q) / PERIOD, fastest)
    low = np.maximum((robot.lower - body.q) / PERIOD, -fastest)
    free = np.full(6, np.inf)
    expected = lsq_linear(
        np.concatenate(rows),
        np.concatenate(targets),
        (np.concatenate((-free, low)), np.concatenate((free, high))),
        tol=1e-14,
        method="bvls",
    ).x
    assert (np.abs(expected[6:]) > 0.999 * fastest).any()  # a limit is reached
    control.step()
    np.testing.assert_allclose(control.velocity, expected, atol=1e-3)


def test_the_same_targets_give_the_same_bits(robot):
    def last() -> bytes:
        balance = Balance(robot)
        for _ in range(50):
            balance.com.position[1] += 5e-4
            balance.control.step()
        return balance.control.q.tobytes()

    assert last() == last()


def test_a_task_of_a_controller_can_be_added(robot):
    class Lean(WholeBodyTask):
        """Angle of a joint alone."""

        def __init__(self, joint: int) -> None:
            super().__init__(1, 10.0, 1.0)
            self.joint = joint

        def compute(self, body: FloatingBaseKinematics, period: float) -> None:
            self.jacobian[0, 6 + self.joint] = 1.0
            self.velocity[0] = 0.1

    balance, joint = Balance(robot), robot.joints.index("waist_yaw")
    control = balance.control
    control.tasks = (*control.tasks, Lean(joint))
    before = control.q[joint]
    for _ in range(100):
        control.step()
    assert control.q[joint] - before == pytest.approx(0.05, abs=2e-3)


def test_a_target_that_is_not_a_number_moves_nothing(robot):
    balance = Balance(robot)
    before = balance.control.q.copy()
    balance.com.position[0] = np.nan
    with pytest.raises(ArithmeticError, match="not a finite number"):
        balance.control.step()
    np.testing.assert_array_equal(balance.control.q, before)
    balance.com.position[:] = balance.start
    balance.control.step()
    np.testing.assert_allclose(balance.control.q, before, atol=1e-4)


def test_wrong_arguments_are_rejected(robot):
    with pytest.raises(UserInputError, match=r"joint 'left_toe' not found.*left_ankle_roll"):
        WholeBodyControl(robot, FEET[0], [], period=PERIOD, joints=("left_toe",))
    with pytest.raises(UserInputError, match="period must be positive, got 0"):
        WholeBodyControl(robot, FEET[0], [], period=0.0)
    with pytest.raises(UserInputError, match="must not be negative, got -1"):
        ComTask(weight=-1.0)
    with pytest.raises(UserInputError, match="gain of a task must be from 0 to 1, got 2"):
        ComTask(gain=2.0)
