"""Who plans for the states of a controller."""

from collections.abc import Callable

from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.planner import InlinePlanner, Planner

PLANNERS: Key[Callable[[Chain], Planner]] = Key("motion/planners")
"""Makes a planner for a chain. A host that lives in real time provides one that is a process."""


def planner(store: Store, chain: Chain) -> Planner:
    """Return a planner for a chain: the host's, or one that plans at once."""
    return store.get(PLANNERS)(chain) if PLANNERS in store else InlinePlanner(chain)
