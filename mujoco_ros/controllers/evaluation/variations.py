"""Conditions of episodes: noise, ranges, delays, pushes, and changes of the model."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from math import ceil, sqrt
from typing import Annotated, Any, Generic, TypeVar

import mujoco
import numpy as np

from mujoco_ros.controllers.interface.observation import (
    ImuReading,
    Observation,
    Pose,
    WrenchReading,
)
from mujoco_ros.controllers.library.config_checks import (
    CheckedConfig,
    NotNegative,
    check_not_negative,
    check_positive,
)
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.simulation import Simulation

ObservationFilter = Callable[[Observation], Observation]


class Noise(CheckedConfig):
    """Standard deviations at every tick."""

    position: NotNegative = 0.0  # joint positions [rad or m]
    velocity: NotNegative = 0.0  # joint velocities [rad/s or m/s]
    effort: NotNegative = 0.0  # actuator efforts, as part of the effort
    force: NotNegative = 0.0  # forces; of touch sensors, they do not become negative [N]
    torque: NotNegative = 0.0  # torques of force-torque sensors [Nm]
    rate: NotNegative = 0.0  # angular velocities of IMUs [rad/s]
    acceleration: NotNegative = 0.0  # accelerations of IMUs [m/s²]
    orientation: NotNegative = 0.0  # orientations of IMUs, about each axis [rad]
    place: NotNegative = 0.0  # positions of objects, along each axis [m]
    turn: NotNegative = 0.0  # orientations of objects, about each axis [rad]


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


_TICKS = 256  # number of ticks per draw of noise; one draw per tick takes longer than a step


def noise_filter(noise: Noise, seed: int) -> ObservationFilter:
    """Return a function that adds noise to the observations of one or several robots."""
    single = _NoiseFilter(noise, seed)
    several: dict[str, _NoiseFilter] = {}

    def apply(observation: Observation) -> Observation:
        if not observation.robots:
            return single.apply(observation)
        for number, name in enumerate(observation.robots):
            if name not in several:
                several[name] = _NoiseFilter(noise, (seed, number))
        return Observation.of_several(
            {name: several[name].apply(seen) for name, seen in observation.robots.items()}
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
        sensors: dict[str, Any] = {
            "wrenches": {
                name: _noisy_wrench(wrench, wrench_noise[6 * i : 6 * i + 6])
                for i, (name, wrench) in enumerate(wrenches.items())
            },
            "imus": {
                name: _noisy_imu(imu, imu_noise[9 * i : 9 * i + 9])
                for i, (name, imu) in enumerate(imus.items())
            },
            "touches": {
                name: max(0.0, force + noise)
                for (name, force), noise in zip(touches.items(), touch_noise, strict=True)
            },
        }
        return replace(
            observation,
            q=q + noise[:n],
            dq=observation.dq + noise[n : 2 * n],
            effort=observation.effort * noise[2 * n : 3 * n],
            **sensors,
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


_T = TypeVar("_T")


def _check_order(name: str, pair: tuple[float, float] | None) -> None:
    if pair is not None and not pair[0] <= pair[1]:
        raise UserInputError(f"{name} from {pair[0]:g} to {pair[1]:g} is reversed")


Range = Annotated[tuple[float, float], _check_order]
"""Smallest and largest value of a condition, which is uniformly distributed between them."""
OptionalRange = Annotated[tuple[float, float] | None, _check_order]
PositiveRange = Annotated[Range, lambda name, pair: check_positive(name, pair[0])]
NotNegativeRange = Annotated[Range, lambda name, pair: check_not_negative(name, pair[0])]


CommandFilter = Callable[[float, np.ndarray], np.ndarray]
"""Returns the commands (3, n) that act after the tick at a time [s], given the tick's commands."""
_ROUNDING = 1e-6  # of the times of ticks [s]


def delayed_commands(delay: float) -> CommandFilter:
    """Return a filter that delays commands by `delay` [s]; the first ones act at once."""
    line: _DelayLine[np.ndarray] = _DelayLine(delay)
    return lambda time, values: line.pass_through(time, values.copy())[1]


def delayed_poses(delay: float, inner: ObservationFilter) -> ObservationFilter:
    """Return a filter that delays the poses of objects by `delay` [s], after an inner filter.

    `Observation.object_times` has the times of the measurements. The poses of the first
    observation count until later poses are old enough. Each of several robots has its own poses.
    """
    lines: dict[str, _DelayLine[Mapping[str, Pose]]] = {}

    def of_one(seen: Observation, robot: str = "") -> Observation:
        line = lines.setdefault(robot, _DelayLine(delay))
        time, objects = line.pass_through(seen.time, seen.objects)
        return replace(seen, objects=objects, object_times=dict.fromkeys(objects, time))

    def apply(observation: Observation) -> Observation:
        seen = inner(observation)
        if not seen.robots:
            return of_one(seen)
        return Observation.of_several(
            {name: of_one(own, name) for name, own in seen.robots.items()}
        )

    return apply if delay > 0.0 else inner


class _DelayLine(Generic[_T]):
    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._samples: deque[tuple[float, _T]] = deque()

    def pass_through(self, time: float, value: _T) -> tuple[float, _T]:
        """Add a value; return the newest that is old enough, or the first one, with its time."""
        samples = self._samples
        samples.append((time, value))
        while len(samples) > 1 and samples[1][0] <= time - self._delay + _ROUNDING:
            samples.popleft()
        return samples[0]


Push = tuple[float, float, float]
"""Impulse per mass of the robot [m/s], level direction [rad] and begin [s]."""
_PUSH_S = 0.1  # duration of a push [s]


