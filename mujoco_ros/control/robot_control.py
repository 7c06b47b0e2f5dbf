"""All that commands one robot's joints, and which of it each joint follows."""

from collections.abc import Callable

import numpy as np

from mujoco_ros.control.command_rates import CommandRates
from mujoco_ros.control.control_state import ControlState
from mujoco_ros.control.errors import LateError
from mujoco_ros.control.events import (
    CommandPreempted,
    CommandRejected,
    CommandSource,
    Event,
    GoalEnded,
    Outcome,
    StreamStopped,
)
from mujoco_ros.control.gripper import GripperCommand, GripperController
from mujoco_ros.control.joint_command import JointCommand
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.modes import EFFORT, POSITION, VELOCITY
from mujoco_ros.control.references import References
from mujoco_ros.control.settings import GripperSettings, StreamSettings, TrajectorySettings
from mujoco_ros.control.stream import Stream
from mujoco_ros.control.trajectory.controller import TrajectoryController
from mujoco_ros.control.trajectory.trajectory import Tolerances, Trajectory

_SOURCES = tuple(CommandSource)
_CODES = {source: code for code, source in enumerate(_SOURCES)}
FORWARDED = {
    CommandSource.POSITION: POSITION,
    CommandSource.VELOCITY: VELOCITY,
    CommandSource.EFFORT: EFFORT,
}
"""The forward command controllers and what they command."""
_GOING_ON = (CommandSource.TRAJECTORY, CommandSource.CONTROLLER)
"""Those that go on from the velocities and efforts that joints were told before."""
_DONE_S = 0.5
"""A stream that was silent for so long has ended, as far as anybody else can tell."""
RESET = "the simulation was reset"
"""Why goals end unless something else is said."""


