"""Be a companion of a simulator: ``python -m mujoco_ros.cli.child_process <process> cameras …``."""

import ctypes
import os
import signal
import sys
from importlib import import_module

_SET_PARENT_DEATH_SIGNAL = 1  # prctl(2)
_NICE = 5


def begin(simulator: int) -> None:
    """Leave the processor to the simulator, of this process id, and never outlive it."""
    os.nice(_NICE)
    # The system sees to that, even when this process hangs.
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL))
    if os.getppid() != simulator:
        sys.exit(0)  # it is gone already


def main() -> int:
    """Be the companion that is named; return the exit code."""
    simulator, name, *arguments = sys.argv[1:]
    begin(int(simulator))
    # Not before now: until a companion has imported all it needs, its simulator may end.
    code: int = import_module(f"mujoco_ros.cli.{name}").main(arguments)
    return code


if __name__ == "__main__":
    sys.exit(main())
