"""Effects of the parameters of the replay on the playback."""

from types import SimpleNamespace
from typing import Any

import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.recording.ros.replay_node import PlaybackControl
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.playback import Playback
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter
from mujoco_ros.sim.stepping.real_time import Pacer
from mujoco_ros.sim.stepping.run_control import RunControl


class Replayed:
    """A paused playback of ten steps, and the times that were published."""

    def __init__(self, log: StateLog) -> None:
        self.playback = Playback(log, lambda _number: None)
        self.playback.paused = True
        self.pacer = Pacer(0.001)
        self.shown: list[float] = []
        publishers: Any = SimpleNamespace(publish=self._publish)
        run = RunControl(self.playback)
        self.control = PlaybackControl(self.playback, run, self.pacer, publishers)

    def _publish(self, *, everything: bool) -> None:
        assert everything
        self.shown.append(round(self.playback.time, 6))

    def set(self, **values: Any) -> None:
        self.control.apply_parameters(values)()


@pytest.fixture
def replayed(tmp_path) -> Replayed:
    simulation = Simulation(load_scene("arm"))
    writer = StateLogWriter(tmp_path / "run.mjlog")
    ring = RingBuffer(simulation.plant, 1)
    writer.add(ring)
    for _ in range(10):
        simulation.step()
        ring.add_step()
    writer.close()
    return Replayed(StateLog.open(tmp_path / "run.mjlog"))


def test_it_jumps_to_any_time_and_to_zero_as_well(replayed):
    replayed.set(time=0.005)
    replayed.set(time=0.0)
    assert replayed.shown == [0.005, 0.0]


def test_it_begins_with_the_first_row(replayed):
    replayed.control.begin(0.0)
    assert replayed.shown == [0.0]


def test_the_pace_follows_the_timestep_of_the_log(replayed):
    for listener in replayed.playback.on_timestep:
        listener(0.004)
    replayed.pacer.started(0.0)
    assert replayed.pacer.wait(0.0) == 0.004


def test_rate_and_end_follow_their_parameters(replayed):
    replayed.set(rate=2.5, at_end="loop")
    assert replayed.pacer.factor == 2.5
    assert replayed.playback.loops
    replayed.set(paused=False)
    assert not replayed.playback.paused
