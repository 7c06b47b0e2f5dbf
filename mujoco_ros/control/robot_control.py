"""Command arbitration of one robot: every joint follows its owner, the newest command source."""

from collections.abc import Callable

import numpy as np

from mujoco_ros.control.cartesian import CartesianCommand, CartesianSettings, CartesianSource
from mujoco_ros.control.events import (
    CommandError,
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
from mujoco_ros.control.joint_owners import CommandRates, ControlState, JointOwner, JointOwners
from mujoco_ros.control.joints import ControlledJoints, GripperServo, JointServo
from mujoco_ros.control.references import References
from mujoco_ros.control.reset_hold import ResetHold
from mujoco_ros.control.settings import GripperSettings, StreamSettings, TrajectorySettings
from mujoco_ros.control.streams import RobotStreams
from mujoco_ros.control.trajectory.controller import TrajectoryController
from mujoco_ros.control.trajectory.trajectory import Trajectory

_CONTINUING = (CommandSource.TRAJECTORY, CommandSource.CONTROLLER, CommandSource.CARTESIAN)
"""Sources that continue from the present velocity and effort references."""
RESET = "the simulation was reset"
"""Default reason for which goals end."""


class RobotControl:
    """Writes a robot's references at every step from the commands of all sources.

    The newest command claims its joints. The preempted source is reported by an event, and a goal
    that needs these joints ends. An unclaimed joint keeps its reference.
    """

    def __init__(
        self,
        joints: ControlledJoints,
        references: References,
        timestep: float,
        emit: Callable[[Event], None],
        limit_effort: Callable[[int, float], None],
        tendon: GripperServo | None = None,
        cartesian: Callable[["RobotControl"], CartesianSource] | None = None,
    ) -> None:
        """Start with all joints unclaimed; `emit` is called with each event.

        `timestep` is the simulated time between steps [s], `tendon` the servo of the gripper's
        tendon, and `cartesian` returns the Cartesian controller, which writes the references.
        """
        count = len(joints.names)
        self.joints = joints
        self.references = references  # of the joints, written by `update`
        self.stream, self.rates = StreamSettings(), CommandRates()
        # Measured positions, velocities and efforts, to be set before `update` while `active` (n,)
        self.q, self.dq, self.effort = np.zeros((3, count))
        self.timestep = timestep  # simulated time between steps [s]
        self._emit = emit
        # Limits the effort of a joint [N or Nm]; 0 restores its own limit
        self.limit_effort = limit_effort
        # Simulated time at which `hold_at` was called last [s]; -inf since a reset
        self.state_set_at = -np.inf
        self.reset_hold = ResetHold(joints, references, emit)
        self.reset_hold.configure(self.stream.reset_hold, self.stream.reset_hold_tolerance)
        self._now = 0.0  # time of the last step or command
        settings = TrajectorySettings(trajectory=np.zeros(count), goal=np.zeros(count))
        self.trajectory = TrajectoryController(joints, references, settings, emit)
        self.streams = RobotStreams(joints, references, self._stop)
        self.gripper: GripperController | None = None
        servo = tendon if joints.gripper is None else JointServo(self, joints.gripper)
        if servo is not None:
            self.gripper = GripperController(servo, GripperSettings(), emit)
        self._sources: dict[CommandSource, JointOwner] = {
            CommandSource.TRAJECTORY: self.trajectory,
            **self.streams.by_source,
            **({CommandSource.GRIPPER: self.gripper} if self.gripper is not None else {}),
        }
        self.cartesian = None if cartesian is None else cartesian(self)
        if self.cartesian is not None:
            self._sources[CommandSource.CARTESIAN] = self.cartesian
        self._owners = JointOwners(count)
        self._controllers = np.full(count, "", dtype=object)  # name of the one that owns a joint

    def bind(
        self,
        references: np.ndarray,
        timestep: float,
        limit_effort: Callable[[int, float], None],
        tendon: GripperServo | None = None,
    ) -> None:
        """Use another array of references (3, n) after a change of the model."""
        self.references.rebind(references)
        self.streams.bind()
        self.timestep = timestep
        self.limit_effort = limit_effort
        if self.gripper is not None and tendon is not None:
            self.gripper.servo = tendon

    @property
    def active(self) -> bool:
        """Whether `update` is needed."""
        if self.streams.active:
            return True
        gripping = self.gripper is not None and self.gripper.busy
        moving = self.cartesian is not None and self.cartesian.busy
        return self.trajectory.busy or gripping or moving

    def idle_steps(self, time: float) -> int:
        """Return for how many steps from `time` [s] on `update` only follows ramps, at most `MANY`.

        Compiled steps follow them.
        """
        gripping = self.gripper is not None and self.gripper.busy
        moving = self.cartesian is not None and self.cartesian.busy
        if self.trajectory.busy or gripping or moving or self.reset_hold.active:
            return 0
        return self.streams.idle_steps(time, self.timestep, self.stream.timeout)

    def owners(self) -> dict[CommandSource, tuple[str, ...]]:
        """Return the names of the joints that each source owns; unclaimed joints included."""
        return {source: self._names(joints) for source, joints in self._owners.by_source()}

    def configure(
        self,
        stream: StreamSettings,
        trajectory: TrajectorySettings,
        gripper: GripperSettings | None,
        cartesian: CartesianSettings | None = None,
    ) -> None:
        """Replace the settings."""
        if self.cartesian is not None and cartesian is not None:
            self.cartesian.configure(cartesian)
            self._release_ended_cartesian()
        self.stream = stream
        self.reset_hold.configure(stream.reset_hold, stream.reset_hold_tolerance)
        self.trajectory.settings = trajectory
        if self.gripper is not None and gripper is not None:
            self.gripper.settings = gripper

    def follow(self, trajectory: Trajectory, time: float) -> None:
        """Execute a trajectory from the step at `time` on; one in the past is rejected by an event.

        One without points stops its joints at their references, whatever their owner.
        """
        goal = trajectory.goal
        if trajectory.is_hold:
            self._claim(CommandSource.TRAJECTORY, trajectory.joints, time)
            self.trajectory.hold(trajectory)
            return
        if trajectory.restarts:
            self.reset_hold.release(CommandSource.TRAJECTORY)
        try:
            trajectory.check_in_time(time)
        except CommandError as error:
            if goal is None:
                self._emit(CommandRejected(source=CommandSource.TRAJECTORY, message=str(error)))
            else:
                late = Outcome.OLD_HEADER_TIMESTAMP
                self._emit(GoalEnded(goal=goal, outcome=late, message=str(error)))
            return
        self._now = time
        self.rates.add(CommandSource.TRAJECTORY, time)
        if reason := self.reset_hold.refuses(trajectory, self.q, time):
            if goal is not None:
                self._emit(GoalEnded(goal=goal, outcome=Outcome.INVALID_GOAL, message=reason))
            return
        self._claim(CommandSource.TRAJECTORY, trajectory.joints, time)
        self.trajectory.accept(trajectory, time)

    def command(
        self,
        source: CommandSource,
        command: JointCommand,
        time: float,
        settings: StreamSettings | None = None,
    ) -> None:
        """Apply a command of a stream from the step at `time` on, but for joints that are held.

        `settings` replace the interpolation of all streams.
        """
        if not len(command.joints):
            return
        self._now = time
        self.rates.add(source, time)
        stream, hold = self.streams.by_source[source], self.reset_hold
        joints, values = hold.admit(source, stream, command.joints, command.values, self.q, time)
        if len(joints):
            self._claim(source, joints, time, command.controller)
            stream.command(joints, values, settings or self.stream, time, self.timestep)

    def command_cartesian(self, command: CartesianCommand, time: float) -> None:
        """Have the Cartesian controller follow a command from the step at `time` on."""
        cartesian = self.cartesian
        if cartesian is None:
            return
        if problem := cartesian.refusal(command):  # its settings changed meanwhile
            self._emit(CommandRejected(source=CommandSource.CARTESIAN, message=problem))
            return
        self.rates.add(CommandSource.CARTESIAN, time)
        self._claim(CommandSource.CARTESIAN, cartesian.joints, time)
        cartesian.accept(command, time)

    def command_gripper(self, command: GripperCommand, time: float) -> None:
        """Execute a gripper command."""
        if self.gripper is not None:
            self.rates.add(CommandSource.GRIPPER, time)
            self._claim(CommandSource.GRIPPER, self.joints.gripper_joints, time)
            self.gripper.accept(command, time)

    def preempt_gripper(self, time: float) -> None:
        """End the gripper's command, as the actuators of its tendon are commanded directly."""
        gripper, owned = self.gripper, self._owners.joints_of(CommandSource.GRIPPER)
        if gripper is None:
            return
        if not (gripper.busy or owned.size):
            gripper.servo.limit_effort(0.0)  # end the limit of the last goal
            return
        self._emit(
            CommandPreempted(
                source=CommandSource.GRIPPER,
                new_owner=CommandSource.ACTUATORS,
                joints=(self.joints.gripper_name,),
                was_idle=gripper.is_idle(owned, time),
            )
        )
        gripper.release(owned, f"preempted by {CommandSource.ACTUATORS}")
        self._owners.release(owned)

    def release(
        self,
        source: CommandSource,
        *,
        joints: np.ndarray | None = None,
        measured: bool = False,
    ) -> None:
        """Release joints of a stream, all or those in `joints` (n,) bool; they hold their position.

        A joint that received no position holds its measured one. With `measured`, all joints of the
        stream and all unclaimed ones do: references set under other gains are far from positions.
        """
        stream = self.streams.by_source[source]
        released = stream.owned.copy()
        if measured:
            released |= self._owners.unclaimed
        if joints is not None:
            released &= joints
        if measured:
            stream.positioned[released] = False
        indices = np.flatnonzero(released)
        self.streams.hold(source, indices, self.q)
        stream.release(indices)
        self._owners.release(indices)

    def end(self, reason: str) -> None:
        """Release all joints and end goals for a `reason`."""
        self._clear(reason)
        if self.gripper is not None:
            self.gripper.reset(reason)

    def reset(self, reason: str = RESET) -> None:
        """End everything, and hold joints against running sources; the caller sets references."""
        self.reset_hold.begin(self._now)
        self.reset_hold.forget_clock(self._now, keep=False)
        self.end(reason)

    def hold_all(self, reason: str = RESET) -> None:
        """Release all joints, which hold their position, and end goals for a `reason`.

        A joint without a position holds its measured one; the gripper keeps its effort limit.
        """
        self._hold_positions()
        self.reset_hold.forget_clock(self._now, keep=True)
        self._clear(reason)
        if self.gripper is not None:
            self.gripper.stop(reason)

    def hold_at(self, joints: np.ndarray, positions: np.ndarray, time: float, reason: str) -> None:
        """Continue from a state that was set: `joints` (k,) hold at `positions` (k,) [rad or m].

        The others hold as they do. As a `reset`, it releases all joints, ends goals for a `reason`
        and restores the effort limit of the gripper. Commands stamped before `time` [s], the first
        step in the new state, are from before it.
        """
        self._hold_positions()
        self.references.tau[joints] = 0.0
        limits = self.joints.lower[joints], self.joints.upper[joints]
        self.references.q[joints] = np.clip(positions, *limits)
        self.reset_hold.begin(time, joints)
        self.end(reason)
        self.state_set_at = time

    def save_state(self) -> ControlState:
        """Return a copy of the state without goals, for `restore_state`."""
        return ControlState(
            sources={source: owner.save_state() for source, owner in self._sources.items()},
            owners=self._owners.save_state(),
            damped=self.streams.damped.copy(),
            reset_hold=self.reset_hold.save_state(),
        )

    def restore_state(self, state: ControlState) -> None:
        """Continue from a saved state, after a `reset`; the caller restores the references."""
        for source, owner in self._sources.items():
            owner.restore_state(state.sources[source])
        self._owners.restore_state(state.owners)
        self._release_ended_cartesian()  # a motion that cannot continue has ended
        self.streams.damp(state.damped)
        self.reset_hold.restore_state(state.reset_hold)

    def update(self, time: float) -> None:
        """Write the references of the step that begins at `time` [s]."""
        self._now = time
        if self.trajectory.busy:
            self.trajectory.update(time, self.q, self.dq)
        self.streams.update(time, self.timestep, self.stream.timeout)
        if self.cartesian is not None and self.cartesian.busy:
            self.cartesian.update(time)
        if self.gripper is not None and self.gripper.busy:
            self.gripper.update(time, self.timestep)
        if self.streams.damping:
            np.copyto(self.references.q, self.q, where=self.streams.damped)

    def _names(self, joints: np.ndarray) -> tuple[str, ...]:
        return tuple(self.joints.names[i] for i in joints)

    def _claim(
        self, source: CommandSource, joints: np.ndarray, time: float, controller: str = ""
    ) -> None:
        """Make `source` the owner of `joints` from `time` on; preempt the previous owners."""
        preempted = self._owners.claim(source, joints)
        if not preempted:
            return
        for previous, lost in preempted:
            if previous is not CommandSource.UNCLAIMED:
                names, owner = self._names(lost), self._sources[previous]
                was_idle = owner.is_idle(lost, time)
                self._emit(
                    CommandPreempted(
                        source=previous,
                        new_owner=source,
                        joints=names,
                        was_idle=was_idle,
                        controller=controller or self._controllers[lost[0]],
                    )
                )
                owner.release(lost, f"preempted by {source} on joint '{names[0]}'")
        claimed = np.concatenate([lost for _, lost in preempted])
        self._controllers[claimed] = controller
        self.streams.end_damping(claimed)
        if source not in _CONTINUING:
            self.references.values[1:, claimed] = 0.0

    def _release_ended_cartesian(self) -> None:
        if self.cartesian is not None and not self.cartesian.busy:
            self._owners.release(self._owners.joints_of(CommandSource.CARTESIAN))

    def _hold_positions(self) -> None:
        """Set the references of all joints to hold their position."""
        self.streams.hold_all(self.q)
        if self.cartesian is not None:
            self.cartesian.settle()
        self.references.dq[:] = 0.0

    def _clear(self, reason: str) -> None:
        self.state_set_at = -np.inf
        self.rates.clear()
        self.trajectory.reset(reason)
        self.streams.reset()
        if self.cartesian is not None:
            self.cartesian.reset()
        self._owners.release()

    def _stop(self, source: CommandSource, joints: np.ndarray) -> None:
        """Release joints of a stream after its timeout: hold their position, or damp them."""
        self.streams.stop(source, joints, self.q, damp=self.stream.on_timeout == "damp")
        self._owners.release(joints)
        self._emit(
            StreamStopped(
                source=source,
                joints=self._names(joints),
                timeout=self.stream.timeout,
                action=self.stream.on_timeout,
            )
        )
