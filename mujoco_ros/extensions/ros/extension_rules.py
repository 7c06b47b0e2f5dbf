"""The components for the extensions of a scene, which are imported only if it has any."""

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.model.errors import unknown
from mujoco_ros.sim.plant import Plant


class ExtensionRules(Component):
    """Rejects worlds with extensions that the scene at the start does not use."""

    def __init__(self, context: NodeContext) -> None:
        """Allow the extensions of the present scene."""
        extensions = context.simulation.assembly.config.extensions
        self._allowed = {extension.use for extension in extensions}

    def build(self, plant: Plant) -> None:
        """Reject a world with other extensions."""
        for config in plant.assembly.config.extensions:
            if config.use not in self._allowed:
                where = "a world that is loaded can use the extensions of the scene at the start"
                raise unknown("extension", config.use, sorted(self._allowed), where=where)


def extension_components(context: NodeContext) -> list[Component]:
    """Return the components for the extensions of the scene; without any, nothing is called."""
    rules = ExtensionRules(context)
    if not context.simulation.assembly.config.extensions:
        return [rules]
    from mujoco_ros.extensions.ros.extension_host import ExtensionHost

    return [rules, ExtensionHost(context)]
