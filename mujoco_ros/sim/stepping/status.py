"""Statistics of the physics thread, the engine and the commands."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import mujoco
import numpy as np

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_owners import CommandTally
from mujoco_ros.control.reset_hold import HeldBack
from mujoco_ros.sim.simulation import Simulation

_WARNINGS = {
    kind.name.removeprefix("mjWARN_"): int(kind)
    for kind in mujoco.mjtWarning.__members__.values()
    if kind != mujoco.mjtWarning.mjNWARNING
}
_FLAG = mujoco.mjtEnableBit
_ENERGIES = ("potential energy [J]", "kinetic energy [J]")
_DIFFERENCES = ("forward-inverse difference of joints", "forward-inverse difference of constraints")


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineStatus:
    """Statistics of the engine."""

    # Number of steps with invalid positions, velocities, accelerations or controls
    divergences: int
    contacts: int  # contacts in the last step
    constraints: int  # scalar constraints in the last step
    iterations: int  # iterations of the constraint solver in the last step, maximum of all islands
    iteration_limit: int  # maximum number of iterations
    warnings: Mapping[str, int]  # engine warnings since the last reset: name to count
    # What the solver reached in the last step; energies and the difference to inverse dynamics, if
    # the model enables them
    numbers: Mapping[str, float] = field(default_factory=dict)
    messages: int = 0  # warnings since the start, of plugins and C functions as well
    last_warning: str = ""  # the last one, and its step
    error: str = ""  # the error that ended the simulation, and its step
    # Time of each stage of the steps since the last reset [s], and number of measurements
    timers: Mapping[str, tuple[float, int]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlStatus:
    """Command arbitration and saturation."""

    # Steps in which the torque of a joint was at its limit, since the start; joints of a robot with
    # a namespace are ``<namespace>/<joint>``
    saturated: Mapping[str, int]
    # The joints that each source owns, by robot
    holders: Mapping[str, Mapping[CommandSource, tuple[str, ...]]]
    # Rate and age of the commands of each source, by robot
    rates: Mapping[str, tuple[CommandTally, ...]]
    # The joints that are held since their state was set, by robot and source
    held: Mapping[str, Mapping[CommandSource, HeldBack]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """Statistics since the last status; durations in wall seconds."""

    sim_time: float  # simulated time of the last sample [s]
    paused: bool
    factor: float  # requested real-time factor; 0 is as fast as possible
    achieved_factor: float  # simulated over wall time since the last status
    elapsed: float  # wall time since the last status
    waited: float  # time for which the clock waited for commands or results since the last status
    steps: int  # steps since the last status
    late_steps: int  # steps that began a whole period or more late, since the start
    lag: float  # how late the last step began
    dropped: float  # wall time dropped, since the start
    timestep: float  # simulated time between two steps [s]
    period: tuple[float, ...]  # time between the beginnings of two steps, percentiles 50, 99, 99.9
    step_cost: tuple[float, ...]  # time of one step with its listeners, percentiles 50, 99, 99.9
    queued: int  # most commands that waited for the physics thread at a time
    engine: EngineStatus
    control: ControlStatus  # command arbitration and saturation


def engine_status(simulation: Simulation) -> EngineStatus:
    """Return statistics of the engine; for the physics thread."""
    model, data = simulation.model, simulation.data
    numbers = data.warning.number.tolist()
    durations, counts = data.timer.duration, data.timer.number
    islands = max(1, min(int(data.nisland), len(data.solver_niter)))
    iterations, messages = data.solver_niter[:islands], simulation.engine_messages
    last = np.arange(islands) * mujoco.mjNSOLVER + np.minimum(iterations, mujoco.mjNSOLVER) - 1
    last = last[iterations > 0]
    reached = {
        f"solver {name}": float(getattr(data.solver, name)[last].max(initial=0.0))
        for name in ("improvement", "gradient")
    }
    for flag, names, values in (
        (_FLAG.mjENBL_FWDINV, _DIFFERENCES, data.solver_fwdinv),
        (_FLAG.mjENBL_ENERGY, _ENERGIES, data.energy),
    ):
        if model.opt.enableflags & int(flag):
            reached |= dict(zip(names, values.tolist(), strict=True))
    return EngineStatus(
        divergences=simulation.divergences,
        contacts=int(data.ncon),
        constraints=int(data.nefc),
        iterations=int(iterations.max()),
        iteration_limit=int(model.opt.iterations),
        warnings={name: numbers[kind] for name, kind in _WARNINGS.items() if numbers[kind]},
        numbers=reached,
        messages=messages.total,
        last_warning=messages.last,
        error=messages.error,
        timers={
            name: (float(durations[kind]), int(counts[kind]))
            for kind, name in enumerate(mujoco.mjTIMERSTRING)
            if counts[kind]
        },
    )


def control_status(simulation: Simulation, elapsed: float) -> ControlStatus:
    """Return command arbitration and saturation; for the physics thread.

    `elapsed` is the simulated time over which rates are counted [s].
    """
    robots = list(zip(simulation.layout.robots, simulation.controls, strict=True))
    # Names in the model have a prefix, names in ROS a namespace.
    names = {
        robot.prefix + name: f"{robot.namespace}/{name}" if robot.namespace else name
        for robot, _ in robots
        for name in robot.joints.names
    }
    now = float(simulation.data.time)
    return ControlStatus(
        saturated={names[name]: n for name, n in simulation.plant.saturation.steps().items()},
        holders={robot.name: control.owners() for robot, control in robots},
        rates={robot.name: control.rates.report(now, elapsed) for robot, control in robots},
        held={robot.name: control.reset_hold.report() for robot, control in robots},
    )
