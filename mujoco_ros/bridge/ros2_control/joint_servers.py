"""The topics and actions of the controllers that command joints, and of joint states."""

from array import array
from functools import partial
from typing import Any, ClassVar

import numpy as np
from control_msgs.msg import DynamicJointState, InterfaceValue, JointTrajectoryControllerState
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mujoco_ros.bridge.commands.command_server import CommandServer
from mujoco_ros.bridge.commands.gripper_server import FormerGripperServer, GripperServer
from mujoco_ros.bridge.commands.trajectory_server import TrajectoryServer
from mujoco_ros.bridge.ros2_control.controller_server import (
    C,
    ControllerServer,
    MessageOutput,
)
from mujoco_ros.ros2_control.broadcasters import JointStateBroadcaster
from mujoco_ros.ros2_control.forward import ForwardCommandController
from mujoco_ros.ros2_control.gripper import ParallelGripperController
from mujoco_ros.ros2_control.trajectory import JointTrajectoryController


class ForwardCommandServer(ControllerServer[ForwardCommandController]):
    """Serves ``~/commands``."""

    def open(self) -> None:
        self._listen(Float64MultiArray, "~/commands", self._handle)

    def _handle(self, message: Float64MultiArray, now: bool) -> None:
        check = partial(self.controller.check, message.data)
        self._take("~/commands", check, self.controller.command, now)


class ActionServer(ControllerServer[C]):
    """Serves a controller by the server that the controller without a file has as well."""

    kind: ClassVar[type[CommandServer]]  # that server
    _server: CommandServer | None = None

    def open(self) -> None:
        serve: Any = self.kind
        self._server = serve(*(self._context, self._namespace, self._control, self.controller))
        self.goals = self._server.goals

    def close(self, reason: str) -> None:
        """Close the topics, abort all goals and accept no more."""
        super().close(reason)
        if self._server is not None:
            self._server.close(reason)


class GripperActionServer(ActionServer[ParallelGripperController]):
    """Serves ``~/gripper_cmd`` of control_msgs/ParallelGripperCommand."""

    kind = GripperServer


class FormerGripperActionServer(ActionServer[ParallelGripperController]):
    """Serves ``~/gripper_cmd`` of control_msgs/GripperCommand."""

    kind = FormerGripperServer


_POINTS = ("reference", "feedback", "error", "output")


class JointTrajectoryServer(ActionServer[JointTrajectoryController]):
    """Serves the topics and the action of a trajectory controller, and ``~/controller_state``."""

    kind = TrajectoryServer

    def open(self) -> None:
        super().open()
        controller = self.controller
        count = len(controller.columns)
        names = [controller.joints.names[i] for i in controller.columns]
        message = JointTrajectoryControllerState(joint_names=names)
        paths = []
        for point in _POINTS:
            for field in ("positions", "velocities"):
                setattr(getattr(message, point), field, array("d", [0.0] * count))
                paths += [f"{point}.{field}.{i}" for i in range(count)]
        paths.append("speed_scaling_factor")
        self._state = self._output(message, "~/controller_state", paths)

    def publish(self, time: float) -> None:
        """Publish reference, feedback, error and output."""
        if not self._state.is_wanted:
            return
        controller, control = self.controller, self._control
        columns, count = controller.columns, 2 * len(controller.columns)
        desired, actual = controller.desired.values[:2], np.stack([control.q, control.dq])
        error = controller.joints.error(desired, actual)
        rows = (desired, actual, error, control.references.values[:2])
        for at, row in enumerate(rows):
            self._state.values[at * count : (at + 1) * count] = row[:, columns].ravel()
        self._state.values[-1] = controller.trajectories.speed_scaling
        self._state.publish(time)


class JointStateServer(ControllerServer[JointStateBroadcaster]):
    """Publishes ``joint_states`` and ``dynamic_joint_states``."""

    at_ticks = True

    def open(self) -> None:
        read = self.controller.parameters
        prefix = "~/" if read.use_local_topics else ""
        self._joints, self._joints_of_ticks = self._joint_states(f"{prefix}joint_states")
        self._dynamic = self._dynamic_states(f"{prefix}dynamic_joint_states")

    def publish(self, time: float) -> None:
        self._publish(time, self._joints)

    def publish_tick(self, time: float, epoch: int) -> None:
        """Publish the states, with the epoch as ``header.frame_id`` of ``joint_states``."""
        self._joints_of_ticks.label(epoch)
        self._publish(time, self._joints_of_ticks)

    def _publish(self, time: float, joints: MessageOutput) -> None:
        if joints.is_wanted or self._dynamic.is_wanted:
            self.controller.states.read()
            joints.publish(time)
            self._dynamic.publish(time)

    def _joint_states(self, name: str) -> tuple[MessageOutput, MessageOutput]:
        """Open a topic; return its messages in real time and in lockstep."""
        controller = self.controller
        joints, extra = controller.joints, controller.parameters.extra_joints
        names = [*joints, *(joint for joint in extra if joint not in joints)]
        message = JointState(name=names)
        paths: list[str] = []
        places: list[int] = []
        message.header.frame_id = controller.parameters.frame_id
        for field in ("position", "velocity", "effort"):
            values = array("d", [0.0] * len(names))
            for index, kinds in enumerate(joints.values()):
                values[index] = np.nan
                if field in kinds:
                    paths.append(f"{field}.{index}")
                    places.append(kinds[field])
            setattr(message, field, values)
        output = partial(
            self._output, message, name, paths, values=controller.states.values, places=places
        )
        return output(), output(is_labelled=True)

    def _dynamic_states(self, name: str) -> MessageOutput:
        controller, message = self.controller, DynamicJointState()
        message.header.frame_id = controller.parameters.frame_id
        paths: list[str] = []
        places: list[int] = []
        for row, (group, kinds) in enumerate(controller.groups.items()):
            values = array("d", [0.0] * len(kinds))
            message.joint_names.append(group)
            interfaces = InterfaceValue(interface_names=list(kinds), values=values)
            message.interface_values.append(interfaces)
            paths += [f"interface_values.{row}.values.{at}" for at in range(len(kinds))]
            places += kinds.values()
        return self._output(message, name, paths, values=controller.states.values, places=places)
