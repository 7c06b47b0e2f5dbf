"""Topics and actions that command the robots, and the events that follow."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.gripper_server import GripperServer
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.commands.stream_server import StreamServer
from mujoco_ros.bridge.commands.trajectory_server import TrajectoryServer
from mujoco_ros.bridge.component import Component
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

_RESULT_DELIVERY_S = 0.5
"""Wall time in which clients receive the results of goals that ended with their robot."""
_Server = StreamServer | TrajectoryServer | GripperServer


@dataclass(frozen=True, kw_only=True, eq=False)
class _Served:
    """The servers of a robot."""

    namespace: str
    servers: list[_Server]


class RobotCommands(Component):
    """Offers the topics and actions that command every robot, and reports the outcomes."""

    def __init__(
        self,
        endpoints: Endpoints,
        simulation: Simulation,
        submit: CommandSubmission,
        rejections: RejectionLog,
        *,
        controllers: bool,
        on_reset: Callable[[SimulationReset], None],
    ) -> None:
        """Open the topics and actions.

        Args:
            endpoints: Opens them.
            simulation: The simulation.
            submit: Hands commands to the physics thread.
            rejections: Log and counters of rejected commands.
            controllers: Whether to offer controllers beside ``joint_commands``.
            on_reset: Called in the executor's thread after a reset of the simulation.
        """
        self._simulation = simulation
        self._submit, self._rejections = submit, rejections
        self._on_reset = on_reset
        self._endpoints = endpoints
        self._node = endpoints.node
        self._controllers = controllers
        self._served: dict[Part, _Served] = {}
        self._leaving: list[_Served] = []
        self._dispatching = False
        simulation.events.clear()  # the initial reset
        simulation.on_event.append(self._wake)
        self.finish()

    def finish(self) -> None:
        """Open the topics and actions of new robots; close those of deleted robots."""
        plant = self._simulation.plant
        robots = zip(plant.layout.robots, plant.controls, strict=True)
        present = dict(zip(plant.assembly.robots, robots, strict=True))
        for part in self._served.keys() - present.keys():
            gone = self._served.pop(part)
            for server in gone.servers:
                server.close(f"robot '{part.name}' no longer exists")
            self._leaving.append(gone)
            self._endpoints.later(_RESULT_DELIVERY_S, partial(self._withdraw, gone))
        for part, (robot, control) in present.items():
            if part not in self._served:
                for gone in [gone for gone in self._leaving if gone.namespace == robot.namespace]:
                    self._withdraw(gone)
                servers = list(self._serve(robot, control))
                self._served[part] = _Served(namespace=robot.namespace, servers=servers)

    def _serve(self, robot: RobotLayout, control: RobotControl) -> Iterator[_Server]:
        """Open the topics and actions of a robot."""
        if not robot.joints.names:
            return
        at, to = (self._endpoints, robot.namespace, control), (self._submit, self._rejections)
        yield StreamServer(*at, *to, controllers=self._controllers)
        if self._controllers and control.joints.with_interface(POSITION):
            yield TrajectoryServer(*at, self._now, self._past, *to)
        if self._controllers and control.gripper is not None:
            yield GripperServer(*at, *to)

    def _withdraw(self, gone: _Served) -> None:
        """Close the topics and actions of a deleted robot."""
        if gone in self._leaving:
            self._leaving.remove(gone)
            for server in gone.servers:
                server.destroy()

    def _now(self) -> float:
        return self._simulation.time

    def _past(self, start: float) -> str:
        return self._simulation.epochs.problem(start, self._simulation.time, starts=True)

    def _wake(self) -> None:
        """Have the executor call `_dispatch`; the physics thread calls this."""
        # Not by a guard condition, which rclpy's EventsExecutor does not take.
        if not self._dispatching:
            self._dispatching = True  # first: the executor may be quicker
            if not later(self._node, self._dispatch):
                self._dispatching = False

    def _dispatch(self) -> None:
        """Handle the events of the physics thread."""
        self._dispatching = False  # first: events added from now on may be missed below
        events = self._simulation.events
        batch = [events.popleft() for _ in range(len(events))]
        newest = {id(e.goal): e for e in batch if isinstance(e, GoalProgress)}
        for event in batch:
            if isinstance(event, GoalProgress) and newest[id(event.goal)] is not event:
                continue  # the client is late already: only the newest feedback
            try:
                self._handle(event)
            except Exception as error:  # it would end the process: see goal_server.py
                self._rejections.report("control", "failed", repr(error))
        if events:
            self._wake()

    def close(self) -> None:
        """Report the last events and end all goals, after the physics thread has ended."""
        self._dispatch()
        for served in self._served.values():
            for server in served.servers:
                server.close("the simulator ended")
                server.flush()

    def _handle(self, event: Event) -> None:
        match event:
            case GoalStarted(goal=Goal() as goal):
                goal.set_executing()
            case GoalProgress(goal=Goal() as goal):
                goal.publish_feedback(event)
            case GoalEnded(goal=Goal() as goal):
                goal.end(event)
                if event.outcome in (
                    Outcome.PATH_TOLERANCE_VIOLATED,
                    Outcome.GOAL_TOLERANCE_VIOLATED,
                ):
                    self._rejections.report(goal.server.name, "goals aborted", event.message)
            case CommandPreempted(was_idle=True):
                self._node.get_logger().info(
                    f"{event.new_owner} follows {_place(event.robot, event.source)}, "
                    f"which was done, on {', '.join(event.joints)}"
                )
            case CommandPreempted():
                self._rejections.report(
                    _place(event.robot, event.source),
                    f"joints lost to {event.new_owner}",
                    f"{event.new_owner} took over {', '.join(event.joints)}",
                )
            case StreamStopped():
                self._rejections.report(
                    _place(event.robot, event.source),
                    "streams stopped",
                    f"no command for {event.timeout:g} s, so command_timeout makes it "
                    f"{event.action} {', '.join(event.joints)}",
                )
            case CommandRejected():
                self._rejections.report(_place(event.robot, event.source), "refused", event.message)
            case CommandFailed():
                self._rejections.report(event.topic, "failed", event.message)
                if isinstance(event.goal, Goal):
                    event.goal.abort(event.message)
            case CommandDropped():
                self._rejections.report(event.topic, "dropped", event.message)
                if isinstance(event.goal, Goal):
                    event.goal.abort(event.message)
            case SimulationReset():
                self._on_reset(event)


def _place(robot: str, source: CommandSource) -> str:
    return f"{robot}/{source}" if robot else source
