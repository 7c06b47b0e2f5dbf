"""Motion planners of the states of a controller."""

from collections.abc import Callable

from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.planner import InlinePlanner, Planner

PLANNERS: Key[Callable[[Chain], Planner]] = Key("motion/planners")
"""Creates a planner for a chain. A real-time host provides one in a separate process."""


def get_planner(store: Store, chain: Chain) -> Planner:
    """Return a planner for a chain: the host's, or one that blocks until the plan is ready."""
    return store.get(PLANNERS)(chain) if PLANNERS in store else InlinePlanner(chain)
