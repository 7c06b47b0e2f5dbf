"""Topics of streamed joint commands, read without message objects."""

import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mujoco_ros.bridge.commands.command_server import CommandServer
from mujoco_ros.bridge.commands.command_submission import nothing
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.events import CommandError, CommandSource, QueueFullError
from mujoco_ros.control.joint_command import JointCommand, JointCommandReader, forward_command
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.control.streams import FORWARDED
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.sim.command_queue import epoch_of
from mujoco_ros.wire.conversions import nanoseconds
from mujoco_ros.wire.names import RESTART
from mujoco_ros.wire.qos import LATCHED

_LITTLE_ENDIAN_CDR = b"\x00\x01"
_STAMP = struct.Struct("<iI")
_COUNT = struct.Struct("<I")
_NANOSECONDS = 1_000_000_000
_HEADER = 4  # bytes; alignments count from its end
_NAMES = _HEADER + _STAMP.size  # where the frame and the names begin
_MOST_LAYOUTS = 16


class JointStateContent(NamedTuple):
    """The content of a JointState."""

    stamp: int  # its stamp [ns]
    frame_id: str
    names: tuple[str, ...]  # names of the joints
    # Position, velocity and effort, as given.  # 3 × (k,)
    fields: tuple[np.ndarray, np.ndarray, np.ndarray]


class JointStateReader:
    """Reads the messages of a topic; those with the frame and the names of an earlier one quickly.

    The frame and the names are a prefix of fixed bytes behind the stamp, and the numbers follow.
    What is not plain CDR, as all supported middlewares write it, is read by rclpy.
    """

    def __init__(self) -> None:
        self._layouts: dict[bytes, tuple[str, tuple[str, ...]]] = {}

    def read(self, data: bytes) -> JointStateContent:
        """Return the content of a serialized message; what is no JointState fails as in rclpy."""
        if data[:2] == _LITTLE_ENDIAN_CDR:
            for prefix, (frame_id, names) in self._layouts.items():
                if data.startswith(prefix, _NAMES):
                    try:
                        fields = _arrays(data, _NAMES + len(prefix))
                    except (struct.error, ValueError):  # it is too short
                        break
                    sec, nanosec = _STAMP.unpack_from(data, _HEADER)
                    return JointStateContent(sec * _NANOSECONDS + nanosec, frame_id, names, fields)
        return self._read_message(data)

    def _read_message(self, data: bytes) -> JointStateContent:
        """Read a message as rclpy does, and remember its names."""
        message = deserialize_message(data, JointState)
        frame_id, names = message.header.frame_id, tuple(message.name)
        if data[:2] == _LITTLE_ENDIAN_CDR:
            if len(self._layouts) >= _MOST_LAYOUTS:
                self._layouts.clear()
            prefix = bytes(data[_NAMES : _end_of_names(data)])
            self._layouts[prefix] = frame_id, names
        position, velocity, effort = (
            np.array(field, dtype=float)
            for field in (message.position, message.velocity, message.effort)
        )
        stamp = nanoseconds(message.header.stamp)
        return JointStateContent(stamp, frame_id, names, (position, velocity, effort))


def _end_of_names(data: bytes) -> int:
    at = _end_of_text(data, _NAMES)
    (count,) = _COUNT.unpack_from(data, at)
    at += _COUNT.size
    for _ in range(count):
        at = _end_of_text(data, at)
    return at


def _end_of_text(data: bytes, at: int) -> int:
    """Return where a text that begins at `at` ends, with the padding behind it."""
    (size,) = _COUNT.unpack_from(data, at)
    return _aligned(at + _COUNT.size + int(size), 4)


