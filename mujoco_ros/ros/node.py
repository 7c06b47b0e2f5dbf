"""The node `mujoco`: a simulation, seen over ROS like the real robot."""

import logging
from collections.abc import Mapping
from typing import Any

from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import String
from tf2_ros import StaticTransformBroadcaster

from mujoco_ros.model.description import RobotDescription, descriptions
from mujoco_ros.model.errors import ModelError
from mujoco_ros.model.scene import load_scene
from mujoco_ros.ros.control_parameters import ControlParameters
from mujoco_ros.ros.controllers import Controllers
from mujoco_ros.ros.diagnostics import Diagnostics
from mujoco_ros.ros.frames import plan_frames
from mujoco_ros.ros.logging import RosLogHandler
from mujoco_ros.ros.parameters import PARAMETERS, Parameters
from mujoco_ros.ros.publishers import Publishers
from mujoco_ros.ros.ros2_control import with_hardware
from mujoco_ros.ros.topics import LATCHED, RATES
from mujoco_ros.sim.commands import QueueFullError
from mujoco_ros.sim.loop import PhysicsThread
from mujoco_ros.sim.pacer import Pacer
from mujoco_ros.sim.simulation import Simulation


class MujocoNode(Node):
    """Loads the scene its parameters name and publishes everything there is to sense in it.

    Spin it in one thread; `start` begins the physics in another, `stop` ends it.
    """

    def __init__(self) -> None:
        """Load the scene and create all publishers.

        Raises:
            ModelError: A parameter, or something the scene names, is wrong.
        """
        try:
            super().__init__("mujoco")
        except InvalidParameterTypeException as error:
            raise ModelError(f"a parameter has the wrong type: {error}") from error
        package_log = logging.getLogger("mujoco_ros")
        package_log.addHandler(RosLogHandler(self.get_logger()))
        package_log.setLevel(logging.INFO)
        parameters = Parameters(self)
        values = parameters.declare(PARAMETERS)
        config = load_scene(values["scene"])
        self.simulation = Simulation(
            config,
            on_divergence=values["on_divergence"],
            sensor_noise=values["sensor_noise"],
            seed=values["seed"],
        )
        self._control = ControlParameters(parameters, self.simulation)
        parameters.refuse_unknown()
        self.failure: BaseException | None = None
        """What ended the physics thread, if anything did."""
        self._pacer = Pacer(
            self.simulation.model.opt.timestep,
            factor=values["real_time_factor"],
            catch_up_s=values["catch_up_limit"],
        )
        described = descriptions(self.simulation.assembly, self.simulation.layout)
        if values["ros2_control"]:
            described = with_hardware(self, self.simulation, described)
        self._descriptions = self._publish_descriptions(described)
        frames = plan_frames(self.simulation.model, self.simulation.layout, values["tf"], described)
        if frames.static:
            self._static_frames = StaticTransformBroadcaster(self)
            self._static_frames.sendTransform(frames.static)
        controllers = not values["ros2_control"]
        self._topics = Publishers(
            self, self.simulation, frames, values["wrench_sign"], controllers=controllers
        )
        self._rates = {topic: values[f"publish_rate.{topic}"] for topic in RATES}
        self._topics.set_rates(self._rates)
        self._physics = PhysicsThread(
            self.simulation,
            self._pacer,
            self._topics.publish,
            priority=values["realtime_priority"],
            on_end=self._ended,
        )
        self._controllers = Controllers(
            self,
            self.simulation,
            controllers=controllers,
            on_reset=self._control.restore_gains,
        )
        self._diagnostics = Diagnostics(
            self,
            self.simulation,
            self._physics,
            self._topics.lost,
            self._controllers.refusals.counts,
        )
        parameters.apply = self._apply
        self._log_summary()

    def start(self) -> None:
        """Start the physics."""
        self._physics.start()

    def stop(self) -> None:
        """End the physics, wait for it, and tell what there is left to tell."""
        self._physics.stop()
        self._controllers.finish("the simulator ended")
        self._diagnostics.finish()

    def _ended(self, error: BaseException | None) -> None:
        self.failure = error

    def _apply(self, values: Mapping[str, Any]) -> None:
        """Hand accepted parameters on to the physics thread."""
        for topic in RATES:
            if f"publish_rate.{topic}" in values:
                self._rates[topic] = values[f"publish_rate.{topic}"]
        rates = dict(self._rates)
        control = self._control.change(values)

        def change() -> None:
            control()
            if "real_time_factor" in values:
                self._pacer.factor = values["real_time_factor"]
                self._physics.reschedule()
            if "catch_up_limit" in values:
                self._pacer.catch_up_s = values["catch_up_limit"]
            if any(name.startswith("publish_rate.") for name in values):
                self._topics.set_rates(rates)

        try:
            self.simulation.commands.submit(change, urgent=True)
        except QueueFullError as error:
            self.get_logger().error(f"parameters {', '.join(values)} do not take effect: {error}")

    def _publish_descriptions(self, described: list[RobotDescription]) -> list[Publisher]:
        """Publish every robot's robot_description; return the publishers, which keep them."""
        publishers = []
        for robot in described:
            topic = "/".join(part for part in (robot.namespace, "robot_description") if part)
            publisher = self.create_publisher(String, topic, LATCHED)
            publisher.publish(String(data=robot.urdf))
            publishers.append(publisher)
        return publishers

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
