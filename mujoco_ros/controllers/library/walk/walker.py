"""Walking of a position-controlled humanoid."""

from collections.abc import Sequence
from math import atan2, cos, hypot, sin, sqrt

import mujoco
import numpy as np

from mujoco_ros.controllers.estimation.base_estimator import BaseEstimator
from mujoco_ros.controllers.interface.inputs import BodyVelocity, Drawing, PlanarPose
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.walk import foot_motion, footsteps, stabilizer
from mujoco_ros.controllers.library.walk.footsteps import LEFT, RIGHT, Footstep, turned
from mujoco_ros.controllers.library.walk.gait import Gait, GaitConfig
from mujoco_ros.controllers.library.walk.walk_display import WalkingRobot, draw_walk
from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.whole_body.tasks import ComTask, FrameTask, JointTask, WholeBodyTask
from mujoco_ros.controllers.whole_body.whole_body_control import WholeBodyControl
from mujoco_ros.model.errors import UserInputError, unknown

_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
_CONTACT_WEIGHT, _COM_WEIGHT, _TRUNK_WEIGHT, _JOINT_WEIGHT = 1e4, 1e2, 1e1, 1e-2
_UNLOADED = 0.05  # load of a foot that carries nothing, as part of the weight
_UNSTEADY = 0.02  # error of the DCM with which the robot does not begin to stand on one foot [m]
_RISE = 0.1  # largest vertical velocity of the centre of mass until its height is reached [m/s]
_LAST_ADJUSTMENT = 0.75  # part of the swing after which its goal does not move
_TURN = 0.5  # largest velocity of the joints until their initial positions are reached [rad/s]


class WalkerConfig(GaitConfig, stabilizer.StabilizerConfig):
    """Settings of `Walker`; they take effect when it begins."""


