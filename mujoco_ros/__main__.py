"""``python -m mujoco_ros`` runs the simulator."""

import os
import signal
import sys

# KeyboardInterrupt can get lost in an import.
for _number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(_number, lambda *_: os._exit(0))

# This process renders nothing, and the import of MuJoCo's OpenGL contexts takes long.
os.environ.setdefault("MUJOCO_GL", "off")

from mujoco_ros.cli.sim import main  # noqa: E402

sys.exit(main())
