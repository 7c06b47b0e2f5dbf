"""Pose and velocity of a floating base, from IMU, encoders and foot contacts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite

import mujoco
import numpy as np

from mujoco_ros.controllers.interface.observation import (
    BaseReading,
    ImuReading,
    Observation,
    Pose,
    named_reading,
)
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.planning.kinematics.sole import Sole, find_soles
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.sensors.robot_sensors import choose_imu, find_sensor_site

_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
_UNKNOWN = 1e4  # variance of a foot's position before it is measured [m²]
_TOLERANCE = 0.1
"""Deviation of the specific force, as part of gravity, that reduces its correction to 1/e."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EstimatorConfig:
    """Settings of `BaseEstimator`."""

    acceleration: float = 0.3  # deviation of the IMU's acceleration, per root of time [m/s² √s]
    slip: float = 0.005  # deviation of the position of a standing foot, per root of time [m/√s]
    kinematics: float = 0.002  # deviation of the measured position of a foot [m]
    contact: float = 0.03  # deviation of the velocity of a standing foot [m/s]
    least_load: float = 0.05  # load below which a foot moves freely, as part of the robot's weight
    full_load: float = 0.25  # load from which a foot stands, as part of the robot's weight
    use_orientation: bool = True  # use the orientation of an IMU that measures one
    tilt_gain: float = 0.3  # correction of the tilt by gravity, without an orientation [1/s]
    bias_gain: float = 0.01  # correction of the gyroscope's bias, without an orientation [1/s²]

    def __post_init__(self) -> None:
        for name in ("acceleration", "slip", "kinematics", "contact", "full_load"):
            if not getattr(self, name) > 0.0:
                raise UserInputError(f"{name} must be positive, got {getattr(self, name):g}")
        if not 0.0 <= self.least_load < self.full_load:
            raise UserInputError(
                f"least_load must be from 0 to less than full_load {self.full_load:g}, got "
                f"{self.least_load:g}"
            )


class AttitudeFilter:
    """Complementary filter of angular velocity and specific force.

    The angular velocity is integrated; the direction of the specific force corrects the tilt and
    the bias of the gyroscope, as long as its magnitude is near gravity. At first, the mean
    of the measured tilts is used. Yaw begins at zero and drifts with the bias about the vertical,
    which nothing measures.

    Source: R. Mahony, T. Hamel, J.-M. Pflimlin, Nonlinear Complementary Filters on the Special
    Orthogonal Group, IEEE Transactions on Automatic Control 53(5), 2008, section V.

    Attributes:
        quat_wxyz: Orientation of the IMU in ``world``.  # (4,)
        bias: Bias of the gyroscope [rad/s].  # (3,)
    """

    def __init__(self, config: EstimatorConfig, gravity: float) -> None:
        """Begin upright; `gravity` is its magnitude [m/s²]."""
        self._gain, self._bias_gain, self._gravity = config.tilt_gain, config.bias_gain, gravity
        self.quat_wxyz, self.bias = _UPRIGHT.copy(), np.zeros(3)
        self._axes, self._rate, self._error = np.zeros(9), np.zeros(3), np.zeros(3)
        self._age = 0.0

    def reset(self) -> None:
        """Begin again, upright."""
        self.quat_wxyz[:] = 1.0, 0.0, 0.0, 0.0
        self.bias[:] = 0.0
        self._age = 0.0

    def update(self, rate: np.ndarray, force: np.ndarray, period: float) -> None:
        """Use a measurement: angular velocity [rad/s] and specific force [m/s²].  # (3,) each"""
        size = float(np.sqrt(force @ force))
        np.subtract(rate, self.bias, out=self._rate)
        self._age += period
        if size > 0.0 and period > 0.0:
            mujoco.mju_quat2Mat(self._axes, self.quat_wxyz)
            up = self._axes[6:]  # the vertical in the frame of the IMU
            deviation = (size / self._gravity - 1.0) / _TOLERANCE
            mujoco.mju_cross(self._error, force, up)
            error = self._error * (exp(-deviation * deviation) / size)
            # At the start, the mean of all measurements so far.
            gain = max(self._gain, 1.0 / self._age)
            if gain == self._gain:
                self.bias -= self._bias_gain * period * error
            self._rate += gain * error
        mujoco.mju_quatIntegrate(self.quat_wxyz, self._rate, period)
        mujoco.mju_normalize4(self.quat_wxyz)


