"""The node `mujoco`: a simulation, seen over ROS like the real robot."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node

from mujoco_ros.bridge.child_processes import ChildProcesses
from mujoco_ros.bridge.commands.lockstep_parameters import LockstepParameters
from mujoco_ros.bridge.commands.robot_commands import RobotCommands
from mujoco_ros.bridge.diagnostics.diagnostics import Diagnostics
from mujoco_ros.bridge.diagnostics.rows import world
from mujoco_ros.bridge.duplicate_nodes import DuplicateNodes
from mujoco_ros.bridge.log_handler import RosLogHandler
from mujoco_ros.bridge.model_switch import ModelSwitch
from mujoco_ros.bridge.parameters.control_parameters import ControlParameters
from mujoco_ros.bridge.parameters.node_parameters import PARAMETERS
from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.bridge.perturbation.actuator_server import ActuatorServer
from mujoco_ros.bridge.perturbation.mocap_server import MocapServer
from mujoco_ros.bridge.perturbation.parameters import WorldParameters
from mujoco_ros.bridge.perturbation.pull_server import PullServer
from mujoco_ros.bridge.perturbation.wrench_server import WrenchServer
from mujoco_ros.bridge.publishing.publishers import Publishers
from mujoco_ros.bridge.publishing.topics import RATES, clock_topic
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.bridge.simulation_interfaces.entities.services import EntityServices
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.bridge.simulation_interfaces.keyframes import KeyframeServices
from mujoco_ros.bridge.simulation_interfaces.run_control import RunControlServices
from mujoco_ros.bridge.tf.robot_descriptions import RobotDescriptions
from mujoco_ros.bridge.tf.ros2_control import with_hardware
from mujoco_ros.bridge.tf.static_frames import StaticFrames
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.controllers.ros.hosted_controller import HostedController
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.recording.ros.state_logging import StateLogging
from mujoco_ros.sim.command_queue import QueueFullError
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import Lockstep
from mujoco_ros.sim.stepping.pacer import Pacer
from mujoco_ros.sim.stepping.physics_thread import PhysicsThread


class MujocoNode(Node):
    """Loads the scene its parameters name and publishes everything there is to sense in it.

    Spin it in one thread; `start` begins the physics in another, `stop` ends it.
    """

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        """Load the scene and create all publishers.

        Args:
            arguments: Of the command line, for the processes that this one starts.

        Raises:
            ModelError: A parameter, or something the scene names, is wrong.
        """
        try:
            super().__init__("mujoco")
        except InvalidParameterTypeException as error:
            raise UserInputError(f"a parameter has the wrong type: {error}") from error
        package_log = logging.getLogger("mujoco_ros")
        package_log.addHandler(RosLogHandler(self.get_logger()))
        package_log.setLevel(logging.INFO)
        self.endpoints = Endpoints(self)
        parameters = Parameters(self)
        values = parameters.declare(PARAMETERS)
        config = load_scene(values["scene"])
        self.simulation = Simulation(
            config,
            on_divergence=values["on_divergence"],
            sensor_noise=values["sensor_noise"],
            seed=values["seed"],
        )
        self.world = ModelSwitch(self, self.simulation)
        self._control = ControlParameters(parameters, self.simulation)
        self._acting = WorldParameters(parameters, self.simulation, self._later)
        parameters.refuse_unknown()
        self._acting.start()
        self.failure: BaseException | None = None
        """What ended the physics thread, if anything did."""
        self.leaving = False
        """Whether a client asked the simulator to end."""
        self._pacer = Pacer(
            self.simulation.model.opt.timestep,
            factor=values["real_time_factor"],
            catch_up_s=values["catch_up_limit"],
        )
        controllers = not values["ros2_control"]
        plant = self.simulation.plant
        self._descriptions = RobotDescriptions(
            self.endpoints, plant, None if controllers else partial(with_hardware, self)
        )
        self._frames = StaticFrames(self.endpoints, plant, values["tf"], self._descriptions)
        lockstep = Lockstep(self.simulation)
        self._lockstep = LockstepParameters(
            parameters,
            self.simulation,
            lockstep,
            controllers=controllers,
            on_change=lambda: self._topics.set_rates(self._rates),
        )
        self._topics = Publishers(
            self.endpoints,
            self.simulation,
            self._frames.of,
            values["wrench_sign"],
            controllers=controllers,
            lockstep=lockstep,
        )
        lockstep.repeat = self._topics.repeat
        self._rates = {topic: values[f"publish_rate.{topic}"] for topic in RATES}
        self._topics.set_rates(self._rates)
        self._state_log = StateLogging(self.simulation, parameters.values)
        parameters.guards.append(self._state_log.check)
        self._companions = ChildProcesses(
            self,
            self.simulation,
            values,
            arguments,
            describe=self._descriptions.of,
            factor=self._pacer.factor,
        )
        self._hosted = self._host(parameters.values, arguments)
        publish = self._companions.chain(self._state_log.chain(self._topics.publish))
        if self._hosted is not None:
            publish = self._hosted.chain(publish)
        self._physics = PhysicsThread(
            self.simulation,
            self._pacer,
            publish,
            priority=values["realtime_priority"],
            on_end=self._ended,
        )
        self._physics.gates.append(lockstep)
        self._physics.idle = self._companions.idle
        self._topics.is_last = self._physics.run.is_last
        self._controllers = RobotCommands(
            self.endpoints,
            self.simulation,
            controllers=controllers,
            on_reset=self._was_reset,
            take=lockstep.take,
        )
        self.diagnostics = Diagnostics(
            self,
            self.simulation,
            self._physics,
            self._topics.lost,
            self._controllers.refusals.counts,
            parameters.values,
        )
        self.diagnostics.add("world", world(lambda: self.world.holds))
        self.diagnostics.add("state log", self._state_log.report)
        self.diagnostics.add("lockstep", self._lockstep.report)
        self.diagnostics.add("companions", self._companions.report)
        if self._hosted is not None:
            self.diagnostics.add("controller", self._hosted.report)
        self.simulation.on_timestep.append(self._follow_timestep)
        submit, refusals = self._controllers.submit, self._controllers.refusals
        self._wrenches = WrenchServer(self.endpoints, self.simulation, parameters, submit, refusals)
        find = partial(self._wrenches.place, "")
        self._pulls = PullServer(self.endpoints, self.simulation, find, submit, refusals)
        self._mocap = MocapServer(self.endpoints, self.simulation, submit, refusals)
        self._actuators = ActuatorServer(
            self.endpoints, self.simulation, submit, refusals, controllers=controllers
        )
        self.diagnostics.add("acting", self._wrenches.report)
        self.interfaces = SimulationInterfaces(self, values["simulation_interfaces_prefix"])
        self.run_control = RunControlServices(
            self.interfaces,
            self.endpoints,
            self.simulation.commands,
            self._physics.run,
            leave=self._leave,
        )
        self.run_control.resetting.rewinds = values["reset_time"] == "rewind"
        self._keyframes = KeyframeServices(
            self,
            parameters.values,
            self.simulation,
            self._physics.run,
            lambda: self.run_control.resetting.rewinds,
        )
        for follower in (
            self._control,
            self._descriptions,
            self._frames,
            self._topics,
            self._controllers,
            *self._acting.followers,
            self._wrenches,
            self._mocap,
            self._actuators,
            self._lockstep,
            self._state_log,
            self._companions,
            self.run_control,
        ):
            self.world.follow(follower)
        self.entities = EntityServices(self, self.interfaces, self.world, values["scene"])
        self.run_control.resetting.delete_spawned_by(self.entities.spawning.delete_spawned)
        self.run_control.states.world = lambda: self.entities.worlds.state
        self.world.begins = self._begins
        parameters.apply = self._apply
        self._namesakes = DuplicateNodes(self, clock_topic().name)
        self._log_summary()

    def start(self) -> None:
        """Start the physics, and the processes beside it."""
        if self._hosted is not None:
            self._hosted.start(self._physics, self)
        self._physics.start()
        self._companions.start()

    def stop(self) -> None:
        """End the physics, wait for it, and tell what there is left to tell."""
        self._companions.end()
        self._physics.stop()
        if self._hosted is not None:
            self._hosted.close()
        self._state_log.close()
        self.world.close()
        self._controllers.end("the simulator ended")
        self.run_control.close("the simulator ended")
        self.diagnostics.finish()
        self._companions.close()

    def _host(self, values: Mapping[str, Any], arguments: Sequence[str]) -> HostedController | None:
        """Return the controller that runs beside the physics, if one is asked for."""
        if not values["controller"]:
            return None
        return HostedController(self, self.simulation, values, arguments, self._control.show_gains)

    def _begins(self) -> float:
        """Return the simulated time at which a world that is loaded begins [s]."""
        rewinds = self.run_control.resetting.rewinds
        return 0.0 if rewinds else float(self.simulation.data.time)

    def _leave(self) -> None:
        self.leaving = True

    def _was_reset(self, event: SimulationReset) -> None:
        """Tell everybody that the simulation was reset."""
        self.run_control.resetting.tell(event)  # whatever becomes of the parameters
        if event.state:
            self._control.show_gains(event.gain_changes, event.gains)
            self._acting.restore()

    def _later(self, call: Callable[..., object], *args: object) -> None:
        """Have something called in the executor's thread."""
        later(self, call, *args)

    def _follow_timestep(self, timestep: float) -> None:
        """Keep time and rates, in the physics thread, when steps get longer or shorter."""
        self._pacer.timestep = timestep
        self._topics.set_rates(dict(self._rates))

    def _ended(self, error: BaseException | None) -> None:
        self.failure = error

    def _apply(self, values: Mapping[str, Any]) -> None:
        """Hand accepted parameters on to the physics thread."""
        for topic in RATES:
            if f"publish_rate.{topic}" in values:
                self._rates[topic] = values[f"publish_rate.{topic}"]
        rates = dict(self._rates)
        if "reset_time" in values:
            self.run_control.resetting.rewinds = values["reset_time"] == "rewind"
        control = self._control.change(values)
        lockstep = self._lockstep.change(values)
        self._state_log.change(values)
        acting = self._acting.change(values)

        def change() -> None:
            control()
            acting()
            lockstep()
            if "real_time_factor" in values:
                self._pacer.factor = values["real_time_factor"]
                self._companions.set_factor(self._pacer.factor)
                self._physics.reschedule()
            if "catch_up_limit" in values:
                self._pacer.catch_up_s = values["catch_up_limit"]
            if any(name.startswith("publish_rate.") for name in values):
                self._topics.set_rates(rates)

        try:
            self.simulation.commands.submit(change, urgent=True)
        except QueueFullError as error:
            self.get_logger().error(f"parameters {', '.join(values)} do not take effect: {error}")

    def _log_summary(self) -> None:
        simulation, log = self.simulation, self.get_logger()
        for note in simulation.assembly.notes:
            log.info(f"MuJoCo compiler: {note}")
        for robot in simulation.layout.robots:
            parts = {
                "joint": len(robot.joints.names),
                "IMU": len(robot.imus),
                "force-torque sensor": len(robot.force_torques),
                "touch sensor": len(robot.touches),
                "camera": len(robot.cameras),
                "lidar": len(robot.lidars),
            }
            listing = ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in parts.items() if n)
            log.info(f"{robot.name}: {listing}, {'floating' if robot.bases else 'fixed'} base")
            if robot.unused_sensors:
                log.info(f"{robot.name}: no topic for sensors {', '.join(robot.unused_sensors)}")
        factor = (
            f"at factor {self._pacer.factor:g}" if self._pacer.factor else "as fast as possible"
        )
        log.info(
            f"simulating '{simulation.assembly.config.name}' with a step of "
            f"{1e3 * simulation.model.opt.timestep:g} ms, {factor}, until Ctrl-C; topics: "
            f"{', '.join(self._topics.names)}"
        )
