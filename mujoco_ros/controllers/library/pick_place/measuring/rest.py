"""Weight and pose of the object in the hand of an arm at rest."""

from math import isfinite, nan

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.pick_place.arm import Arm
from mujoco_ros.controllers.library.pick_place.grip_limit import GRAVITY
from mujoco_ros.controllers.library.pick_place.measuring.averages import Average, PoseAverage
from mujoco_ros.controllers.library.pick_place.measuring.grip_monitor import stale_pose
from mujoco_ros.controllers.library.pick_place.task import CENTRED, Task
from mujoco_ros.controllers.planning.kinematics.limits import Payload
from mujoco_ros.model.pose import Pose

_OSCILLATION_S = 0.05
"""Time for which the arm still oscillates at the end of a motion [s]."""


class RestMeasurement:
    """Averages weight and pose of the object in the hand while the arm rests.

    Attributes:
        weight: Weight at the wrist [N].
        held: Pose of the object in the tool's frame; None until it is complete, and without a pose.
        mass: Mass of the object [kg]; NaN before `weigh`, and if nothing measures forces.
    """

    def __init__(self, context: StateContext, arm: Arm, task: Task, duration: float) -> None:
        """Measure for `duration` [s] from now on."""
        self._arm, self._task, self._duration = arm, task, duration
        self._start = context.time
        self._poses = PoseAverage(context.time, duration)
        self.weight = Average()
        self.held: Pose | None = None
        self.mass = nan

    def add(self, context: StateContext) -> bool:
        """Add the observation of a tick; return whether the measurement is complete."""
        task, since = self._task, context.time - self._start
        if since >= min(_OSCILLATION_S, 0.5 * self._duration):
            self.weight.add(self._arm.weight(context))
        self._poses.add(context, task.object)
        if since < self._duration - 0.5 * context.period:
            return False
        if not task.follows_pose:
            return True
        pose = self._poses.pose(context.period)
        if pose is None:
            return False
        # References, because encoders may have offsets to the drives, and the goal is a reference.
        self.held = self._arm.tool(context.references.q).inverse() @ pose
        return True

    def overdue(self, context: StateContext, patience: float) -> str | None:
        """Return ``pose_stale`` if the pose is not measured in time [s]; None before."""
        if context.time - self._start < self._duration + patience:
            return None
        name = self._task.object
        age = stale_pose(context, name, patience)
        context.reason = age or f"no pose of '{name}' at rest was measured"
        return "pose_stale"

    def weigh(self, context: StateContext, lightest: float) -> str | None:
        """Put pose and mass of the object into the task; return ``slip`` for an empty hand.

        Args:
            context: Gets the reason.
            lightest: Minimum mass of an object [kg].
        """
        task = self._task
        task.held = self.held or task.held or CENTRED
        self.mass = (self.weight.mean - task.empty_weight) / GRAVITY
        if not isfinite(self.mass):
            return None
        task.metrics["payload"] = self.mass
        if is_missing(self.weight, task.empty_weight, 2.0 * lightest):
            context.reason = f"the hand is empty: measured mass {self.mass * 1e3:.0f} g"
            return "slip"
        return None

    def load_arm(self) -> None:
        """Make the measured object the payload of the arm, after `weigh`."""
        assert self._task.held is not None, "set by `weigh`"
        self._arm.set_payload(Payload(mass=max(self.mass, 0.0), com=self._task.held.position))


def is_missing(weight: Average, empty: float, mass: float) -> bool:
    """Return whether most of the weight of an object is missing, for certain.

    Args:
        weight: Measured weight at the wrist [N].
        empty: Weight with an empty hand [N].
        mass: Mass of the object [kg].
    """
    highest = weight.mean - empty + 2.0 * weight.standard_error
    return highest < 0.5 * mass * GRAVITY
