"""Returning to a past state of a running simulator."""

from collections.abc import Iterator

import pytest
from command_clients import CommandClient
from simulator_client import PAUSED, PLAYING, SimulatorClient
from simulators import SimulatorLauncher
from std_msgs.msg import Header
from std_srvs.srv import Trigger


class Returner:
    """Returns to past states."""

    def __init__(self, remote: SimulatorClient) -> None:
        self.remote = remote
        self._client = remote.listener.node.create_client(Trigger, "/mujoco/load_past_state")
        assert remote.listener.spin_until(self._client.service_is_ready)

    def load(self, time: float) -> Trigger.Response:
        (result,) = self.remote.listener.set_parameters({"history_time": time})
        assert result.successful, result.reason
        return self.remote.listener.result(self._client.call_async(Trigger.Request()))

    def elbow(self) -> float:
        """Return the position of the elbow in the next step, which is taken."""
        remote = self.remote
        remote.settle_and_clear()
        remote.step(2)
        assert remote.listener.spin_until(lambda: len(remote.joint_states) > 0)
        return float(remote.joint_states.messages[0].position[2])


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatorLauncher]:
    starter = SimulatorLauncher(tmp_path_factory.mktemp("past"))
    yield starter
    starter.close()


def test_a_simulator_with_a_viewer_pauses_in_a_past_state(start: SimulatorLauncher) -> None:
    remote = SimulatorClient(
        start, publish_rate__joint_states=1000.0, real_time_factor=0.3, viewer="web", cameras=False
    )
    try:
        remote.ensure_state(PAUSED)
        returner = Returner(remote)
        remote.step(500)
        before, wanted = returner.elbow(), remote.time()
        resets = remote.listener.record(Header, "/mujoco/reset_event", reliable=True)
        commander = CommandClient(remote.listener)
        commander.publish_joints(["elbow_joint"], position=[1.0])
        remote.ensure_state(PLAYING)
        remote.listener.spin_for(1.0)
        moved = remote.joint_states.latest.position[2]
        assert abs(moved - before) > 0.1
        answer = returner.load(wanted)
        assert answer.success, answer.message
        time = float(answer.message.split()[-2])
        assert wanted - 0.021 < time <= wanted + 1e-6, "the last one not later"
        assert remote.state == PAUSED
        assert returner.elbow() == pytest.approx(before, abs=1e-3)
        assert remote.listener.spin_until(lambda: len(resets) == 1)
        assert resets.latest.frame_id == "time state"
        commander.close()
    finally:
        remote.close()


def test_without_a_viewer_no_past_states_are_kept(start: SimulatorLauncher) -> None:
    remote = SimulatorClient(start)
    try:
        answer = Returner(remote).load(0.0)
        assert not answer.success
        assert "no past state" in answer.message
    finally:
        remote.close()
