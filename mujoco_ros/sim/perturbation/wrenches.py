"""External wrenches on bodies."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from mujoco_ros.control.pull import Pull
from mujoco_ros.model.robot.body_frames import BodyFrame
from mujoco_ros.sim.perturbation.pulls import Spring

_ROUNDING_S = 1e-9


@dataclass(frozen=True, kw_only=True)
class AppliedWrench:
    """A force and a torque at the origin of a frame.

    Attributes:
        force: [N].  # (3,)
        torque: [Nm].  # (3,)
        in_world: Whether they are in the axes of the world; else in those of the frame.
        until: Simulated time at which it ends [s].
    """

    force: tuple[float, float, float]
    torque: tuple[float, float, float]
    in_world: bool = False
    until: float = np.inf


WrenchState = tuple[tuple[BodyFrame, AppliedWrench], ...]


class ExternalWrenches:
    """Applies wrenches and pulls at every step, in ``xfrc_applied``, which viewers show.

    Everything but `listing` and `pulls` belongs to the physics thread.

    Attributes:
        acting: Whether any wrench or pull acts, so that `apply` must be called.
        listing: The wrenches that act, by frame; a new object after each change.
        pulls: The pulls that act, by frame; a new object after each change.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self.acting = False
        self.listing: dict[str, AppliedWrench] = {}
        self.pulls: dict[str, Pull] = {}
        self._model, self._data = model, data
        self._loads: dict[str, _Load] = {}
        self._springs: dict[str, Spring] = {}
        self._acting: tuple[_Load | Spring, ...] = ()
        self._rows: dict[int, np.ndarray] = {}  # body to its six numbers in xfrc_applied
        self._next_end = np.inf

    def put(self, place: BodyFrame, wrench: AppliedWrench) -> None:
        """Apply a wrench, which replaces the one at the same frame; zeros end that one.

        If the model has changed since `place` was found, the body is searched by its name; a
        wrench on a body that no longer exists has no effect.
        """
        self._loads.pop(place.frame, None)
        if any(wrench.force) or any(wrench.torque):
            self._load(place, wrench)
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
        """End all wrenches and pulls."""
        if self.acting:
            self._loads.clear()
            self._springs.clear()
            self._changed()

    def clear_bodies(self, bodies: Collection[int]) -> None:
        """End the wrenches and pulls on some bodies."""
        for acting in (self._loads, self._springs):
            for frame in [frame for frame, it in acting.items() if it.place.body in bodies]:
                del acting[frame]
                self._changed()

    def save_state(self) -> WrenchState:
        """Return all wrenches that act, for `restore_state`; pulls are input, not state."""
        return tuple((load.place, load.wrench) for load in self._loads.values())

    def restore_state(self, state: WrenchState) -> None:
        """Replace all wrenches and pulls by the saved wrenches on bodies that exist."""
        self._loads, self._springs = {}, {}
        for place, wrench in state:
            self._load(place, wrench)
        self._changed()

    def apply(self, time: float) -> None:
        """Write the wrenches of the step that starts at simulated `time` [s]."""
        if time > self._next_end:
            self._loads = {frame: it for frame, it in self._loads.items() if time <= it.end}
            self._springs = {frame: it for frame, it in self._springs.items() if time <= it.end}
            self._changed()
        # MjData still has the poses at the start of the previous step.
        mujoco.mj_kinematics(self._model, self._data)
        for row in self._rows.values():
            row[:] = 0.0
        for acting in self._acting:
            acting.add()

    def switch_model(
        self, model: mujoco.MjModel, data: mujoco.MjData, *, fresh: bool = False
    ) -> None:
        """Switch to another model, to bodies of the same names; pulls end.

        Args:
            model: The model.
            data: Its state.
            fresh: Whether all bodies are different ones, even those with the same names.
        """
        state = () if fresh else self.save_state()
        self._model, self._data, self._rows = model, data, {}
        self.restore_state(state)

    def _load(self, place: BodyFrame, wrench: AppliedWrench) -> None:
        place = self._current_frame(place)
        if place.body >= 0:
            self._loads[place.frame] = _Load(self._model, self._data, place, wrench)

    def _current_frame(self, place: BodyFrame) -> BodyFrame:
        """Return a frame with its body in the current model; -1 if that does not exist."""
        body = place.body if place.body < self._model.nbody else -1
        if place.owner:
            body = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, place.owner)
        return replace(place, body=body)

    def _changed(self) -> None:
        for row in self._rows.values():
            row[:] = 0.0
        self._acting = (*self._loads.values(), *self._springs.values())
        bodies = {acting.place.body for acting in self._acting}
        self._rows = {body: self._data.xfrc_applied[body] for body in bodies}
        self.listing = {frame: load.wrench for frame, load in self._loads.items()}
        self._list_pulls()
        self.acting = bool(self._acting)
        self._next_end = self._first_end()

    def _first_end(self) -> float:
        return min((acting.end for acting in self._acting), default=np.inf)

    def _list_pulls(self) -> None:
        self.pulls = {frame: spring.pull for frame, spring in self._springs.items()}


class _Load:
    """One wrench, transformed for the engine: at the centre of mass, in world axes."""

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, place: BodyFrame, wrench: AppliedWrench
    ) -> None:
        self.place, self.wrench = place, wrench
        self.end = wrench.until - _ROUNDING_S
        self._quat = data.xquat[place.body]
        row = data.xfrc_applied[place.body]
        self._force_row, self._torque_row = row[:3], row[3:]
        self._lever = place.position - model.body_ipos[place.body]  # in the axes of the body
        self._force = np.array(wrench.force, dtype=float)
        self._torque = np.array(wrench.torque, dtype=float)
        if not wrench.in_world:
            # Constant in the axes of the body.
            mujoco.mju_rotVecQuat(self._force, self._force.copy(), place.quat_wxyz)
            mujoco.mju_rotVecQuat(self._torque, self._torque.copy(), place.quat_wxyz)
            self._torque += np.cross(self._lever, self._force)
        self._turned, self._moment = np.zeros(3), np.zeros(3)

    def add(self) -> None:
        """Add it to the wrench on its body."""
        turned, moment = self._turned, self._moment
        if self.wrench.in_world:
            mujoco.mju_rotVecQuat(turned, self._lever, self._quat)
            mujoco.mju_cross(moment, turned, self._force)
            self._force_row += self._force
            self._torque_row += self._torque
            self._torque_row += moment
        else:
            mujoco.mju_rotVecQuat(turned, self._force, self._quat)
            mujoco.mju_rotVecQuat(moment, self._torque, self._quat)
            self._force_row += turned
            self._torque_row += moment
