from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import simulation_interfaces.action
import simulation_interfaces.msg
import simulation_interfaces.srv
from rclpy.node import Node
from simulation_interfaces.msg import SimulatorFeatures
from simulator_client import SimulatorClient
from simulators import Domain, Listener

from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.rclpy_ext.service import Responder
from mujoco_ros.wire.names import service_name


@pytest.fixture
def node() -> Iterator[Node]:
    domain = Domain()
    listener = Listener(domain.id)
    yield listener.node
    listener.close()
    domain.close()


def nothing(_request: object, answer: Responder) -> None:
    answer()


def names(node: Node) -> list[str]:
    return [name for name, _ in node.get_service_names_and_types_by_node(node.get_name(), "/")]


@pytest.mark.parametrize(
    ("interface", "name"),
    [
        ("GetSimulatorFeatures", "get_simulator_features"),
        ("LoadWorld", "load_world"),
        ("GetEntitiesStates", "get_entities_states"),
    ],
)
def test_services_are_named_after_their_types(interface, name):
    assert service_name(interface) == name


@pytest.mark.parametrize(
    ("prefix", "name"),
    [
        ("~/", "/listener/get_simulator_features"),
        ("", "/get_simulator_features"),
        ("/sim/", "/sim/get_simulator_features"),
        ("gz_", "/gz_get_simulator_features"),
    ],
)
def test_names_begin_with_the_prefix(node, prefix, name):
    SimulationInterfaces(node, prefix)
    assert name in names(node)


@pytest.mark.parametrize("prefix", ["my sim/", "/1/", "a//", "~b/", "{x}/"])
def test_a_prefix_that_makes_no_valid_name_is_refused(node, prefix):
    with pytest.raises(UserInputError, match="simulation_interfaces_prefix"):
        SimulationInterfaces(node, prefix)


def test_interfaces_that_are_not_installed_are_neither_served_nor_claimed(node, monkeypatch):
    monkeypatch.delattr(simulation_interfaces.srv, "LoadWorld")
    monkeypatch.delattr(simulation_interfaces.action, "SimulateSteps")
    older = SimpleNamespace(SPAWNING=0, DELETING=1)
    monkeypatch.setattr(simulation_interfaces.msg, "SimulatorFeatures", older)
    interfaces = SimulationInterfaces(node, "~/")
    assert interfaces.serve("LoadWorld", nothing, "SPAWNING") is None
    assert interfaces.action("SimulateSteps", "SPAWNING") is None
    assert interfaces.serve("DeleteEntity", nothing, "DELETING", "WORLD_LOADING") is not None
    assert interfaces.features == [older.DELETING]
    assert "/listener/load_world" not in names(node)


def test_features_can_be_removed(node):
    interfaces = SimulationInterfaces(node, "~/")
    interfaces.add_features("SPAWNING", "DELETING")
    interfaces.remove_features("SPAWNING")
    assert interfaces.features == [SimulatorFeatures.DELETING]


def test_a_simulator_claims_what_its_run_control_can_do(remote: SimulatorClient):
    features = remote.call("GetSimulatorFeatures").features
    known = SimulatorFeatures
    assert {
        known.SIMULATION_RESET,
        known.SIMULATION_RESET_TIME,
        known.SIMULATION_RESET_STATE,
        known.SIMULATION_STATE_GETTING,
        known.SIMULATION_STATE_SETTING,
        known.SIMULATION_STATE_PAUSE,
        known.STEP_SIMULATION_SINGLE,
        known.STEP_SIMULATION_MULTIPLE,
        known.STEP_SIMULATION_ACTION,
    } <= set(features.features)
    assert "docs/reference/simulation_control.md" in features.custom_info
