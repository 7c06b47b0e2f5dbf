"""The node `mujoco`: a simulation behind the ROS interface of a real robot."""

from collections.abc import Sequence

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.component import Extension, NodeContext
from mujoco_ros.bridge.component_node import ComponentNode
from mujoco_ros.bridge.composition import PARAMETERS, compose
from mujoco_ros.bridge.diagnostics.diagnostics import Diagnostics
from mujoco_ros.bridge.diagnostics.rows import world
from mujoco_ros.bridge.duplicate_nodes import DuplicateNodes
from mujoco_ros.bridge.model_switch import ModelSwitch
from mujoco_ros.bridge.publishing.topics import clock_topic
from mujoco_ros.bridge.simulation_interfaces.run_control import REWIND
from mujoco_ros.bridge.startup_summary import startup_summary
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import Lockstep
from mujoco_ros.sim.stepping.pacer import Pacer
from mujoco_ros.sim.stepping.run_control import RunControl


class MujocoNode(ComponentNode):
    """Simulates the scene that its parameters name, with everything `compose` lists."""

    def __init__(
        self, arguments: Sequence[str] = (), extensions: Sequence[type[Extension]] = ()
    ) -> None:
        """Load the scene and create the components.

        Args:
            arguments: Arguments of the command line, for child processes.
            extensions: Further components, after those that `compose` lists.

        Raises:
            UserInputError: A parameter, or a file that the scene names, is wrong.
        """
        own = (spec for extension in extensions for spec in extension.parameters)
        super().__init__("mujoco", (*PARAMETERS, *own))
        context = self._load(arguments)
        components = compose(context, quit=self.quit, on_reset=self.notify_reset)
        components += [extension(context) for extension in extensions]
        priority = self.settings.values["realtime_priority"]
        self.assemble(components, context.run, context.pacer, priority)
        self._diagnostics = Diagnostics(
            self,
            self.simulation,
            self.physics,
            context.rejections.counts,
            self.settings.values,
            [("world", world(lambda: self.models.holds)), *self.rows],
        )
        self._duplicates = DuplicateNodes(self, clock_topic().name)
        for line in startup_summary(self.simulation, context.pacer.factor):
            self.get_logger().info(line)

    def _load(self, arguments: Sequence[str]) -> NodeContext:
        """Load the scene, and return what the components work with."""
        values, log = self.settings.values, self.get_logger()
        options = {name: values[name] for name in ("on_divergence", "sensor_noise", "seed")}
        simulation = Simulation(load_scene(values["scene"]), **options)
        self.models = ModelSwitch(self, simulation, self.components, self._begin_time)
        lockstep, rejections = Lockstep(simulation), RejectionLog(log.warning)
        return NodeContext(
            node=self,
            arguments=arguments,
            endpoints=self.endpoints,
            parameters=self.settings,
            simulation=simulation,
            run=RunControl(simulation),
            pacer=Pacer(
                simulation.model.opt.timestep,
                factor=values["real_time_factor"],
                catch_up_s=values["catch_up_limit"],
            ),
            lockstep=lockstep,
            models=self.models,
            rejections=rejections,
            submit=CommandSubmission(simulation, rejections, lockstep.take),
        )

    def stop(self) -> None:
        """Stop the simulation, close the components, and publish the last diagnostics."""
        super().stop()
        self._diagnostics.finish()

    def _begin_time(self) -> float:
        """Return the simulated time at which a world that is loaded begins [s]."""
        rewinds = self.settings.values["reset_time"] == REWIND
        return 0.0 if rewinds else float(self.simulation.data.time)
