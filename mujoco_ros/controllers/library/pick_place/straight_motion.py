"""States that move the tool straight down and up."""

from collections import deque

import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.config_checks import NotNegative, Positive
from mujoco_ros.controllers.library.pick_place import grasping, motion_monitor, moving, planning
from mujoco_ros.controllers.library.pick_place.arm import GRAVITY
from mujoco_ros.controllers.library.pick_place.box_detection import BoxDetection
from mujoco_ros.controllers.library.pick_place.moving import MovingConfig
from mujoco_ros.controllers.library.pick_place.task import ExecutedPath, PoseAverage
from mujoco_ros.model.pose import Pose


class LineConfig(MovingConfig):
    """Settings of a straight motion.

    Attributes:
        speed: Speed of the tool [m/s].
        acceleration: Acceleration of the tool [m/s²].
        planning_time: Simulated time from the request to the use of the plan [s].
    """

    speed: Positive = 0.4
    acceleration: Positive = 2.0
    planning_time: NotNegative = 0.05


class LineMotionState(moving.ArmMotionState, failures=planning.FAILURES):
    """Moves the tool along a straight line."""

    Config = LineConfig
    config: LineConfig

    def start(self, context: StateContext) -> None:
        super().start(context)
        config = self.config
        self._request = planning.plan_line(
            *(context, self.arm, self.task, self.goal(context)),
            duration=max(config.planning_time, context.period),
            speed=config.speed * self.task.variation.speed,
            acceleration=self.acceleration(),
        )

    def acceleration(self) -> float:
        factor = self.task.heavy_factor if self.holds_object else 1.0
        return factor * self.config.acceleration * self.task.variation.speed

    def goal(self, context: StateContext) -> Pose:
        """Return the goal of the tool."""
        raise NotImplementedError

    def path(self, context: StateContext) -> ExecutedPath | str | None:
        outcome = self._request.poll(context, self.arm, self.task)
        if outcome != "ready":
            return outcome
        self.task.descent = self.task.motion
        return self.task.motion


class CompliantConfig(LineConfig):
    """Settings of a straight motion on which the tool may yield sideways.

    Attributes:
        lateral_stiffness: Stiffness with which the tool keeps the line sideways [N/m], with
            critical damping; height and orientation keep the stiffness of the joints. 0 is the
            stiffness of the joints in all directions.
    """

    lateral_stiffness: NotNegative = 0.0


class CompliantLineState(LineMotionState):
    """Moves the tool along a vertical line, from which contacts push it away softly.

    It is the Cartesian impedance of the grasping lab, with the drives as they are: the references
    of the joints yield with the tool, and a spring and damper at the tool pull it back.
    """

    Config = CompliantConfig
    config: CompliantConfig
    _damping: np.ndarray | None = None  # [Ns/m] (2,)

    def advance(self, context: StateContext) -> str | None:
        is_on_line = self._execution is None or not self._execution.is_stopped
        outcome = super().advance(context)
        if self.config.lateral_stiffness and is_on_line and self._execution is not None:
            self._yield_sideways(context)
        return outcome

    def _yield_sideways(self, context: StateContext) -> None:
        joints, references, observation = self.arm.joints, context.references, context.observation
        q = observation.q[joints]
        jacobian = self.arm.kinematics.jacobian(q)
        if self._damping is None:
            at_rest, columns = self.arm.gravity(q), np.eye(len(q))
            inertia = np.array([self.arm.dynamics.torques(q, 0.0 * q, c) for c in columns])
            mobility = jacobian @ np.linalg.solve(inertia - at_rest, jacobian.T)
            mass = 1.0 / np.diag(mobility)[:2]
            self._damping = 2.0 * np.sqrt(self.config.lateral_stiffness * mass)
        sideways, joint_motion = jacobian[:2], np.linalg.pinv(jacobian)[:, :2]
        error = sideways @ (references.q[joints] - q)
        speed = sideways @ (references.dq[joints] - observation.dq[joints])
        references.q[joints] -= joint_motion @ error
        references.dq[joints] -= joint_motion @ speed
        force = self.config.lateral_stiffness * error + self._damping * speed
        references.tau[joints] += sideways.T @ force


class Descend(CompliantLineState, failures=("object_moved", "pose_stale")):
    """Moves down around the object; stops if the object is moved."""

    def goal(self, context: StateContext) -> Pose:
        tool = self.arm.tool(context.observation.q)
        grasp = self.task.grasp(tool, self.arm.depth)
        # The approach has made the turn of the grasp.
        heading = grasping.heading(grasp), grasping.heading(tool)
        orientation = grasping.pointing_down(grasping.nearest_quarter(*heading))
        return Pose(position=grasp.position, quat_wxyz=orientation)

    def check_and_brake(self, context: StateContext) -> str | None:
        return self.monitor.check_object(context)


_CONTACT_TICKS = 3  # ticks over which a contact with the surface is averaged
_LOOK_S = 0.5
"""Time in which the pose of a released object must be measured, besides `patience` [s]."""


