"""Loading and unloading worlds over the middleware."""

from pathlib import Path

import pytest
from simulation_interfaces.msg import Result, SimulationState, TagsFilter
from simulation_interfaces.srv import GetAvailableWorlds, LoadWorld, SpawnEntity, UnloadWorld
from simulator_client import PAUSED, PLAYING, SimulatorClient
from simulators import SimulatorLauncher
from spawn_requests import ARM, BALL, BOX, at, named_resource, spawn

from mujoco_ros.model.scene.config import load_scene, shipped_scenes
from mujoco_ros.model.scene.worlds import shipped_worlds
from mujoco_ros.sim.simulation import Simulation

OK = Result.RESULT_OK
CODES = LoadWorld.Response
NO_WORLD = SimulationState.STATE_NO_WORLD
SCENE = "# Two boxes.\nrobots: [{{name: a, model: '{}'}}]\nobjects: [{{name: b, model: '{}'}}]\n"


@pytest.fixture(scope="module")
def shared_simulator(start_shared: SimulatorLauncher) -> SimulatorClient:
    return SimulatorClient(start_shared)


@pytest.fixture
def simulator(shared_simulator: SimulatorClient) -> SimulatorClient:
    """A simulator of the shipped arm, reloaded."""
    assert load(shared_simulator, "arm").result.result == OK
    shared_simulator.ensure_state(PLAYING)
    return shared_simulator


def load(simulator: SimulatorClient, uri: str = "", text: str = ""):
    return simulator.call("LoadWorld", **named_resource(LoadWorld.Request, uri, text))


def names(simulator: SimulatorClient) -> list[str]:
    return list(simulator.call("GetEntities").entities)


def test_the_scene_at_startup_is_the_current_world(simulator: SimulatorClient):
    response = simulator.call("GetCurrentWorld")
    assert response.result.result == OK
    assert response.world.name == "arm"
    assert response.world.world_resource.uri == "package://mujoco_ros/config/scenes/arm.yaml"
    assert response.world.description.startswith("An arm with a parallel gripper")
    assert list(response.world.tags) == ["scene", "arm"]


def test_a_loaded_world_replaces_the_current_one(simulator: SimulatorClient):
    assert spawn(simulator, text=BALL, initial_pose=at(z=2.0)).result.result == OK
    response = load(simulator, "package://mujoco_ros/config/scenes/quadruped.yaml")
    assert response.result.result == OK
    assert response.world.name == "quadruped"
    assert names(simulator) == ["quadruped"]
    assert simulator.call("GetCurrentWorld").world == response.world
    assert simulator.state == PLAYING
    # Entities spawned into the other world are deleted.
    assert simulator.call("ResetSimulation").result.result == OK
    assert names(simulator) == ["quadruped"]


def test_a_reloaded_robot_stands_as_before(simulator: SimulatorClient):
    references = Simulation(load_scene("arm")).references.q
    simulator.ensure_state(PAUSED)
    simulator.settle_and_clear()
    simulator.step(500)
    simulator.settle()
    assert simulator.joint_states.latest.position == pytest.approx(references, abs=0.02)


def test_a_world_may_be_a_text_or_a_file(simulator: SimulatorClient, tmp_path: Path):
    text = SCENE.format(ARM, BOX)
    response = load(simulator, text=text)
    assert response.result.result == OK, response.result.error_message
    assert response.world.world_resource.resource_string == text
    assert names(simulator) == ["a", "b"]
    (tmp_path / "boxes.yaml").write_text(text)
    response = load(simulator, (tmp_path / "boxes.yaml").as_uri())
    assert response.world.name == "boxes"
    assert response.world.description == "Two boxes."


@pytest.mark.parametrize(
    ("uri", "text", "code"),
    [
        ("", "", CODES.NO_RESOURCE),
        ("nothing", "", CODES.NO_RESOURCE),
        ("/missing/scene.yaml", "", CODES.NO_RESOURCE),
        ("package://mujoco_ros/README.md", "", CODES.UNSUPPORTED_FORMAT),
        ("", "<sdf/>", CODES.UNSUPPORTED_FORMAT),
        ("", "<mujoco><bad/></mujoco>", CODES.RESOURCE_PARSE_ERROR),
        ("", "robots: [", CODES.RESOURCE_PARSE_ERROR),
        ("", "robots: [{name: a, model: /missing/a.xml}]", CODES.MISSING_ASSETS),
        ("", f"robots: [{{name: a, model: '{ARM}', keyframe: x}}]", None),
    ],
)
def test_an_invalid_world_leaves_the_current_one_running(
    simulator: SimulatorClient, uri, text, code
):
    before = simulator.call("GetEntityState", entity="box").state.header.stamp
    result = load(simulator, uri, text).result
    assert result.result != OK
    assert result.error_message
    if code is not None:
        assert result.result == code, result.error_message
    assert simulator.call("GetCurrentWorld").world.name == "arm"
    assert names(simulator) == ["arm", "table", "box"]
    after = simulator.call("GetEntityState", entity="box").state.header.stamp
    assert (after.sec, after.nanosec) >= (before.sec, before.nanosec)
    assert simulator.state == PLAYING


