"""The drive of a robot whose wheels were recognized, beside the other sources of commands."""

from typing import Any

import numpy as np

from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.ros2_control.drive.drive_controller import DriveController
from mujoco_ros.ros2_control.hardware import HardwareInterfaces
from mujoco_ros.ros2_control.loaded_controller import next_update

UPDATE_RATE_HZ = 100.0
"""Updates in simulated time, as often as a controller_manager's by default."""
_ROUNDING = 1e-6  # fraction of a period, far above the rounding errors of summed times


class RecognizedDrive:
    """Updates a drive, which claims its joints from a command until the robot has stopped.

    So other topics can command the wheels of a robot that nobody drives. In the physics thread.
    """

    replaces_defaults = False

    def __init__(
        self, robot: RobotControl, hardware: HardwareInterfaces, controller: DriveController
    ) -> None:
        self._robot, self.controller = robot, controller
        moved = hardware.moved(controller.command_interfaces)
        self._joints = np.array(sorted(moved), dtype=np.intp)
        self._rolling = np.zeros(len(hardware.robot.joints.names), dtype=bool)
        self._rolling[[joint for joint, kinds in moved.items() if "velocity" in kinds]] = True
        self._has_joints, self._next_update = False, -np.inf
        self.is_updated = False  # whether the present step had an update
        controller.activate()

    def update(self, time: float) -> None:
        """Update the drive if it is due in the step that begins at `time` [s]."""
        period = 1.0 / UPDATE_RATE_HZ
        self.is_updated = time >= self._next_update - _ROUNDING * period
        if not self.is_updated:
            return
        self._next_update = next_update(time, period)
        controller = self.controller
        if controller.is_moving is not self._has_joints:
            self._switch(controller.is_moving)
        controller.commands = self._has_joints
        controller.update(time, max(period, self._robot.timestep))

    def _switch(self, moves: bool) -> None:
        """Claim the joints, or release them at rest."""
        robot, effort = self._robot, np.zeros_like(self._rolling)
        if moves:
            robot.claim_interfaces(self.controller.name, self._joints)
        else:
            robot.release_interfaces(self._joints, measured=np.zeros(len(self._joints), dtype=bool))
        robot.follow_interfaces(self._rolling & moves, effort)
        self._has_joints = moves

    def idle_steps(self, time: float, most: int) -> int:
        """Return for how many steps from `time` [s] on there is no update, at most `most`."""
        left = (self._next_update - time) / self._robot.timestep + _ROUNDING
        return int(min(max(left, 0.0), most))

    def reset(self, reason: str) -> None:
        """Begin again after the state was set."""
        self._next_update = -np.inf
        self.controller.reset(reason)

    def initialize(self) -> None:
        """Do nothing: it has no state that a `reset` leaves."""

    def save_state(self) -> Any:
        """Return a copy of the state."""
        return self._next_update, self._has_joints, self.controller.save_state()

    def restore_state(self, state: Any) -> None:
        """Continue from a saved state, after a `reset`."""
        self._next_update, has_joints, saved = state
        self.controller.restore_state(saved)
        if has_joints is not self._has_joints:
            self._switch(has_joints)
