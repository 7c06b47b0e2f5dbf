"""States of `pick_place`: start, ends and recovery; the other states are listed at the end."""

from typing import Literal

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.controllers.library.base_states import ExtendedState
from mujoco_ros.controllers.library.config_checks import CheckedConfig, NotNegative, NotNegativeInt
from mujoco_ros.controllers.library.pick_place import arm as arms
from mujoco_ros.controllers.library.pick_place import (
    grasping,
    gripping,
    motion_monitor,
    moving,
    planning,
    straight_motion,
)
from mujoco_ros.controllers.library.pick_place.arm import ARM, Arm
from mujoco_ros.controllers.library.pick_place.task import (
    TASK,
    Task,
    TaskState,
    Variation,
    get_arm,
    variation,
)
from mujoco_ros.controllers.planning.kinematics.chain import tool_names
from mujoco_ros.model.errors import UserInputError

_LAB_KP = (200.0, 100.0)
"""The grasping lab's stiffness of the three large joints, and of the wrist joints [Nm/rad]."""
_MIN_TICKS = 3  # ticks for which an object must be held


class Idle(TaskState, outcomes=("done", "holding"), failures=("no_feedback", "too_heavy")):
    """Creates a task from its settings, then finishes at once or after `wait`."""

    class Config(CheckedConfig):
        """Settings of the task."""

        object: str = setting("Name of the object", "box")
        goal: tuple[float, ...] = setting(
            "Goal in ``world``: x, y, z [m] and yaw [rad]", (0.35, -0.2, 0.335, 0.0)
        )
        goal_height: Literal["centre", "surface"] = setting(
            "Whether z of the goal is the height of the object's centre, or of the surface on "
            "which it is placed",
            "centre",
        )
        mass: NotNegative = setting(
            "Mass of the object [kg]; 0 is unknown. A mass beyond the limit of the gripper is "
            "refused before the arm moves",
            0.0,
        )
        friction: NotNegative = setting(
            "Coefficient of sliding friction between fingers and object; 0 takes the model's "
            "friction",
            0.0,
        )
        tool: str = setting(
            "Site or link between the finger tips, with z along the fingers and y along their "
            "motion",
            arms.TOOL,
        )
        wrist_sensor: str = setting(
            "Force-torque sensor at the wrist; empty for a robot without", arms.SENSOR
        )
        object_pose: Literal["ground_truth", "depth"] = setting(
            "Source of the object's pose: observations or depth images", "ground_truth"
        )
        camera: str = setting("Camera at the wrist", "wrist_camera")
        gains: Literal["robot", "lab"] = setting(
            "Stiffness of the joints: the robot's own, or the lower one of the grasping lab",
            "robot",
        )
        wait: NotNegative = setting("Time before the first motion [s]", 0.0)

        def check(self) -> None:
            if len(self.goal) != 4:
                raise UserInputError(f"goal is x, y, z and yaw, got {len(self.goal)} numbers")

    config: Config

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Provide the arm for all states; its tool may also be set before the first start."""
        Arm.check_gripper(robot)
        if robot.prefix + self.config.tool in tool_names(robot.model):
            self._provide_arm(robot, store)

    def start(self, context: StateContext) -> None:
        config, store = self.config, context.store
        arm = get_arm(context) if ARM in store else None
        if arm is None or not arm.is_for(context.robot_in_scene, config.tool, config.wrist_sensor):
            arm = self._provide_arm(context.robot_in_scene, store)
        arm.set_payload(None)
        self._held_ticks = 0
        task = Task(
            object=config.object,
            goal=grasping.upright(*config.goal),
            on_surface=config.goal_height == "surface",
            shape=grasping.ObjectShape.of(arm.chain.model, config.object),
            seen=config.object_pose == "ground_truth",
            camera=config.camera,
            hand_weight=arm.hand_weight,
        )
        if config.friction:
            task.friction = config.friction
        elif task.shape is not None:
            fingers = arms.collision_geoms(arm.chain.model, arm.finger_bodies)
            task.friction = arms.sliding_friction(arm.chain.model, fingers, task.shape.geoms)
        if TASK in context.store and (swapped := context.store.get(TASK).swapped) is not None:
            task.goal, task.on_surface = swapped, False
        context.store.set(TASK, task)
        if arm.is_holding(context):  # the measured position as reference would release the object
            context.references.q[arm.gripper] = context.robot.lower[arm.gripper]
        if config.gains == "lab" and GAINS_SET in context.store:
            self._set_lab_gains(context, arm)

    def advance(self, context: StateContext) -> str | None:
        arm = get_arm(context)
        task, mass, force = context.store.get(TASK), self.config.mass, arm.largest_force()
        limit = arms.largest_mass(force, task.friction)
        if mass > limit and task.friction:
            context.reason = (
                f"'{task.object}' of {mass:g} kg is too heavy: the gripper holds at most "
                f"{limit:.2f} kg with {force:.0f} N and friction {task.friction:g}"
            )
            return "too_heavy"
        if reason := arm.missing_feedback(context):
            context.reason = reason
            return "no_feedback"
        arm.hold(context)
        self._held_ticks = self._held_ticks + 1 if arm.is_holding(context) else 0
        if not context.has_elapsed(max(self.config.wait, _MIN_TICKS * context.period)):
            return None
        if self._held_ticks < _MIN_TICKS:
            return "done"
        task.opening = float(context.observation.q[arm.gripper])
        context.reason = "the fingers already hold an object"
        return "holding"

    def _provide_arm(self, robot: RobotModel, store: Store) -> Arm:
        arm = Arm(robot, store, tool=self.config.tool, sensor=self.config.wrist_sensor)
        if ARM in store:
            store.get(ARM).planner.finish()
        store.provide(ARM, arm)
        return arm

    def _set_lab_gains(self, context: StateContext, arm: Arm) -> None:
        gains = context.store.get(GAINS_GET)()
        kp, kd = gains.kp.copy(), gains.kd.copy()
        kp[arm.joints] = np.where(planning.large_joints(arm), *_LAB_KP)
        kd[arm.joints] = 2.0 * np.sqrt(kp[arm.joints])
        context.store.get(GAINS_SET)(Gains(kp=kp, kd=kd))


class Done(State):
    """Holds the arm after a success."""

    def run(self, context: StateContext) -> str | None:
        get_arm(context).hold(context)
        return None


class Failed(Done):
    """Holds the arm after a failure; the gripper keeps an object in the hand."""

    def start(self, context: StateContext) -> None:
        """Hold the arm at its measured position, so that it does not push against an obstacle."""
        get_arm(context).hold(context, where_measured=True)
        if TASK in context.store:
            task = context.store.get(TASK)
            task.attempts = task.returns = 0
            task.returning = False


_MAX_RETURNS = 2  # number of attempts to put the object back
_FINAL = ("too_heavy",)  # failures that no other attempt can avoid
_HOLDING_TICKS = 5
"""Ticks of which most must show an object between the fingers, because efforts are noisy."""


class Recover(ExtendedState, outcomes=("retry", "holding"), failures=("put_back", "give_up")):
    """Stops, moves up, and lets the table retry the task a limited number of times.

    Every retry changes something, depending on the failure. The gripper keeps an object in the
    hand, which is transported next; otherwise it opens. After the last retry an object in the hand
    is put back to its first place.
    """

    class Config(motion_monitor.MonitoredMotion):
        """Settings of `Recover`."""

        attempts: NotNegativeInt = setting("Maximum number of retries", 2)
        calm: NotNegative = setting("Time at rest before the motion up [s]", 0.3)
        fresh: NotNegative = setting(
            "Longest time at rest until a late pose of the object is up to date again [s]", 2.0
        )
        height: NotNegative = setting("Height of the motion up [m]", 0.15)
        speed: float = setting("Speed of the tool during the motion up [m/s]", 0.2)

    config: Config

    def start(self, context: StateContext) -> None:
        """Hold the arm at its measured position, so that it does not push against an obstacle."""
        self.arm, self.task = get_arm(context), context.store.get(TASK)
        self.arm.hold(context, where_measured=True)
        self._request: planning.PlanRequest | None = None
        self._execution: moving.TrajectoryExecution | None = None
        self._monitor: motion_monitor.MotionMonitor
        self._holding: list[bool] = []
        self._next = "retry"

    def run(self, context: StateContext) -> str | None:
        arm, task = self.arm, self.task
        self._holding.append(arm.is_holding(context))
        if self._execution is not None:
            failure = self._monitor.check_motion(context)
            if failure or self._execution.is_stopped:
                arm.hold(context, where_measured=failure is not None)
                return self._finish(context)
            self._execution.step(context)
            return None
        if reason := arm.missing_feedback(context):
            context.reason = reason
            return "give_up"
        arm.hold(context)
        if not context.has_elapsed(self.config.calm) or self._waits_for_pose(context):
            return None
        if self._request is None:
            return self._plan(context)
        outcome = self._request.poll(context, arm, task)
        if outcome is None:
            return None
        if outcome != "ready" or task.motion is None:
            return self._finish(context)  # retry without the motion up
        self._execution = moving.TrajectoryExecution(arm, task.motion)
        self._monitor = motion_monitor.MotionMonitor(context, arm, task, self.config)
        return None

    def _waits_for_pose(self, context: StateContext) -> bool:
        task, config = self.task, self.config
        if task.cause != "pose_stale" or context.has_elapsed(config.calm + config.fresh):
            return False
        return motion_monitor.is_stale(context, task.object, config.stale)

    def _plan(self, context: StateContext) -> str | None:
        """Choose what comes next, and plan the motion up."""
        arm, task = self.arm, self.task
        is_held = self._is_held() and task.held is not None
        last = self.config.attempts
        if task.attempts >= last or task.returning or task.cause in _FINAL:
            if not is_held or task.returns >= _MAX_RETURNS:
                context.reason = f"{task.attempts} retries were made" + (
                    f"; '{task.object}' is still in the hand" if is_held else ""
                )
                return "give_up"
            task.returns += 1
            task.returning, task.variation = True, Variation()
            self._next = "put_back"
        else:
            task.attempts += 1
            task.variation = variation(task.cause, task.attempts)
            self._next = "holding" if is_held else "retry"
        if not is_held:
            task.held = task.descent = None
            arm.set_payload(None)
        goal = grasping.above(arm.tool(context.observation.q), self.config.height)
        self._request = planning.plan_line(
            *(context, arm, task, goal), duration=0.1, speed=self.config.speed, acceleration=1.0
        )
        return None

    def _finish(self, context: StateContext) -> str | None:
        arm, task = self.arm, self.task
        if self._next == "put_back" and self._is_held():
            context.reason = f"{task.attempts} retries were made"
            return "put_back"
        if self._next == "put_back":
            context.reason = f"'{task.object}' fell out of the hand"
            return "give_up"
        context.reason = f"retry {task.attempts}"
        if changes := task.variation.text:
            context.reason += f": {changes}"
        if self._next == "holding" and self._is_held():
            return "holding"
        task.held = None
        arm.set_payload(None)
        return "retry" if arm.open(context) else None

    def _is_held(self) -> bool:
        """Return whether most of the last ticks show an object between the fingers."""
        recent = self._holding[-_HOLDING_TICKS:]
        return 2 * sum(recent) > len(recent)


STATES: tuple[type[State], ...] = (
    *(Idle, planning.PlanApproach, moving.ExecApproach, straight_motion.Descend),
    *(gripping.Close, gripping.Weigh, straight_motion.Lift),
    *(planning.PlanTransport, moving.ExecTransport, straight_motion.DescendPlace),
    *(gripping.Release, straight_motion.Retract, Done, Recover, Failed),
)
