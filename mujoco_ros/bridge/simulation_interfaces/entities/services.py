"""The services about entities and worlds."""

from collections.abc import Callable
from functools import partial
from typing import Any

from std_srvs.srv import Trigger

from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.bridge.simulation_interfaces.entities.entity_models import empty_world
from mujoco_ros.bridge.simulation_interfaces.entities.queries import EntityHandlers
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry
from mujoco_ros.bridge.simulation_interfaces.entities.spawnables import (
    MEASUREMENT_LIMITS,
    SpawnablesService,
)
from mujoco_ros.bridge.simulation_interfaces.entities.spawning import SpawnServices
from mujoco_ros.bridge.simulation_interfaces.interfaces import (
    BackgroundWorker,
    SimulationInterfaces,
)
from mujoco_ros.bridge.simulation_interfaces.worlds import WorldServices
from mujoco_ros.bridge.trial_builds import BuildCancelledError, TrialBuilds
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder, Service

SPAWN_FORMATS = ("MJCF", "URDF")
Handler = Callable[[Any, Responder], None]


class EntityServices:
    """Serves them."""

    def __init__(self, context: NodeContext, interfaces: SimulationInterfaces) -> None:
        self.registry = EntityRegistry(context)  # the entities; a component of the node
        background = BackgroundWorker(context.files)
        scene, models = context.values["scene"], context.models
        name = context.simulation.assembly.config.name
        self.trials = TrialBuilds(rehearsal=partial(empty_world, name))
        self.measurements = TrialBuilds(MEASUREMENT_LIMITS)
        self.worlds = WorldServices(models, self.registry, background, self.trials, scene)
        self.spawning = SpawnServices(
            self.registry, models, self.trials, self.worlds.spawn_obstacle
        )
        self._models = models
        Service(context.node, Trigger, "~/cancel_build", self._cancel_build)
        for name, handler, *features in self._handlers(context, background):
            interfaces.serve(name, handler, *features)

    def _cancel_build(self, _request: object, responder: Responder) -> None:
        """Cancel the spawning, loading or deleting in progress; its own request fails."""
        if not self._models.cancel(BuildCancelledError()):
            raise RequestRejectedError("no change of the model is being built")
        self.trials.cancel()
        responder.succeed("the change of the model in progress is cancelled")

    def _handlers(
        self, context: NodeContext, background: BackgroundWorker
    ) -> list[tuple[str, Handler, *tuple[str, ...]]]:
        """Return the name, the handler and the features of each service."""
        queries = EntityHandlers(self.registry, context.simulation, context.run)
        spawnables = SpawnablesService(background, self.measurements)
        spawning, worlds = self.spawning, self.worlds
        return [
            ("SpawnEntity", spawning.spawn_entity, "SPAWNING", "SPAWNING_RESOURCE_STRING"),
            ("SpawnEntities", spawning.spawn_entities, "SPAWNING_ENTITIES"),
            ("DeleteEntity", spawning.delete_entity, "DELETING"),
            ("GetEntities", queries.get_entities, "ENTITY_TAGS", "ENTITY_CATEGORIES"),
            ("GetEntityState", queries.get_entity_state, "ENTITY_STATE_GETTING"),
            ("SetEntityState", queries.set_entity_state, "ENTITY_STATE_SETTING"),
            ("GetEntitiesStates", queries.get_entities_states, "ENTITY_STATE_GETTING"),
            ("GetEntityInfo", queries.get_entity_info, "ENTITY_INFO_GETTING"),
            ("SetEntityInfo", queries.set_entity_info, "ENTITY_INFO_SETTING"),
            ("GetEntityBounds", queries.get_entity_bounds, "ENTITY_BOUNDS", "ENTITY_BOUNDS_BOX"),
            ("GetNamedPoses", queries.get_named_poses, "NAMED_POSES"),
            ("GetNamedPoseBounds", queries.get_named_pose_bounds, "POSE_BOUNDS"),
            ("GetSpawnables", spawnables.get_spawnables, "SPAWNABLES"),
            ("LoadWorld", worlds.load_world, "WORLD_LOADING", "WORLD_RESOURCE_STRING"),
            ("UnloadWorld", worlds.unload_world, "WORLD_UNLOADING"),
            ("GetCurrentWorld", worlds.get_current_world, "WORLD_INFO_GETTING"),
            ("GetAvailableWorlds", worlds.get_available_worlds, "AVAILABLE_WORLDS", "WORLD_TAGS"),
        ]
