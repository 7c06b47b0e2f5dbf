"""Command arbitration of one robot: every joint follows its owner, the newest command source."""

from collections.abc import Callable

import numpy as np

from mujoco_ros.control.cartesian import CartesianCommand, CartesianSettings, CartesianSource
from mujoco_ros.control.events import (
    CommandRejected,
    CommandSource,
    Event,
    GoalEnded,
    Outcome,
    StreamStopped,
)
from mujoco_ros.control.gripper import GripperCommand, GripperController
from mujoco_ros.control.joint_command import JointCommand
from mujoco_ros.control.joint_owners import (
    ClaimingControllers,
    CommandRates,
    ControlState,
    JointOwner,
    JointOwners,
)
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
        switch_pd: Callable[[np.ndarray], object] = id,
    ) -> None:
        """Start with all joints unclaimed; `emit` is called with each event.

        `timestep` is the simulated time between steps [s], `tendon` the servo of the gripper's
        tendon, and `cartesian` returns the Cartesian controller, which writes the references.
        `switch_pd` sets of which joints the PD law acts.  # (n,) bool
        """
        count = len(joints.names)
        self.joints = joints
        self.references = references  # of the joints, written by `update`
        self.stream, self.rates = StreamSettings(), CommandRates()
        # Measured positions, velocities and efforts, to be set before `update` while `active` (n,)
        self.q, self.dq, self.effort = np.zeros((3, count))
        self.timestep = timestep  # simulated time between steps [s]
        self.emit = emit  # called with each event
        # Limits the effort of a joint [N or Nm]; 0 restores its own limit
        self.limit_effort = limit_effort
        self.managed: ClaimingControllers | None = None  # the controllers that claim joints
        self._switch_pd = switch_pd
        self._without_pd = np.zeros(count, dtype=bool)  # joints that follow claimed efforts alone
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
            own = GripperSettings(stall_velocity_threshold=joints.gripper_speed_at_rest)
            self.gripper = GripperController(servo, own, emit)
        self.cartesian = None if cartesian is None else cartesian(self)
        sources: dict[CommandSource, JointOwner | None] = {
            CommandSource.TRAJECTORY: self.trajectory,
            **self.streams.by_source,
            CommandSource.GRIPPER: self.gripper,
            CommandSource.CARTESIAN: self.cartesian,
        }
        self._owners = JointOwners(joints.names, sources, emit)

    def bind(
        self,
        references: np.ndarray,
        timestep: float,
        limit_effort: Callable[[int, float], None],
        tendon: GripperServo | None = None,
        switch_pd: Callable[[np.ndarray], object] = id,
    ) -> None:
        """Use another array of references (3, n) after a change of the model."""
        self.references.rebind(references)
        self.streams.bind()
        self.timestep = timestep
        self.limit_effort, self._switch_pd = limit_effort, switch_pd
        if self._without_pd.any():
            switch_pd(~self._without_pd)
        if self.gripper is not None and tendon is not None:
            self.gripper.servo = tendon

    @property
    def has_default_controllers(self) -> bool:
        """Whether it has controllers that no parameter file names."""
        return self.managed is None or not self.managed.replaces_defaults

    @property
    def active(self) -> bool:
        """Whether `update` is needed."""
        return self.streams.active or self.managed is not None or self._is_moving

    @property
    def _is_moving(self) -> bool:
        """Whether a trajectory, a gripper command or a Cartesian motion is followed."""
        followed = (self.trajectory, self.gripper, self.cartesian)
        return any(each is not None and each.busy for each in followed)

    def idle_steps(self, time: float) -> int:
        """Return for how many steps from `time` [s] on `update` only follows ramps, at most `MANY`.

        Compiled steps follow them.
        """
        if self._is_moving or self.reset_hold.active:
            return 0
        steps = self.streams.idle_steps(time, self.timestep, self.stream.timeout)
        return self.managed.idle_steps(time, steps) if steps and self.managed else steps

    def owners(self) -> dict[CommandSource, tuple[str, ...]]:
        """Return the names of the joints that each source owns; unclaimed joints included."""
        return {source: self._owners.names(joints) for source, joints in self._owners.by_source()}

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
            if self._claim(CommandSource.TRAJECTORY, trajectory.joints, time):
                self.trajectory.hold(trajectory)
            return
        if trajectory.restarts:
            self.reset_hold.release(CommandSource.TRAJECTORY)
        if self.trajectory.refuses_late(trajectory, time):
            return
        self._now = time
        self.rates.add(CommandSource.TRAJECTORY, time)
        if reason := self.reset_hold.refuses(trajectory, self.q, time):
            if goal is not None:
                self.emit(GoalEnded(goal=goal, outcome=Outcome.INVALID_GOAL, message=reason))
            return
        if self._claim(CommandSource.TRAJECTORY, trajectory.joints, time):
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
        if len(joints) and self._claim(source, joints, time, command.controller):
            stream.command(joints, values, settings or self.stream, time, self.timestep)

    def command_cartesian(self, command: CartesianCommand, time: float) -> None:
        """Have the Cartesian controller follow a command from the step at `time` on."""
        cartesian = self.cartesian
        if cartesian is None:
            return
        if problem := cartesian.refusal(command):  # its settings changed meanwhile
            self.emit(CommandRejected(source=CommandSource.CARTESIAN, message=problem))
            return
        self.rates.add(CommandSource.CARTESIAN, time)
        if self._claim(CommandSource.CARTESIAN, cartesian.joints, time):
            cartesian.accept(command, time)

    def command_gripper(self, command: GripperCommand, time: float) -> None:
        """Execute a gripper command."""
        if self.gripper is not None:
            self.rates.add(CommandSource.GRIPPER, time)
            if self._claim(CommandSource.GRIPPER, self.joints.gripper_joints, time):
                self.gripper.accept(command, time)

    def claim_interfaces(self, name: str, joints: np.ndarray) -> None:
        """Make a controller of `managed` the only source of commands of `joints`, by its name."""
        if len(joints):
            self._claim(CommandSource.MANAGED, joints, self._now, name)

    def release_interfaces(self, joints: np.ndarray, *, measured: np.ndarray) -> None:
        """Release claimed joints, which stop; those that are `measured` (k,) where they are."""
        here = joints[measured]
        self.references.q[here] = self.q[here]
        self.references.values[1:, joints] = 0.0
        self._owners.release(joints)

    def follow_interfaces(self, velocity: np.ndarray, effort: np.ndarray) -> None:
        """Set which claimed joints follow velocities, or efforts, alone.  # (n,) bool"""
        self.streams.integrate(velocity)
        if (effort != self._without_pd).any():
            self._without_pd[:] = effort
            self._switch_pd(~effort)

    def preempt_gripper(self, time: float) -> None:
        """End the gripper's command, as the actuators of its tendon are commanded directly."""
        if self.gripper is None:
            return
        owned = self._owners.joints_of(CommandSource.GRIPPER)
        if self.gripper.busy or owned.size:
            self._owners.lose(owned, CommandSource.GRIPPER, time, self.joints.gripper_name)
        else:
            self.gripper.servo.limit_effort(0.0)  # end the limit of the last goal

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
        """End everything, and hold joints against running sources; the caller sets references.

        Controllers that claim joints begin again.
        """
        self.reset_hold.begin(self._now)
        self.reset_hold.forget_clock(self._now, keep=False)
        self.end(reason)
        if self.managed is not None:
            self.managed.initialize()

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
            sources={source: owner.save_state() for source, owner in self._owners.sources.items()},
            owners=self._owners.save_state(),
            damped=self.streams.damped.copy(),
            reset_hold=self.reset_hold.save_state(),
            managed=None if self.managed is None else self.managed.save_state(),
        )

    def restore_state(self, state: ControlState) -> None:
        """Continue from a saved state, after a `reset`; the caller restores the references."""
        for source, owner in self._owners.sources.items():
            owner.restore_state(state.sources[source])
        self._owners.restore_state(state.owners)
        self._release_ended_cartesian()  # a motion that cannot continue has ended
        self.streams.damp(state.damped)
        self.reset_hold.restore_state(state.reset_hold)
        if self.managed is not None and state.managed is not None:
            self.managed.restore_state(state.managed)

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
        if self.managed is not None:
            self.managed.update(time)
        if self.streams.damping:
            np.copyto(self.references.q, self.q, where=self.streams.damped)

    def _claim(
        self, source: CommandSource, joints: np.ndarray, time: float, controller: str = ""
    ) -> bool:
        """Return whether `source` owns `joints` from `time` on; see `JointOwners.claim`."""
        claimed = self._owners.claim(source, joints, time, controller)
        if claimed is not None and len(claimed):
            self.streams.end_damping(claimed)
            if source not in _CONTINUING:
                self.references.values[1:, claimed] = 0.0
        return claimed is not None

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
        self._owners.clear()
        if self.managed is not None:
            self.managed.reset(reason)

    def _stop(self, source: CommandSource, joints: np.ndarray) -> None:
        """Release joints of a stream after its timeout: hold their position, or damp them."""
        timeout, action = self.stream.timeout, self.stream.on_timeout
        self.streams.stop(source, joints, self.q, damp=action == "damp")
        self._owners.release(joints)
        names = self._owners.names(joints)
        self.emit(StreamStopped(source=source, joints=names, timeout=timeout, action=action))
