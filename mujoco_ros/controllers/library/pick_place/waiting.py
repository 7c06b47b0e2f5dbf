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
from mujoco_ros.controllers.library.pick_place.arm import ARM, SENSOR, TOOL, Arm
from mujoco_ros.controllers.library.pick_place.grip_limit import (
    collision_geoms,
    largest_mass,
    sliding_friction,
)
from mujoco_ros.controllers.library.pick_place.measuring.object_shape import ObjectShape
from mujoco_ros.controllers.library.pick_place.plan_requests import large_joints
from mujoco_ros.controllers.library.pick_place.task import TASK, Task, TaskState, get_arm, upright
from mujoco_ros.controllers.library.pick_place.trajectory_execution import hold
from mujoco_ros.controllers.planning.kinematics.chain import tool_names
from mujoco_ros.model.errors import UserInputError

_LAB_KP = (200.0, 100.0)
"""The grasping lab's stiffness of the three large joints, and of the wrist joints [Nm/rad]."""
_MIN_OPENING = 3e-4
"""Minimum opening of fingers that hold an object [m]."""
_MIN_FORCE_N = 1.0
"""Minimum force of fingers that hold an object."""
_MAX_SPEED = 0.05
"""Maximum speed of fingers that hold an object [m/s]: between noise and closing fingers."""
_MIN_TICKS = 3
"""Ticks for which an object must be held."""


class Idle(TaskState):
    """Creates a task from its settings, then finishes at once or after `wait`."""

    outcomes = ("done", "holding", "no_feedback", "too_heavy")
    failures = ("no_feedback", "too_heavy")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """Settings of the task.

        Attributes:
            object: Name of the object.
            goal: Goal in ``world``: x, y, z [m] and yaw [rad].
            goal_height: Whether z of the goal is that of the object's centre, or of the surface on
                which it is placed.
            mass: Mass of the object [kg]; 0 is unknown. A mass beyond the limit of the gripper is
                refused before the arm moves.
            friction: Coefficient of sliding friction between fingers and object; 0 is that of the
                model.
            tool: Site or link between the finger tips, with z along the fingers and y along their
                motion.
            wrist_sensor: Force-torque sensor at the wrist; empty for a robot without.
            object_pose: Source of the object's pose: observations or depth images.
            camera: Camera at the wrist.
            gains: Stiffness of the joints: the robot's own, or the lower one of the grasping lab.
            wait: Time before the first motion [s].
        """

        object: str = "box"
        goal: tuple[float, ...] = (0.35, -0.2, 0.335, 0.0)
        goal_height: Literal["centre", "surface"] = "centre"
        mass: float = 0.0
        friction: float = 0.0
        tool: str = TOOL
        wrist_sensor: str = SENSOR
        object_pose: Literal["ground_truth", "depth"] = "ground_truth"
        camera: str = "wrist_camera"
        gains: Literal["robot", "lab"] = "robot"
        wait: float = 0.0

        def __post_init__(self) -> None:
            if len(self.goal) != 4:
                raise UserInputError(f"goal is x, y, z and yaw, got {len(self.goal)} numbers")
            check_not_negative(self, "wait", "mass", "friction")

    config: Config

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Provide the arm for all states; its tool may also be set before the first start."""
        Arm.check_gripper(robot)
        if robot.prefix + self.config.tool in tool_names(robot.model):
            self._provide_arm(robot, store)

    def start(self, context: StateContext) -> None:
        """Create the task."""
        config, store = self.config, context.store
        arm = get_arm(context) if ARM in store else None
        if arm is None or not arm.is_for(context.robot_in_scene, config.tool, config.wrist_sensor):
            arm = self._provide_arm(context.robot_in_scene, store)
        arm.set_payload(None)
        self._held_ticks = 0
        task = Task(
            object=config.object,
            goal=upright(*config.goal),
            on_surface=config.goal_height == "surface",
            shape=ObjectShape.of(arm.chain.model, config.object),
            seen=config.object_pose == "ground_truth",
            camera=config.camera,
            hand_weight=arm.hand_weight,
        )
        task.friction = config.friction or _friction(arm, task.shape)
        if TASK in context.store and (swapped := context.store.get(TASK).swapped) is not None:
            task.goal, task.on_surface = swapped, False
        context.store.set(TASK, task)
        if is_holding(context, arm):  # the measured position as reference would release the object
            context.references.q[arm.gripper] = context.robot.lower[arm.gripper]
        if config.gains == "lab" and GAINS_SET in context.store:
            self._set_lab_gains(context, arm)

    def advance(self, context: StateContext) -> str | None:
        """Hold the arm, and check for an object in the hand."""
        arm = get_arm(context)
        if reason := self._too_heavy(arm, context.store.get(TASK)):
            context.reason = reason
            return "too_heavy"
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

    def _provide_arm(self, robot: RobotModel, store: Store) -> Arm:
        arm = Arm.of(robot, store, tool=self.config.tool, sensor=self.config.wrist_sensor)
        if ARM in store:
            store.get(ARM).planner.finish()
        store.provide(ARM, arm)
        return arm

    def _too_heavy(self, arm: Arm, task: Task) -> str:
        """Return why the gripper cannot hold the mass of the order; "" if it can."""
        limit, mass = largest_mass(arm.largest_force(), task.friction), self.config.mass
        if mass <= limit or not task.friction:
            return ""
        return (
            f"'{task.object}' of {mass:g} kg is too heavy: the gripper holds at most "
            f"{limit:.2f} kg with {arm.largest_force():.0f} N and friction {task.friction:g}"
        )

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
        hold(context, get_arm(context))
        return None


class Failed(Done):
    """Holds the arm after a failure; the gripper keeps an object in the hand."""

    def start(self, context: StateContext) -> None:
        """Hold the arm at its measured position, so that it does not push against an obstacle."""
        arm = get_arm(context)
        hold(context, arm, context.observation.q[arm.joints].copy())
        if TASK in context.store:
            task = context.store.get(TASK)
            task.attempts = task.returns = 0
            task.returning = False


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
    is_slow = abs(observation.dq[joint]) < _MAX_SPEED
    force = -float(observation.effort[joint])
    return bool(is_slow and is_gripping(context, arm, float(observation.q[joint]), force))


def is_gripping(context: StateContext, arm: Arm, opening: float, force: float) -> bool:
    """Return whether fingers at an opening [m] that push with a force [N] hold an object."""
    is_open = opening > context.robot.lower[arm.gripper] + _MIN_OPENING
    return bool(is_open and force > _MIN_FORCE_N)


def _friction(arm: Arm, shape: ObjectShape | None) -> float:
    """Return the friction between fingers and object in the model; 0 if unknown."""
    fingers = collision_geoms(arm.chain.model, arm.finger_bodies)
    return sliding_friction(arm.chain.model, fingers, shape.geoms) if shape else 0.0
