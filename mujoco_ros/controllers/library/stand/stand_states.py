"""States of `stand`, which commands only the legs."""

from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.observation import Observation, named_reading
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.controllers.library.base_states import ExtendedState, quintic, tilt_of
from mujoco_ros.controllers.library.config_checks import CheckedConfig, Positive, PositiveInt
from mujoco_ros.controllers.library.stand.stance import Shift, Stance
from mujoco_ros.model.errors import UserInputError, ambiguous
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.sensors.robot_sensors import choose_imu, find_sensor_site


class BaseTilt:
    """Measures the tilt of the base: by its pose, or else by an IMU with orientation."""

    def __init__(self, robot: RobotModel, imu: str = "") -> None:
        """Use an IMU by name; empty for the only one, of the base if it has one."""
        self._robot, self._imu = robot, imu
        self._chosen: dict[tuple[str, ...], str] = {}

    def angle(self, observation: Observation) -> float | None:
        """Return the angle between the base's z axis and the vertical [rad]; None if unknown."""
        if observation.base is not None:
            return tilt_of(observation.base.pose.quat_wxyz)
        found = {
            name: imu.quat_wxyz
            for name, imu in observation.imus.items()
            if imu.quat_wxyz is not None
        }
        if not found and not self._imu:
            return None
        name = self._imu or self._choose(tuple(found))
        return tilt_of(named_reading("IMU with orientation", name, found))

    def _choose(self, names: tuple[str, ...]) -> str:
        """Return the IMU of the base; searching its sites takes too long for each tick."""
        if len(names) == 1:
            return names[0]
        if names not in self._chosen:
            model, prefix = self._robot.model, self._robot.prefix
            every = {name: find_sensor_site(model, prefix, name) for name in names}
            sites = {name: site for name, site in every.items() if site >= 0}
            if not sites:
                raise ambiguous("IMU", every, "name one as 'imu'")
            root = int(model.body_rootid[model.dof_bodyid[self._robot.dof[0]]])
            self._chosen[names] = choose_imu(model, sites, root)
        return self._chosen[names]


def sweep_of(values: np.ndarray, configurations: np.ndarray) -> CubicSpline:
    """Return joint positions (m, k) as a smooth function of one number (m,)."""
    if len(values) < 2:
        raise UserInputError(
            "the robot cannot leave its initial configuration with its feet in place"
        )
    return CubicSpline(values, configurations)


_STEP_M = 0.01  # distance between two computed configurations
_MAX_DEPTH = 0.5  # largest depth of a squat, as part of the height


class StandConfig(CheckedConfig):
    """Settings of all states of `stand`."""

    feet: tuple[str, ...] = setting(
        "Names of foot bodies and of their touch sensors; names that the robot lacks are ignored"
    )
    max_tilt: Positive = setting("Tilt of the base at which the robot has fallen [rad]", 0.5)
    max_drop: Positive = setting("Height error of the base at which the robot has fallen [m]", 0.1)
    imu: str = setting(
        "Name of the IMU of the tilt where the base is not observed; empty for the only one, of "
        "the base if it has one",
        "",
    )


class SweepConfig(StandConfig):
    """Settings of a motion along a sweep."""

    duration: Positive = setting("Time from the initial configuration back to it [s]", 4.0)
    least_load: Positive = setting("Minimum load of a foot in contact [N]", 1.0)
    patience: Positive = setting("Longest tolerated loss of contact of a foot [s]", 0.2)


class BalancedState(ExtendedState, failures=("fell",)):
    """Base of all states: legs, and detection of a fall."""

    config: StandConfig

    def configure(self, robot: RobotModel, store: Store) -> None:
        model, prefix = robot.model, robot.prefix
        bodies = {model.body(body).name for body in range(model.nbody)}
        self.feet = tuple(foot for foot in self.config.feet if prefix + foot in bodies)
        if not self.feet:
            raise UserInputError(
                f"robot '{robot.name}' has none of the feet {', '.join(self.config.feet)}"
            )
        feet = [prefix + foot for foot in self.feet]
        self.stance = Stance(model, robot.qpos, robot.dof, robot.home, feet)
        self.legs = self.stance.legs
        self.home = robot.home[self.legs]
        self._tilt = BaseTilt(robot, self.config.imu)

    def start(self, context: StateContext) -> None:
        """Hold the legs at their references; release all other joints."""
        references, legs = context.references, self.legs
        others = np.ones(references.q.shape, dtype=bool)
        others[legs] = False
        references.values[:, others] = np.nan
        references.values[1:, legs] = 0.0
        unset = legs[np.isnan(references.q[legs])]
        references.q[unset] = context.observation.q[unset]
        base = context.observation.base
        self._height = None if base is None else float(base.pose.position[2])

    def has_fallen(self, context: StateContext, depth: float = 0.0) -> bool:
        """Return whether the robot has fallen, and set the reason; `depth` is of a squat [m]."""
        angle, base = self._tilt.angle(context.observation), context.observation.base
        if angle is not None and angle > self.config.max_tilt:
            context.reason = f"the base is tilted by {angle:.2f} rad"
            return True
        if base is not None and self._height is not None:
            drop = self._height - depth - float(base.pose.position[2])
            if drop > self.config.max_drop:
                context.reason = f"the base is {drop:.2f} m too low"
                return True
        return False


