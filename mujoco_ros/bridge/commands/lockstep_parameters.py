"""Lockstep by parameters: for whom the clock waits, how long, and what then."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from mujoco_ros.bridge.component import ModelChangeListener
from mujoco_ros.bridge.diagnostics.report import OK, WARN, DiagnosticReport
from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.modes import POSITION
from mujoco_ros.control.robot_control import FORWARDED
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.scene.config import FASTEST_HZ, SLOWEST_HZ
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import Lockstep, LockstepConfig, SourceConfig

_NAMES = ("mode", "lockstep_sources", "lockstep_timeout", "lockstep_policy")
_EXAMPLE = "joint_commands@200"


class LockstepParameters(ModelChangeListener):
    """Has the clock wait as the parameters say."""

    def __init__(
        self,
        parameters: Parameters,
        simulation: Simulation,
        lockstep: Lockstep,
        *,
        controllers: bool,
        on_change: Callable[[], object] = lambda: None,
    ) -> None:
        """Configure `lockstep` by the parameters, which are declared.

        Args:
            parameters: The node's parameters.
            simulation: Whose clock it is.
            lockstep: What waits.
            controllers: Whether there are forward command controllers.
            on_change: Called in the physics thread when other robots are waited for.

        Raises:
            ModelError: A parameter names a source there is not.
        """
        self._parameters = parameters
        self._simulation = simulation
        self._lockstep = lockstep
        self._controllers = controllers
        self._on_change = on_change
        self._next = LockstepConfig()
        self._check({"mode": parameters.values["mode"]})
        lockstep.configure(self._config(simulation))
        parameters.guards.append(self._check)

    def change(self, values: Mapping[str, Any]) -> Callable[[], None]:
        """Return what the physics thread has to do for accepted parameters."""
        if not values.keys() & set(_NAMES):
            return lambda: None
        config = self._config(self._simulation)
        return lambda: self._configure(config)

    def prepare(self, plant: Plant) -> None:
        """Get ready for a change of the model."""
        self._next = self._config(plant)

    def switch(self) -> None:
        """Wait for those whose robots there are now; ticks of those who stay go on."""
        self._configure(self._next)

    def report(self) -> DiagnosticReport:
        """Return the row of /diagnostics."""
        if self._parameters.values["mode"] != "lockstep":
            return DiagnosticReport("off: the clock waits for nobody", {})
        awaited = self._lockstep.awaited
        values = {"waiting for": ", ".join(awaited)}
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
            text = f"the clock does not wait for {', '.join(gone)}: the robot is not there"
            return DiagnosticReport(text, values, WARN)
        return DiagnosticReport("in step", values, OK)

    def _configure(self, config: LockstepConfig) -> None:
        before = self._lockstep.robots
        self._lockstep.configure(config)
        if self._lockstep.robots != before:
            self._on_change()

    def _check(self, values: Mapping[str, Any]) -> None:
        """Refuse sources that there are not, or a lockstep without any."""
        if not values.keys() & {"mode", "lockstep_sources"}:
            return  # the robots of sources may be gone by now
        settled = {**self._parameters.values, **values}
        sources = parse_sources(settled["lockstep_sources"])
        if settled["mode"] != "lockstep" and "lockstep_sources" not in values:
            return
        there = command_topics(self._simulation, controllers=self._controllers)
        if settled["mode"] == "lockstep" and not sources:
            raise UserInputError(
                f"mode 'lockstep' needs lockstep_sources, such as '{_EXAMPLE}'; topics of commands "
                f"are: {', '.join(there)}"
            )
        for topic in sources:
            if topic not in there:
                raise unknown("topic of commands", topic, there, where="lockstep_sources")

    def _config(self, world: Simulation | Plant) -> LockstepConfig:
        """Return what the parameters ask for, of the robots there are."""
        values = self._parameters.values
        there = command_topics(world, controllers=self._controllers)
        return LockstepConfig(
            sources=tuple(
                SourceConfig(topic=topic, robot=there[topic], rate=rate)
                for topic, rate in self._sources().items()
                if topic in there and values["mode"] == "lockstep"
            ),
            timeout_s=values["lockstep_timeout"],
            policy=values["lockstep_policy"],
        )

    def _sources(self) -> dict[str, float]:
        return parse_sources(self._parameters.values["lockstep_sources"])


def parse_sources(text: str) -> dict[str, float]:
    """Return the rate [Hz] of each topic in a text such as ``joint_commands@200``.

    Raises:
        ModelError: It is wrong.
    """
    sources: dict[str, float] = {}
    for entry in filter(None, re.split(r"[\s,]+", text)):
        topic, _, rate = entry.partition("@")
        topic = topic.strip("/")
        try:
            number = float(rate)
        except ValueError:
            number = 0.0
        if not topic or not SLOWEST_HZ <= number <= FASTEST_HZ:  # nor is NaN
            raise UserInputError(
                f"lockstep_sources: '{entry}' is not <topic>@<rate>, such as '{_EXAMPLE}', with a "
                f"rate from {SLOWEST_HZ:g} to {FASTEST_HZ:g} Hz"
            )
        if topic in sources:
            raise UserInputError(f"lockstep_sources names '{topic}' twice")
        sources[topic] = number
    return sources


def command_topics(world: Simulation | Plant, *, controllers: bool) -> dict[str, str]:
    """Return the topics by which joints are commanded, and whose robot's."""
    topics = {}
    for robot, control in zip(world.layout.robots, world.controls, strict=True):
        if not robot.joints.names:
            continue
        topics[within(robot.namespace, CommandSource.JOINT_COMMANDS)] = robot.name
        if controllers and control.joints.taking(POSITION):
            topics[within(robot.namespace, CommandSource.TRAJECTORY, "joint_trajectory")] = (
                robot.name
            )
        for source, interface in FORWARDED.items() if controllers else ():
            if control.joints.taking(interface):
                topics[within(robot.namespace, source, "commands")] = robot.name
    return topics
