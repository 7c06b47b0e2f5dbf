"""The one owner of the live model and state."""

from collections import deque
from collections.abc import Callable
from typing import Literal

import mujoco
import numpy as np

from mujoco_ros.control.events import Event, SimulationReset
from mujoco_ros.control.references import References
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.realism_config import RealismConfig
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import SceneConfig
from mujoco_ros.model.scene.mjcf_files import engine_error
from mujoco_ros.model.scene.physics_options import PhysicsConfig, read_options, write_options
from mujoco_ros.sim.command_queue import ClockEpochs, CommandQueue
from mujoco_ros.sim.engine_messages import EngineMessages
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.realism.realism import with_default_realism
from mujoco_ros.sim.robot_controls import JointFeedback
from mujoco_ros.sim.settings.property_settings import PropertySettings
from mujoco_ros.sim.settings.random_draws import random_draws
from mujoco_ros.sim.state.initial_state import InitialState
from mujoco_ros.sim.state.state_transfer import transfer_state
from mujoco_ros.sim.state.state_vector import wake
from mujoco_ros.sim.stepping.compiled_steps import CompiledSteps, StepOutcome
from mujoco_ros.sim.stepping.plant_steps import PlantSteps, StepTimes
from mujoco_ros.sim.wrenches import ExternalWrenches

OnDivergence = Literal["reset", "pause", "shutdown"]


class DivergenceError(RuntimeError):
    """The simulation diverged, and `on_divergence` is ``shutdown``."""


