"""The process of a `ProcessPlanner`."""

from functools import partial

from mujoco_ros.motion.making import make_plan
from mujoco_ros.motion.servant import serve

if __name__ == "__main__":
    serve(lambda chain: partial(make_plan, chain))
