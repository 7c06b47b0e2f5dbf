"""Entry point of every child process: ``python -m mujoco_ros.process.child_main PARENT MODULE``."""

import os
import sys
from importlib import import_module

from mujoco_ros.process.fork_server import end_with
from mujoco_ros.process.managed_process import CANNOT_RUN_HERE

_NICE = 5
_PLUGINS = "MUJOCO_ROS_PLUGINS"
"""Variable with the engine plugins that the parent loaded; without them, MuJoCo would crash when
this process reads the parent's models."""
_PLUGIN_LOADER = "mujoco_ros.model.scene.engine_plugins"


def main() -> int:
    """Tie this process to its parent, then run ``main`` of a module; return the exit code."""
    parent, module, *arguments = sys.argv[1:]
    # The parent's real-time priority may be inherited.
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.nice(_NICE)
    end_with(int(parent))
    # The parent may end during this import, which takes long: so it comes last.
    try:
        run = import_module(module).main
        if os.environ.get(_PLUGINS):
            import_module(_PLUGIN_LOADER).load_inherited()
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing.partition(".")[0] == __package__.partition(".")[0]:
            raise  # incomplete installation of this package
        sys.stderr.write(
            f"Python module '{missing}' is not installed; install the dependencies of mujoco_ros, "
            "with rosdep or pip, and start again\n"
        )
        return CANNOT_RUN_HERE
    code: int = run(arguments)
    return code


if __name__ == "__main__":
    sys.exit(main())
