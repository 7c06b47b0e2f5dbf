"""Trot of a torque-controlled quadruped."""

from collections.abc import Sequence
from math import atan2, cos, hypot, sin, sqrt

import numpy as np

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.estimation.base_estimator import BaseEstimator
from mujoco_ros.controllers.interface import inputs
from mujoco_ros.controllers.interface.inputs import BodyVelocity, DrawnPoint, PlanarPose
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.config_checks import NotNegative, Positive
from mujoco_ros.controllers.library.trot import gait as trot_gait
from mujoco_ros.controllers.library.walk import walk_display
from mujoco_ros.controllers.library.walk.footsteps import turned
from mujoco_ros.controllers.whole_body.inverse_dynamics import InverseDynamicsControl
from mujoco_ros.controllers.whole_body.tasks import ComTask, FrameTask, JointTask, WholeBodyTask
from mujoco_ros.model.errors import UserInputError

_COM_WEIGHT, _TRUNK_WEIGHT, _JOINT_WEIGHT = (30.0, 30.0, 300.0), 100.0, 1e-3
_COM_RATE, _TRUNK_RATE, _JOINT_RATE = np.array((3.0, 3.0, 15.0)), 20.0, 10.0
"""Decay of errors of the velocity [1/s]. Footholds control the horizontal velocity; forces that did
it faster would turn the trunk about the line between the feet, and oscillate with late commands."""
_COM_CORRECTION, _CORRECTION = 3.0, 5.0
"""Decay of errors of the position [1/s]: of the centre of mass, and of others."""
_RISE = 0.1  # largest vertical velocity of the reference of the centre of mass [m/s]
_FASTER, _TURN_FASTER = 1.0, 2.0  # largest change of the velocity [m/s², rad/s²]
_SLOPE_TIME = 0.3  # time constant of the slope [s]
_STEEPEST = 0.3  # largest slope
_RETURN, _FASTEST_RETURN = 1.0, 0.15
"""Velocity per error of the place [1/s], and the largest one [m/s]."""
_NEAR, _SLOW = 0.03, 0.06
"""Distance of a foot from its place [m], and velocity [m/s] with which the robot can stand."""


class TrotterConfig(trot_gait.TrotGaitConfig):
    """Settings of `Trotter`."""

    friction: Positive = setting("Coefficient of friction that is assumed", 0.5)
    least_force: NotNegative = setting("Least normal force on a foot on the ground [N]", 5.0)
    foothold_gain: NotNegative = setting(
        "Part of an error of the velocity that a step corrects", 0.7
    )
    leash: Positive = setting(
        "Largest distance of the place where the robot should be from where it is [m]", 0.08
    )
    stiffness: NotNegative = setting("Gain kp of the joints [Nm/rad]", 60.0)
    damping: NotNegative = setting("Gain kd of the joints [Nms/rad]", 4.0)


_CROSS = 0.04  # half the size of the mark of a landing [m]