def draw_pushes(
    random: np.random.Generator, push: tuple[float, float], period: float, duration: float
) -> dict[str, float]:
    """Draw one push in each period [s] of a duration [s]; none if all would be zero."""
    drawn: dict[str, float] = {}
    for number in range(ceil(duration / period) if push[1] > 0.0 else 0):
        drawn[f"push_{number}"] = random.uniform(*push)
        drawn[f"push_direction_{number}"] = random.uniform(-np.pi, np.pi)
        drawn[f"push_at_{number}"] = (number + random.uniform(0.4, 0.9)) * period
    return drawn


def drawn_pushes(conditions: Mapping[str, float]) -> Iterator[Push]:
    """Yield the pushes that are among the conditions of an episode, in the order of their times."""
    number = 0
    while (name := f"push_{number}") in conditions:
        direction, begin = (conditions[f"push_{key}_{number}"] for key in ("direction", "at"))
        yield conditions[name], direction, begin
        number += 1


def push_base(simulation: Simulation, pushes: Iterable[Push]) -> None:
    """Apply the pushes that act now to the first base, given the pushes in order of time."""
    base, force = free_base(simulation.model), np.zeros(3)
    mass = float(simulation.model.body_subtreemass[base])
    for impulse, direction, begin in pushes:
        if begin > simulation.time:
            break
        if simulation.time - begin < _PUSH_S:
            size = impulse * mass / _PUSH_S
            force[:2] += size * np.array([np.cos(direction), np.sin(direction)])
    simulation.data.xfrc_applied[base, :3] = force


_BOX = int(mujoco.mjtGeom.mjGEOM_BOX)


def set_mass(model: mujoco.MjModel, body: int, mass: float) -> None:
    """Set the mass of a body [kg], and scale its inertia."""
    scale = mass / float(model.body_mass[body])
    model.body_mass[body] = mass
    model.body_inertia[body] *= scale


def set_box_size(model: mujoco.MjModel, body: int, size: tuple[float, float, float]) -> None:
    """Set the edges of a body whose collision geom is a box at its origin [m].

    The inertia becomes the inertia of a uniform box of the same mass. Meshes keep their size.
    """
    half = 0.5 * np.array(size)
    first = int(model.body_geomadr[body])
    geoms = range(first, first + int(model.body_geomnum[body]))
    boxes = [geom for geom in geoms if model.geom_type[geom] == _BOX and model.geom_contype[geom]]
    if len(boxes) != 1:
        raise ValueError(f"body '{model.body(body).name}' has {len(boxes)} collision boxes, not 1")
    model.geom_size[boxes[0]] = half
    model.geom_aabb[boxes[0], 3:] = half
    model.geom_rbound[boxes[0]] = np.linalg.norm(half)
    # Nodes of the hierarchy of bounding volumes may be larger than their content.
    nodes = slice(model.body_bvhadr[body], model.body_bvhadr[body] + model.body_bvhnum[body])
    model.bvh_aabb[nodes, 3:] = np.maximum(model.bvh_aabb[nodes, 3:], half)
    x, y, z = np.square(size)
    model.body_inertia[body] = model.body_mass[body] / 12.0 * np.array([y + z, x + z, x + y])


def offset_hinge(model: mujoco.MjModel, joint: int, offset: float) -> None:
    """Turn the link of a hinge against its encoder.

    Position and reference of the joint keep their meaning for encoder and drive, but the link is at
    a position that is smaller by `offset` [rad].
    """
    body, axis, anchor = int(model.jnt_bodyid[joint]), model.jnt_axis[joint], model.jnt_pos[joint]
    turn, quat, matrix = np.empty(4), np.empty(4), np.empty(9)
    mujoco.mju_axisAngle2Quat(turn, axis, -offset)
    mujoco.mju_quat2Mat(matrix, turn)
    moved = anchor - matrix.reshape(3, 3) @ anchor  # the anchor does not move
    mujoco.mju_quat2Mat(matrix, model.body_quat[body])
    model.body_pos[body] += matrix.reshape(3, 3) @ moved
    mujoco.mju_mulQuat(quat, model.body_quat[body], turn)
    model.body_quat[body] = quat


def free_base(model: mujoco.MjModel) -> int:
    """Return the first body with a free joint."""
    free = model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)
    return int(model.jnt_bodyid[int(np.argmax(free))])


def scale_masses(model: mujoco.MjModel, factors: np.ndarray) -> None:
    """Multiply mass and inertia of each body by a factor.  # (nbody,)"""
    model.body_mass[:] *= factors
    model.body_inertia[:] *= factors[:, None]


def tilt_floor(model: mujoco.MjModel, slope: float, direction: float) -> None:
    """Tilt planes, and the free base in keyframes, so that they rise in a direction [rad, rad]."""
    axis = np.array([np.sin(direction), -np.cos(direction), 0.0])
    turn, quat = np.empty(4), np.empty(4)
    mujoco.mju_axisAngle2Quat(turn, axis, slope)
    for geom in np.flatnonzero(model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)):
        mujoco.mju_mulQuat(quat, turn, model.geom_quat[geom])
        model.geom_quat[geom], model.geom_sameframe[geom] = quat, 0
    address = int(model.jnt_qposadr[int(model.body_jntadr[free_base(model)])])
    for qpos in (model.qpos0, *model.key_qpos):
        place = qpos[address : address + 3]
        mujoco.mju_rotVecQuat(place, place.copy(), turn)
        mujoco.mju_mulQuat(quat, turn, qpos[address + 3 : address + 7])
        qpos[address + 3 : address + 7] = quat
