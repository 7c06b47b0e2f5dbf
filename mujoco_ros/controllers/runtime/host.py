"""A controller in the simulator: at its own rate, on exact steps, the same way every time."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any

from mujoco_ros.control.gains import Gains
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET, LOOK, POSE_SET, Image
from mujoco_ros.controllers.interface.observation import Observation, Pose
from mujoco_ros.controllers.runtime.robot_binding import RobotBinding
from mujoco_ros.controllers.runtime.robot_model import find_robot, robot_of
from mujoco_ros.controllers.runtime.supervisor import SupervisedController
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.simulation import Simulation

_LOOK_S = 0.05
"""Wall time between two looks at what is awaited, should nobody wake the physics thread."""
_ROUNDING = 1e-6
"""Part of a timestep: far more than a period written in decimals is off."""


class ControllerHost:
    """Runs a controller beside a simulation.

    A tick is a sample whose time is a multiple of the controller's period. The controller sees that
    sample; what it returns acts from the very next step on, and goes linearly from the references
    there are to those it wants, which are reached at the next tick. So a controller that answers
    over topics in lockstep is seen to act at the same time.

    All of it belongs to the thread that steps the simulation.

    Attributes:
        runner: The controller, and how it fares.
        ticks: Ticks since the start.
        disturb: What becomes of an observation before the controller gets it.
        on_gains: Called when the gains may be others, by the controller's doing.
    """

    def __init__(
        self,
        simulation: Simulation,
        controller: FsmController,
        robot: str = "",
        rendering: str = "auto",
    ) -> None:
        """Make a controller ready for a robot.

        Args:
            simulation: What it runs beside.
            controller: The controller; what is to be in its store from others is there already.
            robot: Name of the robot; empty is the only one that has joints.
            rendering: OpenGL backend of its cameras: auto, egl or osmesa.

        Raises:
            ModelError: There is no such robot, the controller does not fit it, or its period is no
                multiple of the timestep.
        """
        self.runner = SupervisedController(controller)
        self.ticks = 0
        self.disturb: Callable[[Observation], Observation] = lambda seen: seen
        self.on_gains: Callable[[], object] = lambda: None
        self._simulation, self._controller, self._name = simulation, controller, robot
        self._rendering = rendering
        self._stream = StreamSettings(period=controller.period)
        self._awaited: list[Future[Any]] = []
        self._every = self._steps_per_tick()
        controller.store.provide(GAINS_GET, self._gains)
        controller.store.provide(GAINS_SET, self._set_gains)
        controller.store.provide(POSE_SET, self._put)
        controller.store.provide(LOOK, self._look)
        self._seat = self._sit(find_robot(simulation.plant, robot))
        self._configure()
        simulation.on_reset.append(self.reset)
        simulation.on_timestep.append(lambda _timestep: self._measure())

    @property
    def robot(self) -> str:
        """Return the name of the robot."""
        return self._seat.robot

    @property
    def awaiting(self) -> bool:
        """Return whether the next tick has to wait for something."""
        return any(not future.done() for future in self._awaited)

    def step(self) -> bool:
        """Wait for what the next tick needs, advance by one timestep, and do a tick if it is one.

        This is for who has no physics thread.

        Returns:
            Whether the simulation did not diverge in this step.
        """
        if self._awaited and self._is_next_a_tick():
            wait(self._awaited)
        good = self._simulation.step()
        if good:
            self.sampled()
        return good

    def advance(self) -> bool:
        """Wait for what the next tick needs, advance to it, and do it; otherwise as `step`."""
        if self._awaited:
            wait(self._awaited)
        step = self._simulation.step
        good = all(step() for _ in range(1 + -self._next_step() % self._every))
        if good:
            self.sampled()
        return good

    def wait(self, _now: float = 0.0) -> float:
        """Return how long to wait before asking again [s]; 0 when a step may be: as a `Gate`."""
        if not self._awaited or not self._is_next_a_tick():
            return 0.0
        return _LOOK_S if self.awaiting else 0.0

    def sampled(self) -> bool:
        """Take notice of a new sample; return whether it was a tick."""
        simulation = self._simulation
        if simulation.plant is not self._seat.plant:
            self._follow()
        if self.runner.error or simulation.step_number % self._every:
            return False
        self.ticks += 1
        self._tick(simulation.time)
        return True

    def reset(self) -> None:
        """Start anew, after a reset of the simulation, also after an error."""
        self._awaited.clear()
        self._seat.eyes.cancel()
        self._seat.doors.forget_gains()
        try:
            self._every = self._steps_per_tick()
            if self._simulation.plant is not self._configured:
                self._move(self._find())
                self._configure()
        except Exception as error:
            self.runner.reset()
            self.runner.fail(error)
        else:
            self.runner.reset()
        self._seat.doors.restore_gains()  # what was torn down has set those of its own time
        self.on_gains()

    def stop(self, reason: str) -> None:
        """Stop the controller; its joints stay where they are."""
        self.runner.stop(reason)
        self._let_go()

    def close(self) -> None:
        """Free what draws, at the end."""
        self._seat.eyes.close()

    def _tick(self, time: float) -> None:
        seat = self._seat
        seat.eyes.deliver(time, self._controller.awaited)
        self._awaited.clear()
        values = self.runner.step(self.disturb(seat.senses.observe(time)), time)
        if values is None:
            self._let_go()
            return
        seat.tell(values, self._stream)
        self._await(self._controller.awaited, time + self._controller.period)

    def _await(self, awaited: Sequence["Future[Any]"], next_tick: float) -> None:
        """Note what the next tick needs: what the states wait for, and images that are due."""
        eyes = self._seat.eyes
        pictured = eyes.unfinished(next_tick, awaited)
        given = [future for future in awaited if not eyes.owns(future)]
        self._awaited = [future for future in (*given, *pictured) if not future.done()]
        for future in self._awaited:
            future.add_done_callback(lambda _: self._simulation.commands.wake())

    def _is_next_a_tick(self) -> bool:
        return self._next_step() % self._every == 0

    def _next_step(self) -> int:
        """Return the number of the next sample's step."""
        simulation = self._simulation
        timestep = float(simulation.model.opt.timestep)
        steps = (float(simulation.data.time) - simulation.origin) / timestep
        return round(steps)

    def _let_go(self) -> None:
        self._awaited.clear()
        self._seat.let_go()
        self.on_gains()

    def _find(self) -> int:
        """Return the index of the robot in another model: the very same one, or one of its name.

        Raises:
            ModelError: It is not there.
        """
        plant = self._simulation.plant
        if self._seat.part in plant.assembly.robots:
            return plant.assembly.robots.index(self._seat.part)
        return find_robot(plant, self._name)

    def _follow(self) -> None:
        """Go on in another model; what the controller plans in is the old one until a reset."""
        if self._seat.part in self._simulation.assembly.robots:
            self._move(self._find())
            self._measure()
        elif not self.runner.error:
            self._awaited.clear()
            self._seat.eyes.cancel()
            self.runner.stop(f"robot '{self.robot}' is no longer there")

    def _move(self, index: int) -> None:
        """Sit down at the robot with an index in another model."""
        before, self._seat = self._seat, self._sit(index)
        self._seat.eyes.take_over(before.eyes)
        self._seat.doors.take_over(before.doors)

    def _sit(self, index: int) -> RobotBinding:
        return RobotBinding(self._simulation, index, self._rendering)

    def _configure(self) -> None:
        self.runner.configure(robot_of(self._seat.plant, self._seat.index))
        self._configured = self._seat.plant

    def _measure(self) -> None:
        """Follow another timestep."""
        if self._simulation.plant is not self._seat.plant:
            return  # `_follow` comes before the next tick
        try:
            self._every = self._steps_per_tick()
        except UserInputError as error:
            self.stop(str(error))

    def _steps_per_tick(self) -> int:
        period = self._controller.period
        timestep = float(self._simulation.model.opt.timestep)
        steps = round(period / timestep)
        if steps < 1 or abs(steps * timestep - period) > _ROUNDING * timestep * steps:
            raise UserInputError(
                f"the controller's period of {1e3 * period:g} ms is no multiple of the simulation's"
                f" timestep of {1e3 * timestep:g} ms; change its rate, or the timestep"
            )
        return steps

    def _gains(self) -> Gains:
        return self._seat.doors.gains

    def _set_gains(self, gains: Gains) -> None:
        self._seat.doors.set_gains(gains)
        self.on_gains()

    def _put(self, name: str, pose: Pose) -> None:
        self._seat.doors.put(name, pose)

    def _look(self, camera: str) -> "Future[Image]":
        return self._seat.eyes.request(camera, self._simulation.time)
