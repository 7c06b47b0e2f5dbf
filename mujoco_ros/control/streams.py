"""The streams of a robot: which ramps, holds or damps its joints."""

from collections.abc import Callable

import numpy as np

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joints import EFFORT, POSITION, VELOCITY, ControlledJoints
from mujoco_ros.control.references import References
from mujoco_ros.control.stream import Stream
from mujoco_ros.native.plan import MANY, Plan

FORWARDED = {
    CommandSource.POSITION: POSITION,
    CommandSource.VELOCITY: VELOCITY,
    CommandSource.EFFORT: EFFORT,
}
"""Forward command controllers and their command interfaces."""


class RobotStreams:
    """The streams of a robot, and the joints that are damped after the timeout of one."""

    def __init__(
        self,
        joints: ControlledJoints,
        references: References,
        timed_out: Callable[[CommandSource, np.ndarray], object],
    ) -> None:
        """Start without commands.

        `timed_out` is called with the joints of a stream that got no command within the timeout.
        """
        self.by_source = {
            CommandSource.JOINT_COMMANDS: Stream(references),
            CommandSource.CONTROLLER: Stream(references),
        } | {source: Stream(references, row) for row, source in enumerate(FORWARDED)}
        # Joints whose position references are measured positions (n,), and whether there are any
        self.damped, self.damping = np.zeros(len(joints.names), dtype=bool), False
        self._joints, self._references, self._timed_out = joints, references, timed_out
        self._each = tuple(self.by_source.items())
        self._velocity = self.by_source[CommandSource.VELOCITY]
        positioned = [POSITION in interfaces for interfaces in joints.interfaces]
        self._integrates = np.array(positioned, dtype=bool)
        # Joints of other sources whose velocities are integrated, and whether there are any
        self._others, self._has_others = np.zeros(len(joints.names), dtype=bool), False
        self._unpositioned = np.zeros(len(joints.names), dtype=bool)  # by one stream

    def bind(self) -> None:
        """Use the references again after they were rebound."""
        for _, stream in self._each:
            stream.bind(self._references)

    @property
    def active(self) -> bool:
        """Whether a stream or the damping needs updates."""
        # Evaluated at every step, where a generator expression would dominate the cost.
        for _, stream in self._each:
            if stream.busy:
                return True
        return self.damping or self._has_others

    def integrate(self, joints: np.ndarray) -> None:
        """Integrate the velocity references of further joints, which take positions.  # (n,)"""
        np.logical_and(joints, self._integrates, out=self._others)
        self._has_others = bool(self._others.any())

    def idle_steps(self, time: float, timestep: float, timeout: float) -> int:
        """Return for how many steps from `time` [s] on compiled steps do what `update` does.

        At most `MANY`. It shows them the ramps.
        """
        if self.damping or self._velocity.busy or self._has_others:
            return 0
        steps = float(MANY)
        for source, stream in self._each:
            stream.show_ramp()
            if timeout and stream.busy and source is not CommandSource.CONTROLLER:
                steps = min(steps, (stream.oldest + timeout - time) // timestep)
        return max(0, int(steps))

    def compiled_ramps(self, plan: Plan) -> list[tuple[int, ...]]:
        """Return the rows of ``Ramp`` in steps.c."""
        if not self._joints.names:
            return []
        return [stream.compiled_ramp(plan) for _, stream in self._each]

    def update(self, time: float, timestep: float, timeout: float) -> None:
        """Write the references of the step that begins at `time` [s]; a timeout of 0 is none."""
        for source, stream in self._each:
            if not stream.busy:
                continue
            if stream.moving:
                stream.update(time)
            # A hosted controller is silent only while the clock waits or after its release.
            if (
                timeout
                and source is not CommandSource.CONTROLLER
                and len(silent := stream.silent(time, timeout))
            ):
                self._timed_out(source, silent)
        if self._velocity.busy:
            self._integrate(self._velocity.owned, timestep)
        if self._has_others:
            self._integrate(self._others, timestep)

    def hold(self, source: CommandSource, joints: np.ndarray, q: np.ndarray) -> None:
        """Set the references of `joints` (k,) of a stream to hold their position.

        Joints that received none hold at their measured position; `q` (n,) are all of these.
        """
        references = self._references
        positioned = self.by_source[source].positioned[joints] | (source is CommandSource.VELOCITY)
        measured = joints[~positioned]
        references.q[measured] = q[measured]
        references.tau[measured] = 0.0
        references.dq[joints] = 0.0

    def hold_all(self, q: np.ndarray) -> None:
        """Set the references of all joints of streams to hold their position; see `hold`."""
        for source, stream in self._each:
            self.hold(source, np.flatnonzero(stream.owned), q)

    def stop(self, source: CommandSource, joints: np.ndarray, q: np.ndarray, *, damp: bool) -> None:
        """Release joints of a stream, which hold their position or are damped; see `hold`."""
        self.hold(source, joints, q)
        if damp:
            self.damped[joints] = self.damping = True
            self._references.tau[joints] = 0.0
        self.by_source[source].release(joints)

    def find_unpositioned(self, out: np.ndarray) -> None:
        """Set which joints follow a velocity or an effort alone, or are damped.  # (n,) bool"""
        np.copyto(out, self.damped)
        for source, stream in self._each:
            if stream.busy and source is not CommandSource.VELOCITY:  # which is integrated
                out |= np.greater(stream.owned, stream.positioned, out=self._unpositioned)

    def damp(self, joints: np.ndarray) -> None:
        """Damp these joints and no other.  # (n,) bool"""
        self.damped[:] = joints
        self.damping = bool(joints.any())

    def end_damping(self, joints: np.ndarray) -> None:
        """End the damping of joints, by their indices."""
        self.damped[joints] = False
        self.damping = bool(self.damped.any())

    def reset(self) -> None:
        """Drop all commands, and damp no joint."""
        for _, stream in self._each:
            stream.reset()
        self.damped[:] = self.damping = False

    def _integrate(self, owned: np.ndarray, timestep: float) -> None:
        """Integrate the velocity references of velocity-controlled joints to positions."""
        references, joints = self._references, self._joints
        moved = references.q + references.dq * timestep
        moving = owned & self._integrates
        stopped = moving & ((moved < joints.lower) | (moved > joints.upper))
        np.clip(moved, joints.lower, joints.upper, out=moved)
        np.copyto(references.q, moved, where=moving)
        references.dq[stopped] = 0.0
