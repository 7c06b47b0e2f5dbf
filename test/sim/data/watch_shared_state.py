"""Reads a shared state as fast as possible, and prints statistics at the end."""

import os
import signal
import sys

import numpy as np

from mujoco_ros.sim.shared_memory.reader import SharedState, Update

MODELS, STATES = 1, 100

ended: list[int] = []
signal.signal(signal.SIGTERM, lambda number, _frame: ended.append(number))
state = SharedState(sys.argv[1])
seen = dict.fromkeys(("states", "models", "torn", "backwards", "step"), 0)
sys.stdout.write("ready\n")
sys.stdout.flush()
while seen["models"] < MODELS or seen["states"] < STATES:
    over = bool(ended)  # states written before are read nevertheless
    update = state.update()
    if update is Update.NOTHING:
        if over:
            break
        os.sched_yield()
        continue
    seen["models"] += update is Update.MODEL
    seen["states"] += 1
    data = state.data
    parts = (data.qpos, data.qvel, state.references.values, data.xfrc_applied, data.qfrc_actuator)
    numbers = np.concatenate([np.ravel(part) for part in parts])
    seen["torn"] += bool((numbers != numbers[0]).any())
    seen["backwards"] += state.step < seen["step"]
    seen["step"] = state.step
sys.stdout.write(" ".join(f"{name}={count}" for name, count in seen.items()))
