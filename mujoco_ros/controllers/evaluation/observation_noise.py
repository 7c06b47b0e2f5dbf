"""White noise of sensors, added to observations."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import sqrt

import numpy as np

from mujoco_ros.controllers.interface.observation import (
    ImuReading,
    Observation,
    Pose,
    WrenchReading,
)
from mujoco_ros.controllers.library.config_checks import CheckedConfig, NotNegative

ObservationFilter = Callable[[Observation], Observation]


@dataclass(frozen=True, kw_only=True, slots=True)
class Noise(CheckedConfig):
    """Standard deviations at every tick.

    Attributes:
        position: Joint positions [rad or m].
        velocity: Joint velocities [rad/s or m/s].
        effort: Actuator efforts, as part of the effort.
        force: Forces of force-torque and touch sensors [N]; the latter do not become negative.
        torque: Torques of force-torque sensors [Nm].
        rate: Angular velocities of IMUs [rad/s].
        acceleration: Accelerations of IMUs [m/s²].
        orientation: Orientations of IMUs, about each axis [rad].
        place: Positions of objects, along each axis [m].
        turn: Orientations of objects, about each axis [rad].
    """

    position: NotNegative = 0.0
    velocity: NotNegative = 0.0
    effort: NotNegative = 0.0
    force: NotNegative = 0.0
    torque: NotNegative = 0.0
    rate: NotNegative = 0.0
    acceleration: NotNegative = 0.0
    orientation: NotNegative = 0.0
    place: NotNegative = 0.0
    turn: NotNegative = 0.0


USUAL = Noise(
    position=1e-5,
    velocity=1e-3,
    effort=0.01,
    force=0.1,
    torque=0.005,
    rate=3e-3,
    acceleration=0.03,
    orientation=1e-3,
    place=2e-4,
    turn=2e-3,
)
"""Encoders with 19 bits; a mid-range force-torque sensor and mid-range marker tracking; an IMU with
the noise of MEMS in a bandwidth of 100 Hz, i.e. 0.012°/s and 0.2 mg per √Hz."""


def scaled(noise: Noise, factor: float) -> Noise:
    """Return noise with all deviations multiplied by a factor."""
    return Noise(**{field.name: factor * getattr(noise, field.name) for field in fields(noise)})


_TICKS = 256
"""Number of ticks per draw of noise; one draw per tick takes longer than a step."""


def noise_filter(noise: Noise, seed: int) -> ObservationFilter:
    """Return a function that adds noise to observations, also to those of several robots."""
    single = _NoiseFilter(noise, seed)
    several: dict[str, _NoiseFilter] = {}

    def apply(observation: Observation) -> Observation:
        if not observation.robots:
            return single.apply(observation)
        for number, name in enumerate(observation.robots):
            if name not in several:
                several[name] = _NoiseFilter(noise, (seed, number))
        return Observation.of_several(
            {name: several[name].apply(it) for name, it in observation.robots.items()}
        )

    return apply


class _NoiseFilter:
    def __init__(self, noise: Noise, seed: int | tuple[int, int]) -> None:
        self._noise, self._random = noise, np.random.default_rng(seed)
        self._drawn = np.empty((0, 0))
        self._row = 0

    def apply(self, observation: Observation) -> Observation:
        q, wrenches, objects = observation.q, observation.wrenches, observation.objects
        n, imus, touches = len(q), observation.imus, observation.touches
        noise = self._draw(n, len(wrenches), len(objects), len(imus), len(touches))
        wrench_noise = noise[3 * n :]
        object_noise = wrench_noise[6 * len(wrenches) :]
        imu_noise = object_noise[6 * len(objects) :]
        touch_noise = imu_noise[9 * len(imus) :].tolist()
        return replace(
            observation,
            q=q + noise[:n],
            dq=observation.dq + noise[n : 2 * n],
            effort=observation.effort * noise[2 * n : 3 * n],
            wrenches={
                name: _noisy_wrench(wrench, wrench_noise[6 * i : 6 * i + 6])
                for i, (name, wrench) in enumerate(wrenches.items())
            },
            imus={
                name: _noisy_imu(imu, imu_noise[9 * i : 9 * i + 9])
                for i, (name, imu) in enumerate(imus.items())
            },
            touches={
                name: max(0.0, force + noise)
                for (name, force), noise in zip(touches.items(), touch_noise, strict=True)
            },
            objects={
                name: _noisy_pose(pose, object_noise[6 * i : 6 * i + 6])
                for i, (name, pose) in enumerate(objects.items())
            },
        )

    def _draw(
        self, joints: int, wrenches: int, objects: int, imus: int, touches: int
    ) -> np.ndarray:
        """Return the additive noise of one tick; efforts have factors."""
        size = 3 * joints + 6 * (wrenches + objects) + 9 * imus + touches
        if self._row == len(self._drawn) or size != self._drawn.shape[1]:
            noise = self._noise
            deviation = np.repeat(
                (noise.position, noise.velocity, noise.effort)
                + wrenches * (noise.force, noise.torque)
                + objects * (noise.place, 0.5 * noise.turn)
                + imus * (noise.rate, noise.acceleration, 0.5 * noise.orientation)
                + (noise.force,),
                3 * (joints,) + (2 * (wrenches + objects) + 3 * imus) * (3,) + (touches,),
            )
            self._drawn = self._random.standard_normal((_TICKS, size)) * deviation
            self._drawn[:, 2 * joints : 3 * joints] += 1.0
            self._row = 0
        self._row += 1
        drawn: np.ndarray = self._drawn[self._row - 1]
        return drawn


def _noisy_wrench(wrench: WrenchReading, noise: np.ndarray) -> WrenchReading:
    return WrenchReading(force=wrench.force + noise[:3], torque=wrench.torque + noise[3:])


def _noisy_imu(imu: ImuReading, noise: np.ndarray) -> ImuReading:
    quat = imu.quat_wxyz
    return ImuReading(
        angular_velocity=imu.angular_velocity + noise[:3],
        linear_acceleration=imu.linear_acceleration + noise[3:6],
        quat_wxyz=None if quat is None else _turned(quat, noise[6:]),
    )


def _noisy_pose(pose: Pose, noise: np.ndarray) -> Pose:
    quat = _turned(pose.quat_wxyz, noise[3:])
    return Pose(position=pose.position + noise[:3], quat_wxyz=quat)


def _turned(quat_wxyz: np.ndarray, half_angles: np.ndarray) -> np.ndarray:
    """Return an orientation after a rotation in its own frame by twice small angles."""
    x, y, z = half_angles.tolist()
    a, b, c, d = quat_wxyz.tolist()
    quat = np.array(
        (
            a - b * x - c * y - d * z,
            b + a * x + c * z - d * y,
            c + a * y + d * x - b * z,
            d + a * z + b * y - c * x,
        )
    )
    quat /= sqrt(quat.dot(quat))
    return quat
