"""Two hands that press against the sides of a box and hold it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import cos, sin

import mujoco
import numpy as np

from mujoco_ros.controllers.interface.observation import Observation, named_reading
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.config_checks import CheckedConfig, Positive
from mujoco_ros.controllers.library.walk.walker import Walker
from mujoco_ros.controllers.planning.kinematics.chain import tool_ids
from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.whole_body.tasks import WholeBodyTask
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.sensors.robot_sensors import find_sensor_site

_POSITION_WEIGHT, _NORMAL_WEIGHT = 1e2, 1e1
_GAIN, _NORMAL_GAIN = 0.2, 0.03  # part of the error that is corrected in a tick
_FASTEST, _FASTEST_TURN = 0.4, 1.5  # largest velocities of a correction [m/s, rad/s]


class HandTask(WholeBodyTask):
    """Position of a point of a hand, and direction of an axis of it, both relative to the base.

    A free hand may turn about the axis, and a locked one may not. Joints between the base and the
    ground are not involved, so that the task does not disturb the balance.

    Attributes:
        position: Target in the frame of the base [m].  # (3,)
        normal: Target of the axis, in the frame of the base.  # (3,)
    """

    def __init__(self, hand: int, offset: np.ndarray, axis: np.ndarray) -> None:
        """Move a point at an offset in the frame of a body, which has an axis (3,)."""
        super().__init__(6, 0.0, _GAIN)
        self._hand, self._offset, self._axis = hand, offset, axis
        self.position, self.normal = np.zeros(3), axis.copy()
        self._jacobians, self._moved = np.zeros((2, 6, 0)), np.zeros((6, 0))
        self._across = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
        self._across /= np.linalg.norm(self._across)
        self._locked: np.ndarray | None = None

    @property
    def is_active(self) -> bool:
        return bool(self.weight[0] > 0.0)

    @is_active.setter
    def is_active(self, active: bool) -> None:
        self.weight[:] = np.repeat((_POSITION_WEIGHT, _NORMAL_WEIGHT), 3) if active else 0.0

    def bind(self, jacobian: np.ndarray, velocity: np.ndarray) -> None:
        """Write results into these arrays from now on."""
        super().bind(jacobian, velocity)
        self._jacobians = np.zeros((2, *jacobian.shape))
        self._moved = np.zeros(jacobian.shape)

    def point(self, body: FloatingBaseKinematics) -> np.ndarray:
        """Return the point in the frame of the base [m].  # (3,)"""
        data, base = body.data, body.base
        axes = data.xmat[self._hand].reshape(3, 3)
        point = data.xpos[self._hand] + axes @ self._offset - data.xpos[base]
        relative: np.ndarray = data.xmat[base].reshape(3, 3).T @ point
        return relative

    def lock(self, body: FloatingBaseKinematics) -> None:
        """Keep the present angle about the axis, until `free`."""
        data = body.data
        axes = data.xmat[body.base].reshape(3, 3).T @ data.xmat[self._hand].reshape(3, 3)
        self._locked = axes @ self._across

    def free(self) -> None:
        self._locked = None

    def compute(self, body: FloatingBaseKinematics, period: float) -> None:
        if not self.is_active:
            return
        data, base = body.data, body.base
        base_axes = data.xmat[base].reshape(3, 3)
        axes = data.xmat[self._hand].reshape(3, 3)
        point = data.xpos[self._hand] + axes @ self._offset
        of_hand, of_base = self._jacobians
        body.jacobian(point, self._hand, of_hand)
        body.jacobian(point, base, of_base)
        np.subtract(of_hand, of_base, out=self._moved)
        np.matmul(base_axes.T, self._moved[:3], out=self.jacobian[:3])
        normal = base_axes.T @ (axes @ self._axis)
        np.matmul(base_axes.T, self._moved[3:], out=self.jacobian[3:])
        velocity, rate = self.velocity, 1.0 / period
        relative = base_axes.T @ (point - data.xpos[base])
        np.subtract(self.position, relative, out=velocity[:3])
        _limit(velocity[:3], self.gain * rate, _FASTEST)
        mujoco.mju_cross(velocity[3:], normal, self.normal)
        if self._locked is None:
            self.jacobian[3:] -= np.outer(normal, normal @ self.jacobian[3:])
        else:
            twisted = np.empty(3)
            mujoco.mju_cross(twisted, base_axes.T @ (axes @ self._across), self._locked)
            velocity[3:] += normal * float(normal @ twisted)
        _limit(velocity[3:], _NORMAL_GAIN * rate, _FASTEST_TURN)


