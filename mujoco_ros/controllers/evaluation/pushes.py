"""Pushes of a floating base at random times."""

from collections.abc import Iterable, Iterator, Mapping
from math import ceil

import numpy as np

from mujoco_ros.controllers.evaluation.model_edits import free_base
from mujoco_ros.sim.simulation import Simulation

Push = tuple[float, float, float]
"""Impulse per mass of the robot [m/s], level direction [rad] and begin [s]."""
_PUSH_S = 0.1
"""Duration of a push [s]."""


def draw_pushes(
    random: np.random.Generator, push: tuple[float, float], period: float, duration: float
) -> dict[str, float]:
    """Draw one push in each period; none if all would be zero.

    Args:
        random: Source of the numbers.
        push: Smallest and largest impulse per mass of the robot [m/s].
        period: [s]
        duration: Time until the last push at the latest [s].
    """
    drawn: dict[str, float] = {}
    for number in range(ceil(duration / period) if push[1] > 0.0 else 0):
        drawn[f"push_{number}"] = random.uniform(*push)
        drawn[f"push_direction_{number}"] = random.uniform(-np.pi, np.pi)
        drawn[f"push_at_{number}"] = (number + random.uniform(0.4, 0.9)) * period
    return drawn


def drawn_pushes(conditions: Mapping[str, float]) -> Iterator[Push]:
    """Yield the pushes that are among the conditions of an episode, in the order of their times."""
    number = 0
    while (name := f"push_{number}") in conditions:
        direction, begin = (conditions[f"push_{it}_{number}"] for it in ("direction", "at"))
        yield conditions[name], direction, begin
        number += 1


def push_base(simulation: Simulation, pushes: Iterable[Push]) -> None:
    """Apply those of some pushes, in the order of their times, that act now to the first base."""
    base, force = free_base(simulation.model), np.zeros(3)
    mass = float(simulation.model.body_subtreemass[base])
    for impulse, direction, begin in pushes:
        if begin > simulation.time:
            break
        if simulation.time - begin < _PUSH_S:
            size = impulse * mass / _PUSH_S
            force[:2] += size * np.array([np.cos(direction), np.sin(direction)])
    simulation.data.xfrc_applied[base, :3] = force
