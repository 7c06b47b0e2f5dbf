"""Numbers of elements that were set while a model runs, and their originals."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from mujoco_ros.model.scene.random_ranges import RandomRange
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.robot_controls import follow_limits
from mujoco_ros.sim.settings.element_properties import (
    Property,
    PropertyEdit,
    Value,
    element,
    get_property,
)
from mujoco_ros.sim.settings.random_draws import Draw, drawn, random_draws
from mujoco_ros.sim.state.state_vector import wake


class PropertySettings:
    """The one owner of numbers of elements that differ from the scene, for the plant's thread.

    A reset draws the random ones again, and restores the others if `is_restored`.
    """

    def __init__(self, plant: Plant, seed: int) -> None:
        """Set properties of a plant; draw random numbers by a seed."""
        self._plant = plant
        self.is_restored = False
        # What was set, and the numbers before that, in the order of the first sets
        self.present: dict[Property, Value] = {}
        self.originals: dict[Property, Value] = {}
        # What a saved model has: in addition, what was set at the start
        self.saved: dict[Property, Value] = {}
        self.drawn: dict[str, float] = {}  # first number, or factor, of the last draw by parameter
        self.draws: tuple[Draw, ...] = plant.draws  # of each reset
        # Called by the physics thread when numbers of elements, or options, were set
        self.on_edit: list[Callable[[Iterable[Property]], object]] = []
        self._random = np.random.default_rng((seed, 43))

    def set(self, values: Mapping[Property, Value], edit: PropertyEdit | None = None) -> None:
        """Set properties of elements between two steps; `edit` is prepared from the values."""
        model = self._plant.model
        self._plant.drives.force_limits.uncover(values)
        for which in values:
            if which not in self.originals and element(model, which) >= 0:
                self.originals[which] = get_property(model, which)
        self.present |= values
        self.configure(values, edit)

    def configure(self, values: Mapping[Property, Value], edit: PropertyEdit | None = None) -> None:
        """Set properties as by `set`, also as what a reset restores."""
        if not values:
            return
        plant = self._plant
        if edit is None or edit.model is not plant.model:
            edit = PropertyEdit(plant.model, values)
        edit.apply()
        self.saved |= edit.values
        if edit.has_ranges:
            plant.drives.force_limits.follow(edit.values)
            follow_limits(plant.controls, plant.layout, plant.model, plant.data, plant.drives)
        wake(plant.model, plant.data)
        for listener in self.on_edit:
            listener(edit.values)

    def randomize(self, ranges: Mapping[str, RandomRange]) -> None:
        """Draw numbers of elements now and at each reset, by name or pattern of parameters.

        Raises:
            UserInputError: A name is unknown, or a number could be invalid.
        """
        plant = self._plant
        self.draws = random_draws(plant.model, plant.layout, plant.drives, ranges, "these ranges")
        self.set(self.draw())

    def switch_model(self, plant: Plant, *, fresh: bool) -> None:
        """Forget what another plant lacks, or everything with `fresh`."""
        self._plant = plant
        draws = plant.draws if fresh else self.draws
        self.draws = tuple(draw for draw in draws if element(plant.model, draw.which) >= 0)
        for numbers in (self.originals, self.present, self.saved):
            for which in list(numbers):
                if fresh or element(plant.model, which) < 0:
                    del numbers[which]

    def restored(self, saved: Mapping[Property, Value]) -> dict[Property, Value]:
        """Return what to set for a state that was saved; nothing unless `is_restored`."""
        return {**self.originals, **saved} if self.is_restored else {}

    def draw(self) -> dict[Property, Value]:
        """Return new random numbers."""
        values: dict[Property, Value] = {}
        for draw in self.draws:
            values[draw.which], self.drawn[draw.label] = drawn(draw, self._random.uniform)
        return values
