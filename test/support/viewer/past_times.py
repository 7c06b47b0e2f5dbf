"""Past states of given times."""

import numpy as np

from mujoco_ros.sim.shared_memory.past_states import PastStates


def past_states(*times: float) -> PastStates:
    """Return past states that have only a time [s]."""
    past = PastStates(np.zeros((100, 1)), memoryview(np.zeros(1, np.int64)))
    for time in times:
        past.add(memoryview(np.array([time])).cast("B"))
    return past
