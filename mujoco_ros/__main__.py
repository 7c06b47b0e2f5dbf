"""``python -m mujoco_ros`` runs the simulator."""

import sys

from mujoco_ros.cli.sim import main

sys.exit(main())
