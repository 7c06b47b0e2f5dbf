"""External wrenches on bodies, and springs that pull and turn them as the mouse does."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from mujoco_ros.control.pull import Pull
from mujoco_ros.model.robot.body_frames import BodyFrame

_LARGEST_SWING = 0.15
"""Largest phase of the spring in a step [rad], far below the limit of stability."""
_LONGEST = 10.0  # length beyond which the force of a spring stays constant [m]


class Spring:
    """The force and the torque of a pull, computed for each step.

    The point accelerates by w² distance - 2 w velocity where joints allow it: critically damped,
    whatever its mass. Beyond 10 m the force stays constant. MuJoCo calls w²
    ``visual/map/stiffness``, and ``stiffnessrot`` for turning. While a body is pulled at a point,
    its rotation is damped.
    """

    pull: Pull

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        place: BodyFrame,
        pull: Pull,
        end: float = np.inf,
    ) -> None:
        self.place, self.end = place, end  # until a simulated time [s]
        self._model, self._data = model, data
        self.body = body = place.body
        self._xpos, self._xquat, self._com = data.xpos[body], data.xquat[body], data.xipos[body]
        row = data.xfrc_applied[body]
        self._force_row, self._torque_row = row[:3], row[3:]
        self._jacobian, self._solved = np.zeros((2, 6, model.nv))
        self._moved, self._turned = self._jacobian[:3], self._jacobian[3:]
        self._mass = _Inertia(self._moved, self._solved[:3])
        self._inertia = _Inertia(self._turned, self._solved[3:])
        self._is_bounded = False
        twist = np.zeros(6)
        self._twist, self._velocity, self._turning = twist, twist[:3], twist[3:]
        self._point, self._at, self._acceleration, self._moment = np.zeros((4, 3))
        self._quat, self._back, self._missing = np.zeros((3, 4))
        self.aim(pull)

    def aim(self, pull: Pull) -> None:
        """Set another target."""
        self.pull, place, visual = pull, self.place, self._model.vis.map
        stiffness = visual.stiffnessrot if pull.turns else visual.stiffness
        self._w = min(math.sqrt(stiffness), _LARGEST_SWING / self._model.opt.timestep)
        mujoco.mju_rotVecQuat(self._point, pull.point, place.quat_wxyz)
        self._point += place.position
        mujoco.mju_negQuat(self._back, place.quat_wxyz)
        mujoco.mju_mulQuat(self._quat, pull.quat_wxyz, self._back)

    def add(self) -> None:
        """Add force and torque to the wrench on the body, whose pose is up to date."""
        model, data, at = self._model, self._data, self._at
        mujoco.mju_rotVecQuat(at, self._point, self._xquat)
        at += self._xpos
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_factorM(model, data)
        if not self._is_bounded:
            self._bound()
        mujoco.mj_jac(model, data, self._moved, self._turned, at, self.place.body)
        mujoco.mj_solveM(model, data, self._solved, self._jacobian)
        np.dot(self._jacobian, data.qvel, out=self._twist)
        if self.pull.turns:
            self._turn()
        else:
            self._move()

    def _bound(self) -> None:
        """Bound inertias by the inertia of the whole kinematic tree as one rigid body."""
        data, root = self._data, int(self._model.body_rootid[self.place.body])
        mass, lever = self._model.body_subtreemass[root], data.subtree_com[root] - data.xpos[root]
        self._mass.bound(float(mass))
        self._inertia.bound(float(np.sum(data.crb[root, :3]) + 2.0 * mass * np.dot(lever, lever)))
        self._is_bounded = True

    def _move(self) -> None:
        acceleration, at = self._acceleration, self._at
        np.subtract(self.pull.position, at, out=acceleration)
        length = math.sqrt(np.dot(acceleration, acceleration))
        acceleration *= self._w**2 * min(1.0, _LONGEST / max(length, mujoco.mjMINVAL))
        self._velocity *= 2.0 * self._w
        acceleration -= self._velocity
        force = self._mass.times(acceleration)
        self._force_row += force
        at -= self._com
        mujoco.mju_cross(self._moment, at, force)
        self._torque_row += self._moment
        self._turning *= self._w
        self._torque_row -= self._inertia.times(self._turning)

    def _turn(self) -> None:
        acceleration = self._acceleration
        mujoco.mju_negQuat(self._back, self._xquat)
        mujoco.mju_mulQuat(self._missing, self._quat, self._back)
        mujoco.mju_quat2Vel(acceleration, self._missing, 1.0)
        acceleration *= self._w**2
        self._turning *= 2.0 * self._w
        acceleration -= self._turning
        self._torque_row += self._inertia.times(acceleration)


class _Inertia:
    """The effective inertia of a point, or of the rotation of a body, in each direction."""

    def __init__(self, jacobian: np.ndarray, solved: np.ndarray) -> None:
        """Use a Jacobian (3, nv) from joint velocities to the velocity.

        `solved` has its rows times the inverse of the joint-space inertia (3, nv).
        """
        self._jacobian, self._solved, self._least = jacobian, solved.T, mujoco.mjMINVAL
        self._yielding, self._axes = np.zeros((2, 3, 3))
        self._row, self._columns = self._yielding.reshape(9), self._axes.reshape(9)
        self._turn = np.zeros(4)
        self._values, self._along, self._product = np.zeros((3, 3))

    def bound(self, most: float) -> None:
        """Set an upper bound, for directions that joints block [kg or kg m²]."""
        self._least = 1.0 / max(most, mujoco.mjMINVAL)

    def times(self, acceleration: np.ndarray) -> np.ndarray:
        """Return the force or torque for an acceleration, valid until the next call.  # (3,)"""
        np.dot(self._jacobian, self._solved, out=self._yielding)
        mujoco.mju_eig3(self._values, self._columns, self._turn, self._row)
        np.maximum(self._values, self._least, out=self._values)
        np.dot(acceleration, self._axes, out=self._along)
        self._along /= self._values
        return np.dot(self._axes, self._along, out=self._product)


