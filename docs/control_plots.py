"""Plots of references and responses: each runs mujoco_ros.control itself."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from control_msgs.msg import JointTolerance
from plot import INK, Line, Panel, draw

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.control.joints import INTERFACES, ControlledJoints
from mujoco_ros.control.references import References
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import StreamSettings, TrajectorySettings
from mujoco_ros.control.trajectory.trajectory import PointArrays, tolerances, trajectory

TIMESTEP_S = 0.001
BLUE, ORANGE, GREEN, GREY, RED = "#2f6fad", "#d9822b", "#3d8b57", "#9aa7b3", "#b8405e"
Waypoint = tuple[float, float] | tuple[float, float, float] | tuple[float, float, float, float]
"""Time, position, optional velocity and acceleration."""
JOINT = "joint"


@dataclass(frozen=True, kw_only=True)
class Plant:
    """A joint that is driven by the PD law alone.

    Attributes:
        inertia: [kg m²].
        kp: [Nm/rad].
        kd: [Nms/rad].
        load: A constant torque on it [Nm].
        wall: Upper end stop [rad].
    """

    inertia: float = 1.0
    kp: float = 250.0
    kd: float = 32.0
    load: float = 0.0
    wall: float = np.inf

    def step(self, q: float, dq: float, reference: np.ndarray) -> tuple[float, float]:
        """Return position and velocity after a step, by the semi-implicit Euler method."""
        torque = self.kp * (reference[0] - q) + self.kd * (reference[1] - dq) + reference[2]
        dq += TIMESTEP_S * (torque + self.load) / self.inertia
        q += TIMESTEP_S * dq
        return (q, dq) if q < self.wall else (self.wall, 0.0)


@dataclass
class Run:
    """One joint, commanded; time, references and measurements of every step.

    Attributes:
        plant: The joint that the references drive; None for an ideal joint.
        stream: Settings of streams.
        upsampling: Whether trajectories of positions only become smooth.
    """

    plant: Plant | None = None
    stream: StreamSettings = field(default_factory=StreamSettings)
    upsampling: bool = False

    def __post_init__(self) -> None:
        """Start at rest at zero."""
        self.joints = ControlledJoints(
            names=(JOINT,),
            interfaces=(frozenset(INTERFACES),),
            lower=np.array([-np.inf]),
            upper=np.array([np.inf]),
            continuous=np.array([False]),
        )
        self.references = References.holding(np.zeros(1))
        self.control = RobotControl(
            self.joints, self.references, TIMESTEP_S, lambda _event: None, lambda _i, _effort: None
        )
        self.settings = TrajectorySettings(
            trajectory=np.zeros(1), goal=np.zeros(1), positions_upsampling=self.upsampling
        )
        self.control.configure(self.stream, self.settings, None)
        self.step = 0
        self.accelerations: list[float] = []
        self._rows: list[tuple[float, float, float, float]] = []

    @property
    def now(self) -> float:
        """Time of the next step [s]."""
        return self.step * TIMESTEP_S

    def follow(
        self, points: Iterable[Waypoint], start: float | None = None, tolerance: float = 0.0
    ) -> None:
        """Send a trajectory."""
        rows = list(points)
        carried = len(rows[0]) - 1
        values = np.zeros((4, len(rows), 1))
        values[:carried, :, 0] = np.array(rows)[:, 1:].T
        given = np.zeros((4, len(rows)), dtype=bool)
        given[:carried] = True
        times = np.array([row[0] for row in rows])
        arrays = PointArrays(times=times, values=values, given=given)
        checked = trajectory(
            self.joints, self.settings, "clamp", [JOINT], start, arrays, upsampled=True
        )
        path = [JointTolerance(name=JOINT, position=tolerance)]
        allowed = tolerances(self.joints, self.settings, checked.joints, path)
        self.control.follow(replace(checked, tolerances=allowed, goal="goal"), self.now)

    def command(self, position: float, velocity: float | None = None) -> None:
        """Send a command of a stream."""
        fields = [[position], [] if velocity is None else [velocity], []]
        checked = joint_command(self.joints, "clamp", [JOINT], fields)
        self.control.command(CommandSource.JOINT_COMMANDS, checked, self.now)

    def until(self, end: float) -> None:
        """Run to a time [s]."""
        control = self.control
        while self.step < round(end / TIMESTEP_S):
            if control.active:
                control.update(self.now)
            q, dq, _tau = reference = self.references.values[:, 0]
            self.accelerations.append(float(control.trajectory.accelerations(self.now)[0]))
            self._rows.append((self.now, float(q), float(dq), float(control.q[0])))
            if self.plant is None:
                control.q[0], control.dq[0] = q, dq
            else:
                moved = self.plant.step(float(control.q[0]), float(control.dq[0]), reference)
                control.q[0], control.dq[0] = moved
            self.step += 1

    @property
    def result(self) -> np.ndarray:
        """Time, reference of position and of velocity, measured position.  # (4, steps)"""
        return np.array(self._rows).T


