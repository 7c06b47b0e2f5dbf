"""Host of a controller in the simulator: fixed rate, exact steps, reproducible runs."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import Any

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET, IMAGE_GET, POSE_SET, Image
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.controllers.runtime import supervisor
from mujoco_ros.controllers.runtime.robot_bindings import RobotBinding, RobotBindings
from mujoco_ros.controllers.runtime.ticks import stamp_of, tick_time
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.native.plan import MANY
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.element_properties import LOOKS, Property
from mujoco_ros.sim.simulation import Simulation

_LOG = logging.getLogger(__name__)
_POLL_S = 0.05
"""Wall time between two checks of awaited futures if no callback wakes the physics thread."""
_ROUNDING = 1e-6  # part of a timestep; rounding errors of decimal periods are far smaller


class _Schedule:
    """Tells which samples of a simulation are ticks of a controller with a period [s]."""

    def __init__(self, simulation: Simulation, period: float) -> None:
        self._simulation, self._period = simulation, period
        self.update()

    def update(self) -> None:
        """Follow the timestep; UserInputError if the period is not a multiple of it."""
        timestep = float(self._simulation.model.opt.timestep)
        steps = round(self._period / timestep)
        if steps < 1 or abs(steps * timestep - self._period) > _ROUNDING * timestep * steps:
            raise UserInputError(
                f"the controller's period of {1e3 * self._period:g} ms is not a multiple of the "
                f"simulation's timestep of {1e3 * timestep:g} ms; change its rate, or the timestep"
            )
        self._steps = steps

    def is_tick(self) -> bool:
        return self._simulation.step_number % self._steps == 0

    def steps_to_tick(self) -> int:
        """Return the number of steps up to the next tick; 1 if the next step is one."""
        return 1 + -self._simulation.next_step_number % self._steps


class ControllerHost:
    """Runs a controller in step with a simulation; belongs to the thread that steps it.

    A tick is a sample whose time is a multiple of the controller's period. Its references act from
    the next step on, interpolated linearly so that they are reached at the next tick. A controller
    in lockstep over topics gets the same observations at the same times, bit by bit.
    """

    def __init__(
        self,
        simulation: Simulation,
        controller: FsmController,
        robot: str = "",
        rendering: str = "auto",
        joints: Sequence[str] = (),
    ) -> None:
        """Prepare a controller for a robot, or for the robots of its table; see `find_robots`."""
        self.supervised = supervisor.SupervisedController(controller, lambda: simulation.time)
        self.ticks, self.time, self.is_active = 0, 0.0, True
        # Applied to every observation, for sensor noise; None by default
        self.observation_filter: Callable[[Observation], Observation] | None = None
        # Applied to the commands of every tick, with its time; None by default
        self.command_filter: Callable[[float, np.ndarray], np.ndarray] | None = None
        # Called when the controller may have changed the gains
        self.on_gains: list[Callable[[], object]] = []
        # Called with the robot in another scene, before the controller gets it
        self.on_scene: list[Callable[[RobotModel], object]] = []
        self._simulation, self._controller = simulation, controller
        self._stream = StreamSettings(period=controller.period)
        self._awaited: list[Future[Any]] = []
        self._is_edited = False  # whether the model of the controller has other numbers
        self._schedule = _Schedule(simulation, controller.period)
        if joints and controller.table.robots:
            raise UserInputError("a controller of several robots commands all of their joints")
        self._bindings = RobotBindings(
            simulation,
            controller.table.robots,
            rendering,
            name=robot,
            joints=joints,
            controller=controller.table.name,
        )
        for name in self._bindings.each:
            self._provide(name, controller.stores[name] if name else controller.store)
        self._configure()
        simulation.on_reset.append(self.reset)
        simulation.on_robot_set.append(self._on_robot_set)
        simulation.on_timestep.append(self._update_timestep)
        simulation.properties.on_edit.append(self._note_edit)

    @property
    def robot(self) -> str:
        """Name of the robot, or names of several."""
        return self._bindings.robot

    @property
    def layout(self) -> RobotLayout | None:
        """The elements of the robot; None for several robots."""
        binding = self._bindings.each.get("")
        return None if binding is None else binding.plant.layout.robots[binding.index]

    @property
    def claims(self) -> Mapping[str, tuple[str, ...]]:
        """The joints that the controller commands while it is active, by robot."""
        return {binding.robot: binding.joints for binding in self._bindings.each.values()}

    @property
    def is_waiting(self) -> bool:
        """Whether the next tick needs a future that is not done."""
        return any(not future.done() for future in self._awaited)

    def step(self) -> bool:
        """Step without a physics thread, with the tick that is due; False if it diverged.

        Blocks until all futures that the tick needs are done.
        """
        if self._awaited and self._schedule.steps_to_tick() == 1:
            wait(self._awaited)
        return self._step(1)

    def tick(self) -> bool:
        """Step the simulation up to the next tick and run it; otherwise as `step`."""
        if self._awaited:
            wait(self._awaited)
        return self._step(self._schedule.steps_to_tick())

    def _step(self, count: int) -> bool:
        is_valid = self._simulation.advance(count)
        if is_valid:
            self.after_step()
        return is_valid

    def wait(self, _now: float = 0.0) -> float:
        """Return the longest time that the next step must wait [s]; 0 permits the step."""
        is_tick = self._awaited and self._schedule.steps_to_tick() == 1
        return _POLL_S if is_tick and self.is_waiting else 0.0

    def steps_until_tick(self) -> int:
        """Return the steps before the one that leads to the next tick, at most `MANY`."""
        if self._simulation.plant is not self._bindings.plant or self._awaited:
            return 0
        if not self.is_active or self.supervised.error:
            return MANY
        return self._schedule.steps_to_tick() - 1

    def after_step(self) -> bool:
        """Run a tick if the new sample is one; return whether it was."""
        simulation = self._simulation
        if simulation.plant is not self._bindings.plant:
            self._follow_model()
        if not self._schedule.is_tick() or not self.is_active or self.supervised.error:
            return False
        self.ticks += 1
        # Time of the last tick [s]
        self.time = tick_time(stamp_of(simulation.time), self._controller.period)
        self._run_tick(self.time)
        return True

    def reset(self) -> None:
        """Restart an active controller after a reset of the simulation, also after an error."""
        if not self.is_active:
            return
        self._cancel_images()
        for binding in self._bindings.each.values():
            binding.access.reset_gains()
        try:
            self.prepare_activation()
        except Exception as error:
            self.supervised.reset()
            self.supervised.fail(error)
        else:
            self.supervised.reset()
        for binding in self._bindings.each.values():
            binding.access.restore_gains()  # a teardown may have set gains from before the reset
        self._notify_gains()

    def build(self, plant: Plant) -> None:
        """Copy the model that may be simulated next, in any thread."""
        self._bindings.build(plant)

    def prepare_activation(self) -> None:
        """Prepare `activate`, which then cannot fail; UserInputError if the model does not fit."""
        self._schedule.update()
        is_old = self._is_edited and not self.is_active
        if self._simulation.plant is not self._configured or is_old:
            self._bindings.follow()
            self._configure()

    def activate(self) -> None:
        """Start with the initial state at the next tick; an active controller starts again."""
        if self.is_active:
            self.deactivate()
        self.is_active = True  # whether it has ticks
        self.supervised.resume(supervisor.ACTIVATE)
        if self.supervised.error:  # of a teardown
            self.supervised.reset(supervisor.ACTIVATE)

    def deactivate(self) -> None:
        """Tear down the active state and have no more ticks; the joints hold their references."""
        if self._simulation.plant is not self._bindings.plant:
            self._follow_model()
        self.is_active = False
        self.supervised.pause(supervisor.INACTIVE, supervisor.DEACTIVATE)
        self.supervised.reset(supervisor.DEACTIVATE)
        self._release()

    def stop(self, reason: str) -> None:
        """Stop the controller; its joints hold their positions."""
        self.supervised.stop(reason)
        self._release()

    def close(self) -> None:
        """Close the cameras, and have the simulation call nothing any more."""
        simulation = self._simulation
        simulation.on_reset.remove(self.reset)
        simulation.on_robot_set.remove(self._on_robot_set)
        simulation.on_timestep.remove(self._update_timestep)
        simulation.properties.on_edit.remove(self._note_edit)
        for binding in self._bindings.each.values():
            binding.cameras.close()

    def _on_robot_set(self, control: RobotControl) -> None:
        if any(binding.control is control for binding in self._bindings.each.values()):
            self.reset()

    def _run_tick(self, time: float) -> None:
        bindings, awaited = self._bindings, self._controller.awaited
        try:
            for binding in bindings.each.values():
                binding.cameras.deliver(time, awaited)
            self._awaited.clear()
            observation = bindings.observe(time)
            if self.observation_filter is not None:
                observation = self.observation_filter(observation)
            values = self.supervised.step(observation, time)
            if values is None:
                self._release()
                return
            if self.command_filter is not None:
                values = self.command_filter(time, values)
            bindings.command(values, self._stream)
            self._awaited = list(bindings.unfinished(time + self._controller.period, awaited))
            for future in self._awaited:
                future.add_done_callback(lambda _: self._simulation.commands.wake())
        except KeyboardInterrupt:
            raise  # of Ctrl-C: one of a state is an error of the state, except in the main thread
        except BaseException as error:  # of callbacks that states have added to their futures
            self.supervised.fail(error)
            self._release()

    def _release(self) -> None:
        self._awaited.clear()
        for binding in self._bindings.each.values():
            binding.release()
        self._notify_gains()

    def _cancel_images(self) -> None:
        self._awaited.clear()
        for binding in self._bindings.each.values():
            binding.cameras.cancel()

    def _follow_model(self) -> None:
        removed = self._bindings.removed
        if not removed:
            self._bindings.follow()
            self._controller.follow(self._robot_model())
            self._update_timestep()
        elif self.is_active and not self.supervised.error:
            self._cancel_images()
            self.supervised.stop(f"robot '{removed[0]}' was removed")

    def _note_edit(self, changed: Iterable[Property]) -> None:
        """Tell once that an active controller does not follow the numbers of the model."""
        if self._is_edited or all(each.row.array in LOOKS for each in changed):
            return
        self._is_edited = True
        if self.is_active:
            _LOG.info(
                "controller '%s' continues with the numbers that the model had when it started; "
                "deactivate and activate it to have it use the present ones",
                self._controller.table.name,
            )

    def _configure(self) -> None:
        self._is_edited = False
        self.supervised.configure(self._robot_model())
        self._configured = self._bindings.plant

    def _robot_model(self) -> RobotModel:
        robot = self._bindings.model()
        for call in self.on_scene:
            call(robot)
        return robot

    def _provide(self, name: str, store: Store) -> None:
        """Provide the functions of the host for the robot with a name in the table."""
        shielded = self.supervised.time_limit.shielded

        def binding() -> RobotBinding:  # another one after a change of the model
            return self._bindings.each[name]

        def set_gains(gains: Gains) -> None:
            binding().access.set_gains(gains)
            self._notify_gains()

        def get_image(camera: str) -> "Future[Image]":
            return binding().cameras.request(camera, self._simulation.time, self.time)

        store.provide(GAINS_GET, shielded(lambda: binding().access.gains))
        store.provide(GAINS_SET, shielded(set_gains))
        store.provide(POSE_SET, shielded(lambda what, pose: binding().access.set_pose(what, pose)))
        store.provide(IMAGE_GET, shielded(get_image))

    def _update_timestep(self, _timestep: float = 0.0) -> None:
        if not self.is_active or self._simulation.plant is not self._bindings.plant:
            return  # `prepare_activation` does it, or `_follow_model` before the next tick
        try:
            self._schedule.update()
        except UserInputError as error:
            self.stop(str(error))

    def _notify_gains(self) -> None:
        for call in self.on_gains:
            call()
