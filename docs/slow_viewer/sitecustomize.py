"""Imported first by every Python process with this folder in PYTHONPATH: slows the viewer down.

The viewer sends panels to a browser as fast as it builds them. A browser with software rendering is
slower, and would show panels of the past. The file of MUJOCO_ROS_WIDGETS with the suffix
``.period`` contains the shortest time between two frames [s].
"""

import os
import runpy
import sys
import threading
import time
from pathlib import Path
from typing import Any

MODULE = "mujoco.studio.web_viewer"
WIDGETS = Path(os.environ["MUJOCO_ROS_WIDGETS"])


def slow_down() -> None:
    """Wait for the viewer's module, and delay its frames."""
    while not hasattr(sys.modules.get(MODULE), "WebViewer"):
        time.sleep(0.05)
    viewer = sys.modules[MODULE].WebViewer
    prepare, period = viewer.prepare_next_frame, WIDGETS.with_suffix(".period")

    def prepare_later(self: Any) -> Any:
        if period.exists():
            time.sleep(float(period.read_text()))
        return prepare(self)

    viewer.prepare_next_frame = prepare_later


threading.Thread(target=slow_down, daemon=True).start()
runpy.run_path(os.environ["MUJOCO_ROS_SPY"], run_name="sitecustomize")
