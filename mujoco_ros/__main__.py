"""``python -m mujoco_ros`` runs the simulator."""

import os
import signal
import sys

# An exception, which is Python's way to interrupt, gets lost now and then in an import.
for _number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(_number, lambda *_: os._exit(0))

# MuJoCo's own contexts, of which nothing here makes use, take as long to import as all messages.
os.environ.setdefault("MUJOCO_GL", "off")

from mujoco_ros.cli.sim import main  # noqa: E402

sys.exit(main())
