"""Node `replay`: plays a state log over the topics of the simulator."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from mujoco_ros.bridge.child_processes import ChildProcesses
from mujoco_ros.bridge.component import Component, ComponentNode
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.bridge.publishing.publishers import Publishers
from mujoco_ros.bridge.simulation_interfaces.interfaces import PREFIX, SimulationInterfaces
from mujoco_ros.bridge.simulation_interfaces.resetting import ResetService
from mujoco_ros.bridge.simulation_interfaces.run_control import RunControlServices
from mujoco_ros.bridge.tf.robot_frames import RobotDescriptions, StaticFrames
from mujoco_ros.cameras.ros.frame_topics import FrameTopics
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.sim.state.playback import Playback
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.stepping.real_time import Pacer
from mujoco_ros.sim.stepping.run_control import RunControl
from mujoco_ros.wire.parameter_spec import ParameterSpec

REPLAY_PARAMETERS = (
    ParameterSpec(name="log", default="", description="State log to play", read_only=True),
    ParameterSpec(
        name="rate",
        default=1.0,
        description="Logged seconds per wall second; 0 is as fast as possible",
        low=0.0,
        high=1000.0,
        least=0.001,
    ),
    ParameterSpec(
        name="time",
        default=0.0,
        description="Logged time to jump to [s], each time it is set",
        low=0.0,
        high=1e9,
    ),
    ParameterSpec(name="paused", default=False, description="Whether the replay is paused"),
    ParameterSpec(
        name="at_end",
        default="pause",
        description="Action at the end of the log",
        choices=("pause", "loop", "exit"),
    ),
    ParameterSpec(
        name="seed",
        default=0,
        description="Seed of the noise of cameras and lidars",
        low=0,
        high=2**31 - 1,
        read_only=True,
    ),
    *ChildProcesses.parameters,
    *Publishers.parameters,
    *StaticFrames.parameters,
    PREFIX,
)


class PlaybackControl(Component):
    """Rate, position, pause and end of the replay, as parameters."""

    def __init__(
        self, playback: Playback, run: RunControl, pacer: Pacer, publishers: Publishers
    ) -> None:
        """Control a playback that does not run yet."""
        self._playback, self._run, self._pacer = playback, run, pacer
        self._publishers = publishers
        playback.on_timestep.append(pacer.set_timestep)

    def apply_parameters(self, values: Mapping[str, Any]) -> Command:
        """Return the command that applies accepted parameters."""
        return lambda: self._apply(values)

    def _apply(self, values: Mapping[str, Any]) -> None:
        if "at_end" in values:
            self._playback.loops = values["at_end"] == "loop"
        if "rate" in values:
            self._pacer.factor = values["rate"]
        if "paused" in values:
            (self._run.pause if values["paused"] else self._run.play)()
        if "time" in values:
            self._playback.seek(values["time"])
            self.show()

    def begin(self, time: float) -> None:
        """Begin at a logged time [s], and publish its row; in the physics thread."""
        if time:
            self._playback.seek(time)
        self.show()

    def show(self) -> None:
        """Publish the next row on all topics, if the replay is paused; in the physics thread."""
        if self._playback.paused and self._playback.step():
            self._publishers.publish(everything=True)


class ReplayNode(ComponentNode):
    """Plays a log over the topics of the simulator, with the services that apply to a log."""

    def __init__(self, overrides: Mapping[str, Any], arguments: Sequence[str] = ()) -> None:
        """Read the log and create the components.

        `overrides` take precedence over the command line; child processes get `arguments`.
        """
        super().__init__("replay", REPLAY_PARAMETERS, overrides)
        values = self.settings.values
        log = StateLog.open(values["log"])
        playback = Playback(
            log, partial(later, self, self._change_model), partial(later, self, self._end_of_log)
        )
        playback.paused, playback.loops = values["paused"], values["at_end"] == "loop"
        playback.events.clear()  # the initial reset
        playback.on_event = partial(later, self, self._publish_resets)
        pacer = Pacer(playback.model.opt.timestep, factor=values["rate"])
        context = self.create_context(playback, pacer, arguments, lambda: playback.time)
        images = FrameTopics(context)
        self.settings.reject_unknown()
        described = RobotDescriptions(context)
        frames = StaticFrames(context, described)
        publishers = Publishers(context, frames.plan_of, all_at_last_step=False)
        interfaces = SimulationInterfaces(self, values[PREFIX.name])
        resetting = ResetService(context, interfaces, None)
        self._control = PlaybackControl(playback, context.run, pacer, publishers)
        processes = ChildProcesses(context, described.descriptions_of, images.connect)
        images.on_join = processes.start_cameras
        components = [
            self._control,
            described,
            frames,
            publishers,
            processes,
            images,
            resetting,
            RunControlServices(context, interfaces, resetting),
        ]
        self.assemble(context, components)
        self._log_summary(log)

    def start(self) -> None:
        """Show the first row, and start."""
        self.submit(partial(self._control.begin, self.settings.values["time"]))
        super().start()

    def _log_summary(self, log: StateLog) -> None:
        logger = self.get_logger()
        if log.problem:
            logger.warning(f"'{log.path}': {log.problem}; the rows before it are played")
        for segment in log.segments:
            logger.info(f"'{log.path}': {segment.summary}")
        end = "the end" if self.settings.values["at_end"] == "exit" else "Ctrl-C"
        logger.info(f"replaying until {end}")

    def _change_model(self, number: int) -> None:
        assert isinstance(self.simulation, Playback)
        segment = self.simulation.log.segments[number]

        def end(error: Exception | None) -> None:
            if error is not None:
                self.get_logger().error(f"segment {number} of the log cannot be played: {error}")
                self.quit()
                return
            self.submit(self._control.show)

        self.models.change(lambda _current: segment.assembly, end, fresh=True)

    def _publish_resets(self) -> None:
        events = self.simulation.events
        while events:
            event = events.popleft()
            if isinstance(event, SimulationReset):
                self.notify_reset(event)

    def _end_of_log(self) -> None:
        self.get_logger().info("the end of the log")
        if self.settings.values["at_end"] == "exit":
            self.quit()
