"""The viewer's signs of life."""

from mujoco_ros.sim.shared_memory.frame_timeout import FIRST_S
from mujoco_ros.sim.shared_memory.reader import PATIENCE_S
from mujoco_ros.viewer.heartbeat import Heartbeat


class Supervisor:
    """Remembers what was promised last."""

    def __init__(self):
        self.promise = 0.0

    def beat(self, patience_s=PATIENCE_S):
        self.promise = patience_s


def test_a_viewer_that_hangs_in_a_usual_frame_is_noticed_soon_and_one_with_something_new_later():
    supervisor, clock = Supervisor(), [100.0]
    heart = Heartbeat(supervisor, now=lambda: clock[0])

    def frames(count: int, seconds: float) -> None:
        for _ in range(count):
            clock[0] += seconds
            heart.frame()

    heart.frame(is_new=True)
    assert supervisor.promise == FIRST_S
    frames(10, 3.0)
    assert supervisor.promise == FIRST_S, "the first frames are those in which all gets ready"
    frames(60, 0.02)
    assert supervisor.promise == PATIENCE_S
    frames(1, 1.0)
    assert supervisor.promise == 4.0, "a slow machine's frames would count as hanging"
    heart.frame(is_new=True)
    assert supervisor.promise == FIRST_S
