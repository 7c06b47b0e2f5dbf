"""Everything by which robots are commanded over ROS, and what their commanders are told."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from mujoco_ros.bridge.commands.command_submission import CommandSubmission, Take
from mujoco_ros.bridge.commands.gripper_server import GripperServer
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.commands.stream_server import StreamServer
from mujoco_ros.bridge.commands.trajectory_server import TrajectoryServer
from mujoco_ros.bridge.component import ModelChangeListener
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.goal_server import Goal
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.control.events import (
    CommandDropped,
    CommandFailed,
    CommandPreempted,
    CommandRejected,
    CommandSource,
    Event,
    GoalEnded,
    GoalProgress,
    GoalStarted,
    Outcome,
    SimulationReset,
    StreamStopped,
)
from mujoco_ros.control.modes import POSITION
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.simulation import Simulation

_LAST_WORDS_S = 0.5
"""For so long the results of goals that ended with their robot are on their way to clients."""
_Server = StreamServer | TrajectoryServer | GripperServer


@dataclass(frozen=True, kw_only=True, eq=False)
class _Served:
    """By what a robot is commanded."""

    namespace: str
    servers: list[_Server]


class RobotCommands(ModelChangeListener):
    """Offers topics and actions to command every robot, and passes on what becomes of it.

    Attributes:
        refusals: What went wrong with commands.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        simulation: Simulation,
        *,
        controllers: bool,
        on_reset: Callable[[SimulationReset], None],
        take: Take | None = None,
    ) -> None:
        """Create them.

        Args:
            endpoints: Opens topics and actions.
            simulation: Whose robots are commanded.
            controllers: Whether to offer controllers beside ``joint_commands``.
            on_reset: Called in the executor's thread after the simulation was reset.
            take: Decides in the physics thread when a command acts; without it, at once.
        """
        self._simulation = simulation
        self._on_reset = on_reset
        self.refusals = RejectionLog(endpoints.node.get_logger().warning)
        self.submit = CommandSubmission(simulation, self.refusals, take)
        self._endpoints = endpoints
        self._node = endpoints.node
        self._controllers = controllers
        self._served: dict[Part, _Served] = {}
        self._leaving: list[_Served] = []
        self._telling = False
        simulation.events.clear()  # the initial reset is no news
        simulation.on_event = self._wake
        self.finish()

    def finish(self) -> None:
        """Serve the robots that have come, and serve those no more that are gone."""
        plant = self._simulation.plant
        robots = zip(plant.layout.robots, plant.controls, strict=True)
        present = dict(zip(plant.assembly.robots, robots, strict=True))
        for part in self._served.keys() - present.keys():
            gone = self._served.pop(part)
            for server in gone.servers:
                server.close(f"robot '{part.name}' is no longer there")
            self._leaving.append(gone)
            self._endpoints.later(_LAST_WORDS_S, partial(self._withdraw, gone))
        for part, (robot, control) in present.items():
            if part not in self._served:
                for gone in [gone for gone in self._leaving if gone.namespace == robot.namespace]:
                    self._withdraw(gone)
                servers = list(self._serve(robot, control))
                self._served[part] = _Served(namespace=robot.namespace, servers=servers)

    def _serve(self, robot: RobotLayout, control: RobotControl) -> Iterator[_Server]:
        """Offer everything by which a robot is commanded."""
        if not robot.joints.names:
            return
        at, to = (self._endpoints, robot.namespace, control), (self.submit, self.refusals)
        yield StreamServer(*at, *to, controllers=self._controllers)
        if self._controllers and control.joints.taking(POSITION):
            yield TrajectoryServer(*at, self._now, self._past, *to)
        if self._controllers and control.gripper is not None:
            yield GripperServer(*at, *to)

    def _withdraw(self, gone: _Served) -> None:
        """Withdraw what was left of a robot that is gone."""
        if gone in self._leaving:
            self._leaving.remove(gone)
            for server in gone.servers:
                server.destroy()

    def _now(self) -> float:
        return self._simulation.time

    def _past(self, start: float) -> str:
        return self._simulation.eras.problem(start, self._simulation.time, starts=True)

    def _wake(self) -> None:
        """Have `_tell` called by the executor; the physics thread calls this."""
        # Not by a guard condition, which rclpy's EventsExecutor does not take.
        if not self._telling:
            self._telling = True  # first: the executor may be quicker
            if not later(self._node, self._tell):
                self._telling = False

    def _tell(self) -> None:
        """Pass on what the physics thread had to tell."""
        self._telling = False  # first: what is added from now on may be missed below
        events = self._simulation.events
        batch = [events.popleft() for _ in range(len(events))]
        newest = {id(e.goal): e for e in batch if isinstance(e, GoalProgress)}
        for event in batch:
            if isinstance(event, GoalProgress) and newest[id(event.goal)] is not event:
                continue  # the client has waited already, for news
            try:
                self._pass_on(event)
            except Exception as error:  # it would end the process: see goals.py
                self.refusals.report("control", "failed", repr(error))
        if events:
            self._wake()

    def end(self, reason: str) -> None:
        """Tell what there is left to tell, and end all goals, after the physics thread ended."""
        self._tell()
        for served in self._served.values():
            for server in served.servers:
                server.close(reason)
                server.flush()

    def _pass_on(self, event: Event) -> None:
        match event:
            case GoalStarted(goal=Goal() as goal):
                goal.begin()
            case GoalProgress(goal=Goal() as goal):
                goal.tell(event)
            case GoalEnded(goal=Goal() as goal):
                goal.end(event)
                if event.outcome in (
                    Outcome.PATH_TOLERANCE_VIOLATED,
                    Outcome.GOAL_TOLERANCE_VIOLATED,
                ):
                    self.refusals.report(goal.server.name, "goals aborted", event.message)
            case CommandPreempted(was_done=True):
                self._node.get_logger().info(
                    f"{event.taker} follows {_place(event.robot, event.loser)}, which was done, on "
                    f"{', '.join(event.joints)}"
                )
            case CommandPreempted():
                self.refusals.report(
                    _place(event.robot, event.loser),
                    f"joints lost to {event.taker}",
                    f"{event.taker} took over {', '.join(event.joints)}",
                )
            case StreamStopped():
                self.refusals.report(
                    _place(event.robot, event.source),
                    "streams stopped",
                    f"no command for {event.timeout:g} s, so command_timeout makes it "
                    f"{event.action} {', '.join(event.joints)}",
                )
            case CommandRejected():
                self.refusals.report(_place(event.robot, event.source), "refused", event.message)
            case CommandFailed():
                self.refusals.report(event.topic, "failed", event.message)
                if isinstance(event.goal, Goal):
                    event.goal.give_up(event.message)
            case CommandDropped():
                self.refusals.report(event.topic, "dropped", event.message)
                if isinstance(event.goal, Goal):
                    event.goal.give_up(event.message)
            case SimulationReset():
                self._on_reset(event)


def _place(robot: str, source: CommandSource) -> str:
    return f"{robot}/{source}" if robot else source