class GetReady(BalancedState, outcomes=("done",), failures=("blocked",)):
    """Moves the legs to the initial configuration."""

    class Config(StandConfig):
        """Settings of `GetReady`."""

        duration: Positive = setting("[s]", 2.0)
        tolerance: Positive = setting("Largest final position error of a leg joint [rad]", 0.1)

    config: Config

    def start(self, context: StateContext) -> None:
        super().start(context)
        self._start = context.references.q[self.legs].copy()
        self._height = None  # the height of the base can change in both directions

    def run(self, context: StateContext) -> str | None:
        if self.has_fallen(context):
            return "fell"
        references, legs, distance = context.references, self.legs, self.home - self._start
        duration = self.config.duration
        part, rate, _ = quintic(min(context.elapsed / duration, 1.0))
        references.q[legs] = self._start + distance * part
        references.dq[legs] = distance * (rate / duration)
        if not context.has_elapsed(duration):
            return None
        error = np.abs(context.observation.q[legs] - self.home)
        if error.max() > self.config.tolerance:
            joint = context.robot.joints[legs[int(np.argmax(error))]]
            context.reason = f"joint '{joint}' is {error.max():.2f} rad from its initial position"
            return "blocked"
        return "done"


class HoldPosture(BalancedState):
    """Holds the current configuration."""

    Config = StandConfig

    def run(self, context: StateContext) -> str | None:
        return "fell" if self.has_fallen(context) else None


class SweepState(BalancedState, outcomes=("done",), failures=("lost_contact", "out_of_reach")):
    """Moves the legs along a sweep and back to its start."""

    config: Any
    sweep: Any  # configurations by distance from the initial one [m], a `CubicSpline`
    farthest: float  # largest possible distance [m]

    def start(self, context: StateContext) -> None:
        super().start(context)
        self._lost_at: float | None = None
        self._amplitude = self.amplitude()

    def amplitude(self) -> float:
        raise NotImplementedError

    def profile(self, s: float) -> tuple[float, float]:
        """Return a fraction of the amplitude, and its derivative by `s`, which is from 0 to 1."""
        raise NotImplementedError

    def depth(self, distance: float) -> float:
        """Return the change of height of the base at a distance [m]."""
        return 0.0

    def run(self, context: StateContext) -> str | None:
        config, references, amplitude = self.config, context.references, self._amplitude
        if amplitude > self.farthest:
            context.reason = f"{amplitude:.3f} m requested, {self.farthest:.3f} m possible"
            return "out_of_reach"
        part, slope = self.profile(min(context.elapsed / config.duration, 1.0))
        distance, speed = amplitude * part, amplitude * slope / config.duration
        references.q[self.legs] = self.sweep(distance)
        references.dq[self.legs] = self.sweep(distance, 1) * speed
        if self.has_fallen(context, self.depth(distance)):
            return "fell"
        if self._has_lost_contact(context):
            return "lost_contact"
        return "done" if context.has_elapsed(config.duration) else None

    def _has_lost_contact(self, context: StateContext) -> bool:
        touches, least = context.observation.touches, self.config.least_load
        feet = [foot for foot in self.feet if touches.get(topic_token(foot), np.inf) < least]
        if not feet:
            self._lost_at = None
            return False
        if self._lost_at is None:
            self._lost_at = context.time
        context.reason = f"{', '.join(feet)} lost contact"
        return bool(context.time - self._lost_at > self.config.patience)


class Squat(SweepState):
    """Moves the base down and up, with the centre of mass at a fixed horizontal position."""

    class Config(SweepConfig):
        """Settings of `Squat`."""

        depth: Positive = setting("Depth, as part of the height of the base above the feet", 0.15)

    config: Config

    def configure(self, robot: RobotModel, store: Store) -> None:
        super().configure(robot, store)
        depths = np.arange(0.0, _MAX_DEPTH * self.stance.height, _STEP_M)
        found = self.stance.sweep([Shift(down=depth) for depth in depths])
        self.sweep = sweep_of(depths[: len(found)], found)
        self.farthest = float(depths[len(found) - 1])

    def amplitude(self) -> float:
        return self.config.depth * self.stance.height

    def profile(self, s: float) -> tuple[float, float]:
        return float(np.sin(np.pi * s) ** 2), float(np.pi * np.sin(2.0 * np.pi * s))

    def depth(self, distance: float) -> float:
        return distance


class Sway(SweepState):
    """Moves the centre of mass to the left and to the right."""

    class Config(SweepConfig):
        """Settings of `Sway`."""

        width: Positive = setting(
            "Lateral amplitude of the centre of mass, as part of half the distance between the "
            "feet",
            0.4,
        )
        cycles: PositiveInt = setting("Number of cycles to both sides", 1)

    config: Config

    def configure(self, robot: RobotModel, store: Store) -> None:
        super().configure(robot, store)
        shifts = np.arange(0.0, self.stance.half_width, _STEP_M)
        left = self.stance.sweep([Shift(aside=shift) for shift in shifts])
        right = self.stance.sweep([Shift(aside=-shift) for shift in shifts])
        values = np.concatenate((-shifts[1 : len(right)][::-1], shifts[: len(left)]))
        self.sweep = sweep_of(values, np.concatenate((right[:0:-1], left)))
        self.farthest = float(min(values[-1], -values[0]))

    def amplitude(self) -> float:
        return self.config.width * self.stance.half_width

    def profile(self, s: float) -> tuple[float, float]:
        turns, half = 2.0 * np.pi * self.config.cycles, np.pi
        swing, envelope = np.sin(turns * s), np.sin(half * s)
        slope = turns * np.cos(turns * s) * envelope**2 + swing * half * np.sin(2.0 * half * s)
        return float(swing * envelope**2), float(slope)


class Limp(BalancedState):
    """Makes the legs compliant, with damping only, after a fall."""

    outcomes = ()
    failures = ()
    Config = StandConfig

    def run(self, context: StateContext) -> str | None:
        context.references.q[self.legs] = context.observation.q[self.legs]
        return None


STATES: tuple[type[State], ...] = (GetReady, HoldPosture, Squat, Sway, Limp)
