"""Submission of commands from the executor's thread to the physics thread."""

from collections.abc import Callable, Hashable
from functools import partial

from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.control.events import CommandDropped, QueueFullError
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.rclpy_ext.executor import guarded
from mujoco_ros.rclpy_ext.goal_server import Goal
from mujoco_ros.sim.command_queue import NANOSECOND, epoch_label
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import Lockstep


def nothing(_time: float) -> None:
    """Answer a tick of the lockstep with a command that changes nothing."""


class CommandSubmission:
    """Submits commands, which the physics thread runs between two steps.

    In lockstep, a command with a stamp acts at the tick that it answers.
    """

    def __init__(
        self, simulation: Simulation, rejections: RejectionLog, lockstep: Lockstep
    ) -> None:
        self._simulation, self._rejections, self._lockstep = simulation, rejections, lockstep

    def __call__(
        self,
        topic: str,
        command: Callable[[float], None],
        goal: Goal | None = None,
        *,
        stamp: int = 0,
        epoch: int | None = None,
        start: float | None = None,
        control: RobotControl | None = None,
        component: Hashable = (),
        now: bool = False,
        urgent: bool = False,
    ) -> None:
        """Submit a command, which is called with the simulated time of the next step [s].

        It answers the state with a `stamp` [ns of simulated time], 0 is the current one, of an
        `epoch` if that is given. It starts at a simulated time `start` [s]; None is at once.
        `control` is the robot that it is for: it is dropped if it is from before its state was set.
        The `goal` is aborted if the command cannot be queued, as too many wait; an `urgent` one,
        such as a cancellation, is queued nevertheless. `component` distinguishes the components of
        a controller_manager. `now` is set by the physics thread, which runs it at once.
        """
        if epoch is not None:
            stamp = max(1, stamp)  # of the first tick, not without a stamp

        def run() -> None:
            """Run it, at once or at its tick, unless it is outdated."""
            past = self._past(stamp, start, epoch)
            outdated = past or self._outdated(control, stamp, start)
            # An outdated command may answer its tick in lockstep, too.
            act = nothing if outdated else partial(self._act, topic, command, goal)
            problem = self._lockstep.take(topic, stamp, act, component, past) or outdated
            if problem:
                self._simulation.emit(CommandDropped(topic=topic, message=problem, goal=goal))

        if now:
            run()
            return
        try:
            self._simulation.commands.submit(guarded(run), urgent=urgent)
        except QueueFullError as error:
            self._rejections.report(topic, "refused", str(error))
            if goal is not None:
                goal.abort(str(error))

    def _act(
        self, topic: str, command: Callable[[float], None], goal: Goal | None, time: float
    ) -> None:
        try:
            command(time)
        except Exception as error:
            failed = CommandDropped(topic=topic, message=repr(error), kind="failed", goal=goal)
            self._simulation.emit(failed)

    def _past(self, stamp: int, start: float | None, epoch: int | None) -> str:
        """Return why a command is from before a reset; empty if it is not."""
        present = self._simulation.epochs.number
        if epoch is not None:
            if epoch == present:
                return ""
            return f"answers a tick of {epoch_label(epoch)}; it is {epoch_label(present)} now"
        epochs, now = self._simulation.epochs, float(self._simulation.data.time)
        if start is not None:
            return epochs.problem(start, now, starts=True)
        return epochs.problem(stamp * NANOSECOND, now) if stamp else ""

    def _outdated(self, control: RobotControl | None, stamp: int, start: float | None) -> str:
        """Return why a command is from before the state of its robot was set; empty if not."""
        given = start if start is not None else (stamp * NANOSECOND if stamp else None)
        if control is None or given is None or given >= control.state_set_at - NANOSECOND:
            return ""
        # Clients that answer ticks may set the state of a robot before they do.
        if self._lockstep.stepped and given >= self._simulation.time - NANOSECOND:
            return ""
        return (
            f"stamped {given:.6f} s, before the state of the robot was set at "
            f"{control.state_set_at:.6f} s"
        )
