"""Options are explained where neither ROS nor an optional part is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from mujoco_ros.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[2]
MISSING = sorted(
    {module for modules in EXTRAS.values() for module in modules}
    | {"ament_index_python", "cv_bridge", "launch", "rclpy", "rosidl_generator_py", "tf2_ros"}
)
_RUN = """
import importlib.abc, runpy, sys
missing, (name,) = sys.argv[1].split(","), sys.argv[2:]
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, module, path=None, target=None):
        top = module.partition(".")[0]
        if top in missing or top.endswith(("_msgs", "_interfaces", "_srvs")):
            raise ModuleNotFoundError(f"no {module}", name=top)
sys.meta_path.insert(0, Missing())
sys.argv = [name, "--help"]
runpy.run_module(f"mujoco_ros.cli.{name}", run_name="__main__")
"""
PROGRAMS = [
    *("check_robot", "controller", "draw_controller", "evaluate", "export_log", "export_urdf"),
    *("fit", "import_policy", "new_extension", "record", "replay", "sim", "viewer", "window"),
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_needs_neither_ros_nor_an_optional_part(name: str) -> None:
    command = [sys.executable, "-c", _RUN, ",".join(MISSING), name]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr
    usage = done.stdout.partition("\n")[0]
    assert usage.startswith("usage: ")
    assert name in usage
