"""A controller whose ticks are timed.

``benchmark.processes.tick_times FILE sim|controller …`` runs the simulator or the controller node
with the arguments that follow, and prints ``ready`` at the first tick. At its end it writes the
wall time (CLOCK_MONOTONIC) and the time of each tick [s] into the npy file.  # (ticks, 2)
"""

import sys
import time

import numpy as np

from mujoco_ros.cli import controller, sim
from mujoco_ros.control.references import References
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.interface.observation import Observation

_PROGRAMS = {"sim": sim.main, "controller": controller.main}


def main() -> int:
    """Run the program until it is interrupted; return its exit code."""
    file, program, *arguments = sys.argv[1:]
    records: list[tuple[float, float]] = []
    step = FsmController.step

    def timed(self: FsmController, observation: Observation, t: float) -> References:
        if not records:
            print("ready", flush=True)
        records.append((time.monotonic(), t))
        return step(self, observation, t)

    FsmController.step = timed  # type: ignore[method-assign]
    code = _PROGRAMS[program](arguments)
    np.save(file, np.array(records).reshape(-1, 2))
    return code


if __name__ == "__main__":
    sys.exit(main())