def interpolation() -> str:
    """Return the plot of a stream's references between commands."""
    times = np.arange(0.02, 0.46, 0.04)
    targets = 0.3 * np.sin(2 * np.pi * 1.2 * times) + 0.1
    lines = []
    for how, colour in (("hold", GREY), ("linear", BLUE)):
        run = Run(stream=StreamSettings(interpolation=how))
        for time, target in zip(times, targets, strict=True):
            run.until(time)
            run.command(float(target))
        run.until(0.6)
        time, reference, _, _ = run.result
        lines.append(Line(x=time, y=reference, label=f"interpolation: {how}", colour=colour))
    lines.append(Line(x=times, y=targets, label="commands", colour=ORANGE, dots=True))
    return draw(
        [[Panel(y_label="q_ref [rad]", lines=lines)]],
        title="References between commands, for both kinds of interpolation",
        x_label="time [s]",
        width=760,
        height=300,
    )


def controller_ticks() -> str:
    """Return the plot of a hosted controller's references between its ticks."""
    period = 0.005
    ticks = np.arange(0.0, 0.041, period)
    wanted = 0.05 * np.sin(2 * np.pi * 12.0 * ticks)
    run = Run(stream=StreamSettings(period=period))
    for time, position in zip(ticks, wanted, strict=True):
        run.until(time + TIMESTEP_S)  # it reads the step at `time`, and acts from the next one on
        run.command(float(position))
    run.until(0.05)
    time, reference, _, _ = run.result
    lines = [
        Line(x=1e3 * time, y=reference, label="reference, step by step", colour=BLUE),
        Line(x=1e3 * time, y=reference, colour=BLUE, dots=True),
        Line(x=1e3 * ticks, y=wanted, label="wanted at a tick", colour=ORANGE, dots=True),
    ]
    return draw(
        [[Panel(y_label="q_ref [rad]", lines=lines)]],
        title="References between the ticks of a controller of 200 Hz over steps of 1 ms",
        x_label="time of the step [ms]",
        width=760,
        height=300,
    )


def splines() -> str:
    """Return the plot of the splines by the fields of the waypoints."""
    points = np.array(
        [[0.6, 0.5, 0.7, 0.0], [1.1, 0.8, 0.0, 0.0], [1.7, 0.3, -0.8, 0.0], [2.3, 0.0, 0.0, 0.0]]
    )
    position, velocity = [], []
    for carried, label, colour in (
        (2, "positions: linear", GREY),
        (3, "+ velocities: cubic", ORANGE),
        (4, "+ accelerations: quintic", BLUE),
    ):
        run = Run()
        run.follow(tuple(point[:carried]) for point in points)
        run.until(2.6)
        time, q, dq, _ = run.result
        position.append(Line(x=time, y=q, label=label, colour=colour))
        velocity.append(Line(x=time, y=dq, colour=colour))
    position.append(Line(x=points[:, 0], y=points[:, 1], label="waypoints", colour=INK, dots=True))
    panels = [
        Panel(y_label="q_ref [rad]", lines=position),
        Panel(y_label="dq_ref [rad/s]", lines=velocity),
    ]
    return draw(
        [[panel] for panel in panels],
        title="Splines through the same waypoints, by what these carry",
        x_label="time [s]",
        width=760,
        height=240,
    )


def replacement() -> str:
    """Return the plot of a trajectory that replaces another in mid-motion."""
    old = [(2.0, 1.0, 0.0, 0.0)]
    new = [(0.5, 0.6, -0.2, 0.0), (1.1, 0.25, -0.4, 0.0), (1.6, 0.1, 0.0, 0.0)]
    arrival, end = 0.9, 3.0
    undisturbed = Run()
    undisturbed.follow(old)
    undisturbed.until(end)
    top, bottom = [], []
    for title, start in (
        ("it starts now", None),
        ("its stamp is in the future", 1.3),
        ("its stamp is in the past", 0.2),
    ):
        run = Run()
        run.follow(old)
        run.until(arrival)
        run.follow(new, start=start)
        run.until(end)
        time, q, dq, _ = run.result
        begin = arrival if start is None else start
        at = np.array([[begin + point[0], point[1]] for point in new])
        to_come = at[:, 0] > arrival
        skipped = at[~to_come]
        _, old_q, old_dq, _ = undisturbed.result
        lines = [
            Line(x=time, y=old_q, label="old trajectory", colour=GREY, dashed=True),
            Line(x=time, y=q, label="reference", colour=BLUE),
            Line(x=at[to_come, 0], y=at[to_come, 1], label="waypoints of the new one", dots=True),
            Line(x=skipped[:, 0], y=skipped[:, 1], label="skipped", colour=GREY, dots=True),
        ]
        marks = [(arrival, "arrives")]
        if begin > arrival:
            marks.append((begin, "starts"))
        top.append(Panel(title=title, y_label="q_ref [rad]", marks=marks, lines=lines))
        old_and_new = [
            Line(x=time, y=old_dq, colour=GREY, dashed=True),
            Line(x=time, y=dq, colour=BLUE),
        ]
        bottom.append(Panel(y_label="dq_ref [rad/s]", lines=old_and_new))
    return draw(
        [top, bottom],
        title="A trajectory replaces another in mid-motion, for three stamps",
        x_label="time [s]",
        width=350,
        height=240,
    )


