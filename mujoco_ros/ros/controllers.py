"""Everything by which robots are commanded over ROS, and what their commanders are told."""

from collections.abc import Callable

from rclpy.node import Node

from mujoco_ros.control.events import (
    Event,
    Failed,
    GoalEnded,
    GoalStarted,
    Outcome,
    Progress,
    Refused,
    Source,
    Stopped,
    TakenOver,
    WasReset,
)
from mujoco_ros.control.modes import POSITION
from mujoco_ros.ros.goals import Goal
from mujoco_ros.ros.gripper_server import GripperServer
from mujoco_ros.ros.refusals import Refusals
from mujoco_ros.ros.stream_server import StreamServer
from mujoco_ros.ros.submit import Submit
from mujoco_ros.ros.trajectory_server import TrajectoryServer
from mujoco_ros.sim.simulation import Simulation


class Controllers:
    """Offers topics and actions to command every robot, and passes on what becomes of it.

    Attributes:
        refusals: What went wrong with commands.
    """

    def __init__(
        self,
        node: Node,
        simulation: Simulation,
        *,
        controllers: bool,
        on_reset: Callable[[int], None],
    ) -> None:
        """Create them.

        Args:
            node: The node.
            simulation: Whose robots are commanded.
            controllers: Whether to offer controllers beside ``joint_commands``.
            on_reset: Called in the executor's thread after the simulation was reset, with how often
                gains had been changed by then.
        """
        self._simulation = simulation
        self._on_reset = on_reset
        self.refusals = Refusals(node.get_logger().warning)
        self._servers: list[StreamServer | TrajectoryServer | GripperServer] = []
        submit = Submit(simulation, self.refusals)
        for robot, control in zip(simulation.layout.robots, simulation.controls, strict=True):
            if not robot.joints.names:
                continue
            at, to = (node, robot.namespace, control), (submit, self.refusals)
            self._servers.append(StreamServer(*at, *to, controllers=controllers))
            if controllers and control.joints.taking(POSITION):
                self._servers.append(TrajectoryServer(*at, self._now, *to))
            if controllers and control.gripper is not None:
                self._servers.append(GripperServer(*at, *to))
        self._node = node
        self._telling = False
        simulation.events.clear()  # the initial reset is no news
        simulation.on_event = self._wake

    def _now(self) -> float:
        return self._simulation.time

    def _wake(self) -> None:
        """Have `_tell` called by the executor; the physics thread calls this."""
        # Not by a guard condition, which rclpy's EventsExecutor does not take.
        executor = self._node.executor
        if executor is not None and not self._telling:
            self._telling = True
            executor.create_task(self._tell)

    def _tell(self) -> None:
        """Pass on what the physics thread had to tell."""
        self._telling = False  # first: what is added from now on may be missed below
        events = self._simulation.events
        batch = [events.popleft() for _ in range(len(events))]
        newest = {id(e.goal): e for e in batch if isinstance(e, Progress)}
        for event in batch:
            if isinstance(event, Progress) and newest[id(event.goal)] is not event:
                continue  # the client has waited already, for news
            try:
                self._pass_on(event)
            except Exception as error:  # it would end the process: see goals.py
                self.refusals.report("control", "failed", repr(error))
        if events:
            self._wake()

    def finish(self, reason: str) -> None:
        """Tell what there is left to tell, and end all goals, after the physics thread ended."""
        self._tell()
        for server in self._servers:
            if not isinstance(server, StreamServer):
                server.goals.give_up_all(reason)

    def _pass_on(self, event: Event) -> None:
        match event:
            case GoalStarted(goal=Goal() as goal):
                goal.begin()
            case Progress(goal=Goal() as goal):
                goal.tell(event)
            case GoalEnded(goal=Goal() as goal):
                goal.end(event)
                if event.outcome in (
                    Outcome.PATH_TOLERANCE_VIOLATED,
                    Outcome.GOAL_TOLERANCE_VIOLATED,
                ):
                    self.refusals.report(goal.server.name, "goals aborted", event.message)
            case TakenOver():
                self.refusals.report(
                    _place(event.robot, event.loser),
                    f"joints lost to {event.taker}",
                    f"{event.taker} took over {', '.join(event.joints)}",
                )
            case Stopped():
                self.refusals.report(
                    _place(event.robot, event.source),
                    "streams stopped",
                    f"no command for {event.timeout:g} s, so command_timeout makes it "
                    f"{event.action} {', '.join(event.joints)}",
                )
            case Refused():
                self.refusals.report(_place(event.robot, event.source), "refused", event.message)
            case Failed():
                self.refusals.report(event.topic, "failed", event.message)
                if isinstance(event.goal, Goal):
                    event.goal.give_up(event.message)
            case WasReset():
                self._on_reset(event.gain_changes)


def _place(robot: str, source: Source) -> str:
    return f"{robot}/{source}" if robot else source