class Walker(WalkingRobot):
    """Walks with a velocity, on the signals of the robot alone.

    The measured divergent component of motion (DCM) is taken relative to the soles that carry the
    robot, so that drift of the estimated base does not matter.

    Attributes:
        home: Positions that the joints approach as far as the tasks permit, at first the initial
            ones [rad or m].  # (n,)
        zmp: Zero-moment point (ZMP) that the feet shall have, in ``world`` of the gait [m].
            # (2,)
    """

    fastest = BodyVelocity(x=0.3, y=0.1, yaw=0.35)
    gait: Gait

    def __init__(
        self,
        robot: RobotModel,  # its initial configuration gives the height and the pose of the arms
        feet: Sequence[str],  # names of the bodies of left and right foot
        sensors: Sequence[str],  # names of their force-torque sensors
        *,
        imu: str = "",  # name of the IMU; empty for the only one, of the base if it has one
        joints: Sequence[str] = (),  # joints that it moves; empty for all
    ) -> None:
        """Prepare for a robot; call `begin` before the first `step`."""
        self._robot, self._sensors, self._period = robot, tuple(sensors), 1.0
        self.estimator = BaseEstimator(robot, feet, imu=imu, force_sensors=sensors)
        soles = self.estimator.soles
        for sole in soles:
            if not sole.half_size.min() > 0.0:
                raise UserInputError(
                    f"foot '{sole.name}' has no flat sole: its collision geometry touches level "
                    "ground in a point or a line"
                )
        self._com = ComTask(weight=_COM_WEIGHT)
        self._feet = [FrameTask.of_sole(sole, weight=_CONTACT_WEIGHT) for sole in soles]
        weights = np.repeat((0.0, _TRUNK_WEIGHT), 3)
        self._trunk = FrameTask(self.estimator.robot.base, weight=weights)
        tasks = (self._com, *self._feet, self._trunk)
        self._control = WholeBodyControl(robot, feet[0], tasks, period=self._period, joints=joints)
        self.joints = chosen = self._control.joints
        self.home = robot.home[chosen]
        self._rest = JointTask(self.home, weight=_JOINT_WEIGHT)
        self._control.tasks = (*tasks, self._rest)
        self._others = np.setdiff1d(np.arange(len(robot.joints)), chosen)
        body = self._control.body
        self.gravity = -float(robot.model.opt.gravity[2])
        self._half_sizes = np.array([sole.half_size for sole in soles])
        self._control.start(np.zeros(3), _UPRIGHT, self.home)
        at = np.array([task.frame(body)[0] for task in self._feet])
        self._height = float(body.com[2] - at[:, 2].min())
        self._width = float(np.hypot(*(at[LEFT] - at[RIGHT])[:2]))
        self._omega = sqrt(self.gravity / self._height)
        self._feed_forward = stabilizer.FeedForward(body, soles)
        self._goal = self._planned = Footstep(LEFT, 0.0, 0.0, 0.0)
        self._quat, self._axes, self._turn = np.zeros(4), np.zeros(9), np.zeros(3)
        self._next, self._references = np.zeros(len(chosen)), np.zeros((3, len(chosen)))
        self.dcm_error, self.zmp = np.zeros(2), np.zeros(2)

    def begin(self, observation: Observation, config: WalkerConfig, period: float) -> None:
        self._period = self._control.period = period
        weight = self._control.body.mass * self.gravity
        self._limits = np.maximum(self._half_sizes - config.sole_margin, 0.0)
        self._feedback = stabilizer.DcmFeedback(config, self._omega)
        self._landing, self._swing_yaw = foot_motion.Landing(weight), 0.0
        self._admittance = foot_motion.FootAdmittance(
            self._robot, self._sensors, config, weight, self._half_sizes
        )
        self._feed_forward.reset()
        self.home[:] = self._robot.home[self.joints]
        self.estimator.reset()
        pose = self.estimator.update(observation).pose
        self._set_others(observation)
        self._control.start(pose.position, pose.quat_wxyz, observation.q[self.joints])
        feet = []
        for side, task in zip((LEFT, RIGHT), self._feet, strict=True):
            origin, axes = task.frame(self._control.body)
            x, y, z = origin.tolist()
            feet.append(Footstep(side, x, y, atan2(axes[1, 0], axes[0, 0]), z))
            tilt = foot_motion.roll_and_pitch(axes)
            self._admittance.tilt[side] = self._admittance.ground[side] = tilt
            task.linear[:] = task.angular[:] = 0.0
        self.gait, self.goal = Gait(config, self._omega, self._width), None
        half_size, least = self._limits.min(axis=0), config.least_width
        self._adjustment = footsteps.StepAdjustment(self._omega, half_size, least)
        self.gait.start((feet[LEFT], feet[RIGHT]))
        self.gait.slope[:] = np.mean([self._slope_under(side) for side in (LEFT, RIGHT)], axis=0)
        self._com.hold(self._control.body)
        self._rest.q[:] = observation.q[self.joints]

    @property
    def body(self) -> FloatingBaseKinematics:
        return self._control.body

    def add_tasks(self, tasks: Sequence[WholeBodyTask]) -> None:
        """Fulfil further tasks from the next `step` on."""
        self._control.tasks = (*self._control.tasks, *tasks)

    def stiffen(self, joints: Sequence[str], weight: float) -> None:
        """Keep joints near `home` with a larger weight; the other joints have 0.01."""
        for name in joints:
            if name not in self._robot.joints:
                raise unknown("joint", name, self._robot.joints)
            self._rest.weight[self.joints == self._robot.joints.index(name)] = weight

    def relax(self) -> None:
        """Approach `home` from the present configuration again, slowly."""
        self._rest.q[:] = self._control.q

    @property
    def is_at_rest(self) -> bool:
        return self.gait.phase is None

    def place(self) -> PlanarPose:
        """Return the estimated pose between the feet, as if both stood beside the support foot."""
        phase, data = self.gait.phase, self.estimator.robot.data
        feet, half = [], 0.5 * self._width
        for side, sole in enumerate(self.estimator.soles):
            origin, axes = sole.frame(data)
            yaw = atan2(axes[1, 0], axes[0, 0])
            x, y = turned(0.0, -half if side == LEFT else half, yaw)
            feet.append(PlanarPose(float(origin[0]) + x, float(origin[1]) + y, yaw))
        if phase is not None and phase.support is not None:
            return feet[phase.support.side]
        left, right = feet
        x, y = 0.5 * (left.x + right.x), 0.5 * (left.y + right.y)
        return PlanarPose(x, y, footsteps.mean_yaw(left.yaw, right.yaw, 0.5))

    def step(self, observation: Observation, velocity: BodyVelocity) -> np.ndarray:
        self.estimator.update(observation)
        self.gait.step(self._period, velocity, self._is_steady(), self._admittance.is_flat)
        yaws, support = self._place_feet()
        reference = self.gait.reference()
        dcm = self._measured_dcm(yaws)
        if support is not None and self._adjust_step(dcm, reference.zmp, support):
            reference = self.gait.reference()
        self.dcm_error = dcm - reference.dcm
        zmp = self._feedback.zmp(dcm, reference.dcm, reference.zmp, self._period)
        self.zmp = zmp + self._feed_forward.zmp_offset
        loads, pressure = self._distribute(self.zmp, yaws, support)
        slope = foot_motion.tilt_on(self.gait.slope, yaws[LEFT if support is None else 1 - support])
        rise = self.gait.feet[LEFT].z - self.gait.feet[RIGHT].z
        self._admittance.step(
            *(observation, self.estimator, loads, pressure, support, slope, rise, self._period)
        )
        self._move_com(reference.dcm)
        self._comply(yaws)
        step, rest = _TURN * self._period, self._rest.q
        np.minimum(self.home, rest + step, out=self._next)
        np.maximum(self._next, rest - step, out=rest)
        control, references = self._control, self._references
        self._set_others(observation)
        control.step()
        references[0], references[1] = control.q, control.dq
        references[2] = self._feed_forward.torques(control.velocity, loads, pressure, self._period)
        return references

    def draw(self) -> Drawing:
        least = _UNLOADED * self.estimator.robot.mass * self.gravity
        return draw_walk(self.estimator, self.gait, self.dcm_error, self.zmp, least)

    def _set_others(self, observation: Observation) -> None:
        if len(self._others):
            positions = self._control.body.data.qpos
            positions[self._robot.qpos[self._others]] = observation.q[self._others]

    def _is_steady(self) -> bool:
        """Return whether the foot that has landed last can carry the robot alone."""
        weight = self._control.body.mass * self.gravity
        is_alone = float(self.estimator.loads[1 - self._goal.side]) < _UNLOADED * weight
        return is_alone or hypot(*self.dcm_error.tolist()) < _UNSTEADY

    def _place_feet(self) -> tuple[list[float], int | None]:
        gait = self.gait
        if gait.phase is None or gait.phase.swing is None:
            self._search()
        elif gait.elapsed == 0.0:
            self._lift_off(gait.phase.swing)
        phase = gait.phase
        yaws, support = [foot.yaw for foot in gait.feet], None
        for foot, task in zip(gait.feet, self._feet, strict=True):
            if phase is None or phase.swing is None or phase.swing.side != foot.side:
                task.position[:] = foot.x, foot.y, foot.z
                continue
            support = 1 - foot.side
            task.position[:], yaws[foot.side] = self._swing(foot, phase.segment.duration)
        return yaws, support

    def _search(self) -> None:
        """Lower a foot that has not landed at the end of its swing."""
        side = self._goal.side
        down = self._landing.search(float(self.estimator.loads[side]), self._period)
        if down > 0.0:
            self.gait.raise_feet(*((-down, 0.0) if side == LEFT else (0.0, -down)))

    def _lift_off(self, planned: Footstep) -> None:
        """Begin a swing: take the heights that the feet have, and the slope of the support foot."""
        support = 1 - planned.side
        lift = 0.5 * self._admittance.lift
        self.gait.raise_feet(lift, -lift)
        self._admittance.lift = 0.0
        self._landing.begin()
        self._goal = self._planned = planned
        self._adjustment.begin(self.gait.feet[support], planned)
        foot_motion.approach(self.gait.slope, self._slope_under(support))

    def _slope_under(self, foot: int) -> np.ndarray:
        """Return the rise of the ground under a foot along x and y of ``world``.  # (2,)"""
        return foot_motion.slope_under(self._admittance.ground[foot], self.gait.feet[foot].yaw)

    def _swing(self, start: Footstep, duration: float) -> tuple[np.ndarray, float]:
        gait, landing = self.gait, self._landing
        height, progress = gait.config.step_height, gait.progress
        place, yaw = foot_motion.swing(start, self._goal, height, progress, duration)
        load = float(self.estimator.loads[start.side])
        if not landing.has_landed:
            self._swing_yaw = yaw
        landing.step(place, progress, load, self._period)
        if landing.has_landed or progress > foot_motion.TOUCHDOWN:
            x, y, z = landing.position.tolist()
            gait.land_at(Footstep(start.side, x, y, self._swing_yaw, z))
        return landing.position, self._swing_yaw

    def _adjust_step(self, dcm: np.ndarray, zmp: np.ndarray, support: int) -> bool:
        """Move the goal of the swing foot; return whether it is in the air."""
        gait, phase = self.gait, self.gait.phase
        remaining = (1.0 - gait.progress) * gait.config.single_support
        if phase is None or self._landing.has_landed or gait.progress > _LAST_ADJUSTMENT:
            return False
        foot, transfer = gait.feet[support], gait.config.double_support
        adjustment, planned = self._adjustment, gait.planned_end
        adjustment.step(dcm, planned, zmp, foot, transfer, remaining, self._period)
        x, y = (self._planned.point + adjustment.offset).tolist()
        self._goal = footsteps.on_slope(self._planned._replace(x=x, y=y), foot, gait.slope)
        gait.land_at(self._goal)
        return True

    def _measured_dcm(self, yaws: Sequence[float]) -> np.ndarray:
        """Return the DCM as if the soles that carry the robot were at their places.  # (2,)"""
        body, share = self.estimator.robot, self.gait.share
        at_x = at_y = turn = 0.0  # place of the soles
        x, y, _ = (body.com + body.com_velocity / self._omega).tolist()
        parts = (1.0 - share, share)
        for sole, task, yaw, part in zip(
            self.estimator.soles, self._feet, yaws, parts, strict=True
        ):
            origin, axes = sole.frame(body.data)
            at_x += part * float(task.position[0])
            at_y += part * float(task.position[1])
            x -= part * float(origin[0])
            y -= part * float(origin[1])
            error = yaw - atan2(axes[1, 0], axes[0, 0])
            turn += part * atan2(sin(error), cos(error))
        x, y = turned(x, y, turn)
        return np.array([at_x + x, at_y + y])

    def _distribute(
        self, zmp: np.ndarray, yaws: Sequence[float], support: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the loads of the feet [N] and their centres of pressure [m]; see `distribute`."""
        soles = np.array([task.position[:2] for task in self._feet])
        axes = np.array([(cos(yaw), sin(yaw)) for yaw in yaws])
        alone = None if support is None else float(support)
        share, pressure = stabilizer.distribute(zmp, soles, axes, self._limits, alone)
        weight = self._control.body.mass * self.gravity
        return weight * np.array([1.0 - share, share]), pressure

    def _move_com(self, dcm: np.ndarray) -> None:
        position, step = self._com.position, _RISE * self._period
        position[:2] += self._period * self._omega * (dcm - position[:2])
        left, right = (task.position[2] for task in self._feet)
        height = self._height + left + self.gait.share * (right - left)
        position[2] += min(max(height - position[2], -step), step)

    def _comply(self, yaws: Sequence[float]) -> None:
        """Set the orientations of feet and trunk, and shift the feet by the admittance."""
        lift = 0.5 * self._admittance.lift
        quat, axes, turn = self._quat, self._axes, self._turn
        for task, yaw, tilt, up in zip(
            self._feet, yaws, self._admittance.tilt, (lift, -lift), strict=True
        ):
            task.position[2] += up
            quat[:] = cos(0.5 * yaw), 0.0, 0.0, sin(0.5 * yaw)
            turn[:2] = tilt
            mujoco.mju_quatIntegrate(quat, turn, 1.0)
            mujoco.mju_quat2Mat(axes, quat)
            task.rotation[:] = axes.reshape(3, 3)
        yaw = footsteps.mean_yaw(yaws[LEFT], yaws[RIGHT], 0.5)
        self._trunk.rotation[:2, :2] = (cos(yaw), -sin(yaw)), (sin(yaw), cos(yaw))
