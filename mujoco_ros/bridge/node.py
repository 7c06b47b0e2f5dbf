"""The node `mujoco`: a simulation behind the ROS interface of a real robot."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from mujoco_ros.bridge.component import AddedComponent
from mujoco_ros.bridge.component_node import ComponentNode
from mujoco_ros.bridge.composition import PARAMETERS, compose
from mujoco_ros.bridge.diagnostics.diagnostics import Diagnostics
from mujoco_ros.bridge.duplicate_nodes import DuplicateNodes
from mujoco_ros.bridge.publishing.topics import clock_topic
from mujoco_ros.bridge.simulation_interfaces.resetting import rewinds
from mujoco_ros.bridge.startup_summary import startup_summary
from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.model.realism.realism_config import load_profiles
from mujoco_ros.model.scene.client_folders import client_folders
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.uri import resolve
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.pacer import Pacer


class MujocoNode(ComponentNode):
    """Simulates the scene that its parameters name, with everything `compose` lists."""

    def __init__(
        self, arguments: Sequence[str] = (), added: Sequence[type[AddedComponent]] = ()
    ) -> None:
        """Load the scene and create the components.

        Args:
            arguments: Arguments of the command line, for child processes.
            added: Further components, after those that `compose` lists.

        Raises:
            UserInputError: A parameter, or a file that the scene names, is wrong.
        """
        own = (spec for component in added for spec in component.parameters)
        files = FileAccess(self._client_folders, "; the parameter 'client_folders' adds others")
        super().__init__("mujoco", (*PARAMETERS, *own), files=files)
        with files.at_start():
            self._assemble(arguments, added)

    def _client_folders(self) -> Iterator[Path]:
        values = self.settings.values
        return client_folders(values["scene"], values["client_folders"])

    def _assemble(self, arguments: Sequence[str], added: Sequence[type[AddedComponent]]) -> None:
        values = self.settings.values
        options = {name: values[name] for name in ("on_divergence", "sensor_noise", "seed")}
        realism = None
        if values["realism"]:
            realism = load_profiles(values["realism"], _from_here, "parameter 'realism'")
        simulation = Simulation(load_scene(values["scene"]), realism=realism, **options)
        pacer = Pacer(
            simulation.model.opt.timestep,
            factor=values["real_time_factor"],
            catch_up_s=values["catch_up_limit"],
        )
        context = self.create_context(simulation, pacer, arguments, self._begin_time)
        components = [*compose(context), *(component(context) for component in added)]
        components.append(Diagnostics(context, components))
        self._duplicates = DuplicateNodes(self, clock_topic().name)
        self.assemble(context, components, values["realtime_priority"])
        for line in startup_summary(simulation, pacer.factor, controllers=context.has_controllers):
            self.get_logger().info(line)

    def _begin_time(self) -> float:
        """Return the simulated time at which a world that is loaded begins [s]."""
        return 0.0 if rewinds(self.settings.values) else float(self.simulation.data.time)


def _from_here(uri: str) -> Path:
    """Return the path of a file that a parameter names."""
    return resolve(uri, Path.cwd())