def test_a_scene_cannot_bring_native_code(simulator: SimulatorClient, tmp_path: Path):
    (tmp_path / "evil.so").write_text("")
    text = f"plugins: ['{tmp_path}']\n" + SCENE.format(ARM, BOX)
    assert load(simulator, text=text).result.result == CODES.UNSUPPORTED_ELEMENTS


def test_an_unloaded_world_leaves_an_empty_simulation_until_another_is_loaded(
    simulator: SimulatorClient,
):
    assert simulator.call("UnloadWorld").result.result == OK
    assert names(simulator) == []
    assert simulator.state == NO_WORLD
    assert simulator.call("GetCurrentWorld").result.result == 101  # NO_WORLD_LOADED
    again = simulator.call("UnloadWorld").result
    assert again.result == UnloadWorld.Response.NO_WORLD_LOADED
    result = spawn(simulator, uri=BOX).result
    assert result.result == Result.RESULT_INCORRECT_STATE
    assert "no world is loaded" in result.error_message
    assert load(simulator, "arm").result.result == OK
    assert simulator.state == PLAYING
    assert names(simulator) == ["arm", "table", "box"]


def test_a_world_without_its_last_robot_continues(simulator: SimulatorClient):
    assert simulator.call("DeleteEntity", entity="arm").result.result == OK
    assert names(simulator) == ["table", "box"]
    before = simulator.call("GetEntityState", entity="box").state.header.stamp
    simulator.listener.spin_for(0.2)
    after = simulator.call("GetEntityState", entity="box").state.header.stamp
    assert (after.sec, after.nanosec) > (before.sec, before.nanosec)
    for name in ("table", "box"):
        assert simulator.call("DeleteEntity", entity=name).result.result == OK
    assert names(simulator) == []
    assert spawn(simulator, uri=ARM).entity_name == "arm"


def test_available_worlds_can_be_listed_and_filtered(simulator: SimulatorClient, tmp_path: Path):
    (tmp_path / "boxes.yaml").write_text(SCENE.format(ARM, BOX))

    def listed(**fields) -> list[str]:
        response = simulator.call("GetAvailableWorlds", **fields)
        assert response.result.result == OK, response.result.error_message
        return [world.name for world in response.worlds]

    scenes = list(shipped_scenes())
    assert {"arm", "quadruped", "rover"} <= set(scenes)
    shipped = [*scenes, *(world.stem for world in shipped_worlds())]
    assert listed() == shipped
    assert listed(filter=TagsFilter(tags=["quadruped"])) == ["quadruped", "zoo"]
    assert listed(additional_sources=[str(tmp_path)]) == [*shipped, "boxes"]
    bad = {"additional_sources": ["/missing", str(tmp_path)]}
    assert listed(**bad, continue_on_error=True) == [*shipped, "boxes"]
    result = simulator.call("GetAvailableWorlds", **bad).result
    assert result.result == Result.RESULT_OPERATION_FAILED
    assert "'/missing' is not in a folder of which clients may name files" in result.error_message
    assert GetAvailableWorlds.Response.DEFAULT_SOURCES_FAILED == 101


def test_spawning_is_refused_while_the_world_is_unloaded(simulator: SimulatorClient):
    simulator.client("SpawnEntity")
    unloaded = simulator.request("UnloadWorld")
    spawned = simulator.request(
        "SpawnEntity", name="late", **named_resource(SpawnEntity.Request, BOX)
    )
    result = simulator.listener.result(spawned).result
    assert simulator.listener.result(unloaded).result.result == OK
    assert result.result == Result.RESULT_INCORRECT_STATE
    assert "no world is loaded" in result.error_message
    assert names(simulator) == []


def test_loading_a_world_ends_steps(simulator: SimulatorClient):
    simulator.ensure_state(PAUSED)
    stepped = simulator.request("StepSimulation", steps=10**12)
    simulator.listener.spin_for(0.2)
    assert load(simulator, "arm").result.result == OK
    result = simulator.listener.result(stepped).result
    assert result.result == Result.RESULT_OPERATION_FAILED
    assert result.error_message.startswith("another world was loaded after ")
    assert simulator.state == PAUSED
