"""The viewer's signs of life."""

import time
from dataclasses import dataclass

from mujoco_ros.viewer.heart import Heart


@dataclass
class Supervisor:
    beats: int = 0

    def beat(self) -> None:
        self.beats += 1


def test_it_beats_while_there_are_frames_and_no_longer():
    supervisor, clock = Supervisor(), [100.0]
    heart = Heart(supervisor, longest_s=20.0, now=lambda: clock[0])
    clock[0] = 119.0
    heart.beat()
    assert supervisor.beats == 1, "a long frame is taken for the end"
    clock[0] = 121.0
    heart.beat()
    assert supervisor.beats == 1, "a viewer that makes no frames seems to live"
    heart.frame()
    heart.beat()
    assert supervisor.beats == 2


def test_it_beats_by_itself_until_it_is_stopped():
    supervisor = Supervisor()
    heart = Heart(supervisor)
    heart.start()
    deadline = time.monotonic() + 30.0
    while supervisor.beats < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    heart.stop()
    beats = supervisor.beats
    time.sleep(0.25)
    assert supervisor.beats == beats