def _arrays(data: bytes, at: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three arrays of doubles that begin at `at`, as views of the message."""
    found = []
    for _ in range(3):
        (count,) = _COUNT.unpack_from(data, at)
        at += _COUNT.size
        if count:
            at = _aligned(at, 8)
        found.append(np.frombuffer(data, "<f8", count, at) if count else _EMPTY)
        at += 8 * count
    position, velocity, effort = found
    return position, velocity, effort


_EMPTY = np.empty(0)


def _aligned(at: int, size: int) -> int:
    return at + (_HEADER - at) % size


class StreamServer(CommandServer):
    """Serves ``joint_commands`` and, with controllers, the forward command controllers."""

    def __init__(self, context: NodeContext, namespace: str, control: RobotControl) -> None:
        super().__init__(context, namespace, control)
        self._ignored: set[str] = set()
        self._lockstep = context.lockstep
        self._in_lockstep: tuple[StreamSettings, StreamSettings] | None = None
        self._messages = JointStateReader()
        self._commands = JointCommandReader(control.joints)
        self._subscribe(
            JointState,
            self._handle_joint_command,
            CommandSource.JOINT_COMMANDS,
            is_awaited=True,
            on_count=self._count_publishers,
        )
        forwards = context.has_controllers and control.has_default_controllers
        for source, interface in FORWARDED.items() if forwards else ():
            if indices := control.joints.with_interface(interface):
                names = [control.joints.names[i] for i in indices]
                handle = partial(self._handle_forward_command, source)
                self._subscribe(Float64MultiArray, handle, source, "commands", is_awaited=True)
                listing = self._endpoints.publisher(
                    JointState, in_namespace(namespace, source, "joints"), LATCHED
                )
                listing.publish(JointState(name=names))
                self._open.append(listing)

    def _handle_joint_command(self, topic: str, data: bytes, now: bool) -> None:
        stamp, frame_id, names, fields = self._messages.read(data)
        read = partial(self._commands.read, self._control.stream.out_of_limits, names, fields)
        source, epoch = CommandSource.JOINT_COMMANDS, epoch_of(frame_id)
        # Its source has seen a tick since the reset, or has started again.
        restarts = epoch is not None or frame_id == RESTART
        stamps: dict[str, Any] = {"stamp": stamp, "epoch": epoch, "component": names, "now": now}
        if not (names or any(map(len, fields))) and self._lockstep.period(topic):
            self._submit(topic, nothing, **stamps)
        else:
            self._submit_checked(topic, source, read, restarts, **stamps)

    def _count_publishers(self, topic: str, count: int) -> None:
        if not count:
            with suppress(QueueFullError):  # the physics thread has ended
                depart = partial(self._lockstep.depart, topic)
                self._simulation.commands.submit(depart, urgent=True)

    def _handle_forward_command(
        self, source: CommandSource, topic: str, data: bytes, now: bool
    ) -> None:
        control, message = self._control, deserialize_message(data, Float64MultiArray)
        interface, out_of_limits = FORWARDED[source], control.stream.out_of_limits
        read = partial(forward_command, control.joints, out_of_limits, interface, message.data)
        self._submit_checked(topic, source, read, now=now)

    def _submit_checked(
        self,
        topic: str,
        source: CommandSource,
        read: Callable[[], JointCommand],
        restarts: bool = False,
        **stamps: Any,
    ) -> None:
        try:
            command = read()
        except CommandError as error:
            self._refuse(topic, error, **stamps)
            return
        self._rejections.report_clamped(topic, command.clamped)
        if new := [name for name in command.ignored if name not in self._ignored]:
            self._ignored.update(new)
            self._rejections.report(
                topic,
                "velocities ignored",
                f"the velocity of {', '.join(new)} is ignored, now and later: a position servo "
                "takes none",
                count=len(new),
            )

        self._submit(topic, partial(self._act, topic, source, command, restarts), **stamps)

    def _act(
        self, topic: str, source: CommandSource, command: JointCommand, restarts: bool, time: float
    ) -> None:
        if restarts:
            self._control.reset_hold.release(source)
        self._control.command(source, command, time, self._settings(topic))

    def _settings(self, topic: str) -> StreamSettings:
        """Return the settings of a topic, with the period of its ticks unless one is configured."""
        settings, period = self._control.stream, self._lockstep.period(topic)
        if settings.period or not period:
            return settings
        known = self._in_lockstep
        if known is None or known[0] is not settings or known[1].period != period:
            known = self._in_lockstep = settings, replace(settings, period=period)
        return known[1]