_ROUNDING_S = 1e-9


@dataclass(frozen=True, kw_only=True)
class AppliedWrench:
    """A force and a torque at the origin of a frame."""

    force: tuple[float, float, float]  # [N] (3,)
    torque: tuple[float, float, float]  # [Nm] (3,)
    in_world: bool = False  # whether they are in the axes of the world; else of the frame
    until: float = np.inf  # simulated time at which it ends [s]


@dataclass(frozen=True, kw_only=True)
class AppliedEffort:
    """A torque or force on a joint, in addition to its actuators."""

    joint: str  # its name in the model
    effort: float  # [Nm or N]
    until: float = np.inf  # simulated time at which it ends [s]


WrenchState = tuple[tuple[tuple[BodyFrame, AppliedWrench], ...], tuple[AppliedEffort, ...]]


class ExternalWrenches:
    """Applies wrenches and pulls at every step, in ``xfrc_applied``, which viewers show, and
    efforts of joints, in ``qfrc_applied``.

    Everything but `listing`, `pulls` and `efforts` belongs to the physics thread.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self.acting = False  # whether any wrench or pull acts, so that `apply` must be called
        # The wrenches that act, by frame; a new object after each change
        self.listing: dict[str, AppliedWrench] = {}
        # The pulls that act, by frame; a new object after each change
        self.pulls: dict[str, Pull] = {}
        # The efforts that act, by joint; a new object after each change
        self.efforts: dict[str, AppliedEffort] = {}
        self._model, self._data = model, data
        self._loads: dict[str, _Load] = {}
        self._springs: dict[str, Spring] = {}
        self._acting: tuple[_Load | Spring, ...] = ()
        self._pushes: dict[str, _Push] = {}  # by joint
        self._rows: list[np.ndarray] = []  # of xfrc_applied and qfrc_applied
        self._next_end = np.inf

    def put(self, place: BodyFrame, wrench: AppliedWrench) -> None:
        """Apply a wrench, which replaces the one at the same frame; zeros end that one.

        In another model, the body is found by its name; a wrench on a body that is gone does
        nothing.
        """
        self._loads.pop(place.frame, None)
        if any(wrench.force) or any(wrench.torque):
            self._load(place, wrench)
        self._changed()

    def push(self, effort: AppliedEffort) -> None:
        """Apply an effort, which replaces the one on the same joint; zero ends that one.

        A joint that the model does not have is ignored.
        """
        self._pushes.pop(effort.joint, None)
        if effort.effort:
            self._push(effort)
        self._changed()

    def pull(self, place: BodyFrame, pull: Pull, until: float = np.inf) -> None:
        """Pull at a frame, which replaces the pull at the same frame, in addition to its wrench.

        The body is searched as by `put`. The pull ends at a simulated time `until` [s].
        """
        end = until - _ROUNDING_S
        if place.frame in self._springs:
            self._springs[place.frame].aim(pull)
            self._springs[place.frame].end = end
            self._next_end = self._first_end()
            self._list_pulls()
            return
        place = self._current_frame(place)
        if place.body >= 0:
            self._springs[place.frame] = Spring(self._model, self._data, place, pull, end)
            self._changed()

    def release(self, frame: str) -> None:
        """End the pull at a frame, if there is one."""
        if self._springs.pop(frame, None) is not None:
            self._changed()

    def clear(self) -> None:
        """End all wrenches, pulls and efforts."""
        if self.acting:
            self._loads.clear()
            self._springs.clear()
            self._pushes.clear()
            self._changed()

    def clear_bodies(self, bodies: Collection[int]) -> None:
        """End the wrenches and pulls on some bodies, and the efforts on their joints."""
        for acting in (self._loads, self._springs, self._pushes):
            for name in [name for name, each in acting.items() if each.body in bodies]:
                del acting[name]
                self._changed()

    def save_state(self) -> WrenchState:
        """Return the wrenches and efforts that act, for `restore_state`; pulls are input, not
        state.
        """
        wrenches = tuple((load.place, load.wrench) for load in self._loads.values())
        return wrenches, tuple(self.efforts.values())

    def restore_state(self, state: WrenchState) -> None:
        """Replace all that acts by what is saved, where its bodies and joints exist."""
        self._loads, self._springs, self._pushes = {}, {}, {}
        wrenches, efforts = state
        for place, wrench in wrenches:
            self._load(place, wrench)
        for effort in efforts:
            self._push(effort)
        self._changed()

    def apply(self, time: float) -> None:
        """Write the wrenches of the step that starts at simulated `time` [s]."""
        if time > self._next_end:
            self._loads = {name: load for name, load in self._loads.items() if time <= load.end}
            springs = self._springs.items()
            self._springs = {name: spring for name, spring in springs if time <= spring.end}
            pushes = self._pushes.items()
            self._pushes = {name: push for name, push in pushes if time <= push.end}
            self._changed()
        for row in self._rows:
            row[:] = 0.0
        for push in self._pushes.values():
            push.add()
        if not self._acting:
            return
        # MjData still has the poses at the start of the previous step.
        mujoco.mj_kinematics(self._model, self._data)
        for acting in self._acting:
            acting.add()

    def switch_model(
        self, model: mujoco.MjModel, data: mujoco.MjData, *, fresh: bool = False
    ) -> None:
        """Switch to another model and its state, to bodies of the same names; pulls end.

        With `fresh`, all bodies are different ones, even those with the same names.
        """
        state = ((), ()) if fresh else self.save_state()
        self._model, self._data, self._rows = model, data, []
        self.restore_state(state)

    def _load(self, place: BodyFrame, wrench: AppliedWrench) -> None:
        place = self._current_frame(place)
        if place.body >= 0:
            self._loads[place.frame] = _Load(self._model, self._data, place, wrench)

    def _push(self, effort: AppliedEffort) -> None:
        joint = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_JOINT, effort.joint)
        if joint >= 0:
            self._pushes[effort.joint] = _Push(self._model, self._data, joint, effort)

    def _current_frame(self, place: BodyFrame) -> BodyFrame:
        """Return a frame with its body in the current model; -1 if that does not exist."""
        body = place.body if place.body < self._model.nbody else -1
        if place.owner:
            body = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, place.owner)
        return replace(place, body=body)

    def _changed(self) -> None:
        for row in self._rows:
            row[:] = 0.0
        self._acting = (*self._loads.values(), *self._springs.values())
        bodies = {acting.body for acting in self._acting}
        self._rows = [self._data.xfrc_applied[body] for body in bodies]
        self._rows += [push.row for push in self._pushes.values()]
        self.listing = {frame: load.wrench for frame, load in self._loads.items()}
        self.efforts = {joint: push.effort for joint, push in self._pushes.items()}
        self._list_pulls()
        self.acting = bool(self._rows)
        self._next_end = self._first_end()

    def _first_end(self) -> float:
        ends = (each.end for each in (*self._acting, *self._pushes.values()))
        return min(ends, default=np.inf)

    def _list_pulls(self) -> None:
        self.pulls = {frame: spring.pull for frame, spring in self._springs.items()}


class _Push:
    """One effort, at its degree of freedom."""

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, joint: int, effort: AppliedEffort
    ) -> None:
        self.effort, self.end = effort, effort.until - _ROUNDING_S
        self.body, dof = int(model.jnt_bodyid[joint]), int(model.jnt_dofadr[joint])
        self.row = data.qfrc_applied[dof : dof + 1]

    def add(self) -> None:
        self.row += self.effort.effort


class _Load:
    """One wrench, transformed for the engine: at the centre of mass, in world axes."""

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, place: BodyFrame, wrench: AppliedWrench
    ) -> None:
        self.place, self.wrench, self.body = place, wrench, place.body
        self.end = wrench.until - _ROUNDING_S
        self._quat = data.xquat[place.body]
        row = data.xfrc_applied[place.body]
        self._force_row, self._torque_row = row[:3], row[3:]
        self._center = model.body_ipos[place.body]  # a view: it may change while it runs
        self._lever = np.zeros(3)  # in the axes of the body
        self._force = np.array(wrench.force, dtype=float)
        self._torque = np.array(wrench.torque, dtype=float)
        if not wrench.in_world:
            # Constant in the axes of the body.
            mujoco.mju_rotVecQuat(self._force, self._force.copy(), place.quat_wxyz)
            mujoco.mju_rotVecQuat(self._torque, self._torque.copy(), place.quat_wxyz)
        self._turned, self._moment, self._local = np.zeros((3, 3))

    def add(self) -> None:
        turned, moment = self._turned, self._moment
        np.subtract(self.place.position, self._center, out=self._lever)
        if self.wrench.in_world:
            mujoco.mju_rotVecQuat(turned, self._lever, self._quat)
            mujoco.mju_cross(moment, turned, self._force)
            self._force_row += self._force
            self._torque_row += self._torque
            self._torque_row += moment
        else:
            mujoco.mju_rotVecQuat(turned, self._force, self._quat)
            mujoco.mju_cross(self._local, self._lever, self._force)
            self._local += self._torque
            mujoco.mju_rotVecQuat(moment, self._local, self._quat)
            self._force_row += turned
            self._torque_row += moment