class ContactKalmanFilter:
    """Position and velocity of an IMU, and positions of the feet.

    The state is predicted with the acceleration of the IMU. A foot in contact measures its position
    relative to the IMU, and that it does not move. All covariances are equal along the three axes
    of ``world``, so that one covariance matrix serves all of them.

    Source: M. Bloesch et al., State Estimation for Legged Robots: Consistent Fusion of Leg
    Kinematics and IMU, Robotics: Science and Systems 2012, with the orientation known, as in
    G. Bledt et al., MIT Cheetah 3, IROS 2018.

    Attributes:
        states: Position and velocity of the IMU, then the position of each foot.  # (2 + k, 3)
        covariance: The same for each axis.  # (2 + k, 2 + k)
    """

    def __init__(self, feet: int, config: EstimatorConfig) -> None:
        size = 2 + feet
        self.states, self.covariance = np.zeros((size, 3)), np.zeros((size, size))
        self._acceleration, self._slip = config.acceleration**2, config.slip**2
        self._kinematics, self._contact = config.kinematics**2, config.contact**2
        self._transition = np.eye(size)
        self._product = np.zeros((size, size))
        self._gain = np.zeros(size)

    def reset(self, position: np.ndarray) -> None:
        """Rest at a position; the feet are unknown."""
        self.states[:] = 0.0
        self.states[0] = position
        self.covariance[:] = 0.0
        np.fill_diagonal(self.covariance[2:, 2:], _UNKNOWN)

    def predict(self, acceleration: np.ndarray, period: float) -> None:
        """Move with an acceleration in ``world`` [m/s²] for `period` [s]."""
        states, covariance, transition = self.states, self.covariance, self._transition
        states[0] += period * (states[1] + 0.5 * period * acceleration)
        states[1] += period * acceleration
        transition[0, 1] = period
        np.matmul(transition, covariance, out=self._product)
        np.matmul(self._product, transition.T, out=covariance)
        covariance[1, 1] += self._acceleration * period
        covariance.flat[2 * len(states) + 2 :: len(states) + 1] += self._slip * period

    def lift(self, foot: int) -> None:
        """Forget where a foot is, as it may move."""
        row = 2 + foot
        self.covariance[row] = self.covariance[:, row] = 0.0
        self.covariance[row, row] = _UNKNOWN

    def measure(
        self, foot: int, offset: np.ndarray, velocity: np.ndarray, confidence: float
    ) -> None:
        """Use the offset [m] and velocity [m/s] of a foot in contact, from the IMU, in ``world``.
        # (3,)

        The confidence that it is in contact is above 0, at most 1.
        """
        scale = 1.0 / (confidence * confidence)
        self._correct(2 + foot, 0, offset, self._kinematics * scale)
        self._correct(1, -1, -velocity, self._contact * scale)

    def _correct(self, plus: int, minus: int, value: np.ndarray, variance: float) -> None:
        """Use the measured state `plus`, less the state `minus` if that is not -1."""
        states, covariance, gain = self.states, self.covariance, self._gain
        innovation = value - states[plus]
        gain[:] = covariance[:, plus]
        if minus >= 0:
            innovation += states[minus]
            gain -= covariance[:, minus]
        total = float(gain[plus]) - (float(gain[minus]) if minus >= 0 else 0.0) + variance
        share = gain / total
        np.multiply(gain[:, None], share, out=self._product)
        covariance -= self._product
        states += share[:, None] * innovation


