"""Lockstep: the clock waits for commands, as parameters configure it."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import inf
from time import perf_counter
from typing import Any

from mujoco_ros.bridge.commands.held_joints import command_topic
from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.report import OK, WARN, DiagnosticReport
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.control.events import CommandSource, SimulationReset
from mujoco_ros.control.joints import POSITION
from mujoco_ros.control.streams import FORWARDED
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.scene.config import MAX_RATE_HZ, MIN_RATE_HZ
from mujoco_ros.rclpy_ext.endpoints import UNKNOWN
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.rclpy_ext.round_trip import RoundTrip
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import LockstepConfig
from mujoco_ros.sim.stepping.lockstep_sources import SourceConfig
from mujoco_ros.wire.parameter_spec import ParameterSpec

_NAMES = ("mode", "lockstep_sources", "lockstep_timeout", "lockstep_policy")
_EXAMPLE = "joint_commands@200"
_RESPONSE_S = 0.01
"""Wall time in which a client receives the response to its request, before the first tick."""
_CONFIRMED_S = 10.0  # longest wall time in which a component confirms its joint states
_AGAIN_S = 1.0  # the same for one that has not, and stands perhaps, until it does
_LOG = logging.getLogger(__name__)


class LockstepParameters(Component):
    """Makes the clock wait at every tick for the sources that parameters name."""

    name = "lockstep"
    parameters = (
        ParameterSpec(
            "mode",
            "realtime",
            "Whether the clock follows the wall clock alone, or also waits at every tick for the "
            "sources of commands",
            choices=("realtime", "lockstep"),
        ),
        ParameterSpec(
            "lockstep_sources",
            "",
            "Sources that the clock waits for in lockstep: topics of commands, each with its ticks "
            "per simulated second, such as 'joint_commands@200, "
            "left_arm/position_controller/commands@100'",
        ),
        ParameterSpec(
            "lockstep_timeout",
            1.0,
            "Wall time in seconds after which a missing command is logged",
            low=0.001,
            high=3600.0,
        ),
        ParameterSpec(
            "lockstep_policy",
            "wait",
            "Policy after lockstep_timeout: wait for the command, or proceed without it and count "
            "that on /diagnostics",
            choices=("wait", "proceed"),
        ),
    )

    def __init__(self, context: NodeContext, *others: Callable[[], Mapping[str, str]]) -> None:
        """Wait for topics that command joints.

        `others` return further topics, or where these begin (up to ``/``), with their robots.
        """
        self._others = others
        self._values, self._has_controllers = context.values, context.has_controllers
        self._simulation, self._lockstep = context.simulation, context.lockstep
        self._direct = context.direct
        self._node = context.node
        self._round_trips: dict[str, RoundTrip] = {}  # by the topic of a controller_manager
        self._silent: set[str] = set()  # topics of those that have not answered last
        self._ending = False
        self._responding = self._responded = False  # to the client that has requested a reset
        self._open_at = inf
        self._simulation.on_reset.append(self._follow_reset)
        self._lockstep.settled = lambda: self._simulation.commands.settled
        self._lockstep.on_join = lambda topic: later(self._node, self._connect, topic)
        self.check_parameters({"mode": self._values["mode"]})
        self.commit()
        self._serve()

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that reconfigures the lockstep."""
        if not values.keys() & set(_NAMES):
            return None
        self._serve()
        return partial(self._lockstep.configure, self._config())

    def wait(self, now: float) -> float:
        """Make the clock wait for commands, and after a reset for the response to its client.

        A client may ignore the ticks that it receives before the response.
        """
        if not self._responding:
            return self._lockstep.wait(now)
        if self._open_at == inf:  # the response is queued before this task
            self._open_at, self._responded = now + _RESPONSE_S, False  # first: it may run at once
            if not later(self._node, self._note_response, self._simulation.epochs.number):
                self._responded = True
        elif self._responded and now >= self._open_at:
            self._responding = False
            return self._lockstep.wait(now)
        return _RESPONSE_S

    def idle_steps(self) -> int:
        """Between two ticks the clock waits for nothing."""
        return 0 if self._responding else self._lockstep.idle_steps()

    def confirm(self, topics: Iterable[str]) -> None:
        """Wait until the controller_managers of these topics have taken what was published.

        Called by the physics thread, before the clock wakes them. Their components take the newest
        joint states, in another thread than the one that the clock wakes.
        """
        for topic in topics:
            round_trip = self._round_trips.get(topic)
            if self._ending or round_trip is None:
                continue
            if round_trip.wait(_AGAIN_S if topic in self._silent else _CONFIRMED_S):
                self._silent.discard(topic)
            elif topic not in self._silent and not self._ending:
                self._silent.add(topic)
                _LOG.warning(
                    "lockstep: a component on '%s' does not answer requests, so its joint states "
                    "may be from the tick before",
                    topic,
                )

    def _follow_reset(self) -> None:
        """Hold no joint of a robot that is stepped, so that each run after a reset is the same."""
        stepped = self._lockstep.stepped
        robots = zip(self._simulation.layout.robots, self._simulation.controls, strict=True)
        for robot, control in robots:
            if robot.name in stepped:
                control.reset_hold.release()
        self._responding, self._open_at = bool(stepped), inf

    def _note_response(self, epoch: int) -> None:
        if epoch == self._simulation.epochs.number:
            self._open_at = perf_counter() + _RESPONSE_S
            self._responded = True  # last: the physics thread checks it first
            self._simulation.commands.wake()

    def on_reset(self, _event: SimulationReset) -> None:
        """Find the clients that wait for the first tick, before it."""
        self._direct.find_peers()

    def stop(self) -> None:
        """Wait for no component any more: it may have ended at the same time."""
        self._ending = True
        for round_trip in list(self._round_trips.values()):
            round_trip.end()

    def _connect(self, topic: str) -> None:
        """Connect to the hardware components of a controller_manager, which publish on a topic."""
        node = self._node
        publishers = node.get_publishers_info_by_topic(node.resolve_topic_name(topic))
        names = {
            f"{publisher.node_namespace.rstrip('/')}/{publisher.node_name}/get_parameters"
            for publisher in publishers
            if publisher.node_name != UNKNOWN
        }
        known = self._round_trips.get(topic)
        if known is None or known.services != names:
            self._round_trips[topic] = RoundTrip(node, names)

    def commit(self) -> None:
        """Wait for the sources of the new model; ticks of sources that remain continue."""
        self._lockstep.configure(self._config())

    def report(self) -> DiagnosticReport:
        """Return the row on /diagnostics."""
        if self._values["mode"] != "lockstep":
            return DiagnosticReport("off: the clock waits for no source", {})
        awaited = self._lockstep.awaited
        values = {
            "waiting for": ", ".join(awaited),
            "clock set back": str(self._lockstep.set_back),
            "late commands of other topics": str(self._lockstep.late),
        }
        silent = []
        for topic, status in self._lockstep.status.items():
            values |= {
                f"{topic}: ticks": str(status.ticks),
                f"{topic}: ticks done without it": str(status.missed),
                f"{topic}: late commands": str(status.late),
                f"{topic}: commands dropped": str(status.surplus),
            }
            if status.silent:
                silent.append(topic)
        if silent:
            return DiagnosticReport(f"no command on {', '.join(silent)}", values, WARN)
        gone = [topic for topic in self._sources() if topic not in self._lockstep.status]
        if gone:
            text = f"the clock does not wait for {', '.join(gone)}: its robot does not exist"
            return DiagnosticReport(text, values, WARN)
        return DiagnosticReport("in lockstep", values, OK)

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject unknown sources, and a lockstep without sources."""
        if not values.keys() & {"mode", "lockstep_sources"}:
            return  # the robots of sources may have been deleted
        settled = {**self._values, **values}
        sources = parse_sources(settled["lockstep_sources"])
        if settled["mode"] != "lockstep" and "lockstep_sources" not in values:
            return
        there = self._topics()
        if settled["mode"] == "lockstep" and not sources:
            raise UserInputError(
                f"mode 'lockstep' needs lockstep_sources, such as '{_EXAMPLE}'; topics of commands "
                f"are: {', '.join(there)}"
            )
        for topic in sources:
            if not _robot(topic, there):
                choices = [f"{each}…" if each.endswith("/") else each for each in there]
                raise unknown("topic of commands", topic, choices, where="lockstep_sources")

    def _config(self) -> LockstepConfig:
        """Return the configuration that the parameters request, for the robots that exist."""
        values = self._values
        there = self._topics()
        return LockstepConfig(
            sources=tuple(
                SourceConfig(topic=topic, robot=robot, rate=rate, manager=not self._has_controllers)
                for topic, rate in self._sources().items()
                if (robot := _robot(topic, there)) and values["mode"] == "lockstep"
            ),
            timeout_s=values["lockstep_timeout"],
            policy=values["lockstep_policy"],
        )

    def _topics(self) -> dict[str, str]:
        """Return the topics of commands, or where these begin, with their robots."""
        found = command_topics(self._simulation, controllers=self._has_controllers)
        for other in self._others:
            found |= other()
        return found

    def _serve(self) -> None:
        """Have the physics thread take the commands that the clock waits for."""
        self._direct.serve(self._sources() if self._values["mode"] == "lockstep" else ())

    def _sources(self) -> dict[str, float]:
        return parse_sources(self._values["lockstep_sources"])


def parse_sources(text: str) -> dict[str, float]:
    """Return the rate [Hz] of each topic in a text such as ``joint_commands@200``."""
    sources: dict[str, float] = {}
    for entry in filter(None, re.split(r"[\s,]+", text)):
        topic, _, rate = entry.partition("@")
        topic = topic.strip("/")
        try:
            number = float(rate)
        except ValueError:
            number = 0.0
        if not topic or not MIN_RATE_HZ <= number <= MAX_RATE_HZ:  # true for NaN
            raise UserInputError(
                f"lockstep_sources: '{entry}' is not <topic>@<rate>, such as '{_EXAMPLE}', with a "
                f"rate from {MIN_RATE_HZ:g} to {MAX_RATE_HZ:g} Hz"
            )
        if topic in sources:
            raise UserInputError(f"lockstep_sources names '{topic}' twice")
        sources[topic] = number
    return sources


def _robot(topic: str, topics: Mapping[str, str]) -> str | None:
    """Return the robot that a topic commands, None if it is not among `topics`."""
    return topics.get(topic) or topics.get(f"{topic.rpartition('/')[0]}/")


def command_topics(simulation: Simulation, *, controllers: bool) -> dict[str, str]:
    """Return the topics that command joints, with the name of the robot."""
    topics = {}
    for robot, control in zip(simulation.layout.robots, simulation.controls, strict=True):
        takes = {CommandSource.TRAJECTORY: POSITION, **FORWARDED} if controllers else {}
        found = [source for source, kind in takes.items() if control.joints.with_interface(kind)]
        for source in (CommandSource.JOINT_COMMANDS, *found) if robot.joints.names else ():
            topics[command_topic(robot.namespace, source)] = robot.name
    return topics
