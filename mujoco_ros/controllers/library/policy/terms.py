"""Terms of an input: sensors, commands and camera images, from the observation of a tick."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, is_dataclass
from math import cos, hypot, pi, sin
from typing import Any

import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.interface.host import IMAGE_GET, Image
from mujoco_ros.controllers.interface.inputs import BodyVelocity
from mujoco_ros.controllers.interface.observation import BaseReading, Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.policy.config import TermConfig
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.scope import Scope
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.model.sensors.robot_sensors import find_all_sensors
from mujoco_ros.model.sensors.sensor_states import find_states

Read = Callable[[Observation], Any]  # returns the values of a measurement


class SensorValues:
    """The measurements that the observations of a robot contain.

    A sensor has the name of its topic. A controller node without its topic has no measurement.
    """

    def __init__(self, robot: RobotModel) -> None:
        model, prefix = robot.model, robot.prefix
        names = (model.body(body).name for body in range(model.nbody))
        prefixes = {f"{name.partition('/')[0]}/" for name in names if "/" in name}
        # A robot without a prefix is the only one.
        scope = Scope(model, prefix, tuple(sorted(prefixes - {prefix})))
        self._found: dict[str, dict[str, tuple[int, Read]]] = {}  # values by sensor
        self._kinds: dict[str, set[str]] = {}  # names of sensors by their field of observations
        sensors = find_all_sensors(scope)
        for kind in SENSOR_KINDS:
            for sensor in sensors[kind.key]:
                name = topic_token(sensor.name)
                self._kinds.setdefault(kind.observation, set()).add(name)
                for measurement in kind.measurements:
                    if measurement.name in sensor.addresses:
                        read = _reader(kind.observation, name, measurement.name)
                        values = self._found.setdefault(name, {})
                        key = (
                            measurement.name
                            if measurement.name not in values
                            else f"{kind.key}.{measurement.name}"
                        )
                        values[key] = max(1, len(measurement.axes)), read
        for state in find_states(scope):
            read = _reader("sensor_states", state.name, "")
            size = len(state.quantity.interfaces)
            self._found.setdefault(state.name, {})["state"] = size, read

    def find(self, sensor: str, value: str = "") -> tuple[int, Read]:
        """Return number of values and reader of a measurement, which `value` selects of several."""
        if sensor not in self._found and topic_token(sensor) in self._found:
            sensor = topic_token(sensor)
        if sensor not in self._found:
            raise unknown("sensor", sensor, self._found)
        values = self._found[sensor]
        if not value and len(values) == 1:
            (value,) = values
        if not value:
            raise UserInputError(
                f"sensor '{sensor}' has several values, so choose a 'value': {', '.join(values)}"
            )
        if value not in values:
            raise unknown(f"sensor '{sensor}': value", value, values)
        return values[value]

    def find_imu(self, name: str, value: str) -> Read:
        """Return a function that reads a measurement of an IMU, as `find`."""
        imus = self._kinds.get("imus", set())
        if topic_token(name) not in imus:
            raise unknown("IMU", name, sorted(imus))
        return self.find(name, value)[1]


def _reader(entry: str, name: str, attribute: str) -> Read:
    def read(observation: Observation) -> Any:
        readings = getattr(observation, entry)
        if name not in readings:
            raise UserInputError(f"the observation lacks the sensor '{name}'")
        reading = readings[name]
        if is_dataclass(reading):  # others are the values themselves
            reading = getattr(reading, attribute)
        return np.nan if reading is None else reading

    return read


class CameraImages:
    """The newest image of each camera that a policy uses."""

    def __init__(self, cameras: Iterable[str]) -> None:
        self._cameras = tuple(dict.fromkeys(cameras))
        self._requests: dict[str, Future[Image]] = {}
        self.newest: dict[str, Image] = {}

    def clear(self) -> None:
        self._requests.clear()
        self.newest.clear()

    def update(self, context: StateContext) -> bool:
        """Take images that have arrived, and request the next; return whether each camera has one.

        A simulator waits for the first image of each camera, at the next tick.
        """
        for camera in self._cameras:
            if camera in self._requests and self._requests[camera].done():
                self.newest[camera] = self._requests.pop(camera).result()
            if camera not in self._requests:
                self._requests[camera] = context.store.get(IMAGE_GET)(camera)
            if camera not in self.newest:
                context.awaited.append(self._requests[camera])
        return len(self.newest) == len(self._cameras)


def image_writer(
    camera: str, value: str, axes: Sequence[int | None] | None
) -> tuple[int, Callable[[Image, np.ndarray], None]]:
    """Return the number of values of an image, and a function that writes them.

    The `axes` of the input may have axes of one element anywhere, and of three for the channels of
    a colour image, before or behind rows and columns.
    """
    sizes = [size for size in axes or () if size != 1]
    channels_first = value == "colour" and sizes[:1] == [3]
    if value == "colour":
        sizes = sizes[1:] if channels_first else sizes[:-1] if sizes[-1:] == [3] else []
    if len(sizes) != 2 or None in sizes:
        raise UserInputError(
            f"the term image '{camera}' needs an input with rows and columns"
            f"{' and 3 channels' if value == 'colour' else ''}, not {list(axes or ())}"
        )
    height, width = (int(size or 0) for size in sizes)

    def write(image: Image, values: np.ndarray) -> None:
        pixels = image.depth if value == "depth" else image.colour
        if pixels is None:
            raise UserInputError(f"camera '{camera}' has no colour")
        if pixels.shape[:2] != (height, width):
            raise UserInputError(
                f"camera '{camera}' has {pixels.shape[1]}×{pixels.shape[0]} pixels, and the input "
                f"{width}×{height}; set the resolution of the camera"
            )
        if channels_first:
            pixels = pixels.transpose(2, 0, 1)
        np.copyto(values.reshape(pixels.shape), pixels)

    return height * width * (3 if value == "colour" else 1), write


_STANDING = 0.01  # commands below this are zero [m/s, rad/s]


@dataclass(slots=True)
class PolicyTick:
    """The inputs of all terms in a tick."""

    observation: Observation  # the observation
    command: BodyVelocity  # the commanded velocity
    elapsed: float  # time since the start of the state [s]
    images: Mapping[str, Image]  # the newest image of each camera


Write = Callable[[PolicyTick, np.ndarray], None]  # writes the values of a term into an array


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a robot."""

    config: TermConfig  # its settings
    size: int  # number of values of a frame
    write: Write  # computes them


