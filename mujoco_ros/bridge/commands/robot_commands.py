"""Topics and actions that command the robots, and the events that follow."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from mujoco_ros.bridge.commands.cartesian_server import CartesianServer
from mujoco_ros.bridge.commands.command_server import CommandServer
from mujoco_ros.bridge.commands.gripper_server import GripperServer
from mujoco_ros.bridge.commands.held_joints import PACKAGE, REACTIVATE, HeldJoints, is_installed
from mujoco_ros.bridge.commands.stream_server import StreamServer
from mujoco_ros.bridge.commands.trajectory_server import TrajectoryServer
from mujoco_ros.bridge.component import Component, NodeContext, PerPlant
from mujoco_ros.bridge.perturbation.actuator_server import ActuatorServer
from mujoco_ros.control import events
from mujoco_ros.control.joints import POSITION
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.rclpy_ext.endpoints import synchronize
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.rclpy_ext.goal_server import RESULT_DELIVERY_S, Goal
from mujoco_ros.sim.actuator_controls import Control, free_controls
from mujoco_ros.sim.plant import Plant


@dataclass(frozen=True, kw_only=True, eq=False)
class _Served:
    robot: str
    namespace: str
    servers: list[CommandServer]


class RobotCommands(Component):
    """Offers the topics and actions that command every robot, and reports the outcomes."""

    def __init__(self, context: NodeContext) -> None:
        self._context = context
        self._node, self._endpoints = context.node, context.endpoints
        self._simulation, self._rejections = context.simulation, context.rejections
        self._served: dict[ScenePart, _Served] = {}
        self._leaving: list[_Served] = []
        self._dispatching = False
        self._held = HeldJoints(context)
        self._free_controls = PerPlant(_free_controls)
        self.check_parameters(context.values)
        self._simulation.events.clear()  # the initial reset
        self._simulation.on_event = self._wake
        self.finish()

    def build(self, plant: Plant) -> None:
        """Find the actuators of the next model that have topics."""
        self._free_controls.build(plant)

    def finish(self) -> None:
        """Open the topics and actions of new robots; close all of deleted robots."""
        plant = self._simulation.plant
        robots = zip(plant.layout.robots, plant.controls, strict=True)
        present = dict(zip(plant.assembly.robots, robots, strict=True))
        synchronize(self._served, present, self._serve, self._close)

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject the activation of controllers whose manager cannot be asked."""
        for name, value in values.items():
            reactivates = value == REACTIVATE and name.rpartition(".")[2] == "reset_hold"
            if reactivates and not is_installed():
                raise UserInputError(
                    f"'{name}' cannot be '{REACTIVATE}': the package {PACKAGE} is not installed"
                )

    def _serve(self, part: ScenePart, of_robot: tuple[RobotLayout, RobotControl]) -> _Served:
        robot, control = of_robot
        for gone in [gone for gone in self._leaving if gone.namespace == robot.namespace]:
            self._withdraw(gone)
        kinds: list[type[CommandServer]] = [StreamServer] if robot.joints.names else []
        if kinds and self._context.has_controllers and control.has_default_controllers:
            kinds += [TrajectoryServer] if control.joints.with_interface(POSITION) else []
            kinds += [GripperServer] if control.gripper is not None else []
            kinds += _cartesian_servers() if control.cartesian is not None else []
        servers = [kind(self._context, robot.namespace, control) for kind in kinds]
        controls = partial(self._controls, part)
        if controls(self._simulation.plant):
            servers.append(ActuatorServer(self._context, robot, control, controls))
        return _Served(robot=part.name, namespace=robot.namespace, servers=servers)

    def _controls(self, part: ScenePart, plant: Plant) -> tuple[Control, ...]:
        return self._free_controls[plant].get(part, ())

    def _close(self, gone: _Served) -> None:
        """Accept no more commands for a deleted robot."""
        for server in gone.servers:
            server.close(f"robot '{gone.robot}' no longer exists")
        self._leaving.append(gone)
        self._endpoints.later(RESULT_DELIVERY_S, partial(self._withdraw, gone))

    def _withdraw(self, gone: _Served) -> None:
        """Close the actions of a deleted robot."""
        if gone in self._leaving:
            self._leaving.remove(gone)
            for server in gone.servers:
                server.destroy()

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
        pending = self._simulation.events
        batch = [pending.popleft() for _ in range(len(pending))]
        newest = {id(e.goal): e for e in batch if isinstance(e, events.GoalProgress)}
        for event in batch:
            if isinstance(event, events.GoalProgress) and newest[id(event.goal)] is not event:
                continue  # the client lags; send only the newest feedback
            try:
                self._handle(event)
            except Exception as error:  # it would end the process: see goal_server.py
                self._rejections.report("control", "failed", repr(error))
        if pending:
            self._wake()

    def close(self) -> None:
        """Report the last events and end all goals, after the physics thread has ended."""
        self._dispatch()
        for served in self._served.values():
            for server in served.servers:
                server.close("the simulator ended")
                server.flush()

    def _handle(self, event: events.Event) -> None:
        match event:
            case events.GoalStarted(goal=Goal() as goal):
                goal.set_executing()
            case events.GoalProgress(goal=Goal() as goal):
                goal.publish_feedback(event)
            case events.GoalEnded(goal=Goal() as goal):
                goal.end(event)
                if event.outcome in (
                    events.Outcome.PATH_TOLERANCE_VIOLATED,
                    events.Outcome.GOAL_TOLERANCE_VIOLATED,
                ):
                    self._rejections.report(goal.server.name, "goals aborted", event.message)
            case events.CommandPreempted():
                owner, joints = _named(event.new_owner, event), ", ".join(event.joints)
                place = _place(event.robot, _named(event.source, event))
                if event.was_idle:
                    self._node.get_logger().info(
                        f"{owner} commands {joints} now; {place} had completed its command"
                    )
                else:
                    self._rejections.report(
                        place, f"joints lost to {owner}", f"{owner} took over {joints}"
                    )
            case events.StreamStopped():
                self._rejections.report(
                    _place(event.robot, event.source),
                    "streams stopped",
                    f"no command for {event.timeout:g} s, so command_timeout makes it "
                    f"{event.action} {', '.join(event.joints)}",
                )
            case events.CommandRejected():
                self._rejections.report(_place(event.robot, event.source), "refused", event.message)
            case events.JointsHeld() | events.CommandHeld() | events.HoldEnded():
                self._held.handle(event)
            case events.CommandDropped():
                self._rejections.report(event.topic, event.kind, event.message)
                if isinstance(event.goal, Goal):
                    event.goal.abort(event.message)
            case events.SimulationReset():
                self._context.notify_reset(event)


def _free_controls(plant: Plant) -> dict[ScenePart, tuple[Control, ...]]:
    found = free_controls(plant)
    return {part: found[part.name] for part in plant.assembly.robots}


def _cartesian_servers() -> list[type[CommandServer]]:
    """Return what serves a Cartesian controller, as far as the message packages are installed."""
    if not is_installed():
        return [CartesianServer]
    from mujoco_ros.bridge.commands.controller_switch import ControllerSwitch

    return [CartesianServer, ControllerSwitch]


def _named(source: str, event: events.CommandPreempted) -> str:
    is_controller = source == events.CommandSource.CONTROLLER and event.controller
    return f"controller '{event.controller}'" if is_controller else source


def _place(robot: str, source: str) -> str:
    return f"{robot}/{source}" if robot else source
