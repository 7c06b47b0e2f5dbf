"""States that stand: at the beginning and at the end."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.controllers.library.pick_place.arm import ARM, GRAVITY, Arm
from mujoco_ros.controllers.library.pick_place.task import TASK, Task, upright
from mujoco_ros.controllers.library.pick_place.trajectory_execution import rest
from mujoco_ros.model.errors import UserInputError

_LAB_KP = (200.0, 100.0)
"""The grasping lab's stiffness: of its three large joints, and of those of the wrist [Nm/rad]."""
GRIPPED = 3e-4
"""Fingers that push, and are farther apart than this [m], have something in between."""
PUSHING_N = 1.0
MOVING = 0.01
"""Fingers that are faster than this move freely [m/s]."""
_LASTING = 3
"""Ticks for which something must have been held."""


class Idle(State):
    """Takes the order: what to bring where. Goes on at once, or `wait` later."""

    outcomes = ("done", "holding", "no_feedback")
    failures = ("no_feedback",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """The order.

        Attributes:
            object: Name of the object.
            goal: Where its centre shall be in world [m], and its yaw there [rad]: x, y, z, yaw.
            object_pose: Whether its pose is known all the time, or seen in a depth image.
            camera: The camera at the wrist.
            gains: Stiffness of the joints: the robot's own, or the softer one of the grasping lab.
            wait: Time to stand before the first motion [s].
        """

        object: str = "box"
        goal: tuple[float, ...] = (0.35, -0.2, 0.335, 0.0)
        object_pose: Literal["ground_truth", "depth"] = "ground_truth"
        camera: str = "wrist_camera"
        gains: Literal["robot", "lab"] = "robot"
        wait: float = 0.0

        def __post_init__(self) -> None:
            """Refuse a goal that is none."""
            if len(self.goal) != 4:
                raise UserInputError(f"goal is x, y, z and yaw, got {len(self.goal)} numbers")
            if self.wait < 0.0:
                raise UserInputError(f"wait must not be negative, got {self.wait}")

    config: Config

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Find the arm, for all other states as well."""
        store.provide(ARM, Arm.of(robot, store))

    def start(self, context: StateContext) -> None:
        """Make a task of the order."""
        arm, config = context.store.get(ARM), self.config
        arm.carry(None)
        self._held = 0
        task = Task(
            object=config.object,
            goal=upright(*config.goal),
            seen=config.object_pose == "ground_truth",
            camera=config.camera,
            tare=arm.hand * GRAVITY,
        )
        if TASK in context.store and (swapped := context.store.get(TASK).swapped) is not None:
            task.goal = swapped
        context.store.set(TASK, task)
        if holds(context, arm):  # and must not be let go of by being told to stay as it is
            context.references.q[arm.gripper] = context.robot.lower[arm.gripper]
        if config.gains == "lab" and GAINS_SET in context.store:
            self._soften(context, arm)

    def run(self, context: StateContext) -> str | None:
        """Stand; say whether there is something in the hand already."""
        arm = context.store.get(ARM)
        if reason := untold(context, arm):
            context.reason = reason
            return "no_feedback"
        rest(context, arm)
        self._held = self._held + 1 if holds(context, arm) else 0
        if not context.over(max(self.config.wait, _LASTING * context.period)):
            return None
        if self._held < _LASTING:
            return "done"
        context.store.get(TASK).opening = float(context.observation.q[arm.gripper])
        context.reason = "there is something between the fingers already"
        return "holding"

    def _soften(self, context: StateContext, arm: Arm) -> None:
        gains = context.store.get(GAINS_GET)()
        kp, kd = gains.kp.copy(), gains.kd.copy()
        large = context.robot.effort[arm.joints] > 0.5 * context.robot.effort[arm.joints].max()
        kp[arm.joints] = np.where(large, *_LAB_KP)
        kd[arm.joints] = 2.0 * np.sqrt(kp[arm.joints])
        context.store.get(GAINS_SET)(Gains(kp=kp, kd=kd))


class Done(State):
    """Stands: the object is where it shall be."""

    def run(self, context: StateContext) -> str | None:
        """Stand."""
        rest(context, context.store.get(ARM))
        return None


class Failed(Done):
    """Stands where it is; what is in the hand stays there."""

    def start(self, context: StateContext) -> None:
        """Give way to whatever is in the way."""
        arm = context.store.get(ARM)
        rest(context, arm, context.observation.q[arm.joints].copy())
        if TASK in context.store:
            context.store.get(TASK).attempts = 0


def untold(context: StateContext, arm: Arm) -> str:
    """Say what the robot does not tell of the joints; empty if it tells all that is watched."""
    seen, joints = context.observation, [*arm.joints.tolist(), arm.gripper]
    lacking = []
    for what, values in (("position", seen.q), ("velocity", seen.dq), ("effort", seen.effort)):
        silent = [arm.robot.joints[joint] for joint in joints if np.isnan(values[joint])]
        if silent:
            lacking.append(f"no {what} of {', '.join(silent)}")
    return f"'{arm.robot.name}' tells {' and '.join(lacking)}" if lacking else ""


def holds(context: StateContext, arm: Arm) -> bool:
    """Return whether the fingers push against something."""
    seen = context.observation
    joint = arm.gripper
    apart = seen.q[joint] > arm.robot.lower[joint] + GRIPPED
    return bool(apart and seen.effort[joint] < -PUSHING_N and abs(seen.dq[joint]) < MOVING)