class RobotControl:
    """Writes a robot's references at every step, from whatever commands it.

    Each joint follows one source at a time. The newest command takes the joints it is for: a stream
    that loses them is told by an event, a goal that needs them ends. A joint nobody commands any
    more keeps its reference.

    Attributes:
        joints: The joints.
        references: Their references, written by `update`.
        stream: Settings of streams.
        heard: How often it is commanded, by source.
        q: Measured positions, to be filled in before `update` while `active`.  # (n,)
        dq: Measured velocities.  # (n,)
        effort: Efforts of the actuators.  # (n,)
        timestep: Simulated time between steps [s].
    """

    def __init__(
        self,
        joints: ControlledJoints,
        references: References,
        timestep: float,
        emit: Callable[[Event], None],
        limit_effort: Callable[[int, float], None],
    ) -> None:
        """Command nothing yet.

        Args:
            joints: The joints.
            references: Their references.
            timestep: Simulated time between steps [s].
            emit: Handed what there is to tell.
            limit_effort: Limits the effort of a joint [N or Nm]; 0 gives back its own limit.
        """
        count = len(joints.names)
        self.joints = joints
        self.references = references
        self.stream = StreamSettings()
        self.heard = CommandRates()
        self.q, self.dq, self.effort = np.zeros((3, count))
        self.timestep = timestep
        self._emit = emit
        self._limit_effort = limit_effort
        settings = TrajectorySettings(trajectory=np.zeros(count), goal=np.zeros(count))
        self.trajectory = TrajectoryController(joints, references, settings, emit)
        self._streams = {
            CommandSource.JOINT_COMMANDS: Stream(references),
            CommandSource.CONTROLLER: Stream(references),
        } | {source: Stream(references, row) for row, source in enumerate(FORWARDED)}
        self._each = tuple(self._streams.items())
        self._velocity = self._streams[CommandSource.VELOCITY]
        self.gripper: GripperController | None = None
        if joints.gripper is not None:
            index = joints.gripper
            self.gripper = GripperController(
                index,
                references,
                GripperSettings(),
                emit,
                lambda effort: self._limit_effort(index, effort),
            )
        self._holder = np.zeros(count, dtype=np.intp)  # index into _SOURCES
        self._damped = np.zeros(count, dtype=bool)
        self._damping = False
        takes_position = [POSITION in takes for takes in joints.takes]
        self._integrates = np.array(takes_position, dtype=bool)

    def bind(
        self, references: np.ndarray, timestep: float, limit_effort: Callable[[int, float], None]
    ) -> None:
        """Go on with other arrays, after the model has changed.

        Args:
            references: The references of the same joints.  # (3, n)
            timestep: Simulated time between steps [s].
            limit_effort: As for the constructor.
        """
        self.references.rebind(references)
        for stream in self._streams.values():
            stream.bind(self.references)
        self.timestep = timestep
        self._limit_effort = limit_effort

    @property
    def active(self) -> bool:
        """Return whether `update` has anything to do."""
        # Asked at every step: a generator would take longer than all the rest.
        for _, stream in self._each:
            if stream.busy:
                return True
        gripped = self.gripper is not None and self.gripper.busy
        return self.trajectory.busy or gripped or self._damping

    def holders(self) -> dict[CommandSource, tuple[str, ...]]:
        """Return who holds which joints."""
        names = self.joints.names
        return {
            source: tuple(names[i] for i in np.flatnonzero(self._holder == code))
            for code, source in enumerate(_SOURCES)
            if (self._holder == code).any()
        }

    def configure(
        self,
        stream: StreamSettings,
        trajectory: TrajectorySettings,
        gripper: GripperSettings | None,
    ) -> None:
        """Replace the settings."""
        self.stream = stream
        self.trajectory.settings = trajectory
        if self.gripper is not None and gripper is not None:
            self.gripper.settings = gripper

    def follow(
        self, trajectory: Trajectory, tolerances: Tolerances, goal: object | None, time: float
    ) -> None:
        """Follow a trajectory; `goal` names it in events. One that is over changes nothing."""
        try:
            trajectory.check_in_time(time)
        except LateError as error:
            if goal is None:
                self._emit(CommandRejected(source=CommandSource.TRAJECTORY, message=str(error)))
            else:
                late = Outcome.OLD_HEADER_TIMESTAMP
                self._emit(GoalEnded(goal=goal, outcome=late, message=str(error)))
            return
        self.heard.note(CommandSource.TRAJECTORY, time)
        self._take(CommandSource.TRAJECTORY, trajectory.joints, time)
        self.trajectory.accept(trajectory, tolerances, goal, time)

    def hold(self, joints: np.ndarray, goal: object | None = None) -> None:
        """Stop joints where their references are, whoever moves them."""
        self._take(CommandSource.TRAJECTORY, joints)
        self.trajectory.hold(joints, goal)

    def command(
        self,
        source: CommandSource,
        command: JointCommand,
        time: float,
        settings: StreamSettings | None = None,
    ) -> None:
        """Apply a command of a stream from the step at `time` on.

        Args:
            source: The stream.
            command: The command.
            time: Simulated time of the next step [s].
            settings: How to interpolate, if not as all streams.
        """
        if not len(command.joints):
            return
        self.heard.note(source, time)
        self._take(source, command.joints, time)
        self._streams[source].command(
            command.joints, command.values, settings or self.stream, time, self.timestep
        )

    def drop(self, source: CommandSource, *, measured: bool = False) -> None:
        """End a stream: the joints it holds stay where their references are, and are nobody's.

        A joint that was told no position stays where `q` says it is. With `measured`, all do that
        are nobody's then: references say little of where joints are whose gains have changed.
        """
        stream = self._streams[source]
        left = stream.held.copy()
        if measured:
            left |= self._holder == 0
            stream.positioned[left] = False
        joints = np.flatnonzero(left)
        self._rest(source, joints)
        stream.release(joints)
        self._holder[joints] = 0

    def grip(self, command: GripperCommand, goal: object, time: float) -> None:
        """Pursue a gripper command."""
        if self.gripper is not None and self.joints.gripper is not None:
            self.heard.note(CommandSource.GRIPPER, time)
            self._take(CommandSource.GRIPPER, np.array([self.joints.gripper]), time)
            self.gripper.accept(command, goal, time)

    def reset(self, reason: str = RESET) -> None:
        """Forget all commands; goals end for that `reason`. The references are set by others."""
        self._forget(reason)
        if self.gripper is not None:
            self.gripper.release(reason)

    def let_go(self, reason: str = RESET) -> None:
        """Forget all commands, but stay there: goals end for that `reason`.

        A joint that was told no position stays where `q` says it is. What is gripped stays so.
        """
        for source, stream in self._streams.items():
            self._rest(source, np.flatnonzero(stream.held))
        self.references.dq[:] = 0.0
        self._forget(reason)
        if self.gripper is not None:
            self.gripper.stop(reason)

    def memory(self) -> ControlState:
        """Return a copy of all that moves the references, but goals, for `recall`."""
        return ControlState(
            streams={source: stream.memory() for source, stream in self._streams.items()},
            trajectory=self.trajectory.memory(),
            gripper={} if self.gripper is None else self.gripper.memory(),
            holder=self._holder.copy(),
            damped=self._damped.copy(),
        )

    def recall(self, memory: ControlState) -> None:
        """Go on as at the time of a `memory`, after a `reset`; the references are restored too."""
        for source, stream in self._streams.items():
            stream.recall(memory.streams[source])
        self.trajectory.recall(memory.trajectory)
        if self.gripper is not None:
            self.gripper.recall(memory.gripper)
        self._holder[:], self._damped[:] = memory.holder, memory.damped
        self._damping = bool(self._damped.any())

    def update(self, time: float) -> None:
        """Write the references of the step that begins at `time` [s]."""
        if self.trajectory.busy:
            self.trajectory.update(time, self.q, self.dq)
        timeout = self.stream.timeout
        for source, stream in self._each:
            if not stream.busy:
                continue
            if stream.moving:
                stream.update(time)
            # A hosted controller is silent only while the clock waits, or when it was dropped.
            if (
                timeout
                and source is not CommandSource.CONTROLLER
                and len(silent := stream.silent(time, timeout))
            ):
                self._stop(source, silent)
        if self._velocity.busy:
            self._integrate(self._velocity.held)
        if self.gripper is not None and self.gripper.busy and self.joints.gripper is not None:
            i = self.joints.gripper
            self.gripper.update(
                time, self.timestep, float(self.q[i]), float(self.dq[i]), float(self.effort[i])
            )
        if self._damping:
            np.copyto(self.references.q, self.q, where=self._damped)

    def _integrate(self, held: np.ndarray) -> None:
        """Let the position references of velocity-controlled joints move along."""
        references, joints = self.references, self.joints
        moved = references.q + references.dq * self.timestep
        moving = held & self._integrates
        stopped = moving & ((moved < joints.lower) | (moved > joints.upper))
        np.clip(moved, joints.lower, joints.upper, out=moved)
        np.copyto(references.q, moved, where=moving)
        references.dq[stopped] = 0.0

    def _take(self, source: CommandSource, joints: np.ndarray, time: float = -np.inf) -> None:
        """Let `joints` follow `source` from `time` on, and tell whom they followed before."""
        code = _CODES[source]
        before = self._holder[joints]
        taken = joints[before != code]
        if not len(taken):
            return
        for loser_code in np.unique(before[before != code]):
            loser, lost = _SOURCES[loser_code], joints[before == loser_code]
            names = tuple(self.joints.names[i] for i in lost)
            if loser is not CommandSource.NOBODY:
                was_done = self._was_done(loser, lost, time)
                self._emit(
                    CommandPreempted(loser=loser, taker=source, joints=names, was_done=was_done)
                )
                self._release(loser, lost, f"{source} took over joint '{names[0]}'")
        self._holder[taken] = code
        self._damped[taken] = False
        self._damping = bool(self._damped.any())
        if source not in _GOING_ON:
            self.references.values[1:, taken] = 0.0

    def _was_done(self, source: CommandSource, joints: np.ndarray, time: float) -> bool:
        """Return whether a source had nothing left to do with joints it held."""
        if source is CommandSource.TRAJECTORY:
            return not self.trajectory.busy
        if source is CommandSource.GRIPPER:
            return self.gripper is None or not self.gripper.busy
        return bool(np.isin(joints, self._streams[source].silent(time, _DONE_S)).all())

    def _release(self, source: CommandSource, joints: np.ndarray, reason: str) -> None:
        if source is CommandSource.TRAJECTORY:
            self.trajectory.release(joints, reason)
        elif source is CommandSource.GRIPPER:
            if self.gripper is not None:
                self.gripper.release(reason)
        else:
            self._streams[source].release(joints)

    def _forget(self, reason: str) -> None:
        self.heard.clear()
        self.trajectory.reset(reason)
        for stream in self._streams.values():
            stream.reset()
        self._holder[:] = 0
        self._damped[:] = self._damping = False

    def _rest(self, source: CommandSource, joints: np.ndarray) -> None:
        """Let joints of a stream hold their position."""
        references = self.references
        positioned = self._streams[source].positioned[joints] | (source is CommandSource.VELOCITY)
        loose = joints[~positioned]  # only pushed or turned so far: where they are is all there is
        references.q[loose] = self.q[loose]
        references.tau[loose] = 0.0
        references.dq[joints] = 0.0

    def _stop(self, source: CommandSource, joints: np.ndarray) -> None:
        """Act on a stream's silence: its joints hold their position, or are damped."""
        stream, references = self._streams[source], self.references
        self._rest(source, joints)
        damp = self.stream.on_timeout == "damp"
        if damp:
            self._damped[joints] = self._damping = True
            references.tau[joints] = 0.0
        stream.release(joints)
        self._holder[joints] = 0
        self._emit(
            StreamStopped(
                source=source,
                joints=tuple(self.joints.names[i] for i in joints),
                timeout=self.stream.timeout,
                action=self.stream.on_timeout,
            )
        )
