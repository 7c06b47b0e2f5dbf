"""joint_trajectory_controller/JointTrajectoryController."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mujoco_ros.control.events import ActionGoal
from mujoco_ros.control.joints import EFFORT, INTERFACES, POSITION, VELOCITY, ControlledJoints
from mujoco_ros.control.references import References
from mujoco_ros.control.settings import TrajectorySettings, setting
from mujoco_ros.control.trajectory.controller import TrajectoryController
from mujoco_ros.control.trajectory.trajectory import Trajectory
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.hardware import CommandInterfaces, HardwareInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters
from mujoco_ros.ros2_control.pid import PidGains, PidLaws


@dataclass(frozen=True, kw_only=True, slots=True)
class _Parameters:
    joints: tuple[str, ...] = setting("Joints, in the order of messages")
    command_joints: tuple[str, ...] = setting("Joints that are commanded; empty for all", ())
    command_interfaces: tuple[str, ...] = setting("Their command interfaces")


@dataclass(frozen=True, kw_only=True, slots=True)
class _JointGains(PidGains):
    ff_velocity_scale: float = setting("Factor of the velocity that is added to the output", 0.0)
    error_deadband: float = setting("Error that is not integrated", 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class _JointConstraints:
    trajectory: float = setting("Largest position error on the path; 0 is any", 0.0)
    goal: float = setting("Largest position error at the goal; 0 is any", 0.0)
    max_deceleration_on_cancel: float = setting("Deceleration after a cancel; 0 is none", 0.0)


_DEFAULTS = {"allow_partial_joints_goal": False}
"""Defaults of ros2_controllers, where a controller without a file has others."""


class JointTrajectoryController(Controller):
    """Follows trajectories of some joints by any combination of their command interfaces.

    With velocities or efforts alone, PID laws lead the joints along the trajectory.
    """

    every_step = True
    without_meaning = (
        "state_interfaces",
        "state_publish_rate",
        "open_loop_control",
        "allow_trajectory_replacement",
    )

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        read = parameters.read(_Parameters)
        robot, every = hardware.robot, hardware.robot.joints
        if not read.joints:
            raise parameters.reject("joints", "is empty")
        kinds = set(read.command_interfaces)
        if not kinds or not kinds <= set(INTERFACES):
            raise parameters.reject(
                "command_interfaces",
                f"is {list(read.command_interfaces)}; choose from: {', '.join(INTERFACES)}",
            )
        # Indices of the joints, in the order of messages
        self.columns = hardware.find_joints(read.joints)
        commanded = read.command_joints or read.joints
        short = [joint.rpartition("/")[2] for joint in commanded]  # without a chained controller
        if not set(short) <= set(read.joints):
            raise parameters.reject("command_joints", "has others than 'joints'")
        self._moved = hardware.find_joints(short)
        self._interfaces = [kind for kind in INTERFACES if kind in kinds]
        self.command_interfaces = tuple(
            f"{joint}/{kind}" for kind in self._interfaces for joint in commanded
        )
        self.state_interfaces = tuple(
            f"{joint}/{kind}" for kind in (POSITION, VELOCITY) for joint in read.joints
        )
        self._commands = CommandInterfaces(hardware, self.command_interfaces)
        self.joints = _restricted(every, self.columns, self.name)
        self.desired = References(np.zeros((3, len(every.names))))  # what the trajectories lead to
        self.trajectories = TrajectoryController(
            self.joints,
            self.desired,
            _settings(parameters, read.joints, self.columns, len(every.names)),
            hardware.emit,
            self.name,
        )
        self._robot = robot
        self._laws: PidLaws | None = None
        if kinds in ({VELOCITY}, {EFFORT}):
            gains = parameters.read_each(_JointGains, short, "gains.").values()
            self._laws = PidLaws(tuple(gains))
            self._feed_forward = np.array([each.ff_velocity_scale for each in gains])
        self._is_settled = False  # whether the references of the end are written
        self._last = 0.0

    @property
    def busy(self) -> bool:
        return self.trajectories.busy or self._laws is not None

    def follow(self, trajectory: Trajectory, time: float) -> None:
        """Execute a checked trajectory from the step at `time` [s] on."""
        if trajectory.is_hold:
            self.trajectories.hold(trajectory)
        elif not self.trajectories.refuses_late(trajectory, time):
            self.trajectories.accept(trajectory, time)

    def cancel(self, goal: ActionGoal) -> None:
        """Stop, if a goal is active."""
        self.trajectories.cancel(goal)

    def activate(self) -> None:
        """Hold the joints at their references, or where they are measured without positions."""
        robot, moved = self._robot, self._moved
        settings = self.trajectories.settings
        self.desired.q[:], self.desired.values[1:] = robot.q, 0.0
        holds = settings.set_last_command_interface_value_as_state_on_activation
        if POSITION in self._interfaces and holds:
            self.desired.q[moved] = robot.references.q[moved]
        if self._laws is not None:
            self._laws.reset()
        self.is_active, self._is_settled = True, False

    def deactivate(self) -> None:
        """End the goal."""
        self.is_active = False
        self.trajectories.reset("the controller was deactivated")

    def reset(self, reason: str) -> None:
        """Hold the joints in the state that was set."""
        self.trajectories.reset(reason)
        self.activate()

    def update(self, time: float, period: float) -> None:
        """Follow the trajectory, and write its references."""
        robot, moved, desired = self._robot, self._moved, self.desired
        if self.trajectories.busy:
            self.trajectories.update(time, robot.q, robot.dq)
        elif self._laws is None and self._is_settled:
            return  # the references stay
        self._is_settled = not self.trajectories.busy
        values = self._commands.values
        if self._laws is None:
            count = len(moved)
            for at, kind in enumerate(self._interfaces):
                row = desired.values[INTERFACES.index(kind)]
                values[at * count : (at + 1) * count] = row[moved]
        else:
            measured = np.stack([robot.q, robot.dq])
            error = self.joints.error(desired.values[:2], measured)[:, moved]
            output = self._laws.output(error[0], error[1], self._elapsed(time, period))
            values[:] = output + self._feed_forward * desired.dq[moved]
            if self._interfaces == [EFFORT]:
                values += desired.tau[moved]
        self._commands.write()
        if self._interfaces == [POSITION]:
            # A drive interpolates positions; without their velocity its damping would brake.
            robot.references.dq[moved] = desired.dq[moved]

    def save_state(self) -> dict[str, Any]:
        integral = None if self._laws is None else self._laws.integral.copy()
        state = {"desired": self.desired.values.copy(), "integral": integral, "last": self._last}
        return {**state, "trajectories": self.trajectories.save_state()}

    def restore_state(self, state: dict[str, Any]) -> None:
        self.desired.values[:], self._last = state["desired"], state["last"]
        if self._laws is not None:
            self._laws.integral[:] = state["integral"]
        self.trajectories.restore_state(state["trajectories"])
        self._is_settled = False

    def _elapsed(self, time: float, period: float) -> float:
        """Return the time since the last update [s]; it is updated at each step."""
        elapsed, self._last = time - self._last, time
        return elapsed if 0.0 < elapsed <= period else 0.0


def _restricted(joints: ControlledJoints, columns: np.ndarray, name: str) -> ControlledJoints:
    """Return joints of which a controller takes positions of those in `columns` alone."""
    own, none = frozenset({POSITION, VELOCITY, EFFORT}), frozenset[str]()
    interfaces = tuple(own if i in columns else none for i in range(len(joints.names)))
    return replace(
        joints, interfaces=interfaces, gripper=None, tendon=None, moved_by={}, controller=name
    )


def _settings(
    parameters: ControllerParameters, names: tuple[str, ...], columns: np.ndarray, count: int
) -> TrajectorySettings:
    rows = np.zeros((3, count))
    constraints = parameters.read_each(_JointConstraints, names, "constraints.")
    for column, each in zip(columns.tolist(), constraints.values(), strict=True):
        rows[:, column] = each.trajectory, each.goal, each.max_deceleration_on_cancel
    keys = ("trajectory", "goal", "max_deceleration_on_cancel")
    return parameters.read(
        TrajectorySettings, defaults=_DEFAULTS | dict(zip(keys, rows, strict=True))
    )
