"""Saving and loading keyframes of a running simulator."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from command_clients import CommandClient
from simulator_client import PAUSED, PLAYING, STOPPED, SimulatorClient
from simulators import SimulatorLauncher
from std_srvs.srv import Trigger

GAIN = "gains.elbow_joint.kp"


class Keeper:
    """Saves and loads keyframes of a simulator."""

    def __init__(self, remote: SimulatorClient) -> None:
        self.remote = remote
        self._clients = {
            name: remote.listener.node.create_client(Trigger, f"/mujoco/{name}_keyframe")
            for name in ("save", "load", "delete")
        }
        for client in self._clients.values():
            assert remote.listener.spin_until(client.service_is_ready)

    def call(self, what: str, name: str) -> Trigger.Response:
        """Save or load a keyframe by name."""
        (result,) = self.remote.listener.set_parameters({"active_keyframe": name})
        assert result.successful, result.reason
        return self.remote.listener.result(self._clients[what].call_async(Trigger.Request()))

    def positions(self) -> np.ndarray:
        """Return the joints' positions in the next step, which is taken."""
        remote = self.remote
        remote.settle_and_clear()
        assert remote.step(2).result == remote.step(0).result
        assert remote.listener.spin_until(lambda: len(remote.joint_states) > 0)
        return np.array(remote.joint_states.messages[0].position)


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatorClient]:
    folder = tmp_path_factory.mktemp("keyframes")
    starter = SimulatorLauncher(folder)
    # Every step, but at most as many as a busy machine can receive.
    rates = {"publish_rate__joint_states": 1000.0, "real_time_factor": 0.3}
    remote = SimulatorClient(starter, output_folder=str(folder / "saved"), **rates)
    yield remote
    remote.close()
    starter.close()


@pytest.fixture
def keeper(remote: SimulatorClient) -> Keeper:
    remote.ensure_state(PAUSED)
    return Keeper(remote)


def test_a_state_is_saved_and_loaded(keeper: Keeper, remote: SimulatorClient) -> None:
    saved = keeper.call("save", "here")
    assert saved.success
    assert saved.message.startswith("saved 'here' at ")
    before = keeper.positions()
    commander = CommandClient(remote.listener)
    commander.publish_joints(["elbow_joint"], position=[1.0])
    remote.ensure_state(PLAYING)
    remote.listener.spin_for(1.0)
    remote.ensure_state(PAUSED)
    assert abs(keeper.positions()[2] - before[2]) > 0.1
    loaded = keeper.call("load", "here")
    assert loaded.success, loaded.message
    assert loaded.message.split()[-2] == saved.message.split()[-2], "the time"
    assert (keeper.positions() == before).all()
    commander.close()


def test_parameters_show_the_restored_gains(keeper: Keeper, remote: SimulatorClient) -> None:
    before = remote.listener.get_parameter(GAIN)
    assert keeper.call("save", "gains").success
    remote.listener.set_parameters({GAIN: before / 2})
    assert keeper.call("load", "gains").success
    assert remote.listener.spin_until(lambda: remote.listener.get_parameter(GAIN) == before)


def test_loading_a_keyframe_publishes_a_reset_event(
    keeper: Keeper, remote: SimulatorClient
) -> None:
    assert keeper.call("save", "saved").success
    remote.step(10)
    remote.settle_and_clear()
    assert keeper.call("load", "saved").success
    assert remote.listener.spin_until(lambda: len(remote.resets) == 1)
    assert remote.resets.messages[0].frame_id == "time state"


def test_a_keyframe_of_the_model_can_be_loaded(keeper: Keeper) -> None:
    response = keeper.call("load", "home")
    assert (response.success, response.message) == (True, "loaded 'home'; the time is 0.000000 s")
    assert keeper.positions()[2] == pytest.approx(1.35)


def test_an_unknown_keyframe_is_refused_with_the_valid_ones(keeper: Keeper) -> None:
    keeper.call("save", "mine")
    response = keeper.call("load", "yours")
    assert not response.success
    assert response.message.startswith("keyframe 'yours' not found; there are: arm/home, ")
    assert "mine" in response.message


def test_an_empty_name_is_refused(keeper: Keeper) -> None:
    response = keeper.call("save", "")
    assert not response.success
    assert "active_keyframe" in response.message


def test_a_stopped_simulation_is_paused_after_a_load(
    keeper: Keeper, remote: SimulatorClient
) -> None:
    keeper.call("save", "mine")
    remote.ensure_state(STOPPED)
    assert keeper.call("load", "mine").success
    assert remote.state == PAUSED


def test_the_clock_continues_if_a_rewind_is_not_allowed(
    keeper: Keeper, remote: SimulatorClient
) -> None:
    remote.listener.set_parameters({"reset_time": "continue"})
    keeper.call("save", "mine")
    remote.step(50)
    time = float(keeper.call("save", "later").message.split()[-2])
    loaded = keeper.call("load", "mine")
    assert float(loaded.message.split()[-2]) == time
    remote.listener.set_parameters({"reset_time": "rewind"})


def test_a_playing_simulation_can_be_saved_and_loaded_at_any_time(
    keeper: Keeper, remote: SimulatorClient
) -> None:
    remote.ensure_state(PLAYING)
    for _ in range(6):
        assert keeper.call("save", "here").success
        assert keeper.call("load", "here").success
    assert remote.simulator.process.poll() is None


def test_one_or_all_saved_keyframes_are_deleted(keeper: Keeper) -> None:
    assert keeper.call("save", "home").success, "in place of the model's"
    for name in ("one", "two"):
        assert keeper.call("save", name).success
    assert keeper.call("delete", "one").message == "deleted 1 saved keyframe"
    refused = keeper.call("delete", "one")
    assert not refused.success
    assert "saved keyframe 'one' not found" in refused.message
    assert "saved keyframes" in keeper.call("delete", "").message
    assert "keyframe 'two' not found" in keeper.call("load", "two").message
    assert keeper.call("load", "home").success, "the model's again"


def test_the_present_model_is_saved_with_its_numbers_and_keyframes(
    keeper: Keeper, remote: SimulatorClient
) -> None:
    listener = remote.listener
    client = listener.node.create_client(Trigger, "/mujoco/save_model")
    assert listener.spin_until(client.service_is_ready)
    assert keeper.call("save", "mine").success
    assert listener.set_parameters({"body.box.box.mass": 0.75})[0].successful

    def save(suffix: str) -> Trigger.Response:
        assert listener.set_parameters({"model_file": f"model{suffix}"})[0].successful
        return listener.result(client.call_async(Trigger.Request()))

    for suffix, load in (
        (".xml", mujoco.MjModel.from_xml_path),
        (".mjb", mujoco.MjModel.from_binary_path),
    ):
        saved = save(suffix)
        assert saved.success, saved.message
        model = load(saved.message.split("'")[1])
        assert model.body("box/box").mass[0] == pytest.approx(0.75)
        assert model.key("mine").id >= 0
    urdf = save(".urdf")
    assert urdf.success, urdf.message
    links = ElementTree.parse(urdf.message.split("'")[1]).findall("link")
    assert "box" not in {link.get("name") for link in links}
    text = Path(save(".txt").message.split("'")[1]).read_text()
    assert "QPOS" in text
    again = save(".txt")
    assert not again.success
    assert "exists" in again.message
    (refused,) = listener.set_parameters({"model_file": "model.step"})
    assert "it is one of .xml, .mjb, .txt, .urdf" in refused.reason
    (refused,) = listener.set_parameters({"model_file": "/etc/model.xml"})
    assert not refused.successful
