"""Questions about entities that are told after the model has changed."""

from typing import Any

import pytest
from changing import adding, removing
from simulation_interfaces.msg import EntityFilters, EntityState
from simulation_interfaces.srv import (
    GetEntitiesStates,
    GetEntityBounds,
    GetEntityState,
    SetEntityState,
)
from simulators import ROOT
from threads import Given, Threads

from mujoco_ros.bridge.simulation_interfaces.entities.queries import EntityQueries
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry
from mujoco_ros.bridge.simulation_interfaces.entities.setting import EntityStateService
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_file
from mujoco_ros.model.scene.pose_config import PoseConfig
from mujoco_ros.sim.simulation import Simulation

BOX = ROOT / "urdf_mjcf" / "objects" / "box.xml"


class Scene:
    """An arm with three boxes at x = 1, 2, 3, whose questions overtake a change of the model."""

    def __init__(self) -> None:
        assembly = Simulation(load_scene("arm")).assembly
        boxes = [
            part_from_file(BOX, name=name, pose=PoseConfig(xyz=(x, 0.0, 1.0)))
            for x, name in ((1.0, "one"), (2.0, "two"), (3.0, "three"))
        ]
        self.simulation = Simulation(adding(*boxes)(assembly))
        self.threads = Threads(self.simulation.commands)
        self.registry = EntityRegistry(self.threads.node, self.simulation)

    def tell_after(self, gone: str, answer: Given) -> Any:
        """Note what was asked, delete an entity, and tell."""
        self.threads.physics()
        plant = self.simulation.build_plant(removing(gone)(self.simulation.assembly))
        self.registry.build(plant)
        self.simulation.switch_model(plant)
        self.registry.commit()
        self.threads.executor()
        self.threads.physics()
        self.threads.executor()
        assert answer.given
        return answer.response


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_the_state_of_an_entity_is_its_own(scene: Scene):
    answer = Given(GetEntityState.Response())
    EntityQueries(scene.registry).get_entity_state(GetEntityState.Request(entity="two"), answer)
    response = scene.tell_after("one", answer)
    assert response.result.error_message == ""
    assert response.state.pose.position.x == pytest.approx(2.0)


def test_so_are_its_bounds_which_it_had_when_it_was_there(scene: Scene):
    answer = Given(GetEntityBounds.Response())
    EntityQueries(scene.registry).get_entity_bounds(GetEntityBounds.Request(entity="two"), answer)
    response = scene.tell_after("two", answer)
    assert response.result.error_message == ""
    assert 0.0 < response.bounds.points[0].x < 0.1


def test_states_are_told_of_all_that_were_there(scene: Scene):
    answer = Given(GetEntitiesStates.Response())
    request = GetEntitiesStates.Request(filters=EntityFilters(filter="one|two|three"))
    EntityQueries(scene.registry).get_entities_states(request, answer)
    response = scene.tell_after("one", answer)
    assert list(response.entities) == ["one", "two", "three"]
    assert [s.pose.position.x for s in response.states] == pytest.approx([1.0, 2.0, 3.0])


def test_the_velocity_seen_from_a_frame_is_set_as_it_was_seen(scene: Scene):
    """The frame turns, so that the velocity in the world depends on where the entity is."""
    spin = 2.0
    body = scene.simulation.model.body("three/box")
    scene.simulation.data.qvel[body.dofadr[0] + 5] = spin
    state = EntityState()
    state.header.frame_id = "three"
    answer = Given(SetEntityState.Response())
    request = SetEntityState.Request(entity="two", state=state, set_twist=True)
    EntityStateService(scene.registry, scene.simulation).set_entity_state(request, answer)
    response = scene.tell_after("one", answer)
    assert response.result.error_message == ""
    dof = scene.simulation.model.body("two/box").dofadr[0]
    # At x = -1 of what turns about z.
    assert scene.simulation.data.qvel[dof + 1] == pytest.approx(-spin, abs=1e-6)