class Trotter(walk_display.WalkingRobot):
    """Trots with a velocity, on the signals of the robot alone.

    Attributes:
        legs: The legs: front left, front right, rear left, rear right.
        dcm_reference: Reference of the divergent component of motion (DCM) [m].  # (2,)
        place_reference: Where the centre of mass should be [m].  # (2,)
    """

    fastest = BodyVelocity(x=0.6, y=0.25, yaw=0.6)
    gait: trot_gait.TrotGait

    def __init__(self, robot: RobotModel, feet: Sequence[str], *, imu: str = "") -> None:
        """Prepare for a robot; call `begin` before the first `step`.

        Its initial configuration gives the height and the places of the feet. These are bodies
        with touch sensors: front left, front right, rear left, rear right.
        """
        self._robot, self._feet = robot, tuple(feet)
        self.estimator = BaseEstimator(robot, feet, imu=imu)
        body = self.estimator.robot
        self.joints = np.arange(len(robot.joints))
        self.gravity = -float(robot.model.opt.gravity[2])
        at = np.array([sole.frame(body.data)[0] for sole in self.estimator.soles])
        self._places = (at - body.com)[:, :2]
        self._height = float(body.com[2] - at[:, 2].mean())
        for name, value in (("gravity", self.gravity), ("height of the robot", self._height)):
            if not value > 0.0:
                raise UserInputError(f"trot: the {name} must be above zero, got {value:g}")
        self._omega = sqrt(self.gravity / self._height)
        self.dcm_error, self.dcm_reference, self.place_reference = np.zeros((3, 2))
        self._references = np.zeros((3, len(self.joints)))
        self._velocity = np.zeros(body.size)

    def begin(self, observation: Observation, config: TrotterConfig, period: float) -> None:
        self.config, self._period = config, period
        self.gait, self.goal = trot_gait.TrotGait(config), None
        weight = self.estimator.robot.mass * self.gravity
        self.legs = [
            trot_gait.Leg(
                sole,
                friction=config.friction,
                least=config.least_force,
                weight=weight,
                period=period,
            )
            for sole in self.estimator.soles
        ]
        self._com = ComTask(weight=np.array(_COM_WEIGHT))
        self._trunk = FrameTask(
            self.estimator.robot.base, weight=np.repeat((0.0, _TRUNK_WEIGHT), 3)
        )
        self._rest = JointTask(self._robot.home, weight=_JOINT_WEIGHT)
        tasks: tuple[WholeBodyTask, ...] = (self._com, self._trunk, self._rest)
        self._com.rate, self._trunk.rate, self._rest.rate = _COM_RATE, _TRUNK_RATE, _JOINT_RATE
        for task in tasks:
            task.gain = _CORRECTION * period
        self._com.gain = _COM_CORRECTION * period
        self._com.linear[:] = 0.0
        tasks = (*tasks, *(leg.task for leg in self.legs))
        self._control = InverseDynamicsControl(
            *(self._robot, self._feet[0], tasks, [leg.contact for leg in self.legs]), period=period
        )
        self.estimator.reset()
        self._measure(observation)
        body = self._control.body
        self._com.hold(body)
        self.place_reference[:] = body.com[:2]
        self._yaw = self._measured_yaw()
        self._wanted, self._slope = np.zeros(3), np.zeros(2)

    @property
    def is_at_rest(self) -> bool:
        return self.gait.is_resting

    def place(self) -> PlanarPose:
        x, y, _ = self.estimator.base.pose.position.tolist()
        return PlanarPose(x, y, self._measured_yaw())

    def step(self, observation: Observation, velocity: BodyVelocity) -> np.ndarray:
        self._measure(observation)
        body, control = self._control.body, self._control
        self._move_reference(velocity)
        before = self.gait.swinging
        has_landed = all(leg.is_down for leg in self.legs)
        self.gait.step(self._period, velocity, can_rest=self._can_rest(), has_landed=has_landed)
        if self.gait.swinging is not None and before != self.gait.swinging:
            for number in self.gait.swinging:
                self.legs[number].lift()
        com, rate = body.com[:2], body.com_velocity[:2]
        wanted = self._wanted_velocity()
        self.dcm_reference[:] = self.place_reference + wanted / self._omega
        self.dcm_error[:] = com + rate / self._omega - self.dcm_reference
        self._move_feet(wanted)
        self._move_trunk(wanted)
        control.step()
        references = self._references
        references[0], references[1], references[2] = control.q, control.dq, control.torque
        return references

    def draw(self) -> inputs.Drawing:
        base, names = self.estimator.base.pose, [sole.name for sole in self.estimator.soles]
        lines = []
        for leg, name in zip(self.legs, names, strict=True):
            for axis, letter in enumerate("xy") if not leg.is_down else ():
                ends = np.array([leg.goal, leg.goal])
                ends[:, axis] += -_CROSS, _CROSS
                cross = walk_display.in_base(base, ends)
                mark = f"landing_{name}_{letter}"
                lines.append(inputs.DrawnLine(mark, cross, walk_display.LANDING))
        corners = np.array([leg.at for leg in self.legs if leg.is_down])
        if len(corners) > 2:
            lines.append(walk_display.support_polygon(base, corners))
        elif len(corners) > 1:
            line = walk_display.in_base(base, corners)
            lines.append(inputs.DrawnLine("support", line, walk_display.SUPPORT))
        ground = float(np.mean([leg.ground[2] for leg in self.legs]))
        reference, dcm = self.dcm_reference, self.dcm_reference + self.dcm_error
        drawn = [
            ("dcm_reference", np.array([*reference.tolist(), ground]), walk_display.DCM_REFERENCE),
            ("dcm", np.array([*dcm.tolist(), ground]), walk_display.DCM),
            *(
                (name, leg.at, walk_display.FOOT)
                for leg, name in zip(self.legs, names, strict=True)
            ),
            ("com", self.estimator.robot.com.copy(), walk_display.COM),
        ]
        points = (
            DrawnPoint(name, walk_display.in_base(base, at), colour) for name, at, colour in drawn
        )
        return inputs.Drawing(tuple(lines), tuple(points))

    def _measure(self, observation: Observation) -> None:
        base, estimator = self.estimator.update(observation), self.estimator
        velocity = self._velocity
        velocity[:3] = base.pose.matrix[:3, :3] @ base.linear
        velocity[3:6], velocity[6:] = base.angular, observation.dq
        pose = base.pose
        self._control.update(pose.position, pose.quat_wxyz, observation.q, velocity)
        for leg, load in zip(self.legs, estimator.loads, strict=True):
            leg.measure(self._control.body, float(load))

    def _measured_yaw(self) -> float:
        axes = self.estimator.base.pose.matrix
        return atan2(axes[1, 0], axes[0, 0])

    def _move_reference(self, velocity: BodyVelocity) -> None:
        """Move the place and the yaw where the robot should be."""
        period, wanted = self._period, self._wanted
        for axis, most in enumerate((_FASTER, _FASTER, _TURN_FASTER)):
            step = most * period
            wanted[axis] += min(max(velocity[axis] - wanted[axis], -step), step)
        yaw = self._measured_yaw()
        error = self._yaw + period * wanted[2] - yaw
        error = atan2(sin(error), cos(error))
        self._yaw = yaw + min(max(error, -0.2), 0.2)
        x, y = turned(float(wanted[0]), float(wanted[1]), self._yaw)
        offset = self.place_reference - self._control.body.com[:2]
        offset += period * np.array([x, y])
        distance, leash = hypot(*offset.tolist()), self.config.leash
        if distance > leash:
            offset *= leash / distance
        self.place_reference[:] = self._control.body.com[:2] + offset

    def _wanted_velocity(self) -> np.ndarray:
        """Return the velocity that leads along the place where the robot should be.  # (2,)"""
        back = _RETURN * (self.place_reference - self._control.body.com[:2])
        size = hypot(*back.tolist())
        if size > _FASTEST_RETURN:
            back *= _FASTEST_RETURN / size
        x, y = turned(float(self._wanted[0]), float(self._wanted[1]), self._yaw)
        wanted: np.ndarray = back + np.array([x, y])
        return wanted

    def _can_rest(self) -> bool:
        """Return whether the feet stand at their places and the robot is slow."""
        body = self._control.body
        if hypot(*body.com_velocity[:2].tolist()) > _SLOW:
            return False
        if not all(leg.is_down for leg in self.legs):
            return False
        for leg, place in zip(self.legs, self._places, strict=True):
            x, y = turned(float(place[0]), float(place[1]), self._yaw)
            if hypot(leg.at[0] - body.com[0] - x, leg.at[1] - body.com[1] - y) > _NEAR:
                return False
        return True

    def _move_feet(self, wanted: np.ndarray) -> None:
        gait, body, period = self.gait, self._control.body, self._period
        middle, slope = trot_gait.ground_plane(np.array([leg.ground for leg in self.legs]))
        share = period / (period + _SLOPE_TIME)
        self._slope += share * (slope - self._slope)
        np.minimum(self._slope, _STEEPEST, out=self._slope)
        np.maximum(self._slope, -_STEEPEST, out=self._slope)
        self._middle = middle
        swinging, remaining = gait.swinging or (), gait.remaining
        ahead, rate = body.com[:2], body.com_velocity[:2]
        if swinging:
            line = np.array(
                [self.legs[number].at[:2] for number in range(4) if number not in swinging]
            )
            ahead, rate = trot_gait.pendulum_after(ahead, rate, line, self._omega, remaining)
        gain = self.config.foothold_gain
        ahead = ahead + trot_gait.foothold(rate, wanted, self._omega, gait.step_time, gain)
        yaw = self._yaw + float(self._wanted[2]) * (remaining + 0.5 * gait.step_time)
        for number, (leg, place) in enumerate(zip(self.legs, self._places, strict=True)):
            if number not in swinging:
                leg.stand()
                continue
            x, y = turned(float(place[0]), float(place[1]), yaw)
            goal = np.array([ahead[0] + x, ahead[1] + y, 0.0])
            goal[2] = self._ground_at(goal)
            config = gait.config
            leg.swing(goal, config.step_height, gait.progress, config.swing_time)

    def _ground_at(self, point: np.ndarray) -> float:
        return float(self._middle[2] + self._slope @ (point[:2] - self._middle[:2]))

    def _move_trunk(self, wanted: np.ndarray) -> None:
        com, step = self._com, _RISE * self._period
        com.position[:2] = self.place_reference
        x, y = turned(float(self._wanted[0]), float(self._wanted[1]), self._yaw)
        com.linear[:2] = x, y
        height = self._height + self._ground_at(self._control.body.com)
        com.position[2] += min(max(height - com.position[2], -step), step)
        yaw = self._yaw
        self._trunk.rotation[:2, :2] = (cos(yaw), -sin(yaw)), (sin(yaw), cos(yaw))
        self._trunk.angular[2] = self._wanted[2]