def _limit(error: np.ndarray, rate: float, fastest: float) -> None:
    """Turn an error into a velocity, in place."""
    error *= rate
    size = float(np.sqrt(error @ error))
    if size > fastest:
        error *= fastest / size


_FORCE_TIME = 0.02  # time constant of the measured forces [s]
_FARTHEST_ASIDE = 0.1  # largest displacement to the side on which the force is larger [m]
_THINNEST = 0.03  # distance by which the hands come closer than the box is wide, at most [m]


class HandsConfig(CheckedConfig):
    """The hands of a robot."""

    bodies: tuple[str, ...]  # names of the bodies of left and right hand
    force_sensors: tuple[str, ...]  # names of their force-torque sensors
    point: tuple[float, float, float]  # where a hand touches the box, in the frame of its body [m]
    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)  # of that frame, away from the box
    speed: Positive = 0.2  # velocity of the hands [m/s]
    squeeze: Positive = 40.0  # force with which each hand presses [N]
    squeeze_gain: Positive = 0.001  # velocity of the hands per error of this force [m/(s N)]
    least_squeeze: Positive = 5.0  # force below which the box is lost [N]

    def check(self) -> None:
        for name in ("bodies", "force_sensors"):
            if len(getattr(self, name)) != 2:
                raise UserInputError(f"{name} must be two names, of the left and the right hand")
        if not np.linalg.norm(self.axis) > 0.0:
            raise UserInputError("axis must not be zero")


@dataclass(slots=True)
class Grip:
    """Where the hands are, relative to the base."""

    centre: np.ndarray = field(default_factory=lambda: np.zeros(3))  # middle [m], (3,)
    half: float = 0.0  # half of their distance [m]
    yaw: float = 0.0  # direction of the box, to whose sides they belong [rad]


