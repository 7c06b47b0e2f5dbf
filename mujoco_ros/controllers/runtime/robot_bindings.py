"""The connection of a controller to its robots."""

from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import Future
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.runtime.robot_binding import RobotBinding
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.model.scene.parts import Part


class RobotBindings:
    """One robot of the simulated model, or several by their names in the controller's table.

    Attributes:
        each: The binding of each robot; that of a single robot has an empty name.
        plant: The simulated plant.
        robot: Names of the robots.
    """

    def __init__(self, each: Mapping[str, RobotBinding]) -> None:
        """Connect to all of `each`."""
        self.each = each
        self._all = tuple(each.values())
        self._single = self._all[0] if "" in each else None
        self.plant = self._all[0].plant
        self.robot = ", ".join(it.robot for it in self._all)
        ends = np.cumsum([it.count for it in self._all])[:-1]
        self._ends = tuple(ends.tolist())

    @property
    def parts(self) -> tuple[Part, ...]:
        """The robots' parts of the scene."""
        return tuple(it.part for it in self._all)

    @property
    def claims(self) -> dict[str, tuple[str, ...]]:
        """The joints that the controller commands, by robot."""
        return {it.robot: it.joints for it in self._all}

    def has(self, control: RobotControl) -> bool:
        """Return whether one of the robots has this command arbitration."""
        return any(it.control is control for it in self._all)

    def model(self, private: mujoco.MjModel) -> RobotModel:
        """Return the robot, or the robots, in a private copy of the model."""
        if self._single is not None:
            return robot_model(self.plant, self._single.index, private)
        each = self.each.items()
        models = {name: robot_model(self.plant, it.index, private) for name, it in each}
        return RobotModel.of_several(models)

    def observe(self, time: float) -> Observation:
        """Return the observation of the sample at `time` [s]."""
        if self._single is not None:
            return self._single.observations.observe(time)
        seen = {name: it.observations.observe(time) for name, it in self.each.items()}
        return Observation.of_several(seen)

    def command(self, values: np.ndarray, settings: StreamSettings) -> None:
        """Command position, velocity and effort of the next step; NaN is no change.  # (3, n)"""
        if self._single is not None:
            self._single.command(values, settings)
            return
        for binding, own in zip(self._all, np.split(values, self._ends, axis=1), strict=True):
            binding.command(own, settings)

    def release(self) -> None:
        """Release the joints; see `RobotBinding.release`."""
        for binding in self._all:
            binding.release()

    def reset_gains(self) -> None:
        """Restore the gains after a reset; see `PrivilegedAccess.reset_gains`."""
        for binding in self._all:
            binding.access.reset_gains()

    def restore_gains(self) -> None:
        """Restore the gains from before the controller's changes."""
        for binding in self._all:
            binding.access.restore_gains()

    def take_over(self, previous: "RobotBindings") -> None:
        """Continue for the same robots of another model."""
        for name, binding in self.each.items():
            binding.cameras.take_over(previous.each[name].cameras)
            binding.access.take_over(previous.each[name].access)

    def deliver(self, time: float, awaited: Collection["Future[Any]"]) -> None:
        """Complete the image requests that are due at a tick."""
        for binding in self._all:
            binding.cameras.deliver(time, awaited)

    def unfinished(
        self, time: float, awaited: Collection["Future[Any]"]
    ) -> Iterable["Future[Any]"]:
        """Yield what the tick at `time` [s] needs and that is not done: images, and `awaited`."""
        for future in awaited:
            if not any(it.cameras.owns(future) for it in self._all) and not future.done():
                yield future
        for binding in self._all:
            for image in binding.cameras.unfinished(time, awaited):
                if not image.done():
                    yield image

    def cancel_images(self) -> None:
        """Cancel all requested images."""
        for binding in self._all:
            binding.cameras.cancel()

    def close(self) -> None:
        """Close the cameras."""
        for binding in self._all:
            binding.cameras.close()
