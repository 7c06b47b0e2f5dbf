"""Wheels of a robot, recognized from the joints and shapes of its model at the zero position."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import pi

import mujoco
import numpy as np

from mujoco_ros.model.body_tree import carried, joints_of

_GEOM = mujoco.mjtGeom
_ROUND = 0.85
"""Least ratio of the smallest and the largest half width of a wheel: treads are rougher."""
_LEVEL = 0.1
"""Share of `_ROUND`'s axis that may point upwards, and of steering axes that may point sideways."""
_NEAR_GROUND = 0.4
"""Distance from the ground, in radii, of wheels on springs, and of links that drag on it."""
_LEAST_RADIUS = 0.005  # smaller round links are pins [m]
_CASTOR = re.compile(r"cast[eo]r", re.IGNORECASE)
_MECANUM = re.compile(r"mecanum|mechanum", re.IGNORECASE)
_ANGLES = np.linspace(0.0, 2.0 * pi, 48, endpoint=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundWheel:
    """A wheel in the frame of the robot's root link."""

    joint: str  # on which it turns
    body: int
    position: tuple[float, float, float]  # of its centre [m]
    axle: tuple[float, float, float]  # unit vector, of a positive speed
    radius: float  # that it rolls on [m]
    is_driven: bool  # whether an actuator acts on its joint
    steering: str = ""  # joint with limits and an axis upwards that carries it
    steering_sign: float = 1.0  # -1 if the axis points downwards
    castor: str = ""  # joint without limits and with an axis upwards that carries it
    springs: tuple[str, ...] = ()  # slides that carry it
    roller_angle: float | None = None  # from the axle to the axes of its rollers [rad]
    # Centre [m], axle and direction to the ground in the frame of its body
    local_centre: tuple[float, ...] = (0.0, 0.0, 0.0)
    local_axle: tuple[float, ...] = (0.0, 1.0, 0.0)
    down: tuple[float, ...] = (0.0, 0.0, -1.0)

    @property
    def direction(self) -> float:
        """Return the direction in which it rolls at a positive speed, an angle about z [rad]."""
        x, y, _ = self.axle
        return float(np.arctan2(-x, y))


@dataclass(frozen=True, kw_only=True, slots=True)
class Support:
    """A shape on the rigid base that touches the ground between the wheels."""

    link: str
    shape: int  # index among the geoms of the link
    depth: float  # below the wheels [m]
    is_castor: bool  # whether it is a ball, or named as a castor; other shapes drag on the ground


@dataclass(frozen=True, kw_only=True, slots=True)
class Wheels:
    """The wheels of a robot, and the shapes of its base that touch the ground with them."""

    wheels: tuple[FoundWheel, ...] = ()
    supports: tuple[Support, ...] = ()

    @property
    def passive(self) -> frozenset[str]:
        """Return the joints that nothing drives unless a file says so.

        They are castors, their wheels, and springs.
        """
        found = {wheel.castor for wheel in self.wheels if wheel.castor}
        found |= {wheel.joint for wheel in self.wheels if wheel.castor or self._follows(wheel)}
        found |= {spring for wheel in self.wheels for spring in wheel.springs}
        return frozenset(found)

    def _follows(self, wheel: FoundWheel) -> bool:
        """Whether a wheel is named as a castor, and the robot rolls on others on both sides."""
        sides = {w.position[1] > 0.0 for w in self.wheels if not (w.castor or _is_named_castor(w))}
        return _is_named_castor(wheel) and len(sides) == 2


NO_WHEELS = Wheels()


def is_castor(wheel: FoundWheel) -> bool:
    """Whether a wheel only follows: it swivels, or no motor turns it and it is named a castor."""
    return bool(wheel.castor) or (not wheel.is_driven and _is_named_castor(wheel))


def _is_named_castor(wheel: FoundWheel) -> bool:
    return bool(_CASTOR.search(wheel.joint))


def is_mecanum(wheel: FoundWheel) -> bool:
    """Whether a wheel has oblique rollers, or is named as a wheel that has."""
    if wheel.roller_angle is not None:
        return pi / 8 < abs(wheel.roller_angle) < 3 * pi / 8
    return is_mecanum_name(wheel.joint)


def is_mecanum_name(name: str) -> bool:
    """Whether a joint or a file is named as a mecanum wheel."""
    return bool(_MECANUM.search(name))


def has_wheels(model: mujoco.MjModel, bodies: Iterable[int]) -> bool:
    """Whether any of some bodies turns on a hinge without limits, so that it may be a wheel."""
    on_hinge = (model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE) & (model.jnt_limited == 0)
    return bool(np.isin(model.jnt_bodyid[on_hinge], list(bodies)).any())


def find_wheels(
    model: mujoco.MjModel, root: int, prefix: str = "", declared: Collection[str] | None = None
) -> Wheels:
    """Return the wheels of the robot below a root body; its names have a prefix in the model.

    A wheel turns without limits on a level axle, is round about it, and touches the ground, which
    is where the lowest of them is. Nothing of the robot is much lower. An upward hinge without
    limits steers if a motor is `declared` for it; None are all motors.
    """
    robot = _Robot(model, root, prefix, declared)
    found = [wheel for joint in robot.hinges if (wheel := robot.wheel(joint)) is not None]
    if not found:
        return NO_WHEELS
    ground = min(wheel.position[2] - wheel.radius for wheel in found)
    wheels = tuple(
        wheel
        for wheel in found
        if wheel.position[2] - wheel.radius - ground < _NEAR_GROUND * wheel.radius
    )
    radius = max(wheel.radius for wheel in wheels)
    if robot.lowest < ground - _NEAR_GROUND * radius:
        return NO_WHEELS
    supports = tuple(robot.supports(wheels, ground))
    return Wheels(wheels=wheels, supports=supports)


class _Robot:
    """The bodies below a root at the zero position."""

    def __init__(
        self, model: mujoco.MjModel, root: int, prefix: str, declared: Collection[str] | None
    ) -> None:
        self._model, self._root, self._prefix = model, root, prefix
        self._data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, self._data)
        self._origin = self._data.xpos[root].copy()
        self._turn = self._data.xmat[root].reshape(3, 3).copy()  # from the root frame
        below = carried(model, root)
        self._bodies = np.flatnonzero(below).tolist()
        self._geoms = [
            geom
            for geom in range(model.ngeom)
            if below[model.geom_bodyid[geom]]
            and (model.geom_contype[geom] or model.geom_conaffinity[geom])
        ]
        self._driven = {
            int(model.actuator_trnid[actuator, 0])
            for actuator in range(model.nactuator)
            if model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_JOINT
        }
        self._may_steer = {
            j for j in self._driven if declared is None or self._joint(j) in declared
        }

    @property
    def hinges(self) -> Iterator[int]:
        """Yield the hinges without limits."""
        model = self._model
        for body in self._bodies:
            for joint in joints_of(model, body):
                is_hinge = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
                if is_hinge and not model.jnt_limited[joint]:
                    yield joint

    @cached_property
    def lowest(self) -> float:
        """Height of the lowest point in the root frame [m]."""
        down = np.array([[0.0, 0.0, -1.0]])
        return -max(float(self._reach(geom, down)[0]) for geom in self._geoms)

    def wheel(self, joint: int) -> FoundWheel | None:
        """Return the wheel on a hinge; None if it carries none."""
        model = self._model
        body = int(model.jnt_bodyid[joint])
        axle = self._turn.T @ self._data.xaxis[joint]
        if abs(axle[2]) > _LEVEL or (rigid := self._rigid(body)) == self._rigid(self._root):
            return None
        centre = self._place(self._data.xanchor[joint])
        rollers = self._rollers(rigid)
        moved = {rigid, *rollers}
        geoms = [g for g in self._geoms if self._rigid(int(model.geom_bodyid[g])) in moved]
        if not geoms:
            return None
        across = np.cross(axle, (0.0, 0.0, 1.0))
        across /= np.linalg.norm(across)
        upright = np.cross(across, axle)
        fan = np.cos(_ANGLES)[:, None] * across + np.sin(_ANGLES)[:, None] * upright
        reach = np.max([self._reach(geom, fan) for geom in geoms], axis=0) - fan @ centre
        if reach.min() < _ROUND * reach.max() or reach.max() < _LEAST_RADIUS:
            return None
        centre = centre + axle * self._middle(geoms, axle, centre)
        # From the root frame to the frame of the body
        turn = self._data.xmat[body].reshape(3, 3).T @ self._turn
        local_centre = turn @ (centre - self._place(self._data.xpos[body]))
        x, y, z = centre.tolist()
        above = list(self._above(joint))
        turning = [j for j in above if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE]
        upward = [j for j in turning if abs(self._axis(j)[2]) > 1.0 - _LEVEL]
        if len(upward) < len(turning):
            return None  # it is on an arm or a leg
        steering = [j for j in upward if model.jnt_limited[j] or j in self._may_steer]
        castor = [j for j in upward if j not in steering]
        slides = [j for j in above if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_SLIDE]
        return FoundWheel(
            joint=self._joint(joint),
            body=body,
            position=(x, y, z),
            axle=(float(axle[0]), float(axle[1]), float(axle[2])),
            # The mean half width is what a polygon rolls on (Cauchy's formula for its perimeter).
            radius=float(reach.mean()),
            is_driven=joint in self._driven,
            steering=self._joint(steering[-1]) if steering else "",
            steering_sign=-1.0 if steering and self._axis(steering[-1])[2] < 0.0 else 1.0,
            castor=self._joint(castor[-1]) if castor else "",
            springs=tuple(map(self._joint, slides)),
            roller_angle=self._roller_angle(rollers, centre, axle),
            local_centre=tuple(local_centre.tolist()),
            local_axle=tuple((turn @ axle).tolist()),
            down=tuple((turn @ -upright).tolist()),
        )

    def supports(self, wheels: Sequence[FoundWheel], ground: float) -> Iterator[Support]:
        """Yield the shapes of the rigid base that touch the ground, or reach below it."""
        model, base = self._model, self._rigid(self._root)
        radius = max(wheel.radius for wheel in wheels)
        down = np.array([[0.0, 0.0, -1.0]])
        for geom in self._geoms:
            body = int(model.geom_bodyid[geom])
            depth = ground + float(self._reach(geom, down)[0])
            if self._rigid(body) != base or depth < -0.1 * radius:
                continue
            link = model.body(body).name
            is_ball = int(model.geom_type[geom]) in (_GEOM.mjGEOM_SPHERE, _GEOM.mjGEOM_ELLIPSOID)
            named = _CASTOR.search(link) or _CASTOR.search(model.geom(geom).name)
            is_low = depth > -0.005  # else it only comes near
            if is_ball or named or is_low:
                yield Support(
                    link=self._short(link),
                    shape=geom - int(model.body_geomadr[body]),
                    depth=max(depth, 0.0),
                    is_castor=bool(is_ball or named),
                )

    def _short(self, name: str) -> str:
        return name.removeprefix(self._prefix)

    def _joint(self, joint: int) -> str:
        return self._short(self._model.joint(joint).name)

    def _rigid(self, body: int) -> int:
        return int(self._model.body_weldid[body])

    def _place(self, point: np.ndarray) -> np.ndarray:
        """Return a point of the world in the root frame."""
        place: np.ndarray = self._turn.T @ (point - self._origin)
        return place

    def _axis(self, joint: int) -> np.ndarray:
        axis: np.ndarray = self._turn.T @ self._data.xaxis[joint]
        return axis

    def _above(self, joint: int) -> Iterator[int]:
        """Yield the joints that carry a joint, from the root on."""
        model, body = self._model, int(self._model.jnt_bodyid[joint])
        joints = [range(int(model.body_jntadr[body]), joint)]
        while (body := int(model.body_parentid[body])) and body != self._root:
            joints.append(joints_of(model, body))
        return chain.from_iterable(reversed(joints))

    def _rollers(self, wheel: int) -> dict[int, int]:
        """Return the free joints of the rollers of a wheel by their bodies."""
        model, found = self._model, {}
        for body in self._bodies:
            parent, joint = int(model.body_parentid[body]), int(model.body_jntadr[body])
            if body != wheel and self._rigid(parent) == wheel and joint >= 0:
                is_hinge = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
                if is_hinge and not model.jnt_limited[joint] and joint not in self._driven:
                    found[body] = joint
        return found if len(found) > 3 else {}

    def _roller_angle(
        self, rollers: dict[int, int], centre: np.ndarray, axle: np.ndarray
    ) -> float | None:
        """Return the angle between the axle and the axis of the lowest roller [rad]."""
        if not rollers:
            return None
        lowest = min(rollers, key=lambda body: self._place(self._data.xpos[body])[2])
        axis = self._axis(rollers[lowest])
        sideways = np.cross((0.0, 0.0, 1.0), axle)
        angle = float(np.arctan2(axis @ sideways, axis @ axle))
        return (angle + pi / 2) % pi - pi / 2  # an axis has no direction

    def _middle(self, geoms: Sequence[int], axle: np.ndarray, centre: np.ndarray) -> float:
        """Return how far the middle of a wheel is along its axle from a point [m]."""
        ends = np.max([self._reach(geom, np.stack([axle, -axle])) for geom in geoms], axis=0)
        return float(ends[0] - ends[1]) / 2 - float(axle @ centre)

    def _reach(self, geom: int, directions: np.ndarray) -> np.ndarray:
        """Return how far a shape reaches in directions (k, 3) of the root frame [m].  # (k,)"""
        model, data = self._model, self._data
        turn = self._turn.T @ data.geom_xmat[geom].reshape(3, 3)
        reach = half_widths(model, geom, directions @ turn)
        reach += directions @ self._place(data.geom_xpos[geom])
        return reach


def half_widths(model: mujoco.MjModel, geom: int, directions: np.ndarray) -> np.ndarray:
    """Return how far a geom reaches from its centre [m], in directions (k, 3) of its frame."""
    size, kind = model.geom_size[geom], int(model.geom_type[geom])
    x, y, z = np.abs(directions.T)
    reach = np.zeros(len(directions))  # a plane or height field is no part of a robot
    if kind == _GEOM.mjGEOM_SPHERE:
        reach += size[0]
    elif kind == _GEOM.mjGEOM_CAPSULE:
        reach += size[0] + size[1] * z
    elif kind == _GEOM.mjGEOM_CYLINDER:
        reach += size[0] * np.hypot(x, y) + size[1] * z
    elif kind == _GEOM.mjGEOM_ELLIPSOID:
        reach += np.linalg.norm(directions * size, axis=1)
    elif kind == _GEOM.mjGEOM_BOX:
        reach += np.abs(directions) @ size
    elif kind == _GEOM.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        first = int(model.mesh_vertadr[mesh])
        vertices = model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])]
        reach += (directions @ vertices.T).max(axis=1)
    return reach
