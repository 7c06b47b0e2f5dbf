"""Host of a controller in the simulator: fixed rate, exact steps, reproducible runs."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any

from mujoco_ros.control.gains import Gains
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET, IMAGE_GET, POSE_SET
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.runtime.robot_binding import RobotBinding
from mujoco_ros.controllers.runtime.robot_model import find_robot, robot_model
from mujoco_ros.controllers.runtime.supervisor import SupervisedController
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.simulation import Simulation

_POLL_S = 0.05
"""Wall time between two checks of awaited futures if no callback wakes the physics thread."""
_ROUNDING = 1e-6
"""Part of a timestep; rounding errors of decimal periods are far smaller."""


class ControllerHost:
    """Runs a controller in step with a simulation.

    A tick is a sample whose time is a multiple of the controller's period. The controller observes
    that sample; its references act from the next step on, interpolated linearly so that they are
    reached at the next tick. A controller in lockstep over topics has the same timing.

    All methods belong to the thread that steps the simulation.

    Attributes:
        supervised: The controller.
        ticks: Number of ticks since the start.
        observation_filter: Applied to every observation, for sensor noise; None by default.
        on_gains: Called when the controller may have changed the gains.
    """

    def __init__(
        self,
        simulation: Simulation,
        controller: FsmController,
        robot: str = "",
        rendering: str = "auto",
    ) -> None:
        """Prepare a controller for a robot.

        Args:
            robot: Name of the robot; empty is the only one with joints.
            rendering: OpenGL backend of its cameras: auto, egl or osmesa.

        Raises:
            UserInputError: The robot does not exist, the controller cannot command it, or the
                period is not a multiple of the timestep.
        """
        self.supervised = SupervisedController(controller, lambda: simulation.time)
        self.ticks = 0
        self.observation_filter: Callable[[Observation], Observation] | None = None
        self.on_gains: list[Callable[[], object]] = []
        self._simulation, self._controller, self._name = simulation, controller, robot
        self._rendering = rendering
        self._stream = StreamSettings(period=controller.period)
        self._awaited: list[Future[Any]] = []
        self._steps_per_tick = self._checked_steps_per_tick()
        self._binding = self._bind(find_robot(simulation.plant, robot))
        store, shielded = controller.store, self.supervised.time_limit.shielded
        store.provide(GAINS_GET, shielded(lambda: self._binding.access.gains))
        store.provide(GAINS_SET, shielded(self._set_gains))
        store.provide(
            POSE_SET, shielded(lambda name, pose: self._binding.access.set_pose(name, pose))
        )
        store.provide(
            IMAGE_GET,
            shielded(lambda camera: self._binding.cameras.request(camera, simulation.time)),
        )
        self._configure()
        simulation.on_reset.append(self.reset)
        simulation.on_robot_set.append(self._on_robot_set)
        simulation.on_timestep.append(lambda _timestep: self._update_timestep())

    @property
    def robot(self) -> str:
        """Name of the robot."""
        return self._binding.robot

    @property
    def is_waiting(self) -> bool:
        """Whether the next tick needs a future that is not done."""
        return any(not future.done() for future in self._awaited)

    def step(self) -> bool:
        """Step the simulation once without a physics thread, with a tick if one is due.

        Blocks until all futures that the tick needs are done.

        Returns:
            Whether the sample is valid; False if the simulation diverged.
        """
        if self._awaited and self._next_step_is_tick():
            wait(self._awaited)
        is_valid = self._simulation.step()
        if is_valid:
            self.after_step()
        return is_valid

    def tick(self) -> bool:
        """Step the simulation up to the next tick and run it; otherwise as `step`."""
        if self._awaited:
            wait(self._awaited)
        step = self._simulation.step
        steps = 1 + -self._next_step_number() % self._steps_per_tick
        is_valid = all(step() for _ in range(steps))
        if is_valid:
            self.after_step()
        return is_valid

    def wait(self, _now: float = 0.0) -> float:
        """Return the longest time that the next step must wait [s]; 0 permits the step."""
        if not self._awaited or not self._next_step_is_tick():
            return 0.0
        return _POLL_S if self.is_waiting else 0.0

    def after_step(self) -> bool:
        """Run a tick if the new sample is one; return whether it was."""
        simulation = self._simulation
        if simulation.plant is not self._binding.plant:
            self._follow_model()
        if self.supervised.error or simulation.step_number % self._steps_per_tick:
            return False
        self.ticks += 1
        self._run_tick(simulation.time)
        return True

    def reset(self) -> None:
        """Restart the controller after a reset of the simulation, also after an error."""
        self._awaited.clear()
        self._binding.cameras.cancel()
        self._binding.access.reset_gains()
        try:
            self._steps_per_tick = self._checked_steps_per_tick()
            if self._simulation.plant is not self._configured:
                self._rebind(self._find())
                self._configure()
        except Exception as error:
            self.supervised.reset()
            self.supervised.fail(error)
        else:
            self.supervised.reset()
        self._binding.access.restore_gains()  # a teardown may have set gains from before the reset
        self._notify_gains()

    def stop(self, reason: str) -> None:
        """Stop the controller; its joints hold their positions."""
        self.supervised.stop(reason)
        self._release()

    def close(self) -> None:
        """Close the cameras."""
        self._binding.cameras.close()

    def _on_robot_set(self, control: RobotControl) -> None:
        if control is self._binding.control:
            self.reset()

    def _run_tick(self, time: float) -> None:
        try:
            self._tick(time)
        except KeyboardInterrupt:
            raise  # of Ctrl-C: one of a state is an error of the state, except in the main thread
        except BaseException as error:  # of callbacks that states have added to their futures
            self.supervised.fail(error)
            self._release()

    def _tick(self, time: float) -> None:
        binding = self._binding
        binding.cameras.deliver(time, self._controller.awaited)
        self._awaited.clear()
        observation = binding.observations.observe(time)
        if self.observation_filter is not None:
            observation = self.observation_filter(observation)
        values = self.supervised.step(observation, time)
        if values is None:
            self._release()
            return
        binding.command(values, self._stream)
        self._await(self._controller.awaited, time + self._controller.period)

    def _await(self, awaited: Sequence["Future[Any]"], next_tick: float) -> None:
        """Collect the futures of the next tick: those of the states, and images that are due."""
        cameras = self._binding.cameras
        images = cameras.unfinished(next_tick, awaited)
        others = [future for future in awaited if not cameras.owns(future)]
        self._awaited = [future for future in (*others, *images) if not future.done()]
        for future in self._awaited:
            future.add_done_callback(lambda _: self._simulation.commands.wake())

    def _next_step_is_tick(self) -> bool:
        return self._next_step_number() % self._steps_per_tick == 0

    def _next_step_number(self) -> int:
        simulation = self._simulation
        timestep = float(simulation.model.opt.timestep)
        return round((float(simulation.data.time) - simulation.origin) / timestep)

    def _release(self) -> None:
        self._awaited.clear()
        self._binding.release()
        self._notify_gains()

    def _find(self) -> int:
        """Return the index of the robot in another model, by its part or else by its name.

        Raises:
            UserInputError: The model has no such robot.
        """
        plant = self._simulation.plant
        if self._binding.part in plant.assembly.robots:
            return plant.assembly.robots.index(self._binding.part)
        return find_robot(plant, self._name)

    def _follow_model(self) -> None:
        """Continue in another model; the controller keeps its `RobotModel` until a reset."""
        if self._binding.part in self._simulation.assembly.robots:
            self._rebind(self._find())
            self._update_timestep()
        elif not self.supervised.error:
            self._awaited.clear()
            self._binding.cameras.cancel()
            self.supervised.stop(f"robot '{self.robot}' was removed")

    def _bind(self, index: int) -> RobotBinding:
        return RobotBinding(self._simulation, index, self._rendering)

    def _rebind(self, index: int) -> None:
        """Bind to the robot with an index in another model."""
        previous, self._binding = self._binding, self._bind(index)
        self._binding.cameras.take_over(previous.cameras)
        self._binding.access.take_over(previous.access)

    def _configure(self) -> None:
        self.supervised.configure(robot_model(self._binding.plant, self._binding.index))
        self._configured = self._binding.plant

    def _update_timestep(self) -> None:
        if self._simulation.plant is not self._binding.plant:
            return  # `_follow_model` does it before the next tick
        try:
            self._steps_per_tick = self._checked_steps_per_tick()
        except UserInputError as error:
            self.stop(str(error))

    def _checked_steps_per_tick(self) -> int:
        period = self._controller.period
        timestep = float(self._simulation.model.opt.timestep)
        steps = round(period / timestep)
        if steps < 1 or abs(steps * timestep - period) > _ROUNDING * timestep * steps:
            raise UserInputError(
                f"the controller's period of {1e3 * period:g} ms is not a multiple of the "
                f"simulation's timestep of {1e3 * timestep:g} ms; change its rate, or the timestep"
            )
        return steps

    def _notify_gains(self) -> None:
        for call in self.on_gains:
            call()

    def _set_gains(self, gains: Gains) -> None:
        self._binding.access.set_gains(gains)
        self._notify_gains()
