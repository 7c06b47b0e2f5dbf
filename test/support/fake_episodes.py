"""Fake episodes, and episodes that kill their process."""

import os
import signal
import time
from pathlib import Path

from mujoco_ros.controllers.evaluation.episode import Episode


def fake_episode(seed: int, **values) -> Episode:
    conditions = {"start_x": 0.4, "start_y": 0.1, "goal_x": 0.5, "goal_y": -0.1 * seed}
    measures = {"error_xy": 4e-4, "tracking": 2e-4, "cycle": 5.0, "ik_error": 1e-7}
    known = {
        "outcome": "success",
        "conditions": conditions,
        "measures": {**measures, **dict.fromkeys(("ik_turn", "corners", "saturated_steps"), 0.0)},
        "phases": {"IDLE": 0.1, "LIFT": 1.0 + seed},
        "planning": (0.05, 0.15),
        "duration": 5.0,
        "cost": 0.4,
    }
    return Episode(seed=seed, **{**known, **values})


def die_once(seed: int) -> Episode:
    """Kill the process that runs the second episode, the first time."""
    mark = Path(os.environ["MARK"])
    if seed == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return fake_episode(seed)


def die_always(seed: int) -> Episode:
    os.kill(os.getpid(), signal.SIGKILL)
    return fake_episode(seed)


def slow_episode(seed: int) -> Episode:
    time.sleep(0.5)
    return fake_episode(seed)


def lacks_a_module(_seed: int) -> Episode:
    raise ModuleNotFoundError("nothing_like_it")