class BaseEstimator:
    """Estimates the base from the signals of the robot alone; the observed base is not read.

    The position begins above the middle of the feet, which stand at a height of zero. It and the
    yaw drift slowly, since no sensor measures them.
    """

    def __init__(
        self,
        robot: RobotModel,
        feet: Sequence[str],
        *,
        imu: str = "",
        force_sensors: Sequence[str] = (),
        config: EstimatorConfig | None = None,
    ) -> None:
        """Prepare for a robot.

        Args:
            feet: Names of the bodies that carry it.
            imu: Name of the IMU's site; empty is the only one of the base that is observed, or else
                the only one of the robot.
            force_sensors: Names of the force-torque sensors of the feet, in their order; empty for
                touch sensors named after the feet.
        """
        if not feet:
            raise UserInputError("the base estimator needs at least one foot")
        if force_sensors and len(force_sensors) != len(feet):
            raise UserInputError(
                f"{len(feet)} feet need as many force sensors, got {', '.join(force_sensors)}"
            )
        self.config = config = config or EstimatorConfig()
        model, prefix = robot.model, robot.prefix
        # Kinematics of the robot at the last estimate
        self.robot = body = FloatingBaseKinematics(model, robot.qpos, robot.dof, prefix + feet[0])
        body.update(np.zeros(3), _UPRIGHT, robot.home)
        # The soles of the feet
        self.soles: tuple[Sole, ...] = find_soles(model, body.data, prefix, feet)
        self.loads = np.zeros(len(feet))  # vertical force on each foot at the last update [N] (k,)
        self._feet, self._sensors, self._imu = tuple(feet), tuple(force_sensors), imu
        self._prefix = prefix
        gravity = -float(model.opt.gravity[2])
        self._gravity = np.array([0.0, 0.0, gravity])
        self._weight = body.mass * gravity
        self._filter = ContactKalmanFilter(len(feet), config)
        self._attitude = AttitudeFilter(config, gravity)
        self._imu_body, self._is_on_base = body.base, True
        self._site = self._find_imu((imu,), self._site_names()) if imu else None
        self._jacobians = np.zeros((len(feet), 6, body.size))
        self._imu_jacobian = np.zeros((6, body.size))
        self._velocity, self._sensor_velocity = np.zeros(body.size), np.zeros(3)
        self._offsets = np.zeros((len(feet), 3))
        self._quat, self._sensor_quat = np.zeros(4), np.zeros(4)
        self._force_axes = [self._sensor_axes(name) for name in force_sensors]
        self.reset()

    def reset(self) -> None:
        """Begin with the next update."""
        self._time: float | None = None
        self._attitude.reset()
        # The estimate
        self.base = BaseReading(pose=Pose(), linear=np.zeros(3), angular=np.zeros(3))

    def update(self, observation: Observation) -> BaseReading:
        """Return the base at the time of an observation.

        Raises:
            UserInputError: The observation has no IMU with angular velocity and acceleration, or
                several and none is named, or lacks the load of a foot, or a value is not finite;
                the estimate stays.
        """
        if not isfinite(float(observation.q.sum() + observation.dq.sum())):
            raise UserInputError("joint positions and velocities must be finite numbers")
        imu, site = self._reading(observation.imus)
        body, period = self.robot, 0.0
        if self._time is not None:
            period = max(0.0, observation.time - self._time)
        self._measure_loads(observation)
        self._orient(imu, site, period, observation.q)
        # Kinematics relative to a base at the origin, with its true orientation.
        body.update(np.zeros(3), self._quat, observation.q)
        sensor = body.data.site_xpos[site].copy()
        axes = body.data.site_xmat[site].reshape(3, 3)
        world_rate = axes @ imu.angular_velocity
        base_axes = body.data.xmat[body.base].reshape(3, 3)
        velocity, sensor_velocity = self._velocity, self._sensor_velocity
        velocity[:3], velocity[6:] = 0.0, observation.dq
        if self._is_on_base:
            velocity[3:6] = rate = base_axes.T @ world_rate
            mujoco.mju_cross(sensor_velocity, world_rate, sensor)
        else:
            jacobian = self._imu_jacobian
            body.jacobian(sensor, self._imu_body, jacobian)
            velocity[3:6] = rate = base_axes.T @ (world_rate - jacobian[3:, 6:] @ observation.dq)
            np.matmul(jacobian[:3], velocity, out=sensor_velocity)
        offsets = self._offsets
        for foot, sole in enumerate(self.soles):
            offsets[foot] = sole.frame(body.data)[0]
        if self._time is None:
            start = sensor - offsets.mean(axis=0)
            start[2] = sensor[2] - offsets[:, 2].min()
            self._filter.reset(start)
        else:
            acceleration = axes @ imu.linear_acceleration - self._gravity
            self._filter.predict(acceleration, period)
        self._time = observation.time
        low, high = self.config.least_load * self._weight, self.config.full_load * self._weight
        for foot, sole in enumerate(self.soles):
            confidence = min(1.0, (float(self.loads[foot]) - low) / (high - low))
            if confidence <= 0.0:
                self._filter.lift(foot)
                continue
            body.jacobian(offsets[foot], sole.body, self._jacobians[foot])
            relative = self._jacobians[foot, :3] @ velocity - sensor_velocity
            self._filter.measure(foot, offsets[foot] - sensor, relative, confidence)
        states = self._filter.states
        position = states[0] - sensor
        linear = states[1] - sensor_velocity
        velocity[:3] = linear
        body.update(position, self._quat, observation.q)
        body.update_velocity(velocity)
        self.base = BaseReading(
            pose=Pose(position=position, quat_wxyz=self._quat.copy()),
            linear=base_axes.T @ linear,
            angular=rate,
        )
        return self.base

    def _orient(self, imu: ImuReading, site: int, period: float, q: np.ndarray) -> None:
        """Compute the orientation of the base; without a measured one, its yaw begins at zero."""
        mounted = self._sensor_quat  # the IMU in the frame of the base
        if self._is_on_base:
            mounted[:] = self.robot.model.site_quat[site]
        else:
            self.robot.update(np.zeros(3), _UPRIGHT, q)
            mujoco.mju_mat2Quat(mounted, self.robot.data.site_xmat[site])
        measured = imu.quat_wxyz if self.config.use_orientation else None
        if measured is None:
            if self._time is None:
                self._attitude.quat_wxyz[:] = mounted
            self._attitude.update(imu.angular_velocity, imu.linear_acceleration, period)
            measured = self._attitude.quat_wxyz
        mujoco.mju_negQuat(mounted, mounted)
        mujoco.mju_mulQuat(self._quat, measured, mounted)

    def _reading(self, imus: Mapping[str, ImuReading]) -> tuple[ImuReading, int]:
        """Return the reading of the IMU and its site."""
        if self._site is None:
            self._site = self._find_imu(tuple(imus), tuple(imus))
        imu = named_reading("IMU", self._imu, imus)
        if not isfinite(float(imu.angular_velocity.sum() + imu.linear_acceleration.sum())):
            raise UserInputError(
                f"IMU '{self._imu}' must measure angular velocity and linear acceleration"
            )
        return imu, self._site

    def _find_imu(self, names: Sequence[str], valid: Sequence[str]) -> int:
        """Return the site of the IMU among names, of the base if one is."""
        model = self.robot.model
        sites: dict[str, int] = {}
        for name in names:
            site = find_sensor_site(model, self._prefix, name)
            if site >= 0 and model.body_rootid[model.site_bodyid[site]] == self.robot.base:
                sites[name] = site
        if not sites:
            raise unknown("IMU of the robot", self._imu, valid)
        self._imu = choose_imu(model, sites, self.robot.base)
        self._imu_body = int(model.site_bodyid[sites[self._imu]])
        self._is_on_base = self._imu_body == self.robot.base
        return sites[self._imu]

    def _site_names(self) -> list[str]:
        """Return the names of all sites, without the prefix."""
        model = self.robot.model
        return [model.site(site).name.removeprefix(self._prefix) for site in range(model.nsite)]

    def _sensor_axes(self, name: str) -> np.ndarray:
        """Return the vertical of the upright initial configuration in a sensor's frame.  # (3,)"""
        site = find_sensor_site(self.robot.model, self._prefix, name)
        if site < 0:
            raise unknown("force sensor", name, self._site_names())
        vertical: np.ndarray = self.robot.data.site_xmat[site].reshape(3, 3)[2].copy()
        return vertical

    def _measure_loads(self, observation: Observation) -> None:
        for foot, name in enumerate(self._sensors):
            wrench = named_reading("force-torque sensor", name, observation.wrenches)
            self.loads[foot] = self._force_axes[foot] @ wrench.force
        if not self._sensors:
            for foot, name in enumerate(self._feet):
                self.loads[foot] = named_reading("touch sensor", name, observation.touches)
        if not isfinite(float(self.loads.sum())):
            raise UserInputError(f"the loads of {', '.join(self._feet)} must be finite numbers")
