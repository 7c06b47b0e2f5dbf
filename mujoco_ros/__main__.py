"""``python -m mujoco_ros`` runs the simulator."""

import os
import sys

# This process renders nothing, and the import of MuJoCo's OpenGL contexts takes long.
os.environ.setdefault("MUJOCO_GL", "off")

from mujoco_ros.cli.sim import main

sys.exit(main())