class Lift(CompliantLineState, failures=(*motion_monitor.GRIP_FAILURES, "too_heavy")):
    """Moves up with the object, and measures its mass and its pose in the hand."""

    holds_object = True

    class Config(CompliantConfig):
        """Settings of `Lift`.

        Attributes:
            clearance: Height of the motion [m].
            weighing: Duration of the measurements [s].
            lightest: Minimum mass of an object [kg].
        """

        clearance: Positive = 0.15
        weighing: Positive = 0.1
        lightest: NotNegative = 0.02

    config: Config

    def start(self, context: StateContext) -> None:
        """Assume that an object already in the hand comes from the table below the hand."""
        super().start(context)
        tool, task = self.arm.tool(context.observation.q), self.task
        if task.found is None:
            (x, y, _), heading = tool.position, grasping.heading(tool)
            task.found = grasping.upright(x, y, float(task.goal.position[2]), heading)
            task.origin = task.found

    def goal(self, context: StateContext) -> Pose:
        return grasping.above(self.arm.tool(context.references.q), self.config.clearance)

    def finish(self, context: StateContext) -> str | None:
        measured = self.measure(context, self.config.weighing)
        if not isinstance(measured, moving.RestMeasurement):
            return measured
        if outcome := measured.weigh(context, self.config.lightest):
            return outcome
        measured.load_arm()
        return (measured.check_mass(context) if measured.held is None else None) or "done"


class DescendPlace(LineMotionState, failures=motion_monitor.GRIP_FAILURES):
    """Moves down with the object until it is at its goal, or touches the surface shortly before."""

    holds_object = True
    brake_s = 0.05

    class Config(LineConfig):
        """Settings of `DescendPlace`.

        Attributes:
            contact_range: Height above the goal in which a contact is the one with the surface [m].
            contact_force: Loss of weight that shows this contact [N].
        """

        contact_range: NotNegative = 0.012
        contact_force: Positive = 5.0

    config: Config

    def start(self, context: StateContext) -> None:
        self._goal_height = -np.inf
        self._weights: deque[float] = deque(maxlen=_CONTACT_TICKS)
        super().start(context)

    def goal(self, context: StateContext) -> Pose:
        task, tool = self.task, self.arm.tool(context.references.q)
        assert task.held is not None, "the table leads here only with an object in the hand"
        goal = grasping.placing(task.target, task.held, tool)
        self._goal_height = float(goal.position[2])
        return goal

    def advance(self, context: StateContext) -> str | None:
        """Follow the line; a collision at its end is the contact with the surface."""
        outcome = super().advance(context)
        if outcome == "collision" and self._is_near(context):
            self.arm.hold(context, where_measured=True)
            context.reason = ""
            return "done"
        return outcome

    def check_and_brake(self, context: StateContext) -> str | None:
        if not self._is_near(context):
            return None
        self._weights.append(self.arm.weight(context))
        payload = 0.0 if self.arm.payload is None else self.arm.payload.mass * GRAVITY
        expected = self.task.empty_weight + payload
        is_full = len(self._weights) == _CONTACT_TICKS
        is_touching = expected - np.mean(self._weights) > self.config.contact_force
        return "done" if is_full and is_touching and self.arm.has_sensor(context) else None

    def _is_near(self, context: StateContext) -> bool:
        height = float(self.arm.tool(context.references.q).position[2])
        return height - self._goal_height < self.config.contact_range


class Retract(
    moving.ArmMotionState,
    outcomes=("again",),
    failures=("returned", "missed_place", "pose_stale"),
):
    """Moves up without the object, and measures the place error."""

    class Config(MovingConfig):
        """Settings of `Retract`.

        Attributes:
            tolerance: Largest distance from the goal, in the plane and in height [m].
            measuring: Duration over which the pose of the object is averaged [s].
            repeat: Whether to move the object back next, and so on.
        """

        tolerance: float = 0.005
        measuring: float = 0.1
        repeat: bool = False

    config: Config

    def start(self, context: StateContext) -> None:
        super().start(context)
        self._detection = BoxDetection()
        self._average: PoseAverage | None = None

    def path(self, context: StateContext) -> ExecutedPath | str | None:
        assert self.task.descent is not None, "the table leads here only after a descent"
        return moving.ReversedPath(self.task.descent)

    def check_and_brake(self, context: StateContext) -> str | None:
        self.arm.open(context)
        return None

    def finish(self, context: StateContext) -> str | None:
        task = self.task
        if task.returning:
            context.reason = f"the order failed with {task.cause}; '{task.object}' was put back"
            return "returned"
        pose = self._pose(context)
        if not isinstance(pose, Pose):
            return pose
        error = pose.position - task.goal.position
        plane, height = float(np.hypot(error[0], error[1])), float(error[2])
        task.metrics["place_error"] = plane
        if plane > self.config.tolerance:
            context.reason = f"'{task.object}' is {plane * 1e3:.1f} mm from its goal"
            return "missed_place"
        if task.seen and abs(height) > self.config.tolerance:
            context.reason = f"'{task.object}' is {height * 1e3:+.1f} mm above its goal"
            return "missed_place"
        if not self.config.repeat:
            return "done"
        task.swapped = task.found
        return "again"

    def _pose(self, context: StateContext) -> Pose | str | None:
        """Return the pose of the object, a failure, or None while it is measured."""
        task, config = self.task, self.config
        if not task.seen:
            if not self._detection.is_done(context, task.camera):
                return None
            pose = self._detection.pose()
        else:
            if self._average is None:
                duration = config.measuring * task.variation.measuring
                self._average = PoseAverage(self.rested, duration)
            self._average.add(context, task.object)
            pose = self._average.pose(context.period)
            if pose is None and context.time - self.rested < _LOOK_S + config.patience:
                return None
            if pose is None and motion_monitor.is_stale(context, task.object, config.stale):
                return "pose_stale"
        if pose is None:
            context.reason = f"'{task.object}' is not visible at rest where it was released"
            return "missed_place"
        return pose