class Hands:
    """Moves the hands, and presses them together.

    Attributes:
        force: Force of each hand on the box [N].  # (2,)
    """

    def __init__(self, robot: RobotModel, config: HandsConfig) -> None:
        self.config, model = config, robot.model
        axis = np.array(config.axis) / np.linalg.norm(config.axis)
        self.tasks = tuple(
            HandTask(tool_ids(model, robot.prefix + name)[1], np.array(config.point), axis)
            for name in config.bodies
        )
        self._axis, self._sites = axis, []
        for name in config.force_sensors:
            site = find_sensor_site(model, robot.prefix, name)
            if site < 0:
                raise unknown("force sensor", name, [])
            self._sites.append(site)
        self._pressed = np.zeros(2)
        self.reset()

    def reset(self) -> None:
        """Begin with hands that are not moved."""
        self.goal, self._present = Grip(), Grip()
        self.force, self._load, self._tare, self._aside = np.zeros(2), 0.0, 0.0, 0.0
        self._width: float | None = None
        self._has_pressed, self._is_first = False, True
        for task in self.tasks:
            task.is_active = False
            task.free()

    @property
    def is_active(self) -> bool:
        return self.tasks[0].is_active

    @property
    def is_holding(self) -> bool:
        return self._width is not None

    @property
    def is_pressing(self) -> bool:
        """Whether they press with most of the force."""
        return bool(self.force.min() > 0.8 * self.config.squeeze)

    @property
    def has_lost(self) -> bool:
        """Whether they do not touch any more what they have pressed."""
        return self._has_pressed and bool(self.force.mean() < self.config.least_squeeze)

    @property
    def weight(self) -> float:
        """Load of the hands less the load at the last `tare` [N]."""
        return self._load - self._tare

    @property
    def is_there(self) -> bool:
        goal, present = self.goal, self._present
        return bool(
            np.abs(goal.centre - present.centre).max() < 1e-6
            and (self.is_holding or abs(goal.half - present.half) < 1e-6)
            and abs(goal.yaw - present.yaw) < 1e-6
        )

    def begin(self, walker: Walker) -> None:
        """Move the hands from now on, at first where they are."""
        if not self.is_active:
            left, right = (task.point(walker.body) for task in self.tasks)
            present, goal = self._present, self.goal
            present.centre[:] = goal.centre[:] = 0.5 * (left + right)
            present.half = goal.half = 0.5 * float(left[1] - right[1])
            present.yaw = goal.yaw = 0.0
            for task in self.tasks:
                task.is_active = True

    def end(self, walker: Walker) -> None:
        """Let the arms return to their initial configuration."""
        for task in self.tasks:
            task.is_active = False
        walker.relax()
        self.release()

    def move(self, centre: Sequence[float], half: float, yaw: float = 0.0) -> None:
        """Go to a middle (3,), with half of a distance, in the frame of the base [m, rad]."""
        self.goal.centre[:], self.goal.half, self.goal.yaw = centre, half, yaw

    def press(self, width: float, walker: Walker) -> None:
        """Press from now on against a box of a width [m], without turning it."""
        self._width, self._aside = width, 0.0
        for task in self.tasks:
            task.lock(walker.body)

    def open(self, half: float) -> None:
        """Press no more; go to half of a distance [m]."""
        self.release()
        self.goal.half = half

    def release(self) -> None:
        self._width, self._has_pressed = None, False
        for task in self.tasks:
            task.free()

    def tare(self) -> None:
        """Take the present load as the load of the empty hands."""
        self._tare = self._load

    def step(self, observation: Observation, walker: Walker, period: float) -> None:
        self._measure(observation, walker, period)
        self._has_pressed |= self.is_holding and self.is_pressing
        goal, present, config = self.goal, self._present, self.config
        step = config.speed * period
        offset = goal.centre - present.centre
        size = float(np.sqrt(offset @ offset))
        present.centre += offset * min(1.0, step / size) if size > 0.0 else 0.0
        present.yaw += min(max(goal.yaw - present.yaw, -step), step)
        if self._width is None:
            present.half += min(max(goal.half - present.half, -step), step)
        else:
            missing = config.squeeze - float(self.force.mean())
            rate = min(max(config.squeeze_gain * missing, -config.speed), 0.25 * config.speed)
            present.half = max(present.half - rate * period, 0.5 * self._width - _THINNEST)
            if self.force.min() > 0.0:  # both touch
                difference = float(self.force[0] - self.force[1])
                before, self._aside = (
                    self._aside,
                    self._aside + config.squeeze_gain * difference * period,
                )
                self._aside = min(max(self._aside, -_FARTHEST_ASIDE), _FARTHEST_ASIDE)
                goal.centre[1] += self._aside - before
                present.centre[1] += self._aside - before
        ahead, left = -sin(present.yaw), cos(present.yaw)
        for task, sign in zip(self.tasks, (1.0, -1.0), strict=True):
            task.normal[:] = sign * ahead, sign * left, 0.0
            task.position[:] = present.centre + present.half * task.normal

    def _measure(self, observation: Observation, walker: Walker, period: float) -> None:
        data, load = walker.estimator.robot.data, 0.0
        share = 1.0 if self._is_first else period / (period + _FORCE_TIME)
        self._is_first = False
        for hand, (site, name) in enumerate(
            zip(self._sites, self.config.force_sensors, strict=True)
        ):
            force = named_reading("force-torque sensor", name, observation.wrenches).force
            self._pressed[hand] = self._axis @ force
            load -= float(data.site_xmat[site].reshape(3, 3)[2] @ force)
        self.force += share * (self._pressed - self.force)
        self._load += share * (load - self._load)