class TermFactory:
    """Creates the terms of a policy."""

    def __init__(
        self,
        robot: RobotModel,
        joints: Sequence[str],  # the joints of the policy
        default_pose: np.ndarray,  # positions of all joints of the robot (n,)
        previous_action: np.ndarray,  # array with the output of the last run
        imu: str,  # name of the IMU of the orientation and angular velocity; empty is the base
    ) -> None:
        self._robot, self._joints, self._imu = robot, joints, imu
        self._default_pose, self._previous_action = default_pose, previous_action
        self._sensors = SensorValues(robot)

    def make(self, config: TermConfig, axes: Sequence[int | None] | None) -> Term:
        sensor, imu = config.sensor, config.sensor or self._imu
        match config.term:
            case "joint_position":
                return self._of_joints(config, lambda seen: seen.q, self._default_pose)
            case "joint_velocity":
                return self._of_joints(config, lambda seen: seen.dq)
            case "joint_effort":
                return self._of_joints(config, lambda seen: seen.effort)
            case "previous_action":
                action = self._previous_action
                return Term(config, len(action), lambda _tick, values: np.copyto(values, action))
            case "projected_gravity":
                return Term(config, 3, self.gravity(sensor))
            case "command":
                return Term(config, 3, _write_command)
            case "gait_phase":
                return Term(config, len(config.functions) * len(config.phases), _GaitPhase(config))
            case "image":
                size, put = image_writer(sensor, config.value, axes)
                return Term(config, size, lambda tick, values: put(tick.images[sensor], values))
            case "base_angular_velocity" if imu:
                return _copied(config, 3, self._sensors.find_imu(imu, "angular_velocity"))
            case "base_angular_velocity":
                return _copied(config, 3, lambda seen: _base(seen).angular)
            case "base_linear_velocity" if not sensor:
                return _copied(config, 3, lambda seen: _base(seen).linear)
        size, read = self._sensors.find(sensor, config.value)
        if config.term == "base_linear_velocity" and size != 3:
            raise UserInputError(f"sensor '{sensor}' has {size} values, and {config.term} needs 3")
        return _copied(config, size, read)

    def gravity(self, sensor: str = "") -> Write:
        """Return a function that writes the direction of gravity in the frame of IMU or base."""
        imu = sensor or self._imu
        quaternion = self._sensors.find_imu(imu, "quat_wxyz") if imu else None

        def write(tick: PolicyTick, values: np.ndarray) -> None:
            if quaternion is None:
                w, x, y, z = _base(tick.observation).pose.quat_wxyz
            else:
                quat = quaternion(tick.observation)
                w, x, y, z = quat if np.ndim(quat) else np.full(4, np.nan)  # not measured
            values[0] = 2.0 * (w * y - x * z)
            values[1] = -2.0 * (y * z + w * x)
            values[2] = 2.0 * (x * x + y * y) - 1.0

        return write

    def indices(self, joints: Sequence[str]) -> np.ndarray:
        """Return the indices of joints of the robot; without names, of the policy's joints."""
        known, joints = self._robot.joints, joints or self._joints
        for joint in joints:
            if joint not in known:
                raise unknown(f"robot '{self._robot.name}': joint", joint, known)
        return np.array([known.index(joint) for joint in joints], dtype=np.intp)

    def _of_joints(self, config: TermConfig, read: Read, offset: np.ndarray | None = None) -> Term:
        joints = self.indices(config.joints)
        offsets = None if offset is None else offset[joints]

        def write(tick: PolicyTick, values: np.ndarray) -> None:
            read(tick.observation).take(joints, out=values, mode="clip")
            if offsets is not None:
                np.subtract(values, offsets, out=values)

        return Term(config, len(joints), write)