class Simulation:
    """Steps a scene. Nothing here reads a clock, sleeps, or uses ROS.

    Everything but `commands` belongs to the thread that calls `step`.
    """

    def __init__(
        self,
        scene: SceneConfig | Assembly,
        *,
        on_divergence: OnDivergence = "reset",
        sensor_noise: bool = False,
        realism: RealismConfig | None = None,
        seed: int = 0,
    ) -> None:
        """Load a scene in its initial state.

        Args:
            scene: The scene, or its assembly.
            on_divergence: Reaction to invalid positions, velocities, accelerations or controls.
            sensor_noise: Whether sensors have the noise that the model declares.
            realism: Imperfections of robots for which the scene gives none.
            seed: Seed of the noise.

        Raises:
            UserInputError: A file that the scene names is missing or invalid.
        """
        self.commands = CommandQueue()
        self.on_divergence: OnDivergence = on_divergence
        self.paused = False
        self._time = np.zeros(1)
        self.divergences = 0
        self.epochs = ClockEpochs()  # detects stamps from before a reset
        self.engine_messages = EngineMessages(lambda: self.next_step_number)
        # Events for the sources of commands, oldest first; code that reports one removes it
        self.events: deque[Event] = deque()
        # Called by the physics thread: when an event was added, with a new timestep [s], when the
        # state or the time was set, and when the state of a robot alone was set; all such lists in
        # the order in which components were added
        self.on_event: Callable[[], object] = bool
        self.on_timestep: list[Callable[[float], object]] = []
        self.on_reset: list[Callable[[], object]] = []
        self.on_robot_set: list[Callable[[RobotControl], object]] = []
        # The last change of parameters and its time, for the report of a divergence
        self.last_change = ""
        self._sensor_noise, self._default_realism = sensor_noise, realism
        self.seed = seed  # of the noise of sensors, cameras and lidars
        # What the drives have: not the references if the buses of robots are imperfect
        self.sent: References
        self._feedback: JointFeedback
        self.times = StepTimes()  # of the steps
        assembly = scene if isinstance(scene, Assembly) else assemble(scene)
        plant = self._build_plant(assembly, None)
        self.properties = PropertySettings(plant, seed)  # the numbers of elements that were set
        self._use(plant)
        self.wrenches = ExternalWrenches(self.model, self.data)
        mujoco.set_mju_user_warning(self.engine_messages.append)
        self.reset()

    def build_plant(self, assembly: Assembly) -> Plant:
        """Build a plant for `switch_model`, in any thread; the current plant is not changed.

        Parts of the scene that it shares with the current one keep their state.

        Raises:
            UserInputError: A file that the scene names is missing or invalid.
        """
        return self._build_plant(assembly, self.plant)

    def switch_model(self, plant: Plant, *, fresh: bool = False, time: float = 0.0) -> None:
        """Switch to a plant from `build_plant`, with no other switch in between, between two steps.

        Elements of both models keep their state, bit by bit: positions, velocities, activations,
        controls, constraints, applied forces, gains, references and their owners, and edits of the
        model. Goals of robots that are deleted end. With `fresh`, it starts in the initial state of
        the scene at a `time` [s] instead.
        """
        before, now = self.plant, float(self.data.time)
        if plant.same is not None and not fresh:
            transfer_state(before, plant, plant.same)
        plant.gains.changes = before.gains.changes
        plant.same = None
        for robot, control in zip(before.layout.robots, before.controls, strict=True):
            if not any(control is other for other in plant.controls):
                control.end(f"robot '{robot.name}' no longer exists")
        self._use(plant)
        self.properties.switch_model(plant, fresh=fresh)
        self.wrenches.switch_model(plant.model, plant.data, fresh=fresh)
        if fresh:
            self.data.time = now
            self.reset(time=time)
        else:
            plant.evaluate()
            self.set_current_sample(now)

    @property
    def time(self) -> float:
        """Time of the last sample [s]."""
        return float(self._time[0])

    @property
    def options(self) -> PhysicsConfig:
        """The physics options."""
        return read_options(self.model.opt)

    def set_options(self, options: PhysicsConfig) -> None:
        """Set physics options between two steps; those that are None stay."""
        write_options(self.model.opt, options)
        self._options_changed()
        wake(self.model, self.data)
        for listener in self.properties.on_edit:
            listener(())

    def note_change(self, text: str) -> None:
        """Note a change of parameters that acts from the next step on."""
        time = float(self.data.time)
        self.last_change = f"; the last change of parameters was {text}, at {time:.3f} s"

    def _options_changed(self) -> None:
        """Apply options of the model, ``model.opt``, that were changed between two steps."""
        option = self.model.opt
        self.plant.present.configure()
        self.plant.newton.configure()
        timestep = float(option.timestep)
        if timestep == self.times.timestep:
            self._steps.configure()
            return
        self.times.timestep = timestep
        self._align(float(self.data.time))
        for control in self.controls:
            control.timestep = timestep
        if self.plant.realism is not None:
            self.plant.realism.configure()
        for listener in self.on_timestep:
            listener(timestep)

    def set_timestep(self, timestep: float) -> None:
        """Change the simulated time between steps [s], which must be positive."""
        self.model.opt.timestep = timestep
        self._options_changed()

    @property
    def step_number(self) -> int:
        """Step number of the last sample, from time zero, in steps of the current timestep."""
        return self.times.number(self.time)

    @property
    def next_step_number(self) -> int:
        """Step number of the next sample."""
        return self.times.number(float(self.data.time))

    @property
    def is_at_end_of_time(self) -> bool:
        """Whether the next step would lead beyond ROS time."""
        return bool(self.data.time >= self.times.end)

    def set_time(self, time: float) -> None:
        """Set only the simulated time [s]; the next step begins at it."""
        self.data.time = self._time[0] = time
        self._align(time)

    def step(self) -> bool:
        """Advance by one timestep.

        Returns:
            Whether `sample` holds a new state; False when the simulation diverged in this step, or
            is paused at the end of ROS time.

        Raises:
            DivergenceError: It diverged, and `on_divergence` is ``shutdown``.
        """
        if not self.prepare_step():
            return False
        is_valid = self._steps.step(self.sent) or self._recover()
        if is_valid and self.plant.is_measured:
            self.plant.measure()
        return is_valid

    def advance(self, steps: int) -> bool:
        """Take several steps, faster than by `step`; return whether all of them were valid.

        Nothing is called or published between them. The steps end with the first invalid one.

        Raises:
            DivergenceError: As of `step`.
        """
        while steps > 0:
            most = min(steps, self.idle_steps()) if self.can_be_compiled else 0
            taken = self._take_idle_steps(most) if most > 1 else int(self.step())
            if not taken:
                return False
            steps -= taken
        return True

    def _take_idle_steps(self, most: int) -> int:
        """Take steps that need no Python; return their number, or 0 if the last was invalid."""
        compiled = self.compiled
        assert compiled is not None
        outcome, steps = compiled.step(self.sent.values, most, ramps=True)
        is_open = outcome in (StepOutcome.UNSOLVED, StepOutcome.WARNED)
        if steps or is_open:
            self.note_idle_steps()
        if is_open:
            return steps + 1 if self.complete_step(outcome) else 0
        return steps or int(self.step())

    def prepare_step(self) -> bool:
        """Update the inputs of the engine; return whether there is a step to take."""
        plant, time = self.plant, self.data.time
        if time >= self.times.end:
            self.paused = True  # before a step after which stamps would be negative
            self.engine_messages.append(
                "the simulated time is at the end of ROS time, 2^31 s, and the simulation is "
                "paused; reset its time"
            )
            return False
        self._feedback.update_controls(time)
        if plant.realism is not None:
            self.sent = plant.realism.command(self.references)
        if self.wrenches.acting:
            self.wrenches.apply(time)
        plant.extensions.note_step()
        return True

    @property
    def compiled(self) -> CompiledSteps | None:
        """The steps in C, where they are possible."""
        return self._steps.compiled

    @property
    def can_be_compiled(self) -> bool:
        """Whether compiled steps can publish their samples, which Python does not change."""
        return self.compiled is not None and not self.plant.is_measured

    def idle_steps(self) -> int:
        """Return before how many steps `prepare_step` does nothing that compiled steps do not."""
        if self.wrenches.acting or self.plant.extensions.at_step:
            return 0
        return self._feedback.idle_steps(float(self.data.time))

    def note_idle_steps(self) -> None:
        """Follow compiled steps of `idle_steps`, of which at least one began."""
        self._feedback.update_controls(self._steps.begun)

    def complete_step(self, outcome: int) -> bool:
        """Do what a compiled step leaves to Python, by its `StepOutcome`; return as `step`."""
        return self._steps.complete(outcome) or self._recover()

    def reset(self, *, time: float = 0.0, state: InitialState | None = None) -> None:
        """Return to the initial state: positions, gains, references, constraints, noise.

        `time` is the simulated time to set [s]; another state to return to is from `Plant.settle`.
        """
        before = float(self.data.time)
        self.properties.set(self.properties.restored({}) | self.properties.draw())
        self.plant.reset(state)
        self.wrenches.clear()
        for control in self.controls:
            control.reset()
        self.data.time = time
        self.set_current_sample(time)
        self.emit(self.plant.reset_event(before))

    def release_commands(self) -> None:
        """End goals, motions and external wrenches, between two steps; joints hold."""
        self._feedback.read()
        for control in self.controls:
            control.hold_all()
        self.wrenches.clear()

    def hold_robot(
        self, index: int, joints: np.ndarray, positions: np.ndarray, reason: str
    ) -> None:
        """Continue the control of one robot after its state was set; see `RobotControl.hold_at`."""
        self._feedback.read()
        control = self.controls[index]
        control.hold_at(joints, positions, float(self.data.time), reason)
        if self.plant.realism is not None:
            self.plant.realism.restart_commands(self.assembly.robots[index])
        self.wrenches.clear_bodies(self.layout.robots[index].bodies)
        for listener in self.on_robot_set:
            listener(control)

    def note_state(self) -> None:
        """Make the current state the last valid one, to which a divergence returns."""
        self.plant.note_state()
        self._steps.note_warnings()

    def emit(self, event: Event) -> None:
        """Add an event; in the physics thread."""
        if isinstance(event, SimulationReset):
            self.epochs.begin(event.before, event.time)
            for listener in self.on_reset:
                listener()
        self.events.append(event)
        self.on_event()

    def _build_plant(self, assembly: Assembly, before: Plant | None) -> Plant:
        assembly = with_default_realism(assembly, self._default_realism)
        noise, seed = self._sensor_noise, self.seed
        try:
            plant = Plant(assembly, self.emit, sensor_noise=noise, seed=seed, before=before)
        except mujoco.FatalError as error:  # memory for contacts, for example
            raise engine_error(f"the start of scene '{assembly.config.name}'", error) from error
        if before is None or not assembly.shares_parts_with(before.assembly):
            ranges, where = assembly.config.randomize, f"scene '{assembly.config.name}'"
            plant.draws = random_draws(plant.model, plant.layout, plant.drives, ranges, where)
        return plant

    def _use(self, plant: Plant) -> None:
        """Make `plant` the current one, in its state."""
        self.plant = plant
        self.assembly: Assembly = plant.assembly
        self.layout: ModelLayout = plant.layout
        self.model, self.data = plant.model, plant.data
        self.joints, self.drives = plant.joints, plant.drives
        self.references, self.controls = plant.references, plant.controls
        self.sent = plant.references
        self.sample = plant.sample
        plant.bind()
        self._feedback = JointFeedback(plant.data, plant.layout.robots, plant.controls)
        self._steps = PlantSteps(plant, self.times, self._time, self.engine_messages.append)
        self._options_changed()

    def set_current_sample(self, time: float, *, origin: float | None = None) -> None:
        """Make the current state the last sample, at a time [s], after it was set.

        `origin` is the time from which steps are counted [s]; None to compute it.
        """
        self.set_time(time)
        self.note_state()
        self._feedback.read()
        if origin is not None:
            self.times.origin = origin
            self._steps.configure()

    def _align(self, time: float) -> None:
        """Let the next step begin at a time [s]."""
        self.times.align(time)
        self._steps.configure()

    def _recover(self) -> bool:
        """Handle divergence; `sample` still holds the last valid state. Returns False."""
        time = self._steps.begun
        self.divergences += 1
        if self.on_divergence == "shutdown":
            raise DivergenceError(f"the simulation diverged at {time:.4f} s{self.last_change}")
        if self.on_divergence == "pause":
            self.plant.revert()
            self.data.time = time  # later than the sample: no stamp is repeated
            self._steps.note_warnings()
            self.paused = True
        else:
            # The clock continues: a jump back would make every TF listener drop its buffer.
            self.reset(time=time + self.model.opt.timestep)
        return False
