"""Steps of a plant, in C where that is possible, and the times of steps."""

from collections.abc import Callable
from contextlib import suppress

import mujoco
import numpy as np

from mujoco_ros.control.references import References
from mujoco_ros.model.scene.limits import END_OF_TIME_S
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.stepping.compiled_steps import CompiledSteps, StepOutcome

_BAD = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
    mujoco.mjtWarning.mjWARN_BADCTRL,
)
_ROUNDING = 1e-6  # fraction of a timestep, far above the rounding errors of summed times


class StepTimes:
    """Times of steps: whole numbers of timesteps after an origin.

    A sum of timesteps would accumulate rounding errors.
    """

    def __init__(self) -> None:
        self.origin = 0.0
        """Time of step zero, less than a timestep [s]."""
        self.timestep = 0.0
        """Simulated time between steps [s]."""

    @property
    def end(self) -> float:
        """Time from which on no step is taken: stamps after it would be beyond ROS time [s]."""
        return END_OF_TIME_S - self.timestep

    def align(self, time: float) -> None:
        """Count steps from the first time that is a whole number of steps before `time` [s]."""
        whole = round(time / self.timestep) * self.timestep
        near = abs(time - whole) < _ROUNDING * self.timestep
        self.origin = 0.0 if near else time % self.timestep

    def number(self, time: float) -> int:
        """Return the number of the step at a time [s], from time zero, in present timesteps."""
        return round((time - self.origin) / self.timestep)

    def following(self, time: float) -> float:
        """Return the time of the step after the one at a time [s]."""
        return self.origin + self.number(time + self.timestep) * self.timestep


class PlantSteps:
    """Steps of a plant: the engine's step and the sample, and whether the plant diverged."""

    def __init__(
        self, plant: Plant, times: StepTimes, time: np.ndarray, warn: Callable[[str], object]
    ) -> None:
        """Prepare the steps.

        Args:
            plant: The plant.
            times: Times of the steps.
            time: Time of the sample [s], which is set.  # (1,)
            warn: Called with each warning of the engine.
        """
        self._plant, self._times, self._time = plant, times, time
        # The attributes of MjData are slow to read.
        self._ctrl, self._warnings = plant.data.ctrl, plant.data.warning.number
        self._seen = np.zeros(mujoco.mjtWarning.mjNWARNING, dtype=np.int64)
        self.compiled: CompiledSteps | None = None
        """The steps in C, where they are possible."""
        self._planned: CompiledSteps | None = None
        with suppress(LookupError):
            self._planned = CompiledSteps(plant, time, self._seen, warn)

    def configure(self) -> None:
        """Follow changed options and times; steps are compiled where that is possible."""
        planned = self._planned
        self.compiled = planned if planned is not None and planned.applies else None
        if self.compiled is not None:
            self.compiled.configure(self._times.origin, self._times.end)

    @property
    def begun(self) -> float:
        """Time at which the present step began [s]."""
        return float(self._plant.present.components[0])

    def step(self, references: References) -> bool:
        """Advance by one timestep; return whether the plant has not diverged."""
        if self.compiled is not None:
            return self.complete(self.compiled.step(references.values)[0])
        return self._step_in_python(references)

    def _step_in_python(self, references: References) -> bool:
        """Advance by one timestep, as the compiled step."""
        plant, data = self._plant, self._plant.data
        time = data.time
        plant.drives.write(references, self._ctrl)
        plant.present.read()
        # The later stages of Runge-Kutta overwrite what is evaluated at the start of the step.
        if plant.newton.is_staged:
            plant.sense()
        plant.newton.step(data, plant.present.state)
        if (self._warnings != self._seen).any() and self._has_diverged():
            return False
        if plant.newton.is_staged:
            plant.copy_sensed()
        plant.saturation.count()
        plant.sample.state[:] = plant.present.state
        self._time[0] = time
        data.time = self._times.following(time)  # the engine sums timesteps
        return True

    def complete(self, outcome: int) -> bool:
        """Do what a compiled step leaves to Python, by its `StepOutcome`; return as `step`."""
        if outcome == StepOutcome.TAKEN:
            return True
        plant, compiled = self._plant, self.compiled
        assert compiled is not None
        if outcome == StepOutcome.UNSOLVED:
            plant.newton.check(mujoco.mj_step, plant.data, plant.present.state)
            outcome = compiled.finish()
        if outcome == StepOutcome.WARNED:
            if self._has_diverged():
                return False
            compiled.finish()  # the warning is now handled
        return True

    def note_warnings(self) -> None:
        """Take the warnings that the engine has given for handled."""
        self._seen[:] = self._warnings

    def _has_diverged(self) -> bool:
        is_bad = any(self._warnings[kind] > self._seen[kind] for kind in _BAD)
        self.note_warnings()
        return is_bad
