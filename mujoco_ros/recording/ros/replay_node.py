"""The node `replay`: a log of the full state, seen over ROS like the simulation it is of."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from rclpy.parameter import Parameter

from mujoco_ros.bridge.child_processes import COMPANION_PARAMETERS, ChildProcesses
from mujoco_ros.bridge.log_handler import RosLogHandler
from mujoco_ros.bridge.model_switch import ModelSwitch
from mujoco_ros.bridge.parameters.node_parameters import PARAMETERS
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.bridge.publishing.publishers import Publishers
from mujoco_ros.bridge.publishing.topics import RATES
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.bridge.simulation_interfaces.run_control import RunControlServices
from mujoco_ros.bridge.tf.robot_descriptions import RobotDescriptions
from mujoco_ros.bridge.tf.static_frames import StaticFrames
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.command_queue import QueueFullError
from mujoco_ros.sim.state.playback import Playback
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.stepping.pacer import Pacer
from mujoco_ros.sim.stepping.physics_thread import PhysicsThread

_SHARED = {"wrench_sign", "tf", "simulation_interfaces_prefix"}
REPLAY_PARAMETERS = (
    ParameterSpec(name="log", default="", description="State log to play", read_only=True),
    ParameterSpec(
        name="rate",
        default=1.0,
        description="Logged seconds per wall second; 0 is as fast as possible",
        low=0.0,
        high=1000.0,
    ),
    ParameterSpec(
        name="time",
        default=0.0,
        description="Logged time to jump to [s], each time it is set",
        low=0.0,
        high=1e9,
    ),
    ParameterSpec(name="paused", default=False, description="Whether to stand still"),
    ParameterSpec(
        name="at_end",
        default="pause",
        description="What happens at the end of the log",
        choices=("pause", "loop", "exit"),
    ),
    *COMPANION_PARAMETERS,
    *(spec for spec in PARAMETERS if spec.name in _SHARED or spec.name.startswith("publish_rate.")),
)


class ReplayNode(Node):
    """Plays a log over the topics of the simulator, with the services that make sense for it.

    Spin it in one thread; `start` begins to play in another, `stop` ends it.
    """

    def __init__(self, overrides: Mapping[str, Any], arguments: Sequence[str] = ()) -> None:
        """Read the log and create all publishers.

        Args:
            overrides: Values of parameters, which win over those given the ROS way.
            arguments: Of the command line, for the processes that this one starts.

        Raises:
            ModelError: A parameter, or the log, is wrong.
        """
        try:
            given = [Parameter(name, value=value) for name, value in overrides.items()]
            super().__init__("replay", parameter_overrides=given)
        except InvalidParameterTypeException as error:
            raise UserInputError(f"a parameter has the wrong type: {error}") from error
        package_log = logging.getLogger("mujoco_ros")
        package_log.addHandler(RosLogHandler(self.get_logger()))
        package_log.setLevel(logging.INFO)
        self.failure: BaseException | None = None
        """What ended the playing, if anything did."""
        self.leaving = False
        """Whether it is time to end."""
        parameters = Parameters(self)
        values = parameters.declare(REPLAY_PARAMETERS)
        parameters.refuse_unknown()
        self.endpoints = Endpoints(self)
        log = StateLog.open(values["log"])
        self.simulation = simulation = Playback(log)
        simulation.paused = values["paused"]
        simulation.loops = values["at_end"] == "loop"
        simulation.on_segment = lambda number: self._later(self._change_model, number)
        simulation.on_end = lambda: self._later(self._end_of_log)
        self._values = parameters.values
        self.world = ModelSwitch(self, simulation)
        self.world.begins = lambda: simulation.time
        described = RobotDescriptions(self.endpoints, simulation.plant)
        frames = StaticFrames(self.endpoints, simulation.plant, values["tf"], described)
        self._topics = Publishers(self.endpoints, simulation, frames.of, values["wrench_sign"])
        self._set_rates()
        self._pacer = Pacer(simulation.model.opt.timestep, factor=values["rate"])
        self._companions = ChildProcesses(
            self, simulation, values, arguments, describe=described.of, factor=self._pacer.factor
        )
        self._physics = PhysicsThread(
            simulation,
            self._pacer,
            self._companions.chain(self._topics.publish),
            on_end=self._ended,
        )
        self._physics.idle = self._companions.idle
        simulation.on_timestep.append(self._follow_timestep)
        interfaces = SimulationInterfaces(self, values["simulation_interfaces_prefix"])
        self._run_control = RunControlServices(
            interfaces, self.endpoints, simulation.commands, self._physics.run, leave=self._leave
        )
        simulation.events.clear()  # the initial reset is no news
        simulation.on_event = lambda: self._later(self._tell_resets)
        for follower in (described, frames, self._topics, self._companions):
            self.world.follow(follower)
        parameters.apply = self._apply
        self._tell(log)

    def start(self) -> None:
        """Start to play, and the processes beside it."""
        self._submit(self._begin)
        self._physics.start()
        self._companions.start()

    def stop(self) -> None:
        """End the playing, and wait for it."""
        self._companions.end()
        self._physics.stop()
        self.world.close()
        self._run_control.close("the replay ended")
        self._companions.close()

    def _tell(self, log: StateLog) -> None:
        """Say what is played."""
        logger = self.get_logger()
        if log.problem:
            logger.warning(f"'{log.path}': {log.problem}; what is before that is played")
        for segment in log.segments:
            logger.info(f"'{log.path}': {segment.summary}")
        logger.info(f"replaying until Ctrl-C; topics: {', '.join(self._topics.names)}")

    def _begin(self) -> None:
        """Go to where it was told to begin."""
        if self._values["time"]:
            self.simulation.seek(self._values["time"])
        self._show()

    def _apply(self, values: Mapping[str, Any]) -> None:
        """Hand accepted parameters on to the thread that plays."""
        simulation, run = self.simulation, self._physics.run

        def change() -> None:
            simulation.loops = self._values["at_end"] == "loop"
            if "rate" in values:
                self._pacer.factor = values["rate"]
                self._companions.set_factor(self._pacer.factor)
            if any(name.startswith("publish_rate.") for name in values):
                self._set_rates()
            if "paused" in values:
                (run.pause if values["paused"] else run.play)()
            if "time" in values:
                simulation.seek(values["time"])
                self._show()

        self._submit(change)

    def _show(self) -> None:
        """Publish the next row, all of it, if playing does not do that anyway."""
        if self.simulation.paused:
            self._set_rates()  # with which all topics are due
            if self.simulation.step():
                self._topics.publish()

    def _change_model(self, number: int) -> None:
        """Go over to the model of a segment."""
        segment = self.simulation.log.segments[number]

        def done(error: Exception | None) -> None:
            if error is not None:
                self.get_logger().error(f"segment {number} of the log cannot be played: {error}")
                self.leaving = True
                return
            self._submit(self._show)

        self.world.change(lambda _present: segment.assembly, done, fresh=True)

    def _tell_resets(self) -> None:
        """Tell that the time went back, or the state was set."""
        events = self.simulation.events
        while events:
            event = events.popleft()
            if isinstance(event, SimulationReset):
                self._run_control.resetting.tell(event)

    def _end_of_log(self) -> None:
        self.get_logger().info("the end of the log")
        self.leaving = self.leaving or self._values["at_end"] == "exit"

    def _follow_timestep(self, timestep: float) -> None:
        self._pacer.timestep = timestep
        self._set_rates()

    def _set_rates(self) -> None:
        self._topics.set_rates({topic: self._values[f"publish_rate.{topic}"] for topic in RATES})

    def _leave(self) -> None:
        self.leaving = True

    def _ended(self, error: BaseException | None) -> None:
        self.failure = error

    def _later(self, call: Callable[..., None], *arguments: object) -> None:
        """Call something in the executor's thread."""
        later(self, call, *arguments)

    def _submit(self, command: Callable[[], None]) -> None:
        try:
            self.simulation.commands.submit(command, urgent=True)
        except QueueFullError as error:
            self.get_logger().error(f"the replay does not change: {error}")