def _copied(config: TermConfig, size: int, read: Read) -> Term:
    return Term(config, size, lambda tick, values: np.copyto(values, read(tick.observation)))


def _base(observation: Observation) -> BaseReading:
    if observation.base is None:
        raise UserInputError("the observation lacks the floating base; use an IMU instead")
    return observation.base


def _write_command(tick: PolicyTick, values: np.ndarray) -> None:
    values[0], values[1], values[2] = tick.command


class _GaitPhase:
    """Functions of the phases of a gait, which can stop while the command is zero."""

    def __init__(self, config: TermConfig) -> None:
        self._functions = [{"sin": sin, "cos": cos}[name] for name in config.functions]
        self._period, self._phases, self._at_rest = config.period, config.phases, config.at_rest
        self._begins, self._since, self._last = config.phases, 0.0, 0.0

    def __call__(self, tick: PolicyTick, values: np.ndarray) -> None:
        elapsed = tick.elapsed
        if elapsed < self._last:  # the state has started again
            self._begins, self._since = self._phases, 0.0
        self._last = elapsed
        if self._at_rest and hypot(*tick.command) < _STANDING:
            self._begins, self._since = self._at_rest, elapsed
        cycles = (elapsed - self._since) / self._period
        angles = [2.0 * pi * ((cycles + phase) % 1.0) for phase in self._begins]
        for at, value in enumerate(f(angle) for f in self._functions for angle in angles):
            values[at] = value
