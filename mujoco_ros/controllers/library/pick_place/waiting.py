"""States without motion: the start and the ends."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.controllers.library.config_checks import check_not_negative
from mujoco_ros.controllers.library.pick_place.arm import ARM, GRAVITY, Arm
from mujoco_ros.controllers.library.pick_place.plan_requests import large_joints
from mujoco_ros.controllers.library.pick_place.task import TASK, Task, upright
from mujoco_ros.controllers.library.pick_place.trajectory_execution import hold
from mujoco_ros.model.errors import UserInputError

_LAB_KP = (200.0, 100.0)
"""The grasping lab's stiffness of the three large joints, and of the wrist joints [Nm/rad]."""
_MIN_OPENING = 3e-4
"""Minimum opening of fingers that hold an object [m]."""
_MIN_FORCE_N = 1.0
"""Minimum force of fingers that hold an object."""
_MAX_SPEED = 0.01
"""Maximum speed of fingers that hold an object [m/s]."""
_MIN_TICKS = 3
"""Ticks for which an object must be held."""


class Idle(State):
    """Creates a task from its settings, then finishes at once or after `wait`."""

    outcomes = ("done", "holding", "no_feedback")
    failures = ("no_feedback",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """Settings of the task.

        Attributes:
            object: Name of the object.
            goal: Goal of its centre in ``world`` [m], and of its yaw [rad]: x, y, z, yaw.
            object_pose: Source of the object's pose: observations or depth images.
            camera: Camera at the wrist.
            gains: Stiffness of the joints: the robot's own, or the lower one of the grasping lab.
            wait: Time before the first motion [s].
        """

        object: str = "box"
        goal: tuple[float, ...] = (0.35, -0.2, 0.335, 0.0)
        object_pose: Literal["ground_truth", "depth"] = "ground_truth"
        camera: str = "wrist_camera"
        gains: Literal["robot", "lab"] = "robot"
        wait: float = 0.0

        def __post_init__(self) -> None:
            if len(self.goal) != 4:
                raise UserInputError(f"goal is x, y, z and yaw, got {len(self.goal)} numbers")
            check_not_negative(self, "wait")

    config: Config

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Provide the arm for all states."""
        store.provide(ARM, Arm.of(robot, store))

    def start(self, context: StateContext) -> None:
        """Create the task."""
        arm, config = context.store.get(ARM), self.config
        arm.set_payload(None)
        self._held_ticks = 0
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
        if is_holding(context, arm):  # the measured position as reference would release the object
            context.references.q[arm.gripper] = context.robot.lower[arm.gripper]
        if config.gains == "lab" and GAINS_SET in context.store:
            self._set_lab_gains(context, arm)

    def run(self, context: StateContext) -> str | None:
        """Hold the arm, and check for an object in the hand."""
        arm = context.store.get(ARM)
        if reason := missing_feedback(context, arm):
            context.reason = reason
            return "no_feedback"
        hold(context, arm)
        self._held_ticks = self._held_ticks + 1 if is_holding(context, arm) else 0
        if not context.has_elapsed(max(self.config.wait, _MIN_TICKS * context.period)):
            return None
        if self._held_ticks < _MIN_TICKS:
            return "done"
        context.store.get(TASK).opening = float(context.observation.q[arm.gripper])
        context.reason = "the fingers already hold an object"
        return "holding"

    def _set_lab_gains(self, context: StateContext, arm: Arm) -> None:
        gains = context.store.get(GAINS_GET)()
        kp, kd = gains.kp.copy(), gains.kd.copy()
        kp[arm.joints] = np.where(large_joints(arm), *_LAB_KP)
        kd[arm.joints] = 2.0 * np.sqrt(kp[arm.joints])
        context.store.get(GAINS_SET)(Gains(kp=kp, kd=kd))


class Done(State):
    """Holds the arm after a success."""

    def run(self, context: StateContext) -> str | None:
        """Hold the arm."""
        hold(context, context.store.get(ARM))
        return None


class Failed(Done):
    """Holds the arm after a failure; the gripper keeps an object in the hand."""

    def start(self, context: StateContext) -> None:
        """Hold the arm at its measured position, so that it does not push against an obstacle."""
        arm = context.store.get(ARM)
        hold(context, arm, context.observation.q[arm.joints].copy())
        if TASK in context.store:
            context.store.get(TASK).attempts = 0


def missing_feedback(context: StateContext, arm: Arm) -> str:
    """Return the missing joint measurements as text; empty if all are available."""
    observation, joints = context.observation, [*arm.joints.tolist(), arm.gripper]
    missing = []
    for what, values in (
        ("position", observation.q),
        ("velocity", observation.dq),
        ("effort", observation.effort),
    ):
        names = [arm.robot.joints[joint] for joint in joints if np.isnan(values[joint])]
        if names:
            missing.append(f"no {what} of {', '.join(names)}")
    return f"robot '{arm.robot.name}' reports {' and '.join(missing)}" if missing else ""


def is_holding(context: StateContext, arm: Arm) -> bool:
    """Return whether the fingers push against an object."""
    observation, joint = context.observation, arm.gripper
    is_open = observation.q[joint] > arm.robot.lower[joint] + _MIN_OPENING
    is_pushing = observation.effort[joint] < -_MIN_FORCE_N
    return bool(is_open and is_pushing and abs(observation.dq[joint]) < _MAX_SPEED)
