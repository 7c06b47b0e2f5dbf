"""The process of a `ProcessPlanner`."""

from mujoco_ros.controllers.planning.motion_planner import MotionPlanner
from mujoco_ros.process.worker_process import serve

if __name__ == "__main__":
    serve(lambda chain: MotionPlanner(chain).plan)