def chunks() -> str:
    """Return the plot of a stream of chunks of positions."""
    amplitude, rate = 0.5, np.pi
    times, latency, period = 0.02 * np.arange(1, 17), 0.05, 0.2
    columns = []
    for title, offset in (
        ("predictions agree", 0.0),
        ("predictions differ by 10 mrad", 0.005),
    ):
        velocity, acceleration = [], []
        for upsampling, label, colour in (
            (False, "linear", GREY),
            (True, "positions_upsampling", BLUE),
        ):
            run = Run(upsampling=upsampling)
            for number in range(6):
                stamp = max(number * period, 1e-9)
                run.until(number * period + latency)
                error = offset * (-1) ** number
                positions = amplitude * np.sin(rate * (stamp + times)) + error
                run.follow(zip(times, positions, strict=True), start=stamp)
            run.until(1.29)
            shown = slice(300, None)  # after the approach from rest
            time, _, dq, _ = run.result[:, shown]
            velocity.append(Line(x=time, y=dq, label=label, colour=colour))
            if upsampling:
                ddq = np.array(run.accelerations)[shown]
                acceleration.append(Line(x=time, y=ddq, colour=colour))
        arrivals = [(number * period + latency, "") for number in range(2, 6)]
        marks = [(arrivals[0][0], "a chunk arrives"), *arrivals[1:]]
        columns.append(
            (
                Panel(title=title, y_label="dq_ref [rad/s]", lines=velocity, marks=marks),
                Panel(y_label="ddq_ref [rad/s²]", lines=acceleration, marks=arrivals),
            )
        )
    return draw(
        list(zip(*columns, strict=True)),
        title="Chunks of 16 positions at 50 Hz, 5 times a second, 50 ms late",
        x_label="time [s]",
        width=480,
        height=230,
    )


def stops() -> str:
    """Return the plot of four stops of a motion."""
    cancel = Run(plant=Plant())
    cancel.follow([(1.0, 1.0, 0.0, 0.0)])
    cancel.until(0.5)
    cancel.control.trajectory.cancel("goal")
    cancel.until(1.2)
    violated = Run(plant=Plant(wall=0.45))
    violated.follow([(1.0, 1.0, 0.0, 0.0)], tolerance=0.25)
    violated.until(1.2)
    panels = [
        _followed(cancel, "a goal is canceled", [(0.5, "cancel")]),
        _followed(violated, "a goal leaves its path tolerance of 0.25 rad", []),
    ]
    for action in ("hold", "damp"):
        settings = StreamSettings(timeout=0.1, on_timeout=action)
        run = Run(plant=Plant(load=-20.0), stream=settings)
        for tick in range(26):
            run.until(0.02 * tick)
            run.command(0.8 * 0.02 * tick, 0.8)
        run.until(1.2)
        marks = [(0.5, "last command"), (0.6, "command_timeout")]
        panels.append(_followed(run, f"a stream stops; on_command_timeout: {action}", marks))
    return draw(
        [panels[:2], panels[2:]],
        title="Four stops of a motion",
        x_label="time [s]",
        width=480,
        height=230,
    )


def _followed(run: Run, title: str, marks: list[tuple[float, str]]) -> Panel:
    time, reference, _, measured = run.result
    lines = [
        Line(x=time, y=measured, label="measured", colour=ORANGE),
        Line(x=time, y=reference, label="reference", colour=BLUE, dashed=True),
    ]
    return Panel(title=title, y_label="q [rad]", marks=marks, lines=lines)


PLOTS: dict[str, Callable[[], str]] = {
    "interpolation": interpolation,
    "controller_ticks": controller_ticks,
    "splines": splines,
    "replacement": replacement,
    "chunks": chunks,
    "stops": stops,
}
"""By the names of their files."""
