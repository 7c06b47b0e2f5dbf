"""The worker process of a `ProcessPlanner`."""

from collections.abc import Sequence

from mujoco_ros.controllers.planning.motion_planner import MotionPlanner
from mujoco_ros.process.worker_process import serve


def main(arguments: Sequence[str]) -> int:
    """Answer requests until the parent ends; return the exit code."""
    return serve(arguments, lambda chain: MotionPlanner(chain).plan)
