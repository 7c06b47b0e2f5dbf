"""Publishers that fill message objects, for comparison with serialized templates."""

from collections.abc import Callable
from functools import partial
from typing import Any

import mujoco
import numpy as np
from builtin_interfaces.msg import Duration, Time
from control_msgs.msg import JointTrajectoryControllerState
from geometry_msgs.msg import AccelStamped, TransformStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu as ImuMessage
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.control.joints import POSITION
from mujoco_ros.model.robot.layout import FloatingBase, RobotLayout
from mujoco_ros.model.sensors.robot_sensors import RobotSensor
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.wire.conversions import split

_Build = Callable[[Time], Any]
_Publish = Callable[[Any], None]
_WORLD = "world"
_FIELDS = ("positions", "velocities", "accelerations", "effort")


class MessageObjectPublishers:
    """Publishes every topic of a single robot at each step with new message objects."""

    def __init__(
        self, node: Node, simulation: Simulation, publishers: list[TopicPublisher]
    ) -> None:
        """Use the given publishers, /clock first."""
        self._simulation = simulation
        self._publishers = publishers
        publish = {publisher.topic_name: publisher.publish for publisher in node.publishers}
        self._publish: list[_Publish] = [
            publish["/" + publisher.topic.lstrip("/")] for publisher in publishers
        ]
        (robot,) = simulation.layout.robots
        self._builds: list[_Build] = [_clock, partial(self._joint_states, robot)]
        self._builds += [self._joint_references, self._controller_state]
        builds = {"imu": self._imu, "wrench": self._wrench, "contact": self._contact}
        self._builds += [
            partial(build, robot, sensor)
            for kind, build in builds.items()
            for sensor in robot.sensors[kind]
        ]
        (base,) = robot.bases
        self._builds += [
            partial(build, robot, base) for build in (self._odom, self._base_accel, self._tf)
        ]
        self._names = list(robot.joints.names)
        self._control = simulation.controls[0]
        self._controlled = np.array(self._control.joints.with_interface(POSITION), dtype=np.intp)
        self._controlled_names = [self._names[i] for i in self._controlled]

    def publish(self) -> None:
        """Build and publish all messages of the present sample that have a subscriber."""
        stamp = self._stamp()
        for build, publisher, publish in zip(
            self._builds, self._publishers, self._publish, strict=True
        ):
            if publisher.subscriptions:
                publish(build(stamp))

    @property
    def has_subscribers(self) -> bool:
        """Whether each topic has a subscriber."""
        return all(publisher.subscriptions for publisher in self._publishers)

    def check(self, publish: Callable[[], None]) -> None:
        """Check that the messages equal those that `publish` sends.

        Raises:
            RuntimeError: They differ, so their costs cannot be compared.
        """
        handles = [publisher.handle for publisher in self._publishers]
        sent: list[list[bytes]] = [[] for _ in self._publishers]
        for publisher, messages in zip(self._publishers, sent, strict=True):
            publisher.publish = messages.append
        publish()
        for publisher, handle in zip(self._publishers, handles, strict=True):
            publisher.publish_bytes_by(handle)
        stamp = self._stamp()
        for build, publisher, (data,) in zip(self._builds, self._publishers, sent, strict=True):
            message = build(stamp)
            if deserialize_message(data, type(message)) != message:
                raise RuntimeError(f"{publisher.topic}: the message object differs")

    def _stamp(self) -> Time:
        sec, nanosec = split(self._simulation.time)
        return Time(sec=sec, nanosec=nanosec)

    def _joint_states(self, robot: RobotLayout, stamp: Time) -> JointState:
        sample, joints = self._simulation.sample, robot.joints
        message = JointState()
        message.header.stamp = stamp
        message.name = self._names
        message.position = sample.qpos[joints.qpos].tolist()
        message.velocity = sample.qvel[joints.dof].tolist()
        message.effort = sample.qfrc_actuator[joints.dof].tolist()
        return message

    def _joint_references(self, stamp: Time) -> JointState:
        q, dq, tau = self._control.references.values
        message = JointState()
        message.header.stamp = stamp
        message.name = self._names
        message.position, message.velocity, message.effort = q.tolist(), dq.tolist(), tau.tolist()
        return message

    def _controller_state(self, stamp: Time) -> JointTrajectoryControllerState:
        sample, joints = self._simulation.sample, self._simulation.joints
        control, time = self._control, self._simulation.time
        q, dq, tau = control.references.values
        measured = np.stack([sample.qpos[joints.qpos], sample.qvel[joints.dof]])
        error = control.joints.error(np.stack([q, dq]), measured)
        sec, nanosec = split(control.trajectory.elapsed(time))
        message = JointTrajectoryControllerState()
        message.header.stamp = stamp
        message.joint_names = self._controlled_names
        message.speed_scaling_factor = 1.0
        for point, fields in (
            (message.reference, (q, dq, control.trajectory.accelerations(time), tau)),
            (message.feedback, (*measured, None, sample.qfrc_actuator[joints.dof])),
            (message.error, (*error, None, None)),
            (message.output, (q, dq, None, tau)),
        ):
            for name, values in zip(_FIELDS, fields, strict=True):
                if values is not None:
                    setattr(point, name, values[self._controlled].tolist())
            point.time_from_start = Duration(sec=sec, nanosec=nanosec)
        return message

    def _imu(self, robot: RobotLayout, imu: RobotSensor, stamp: Time) -> ImuMessage:
        data = self._simulation.sample.sensordata
        message = ImuMessage()
        message.header.stamp = stamp
        message.header.frame_id = robot.sensor_frame(imu.frame)
        orientation, gyro, accelerometer = (
            imu.addresses[name] for name in ("quat_wxyz", "angular_velocity", "linear_acceleration")
        )
        _set_quaternion(message.orientation, data[orientation : orientation + 4])
        _set_vector(message.angular_velocity, data[gyro : gyro + 3])
        _set_vector(message.linear_acceleration, data[accelerometer : accelerometer + 3])
        return message

    def _wrench(self, robot: RobotLayout, sensor: RobotSensor, stamp: Time) -> WrenchStamped:
        data = self._simulation.sample.sensordata
        message = WrenchStamped()
        message.header.stamp = stamp
        message.header.frame_id = robot.sensor_frame(sensor.frame)
        force, torque = sensor.addresses["force"], sensor.addresses["torque"]
        _set_vector(message.wrench.force, -data[force : force + 3])
        _set_vector(message.wrench.torque, -data[torque : torque + 3])
        return message

    def _contact(self, robot: RobotLayout, touch: RobotSensor, stamp: Time) -> WrenchStamped:
        message = WrenchStamped()
        message.header.stamp = stamp
        message.header.frame_id = robot.sensor_frame(touch.frame)
        message.wrench.force.z = float(self._simulation.sample.sensordata[touch.addresses["force"]])
        return message

    def _odom(self, robot: RobotLayout, base: FloatingBase, stamp: Time) -> Odometry:
        sample = self._simulation.sample
        position, quat = _pose(sample.qpos, base)
        message = Odometry()
        message.header.stamp = stamp
        message.header.frame_id = _WORLD
        message.child_frame_id = robot.frame(base.name)
        _set_vector(message.pose.pose.position, position)
        _set_quaternion(message.pose.pose.orientation, quat)
        linear = _in_child_frame(quat, sample.qvel[base.dof : base.dof + 3])
        _set_vector(message.twist.twist.linear, linear)
        _set_vector(message.twist.twist.angular, sample.qvel[base.dof + 3 : base.dof + 6])
        return message

    def _base_accel(self, robot: RobotLayout, base: FloatingBase, stamp: Time) -> AccelStamped:
        sample = self._simulation.sample
        _, quat = _pose(sample.qpos, base)
        message = AccelStamped()
        message.header.stamp = stamp
        message.header.frame_id = robot.frame(base.name)
        linear = _in_child_frame(quat, sample.qacc[base.dof : base.dof + 3])
        _set_vector(message.accel.linear, linear)
        _set_vector(message.accel.angular, sample.qacc[base.dof + 3 : base.dof + 6])
        return message

    def _tf(self, robot: RobotLayout, base: FloatingBase, stamp: Time) -> TFMessage:
        position, quat = _pose(self._simulation.sample.qpos, base)
        transform = TransformStamped()
        transform.header.stamp = stamp
        transform.header.frame_id = _WORLD
        transform.child_frame_id = robot.frame(base.name)
        _set_vector(transform.transform.translation, position)
        _set_quaternion(transform.transform.rotation, quat)
        return TFMessage(transforms=[transform])


def _clock(stamp: Time) -> Clock:
    return Clock(clock=stamp)


def _pose(qpos: np.ndarray, base: FloatingBase) -> tuple[np.ndarray, np.ndarray]:
    return qpos[base.qpos : base.qpos + 3], qpos[base.qpos + 3 : base.qpos + 7]


def _in_child_frame(quat_wxyz: np.ndarray, vector: np.ndarray) -> np.ndarray:
    inverse, result = np.zeros(4), np.zeros(3)
    mujoco.mju_negQuat(inverse, quat_wxyz)
    mujoco.mju_rotVecQuat(result, vector, inverse)
    return result


def _set_vector(vector: Any, values: np.ndarray) -> None:
    vector.x, vector.y, vector.z = values.tolist()


def _set_quaternion(quaternion: Any, wxyz: np.ndarray) -> None:
    quaternion.w, quaternion.x, quaternion.y, quaternion.z = wxyz.tolist()
