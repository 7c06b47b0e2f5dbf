"""The process of a `ProcessPlanner`."""

from mujoco_ros.motion.making import Maker
from mujoco_ros.motion.servant import serve

if __name__ == "__main__":
    serve(lambda chain: Maker(chain).plan)
