"""Plots of a walk in the simulator: footsteps and pendulum, and the estimated base."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache

import numpy as np
from plot import Line, Panel, draw

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.library.walk.walk_states import WALKER
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

BLUE, ORANGE, GREEN, GREY, RED = "#2f6fad", "#d9822b", "#3d8b57", "#9aa7b3", "#b8405e"
_WALK_AT, _STOP_AT, _END = 1.0, 8.0, 11.0
_SHOWN = (3.0, 7.0)
"""Times between which steps are shown [s]."""


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A walk, tick by tick; positions of the base are relative to the first tick.

    Attributes:
        time: [s]  # (n,)
        dcm: Measured and reference [m].  # (n, 2, 2)
        zmp: Commanded and planned [m].  # (n, 2, 2)
        feet: Soles of the left and the right foot [m].  # (n, 2, 3)
        base: True and estimated [m].  # (n, 2, 3)
        velocity: True and estimated forward velocity [m/s].  # (n, 2)
    """

    time: np.ndarray
    dcm: np.ndarray
    zmp: np.ndarray
    feet: np.ndarray
    base: np.ndarray
    velocity: np.ndarray


@cache
def _walk() -> Walk:
    """Walk forwards and in a curve, without the true base."""
    simulation = Simulation(load_scene("humanoid"))
    settings = {"WALK": {"velocity_x": 0.25, "velocity_yaw": 0.05}}
    host = ControllerHost(simulation, load("walk", settings=settings))
    host.observation_filter = lambda observation: replace(observation, base=None)
    supervised, sample = host.supervised, simulation.sample
    base = simulation.layout.robots[0].bases[0]
    rows: dict[str, list[object]] = {field.name: [] for field in fields(Walk)}
    requests = {_WALK_AT: "walk", _STOP_AT: "stop"}
    while simulation.time < _END:
        while requests and simulation.time >= min(requests):
            supervised.request(requests.pop(min(requests)))
        ticks = host.ticks
        if not host.step():
            raise RuntimeError("the simulation diverged")
        if host.ticks == ticks:
            continue
        walker = supervised.controller.store.get(WALKER)
        reference, estimator = walker.gait.reference(), walker.estimator
        qpos, axes = sample.qpos[base.qpos :], simulation.data.xmat[base.body].reshape(3, 3)
        forwards = float(axes[:, 0] @ sample.qvel[base.dof : base.dof + 3])
        rows["time"].append(simulation.time)
        rows["dcm"].append((reference.dcm + walker.dcm_error, reference.dcm))
        rows["zmp"].append((walker.zmp, reference.zmp))
        rows["feet"].append([sole.frame(estimator.robot.data)[0] for sole in estimator.soles])
        rows["base"].append((qpos[:3].copy(), estimator.base.pose.position))
        rows["velocity"].append((forwards, estimator.base.linear[0]))
    if supervised.state != "STAND":
        raise RuntimeError(f"the robot does not stand: {supervised.state}")
    arrays = {name: np.array(values) for name, values in rows.items()}
    arrays["base"] -= arrays["base"][0]
    return Walk(**arrays)


def walk_dcm() -> str:
    """Return the plot of DCM, ZMP and feet."""
    walk = _walk()
    shown = slice(*np.searchsorted(walk.time, _SHOWN))
    time, panels = walk.time[shown], []
    for axis, name in enumerate(("x, forwards [m]", "y, to the left [m]")):
        lines = [
            Line(x=time, y=walk.feet[shown, side, axis], label=label, colour=colour)
            for side, (label, colour) in enumerate((("left foot", GREEN), ("right foot", GREY)))
        ]
        lines += [
            Line(x=time, y=walk.zmp[shown, 0, axis], label="commanded ZMP", colour=RED),
            Line(x=time, y=walk.dcm[shown, 0, axis], label="DCM", colour=ORANGE),
            Line(
                x=time, y=walk.dcm[shown, 1, axis], label="its reference", colour=BLUE, dashed=True
            ),
        ]
        panels.append([Panel(y_label=name, lines=lines)])
    heights = [
        Line(x=time, y=100.0 * walk.feet[shown, side, 2], colour=colour)
        for side, colour in enumerate((GREEN, GREY))
    ]
    return draw(
        [*panels, [Panel(y_label="height of the soles [cm]", lines=heights)]],
        title="Steps, divergent component of motion and zero-moment point of a walk",
        x_label="time [s]",
        width=760,
        height=200,
    )


def walk_estimate() -> str:
    """Return the plot of the estimated base beside the true one."""
    walk = _walk()
    panels = []
    for axis, name in enumerate(("x [m]", "y [m]", "height [m]")):
        lines = [
            Line(x=walk.time, y=walk.base[:, 0, axis], label="odom", colour=ORANGE),
            Line(
                x=walk.time,
                y=walk.base[:, 1, axis],
                label="odom_estimated",
                colour=BLUE,
                dashed=True,
            ),
        ]
        error = 1e3 * (walk.base[:, 1, axis] - walk.base[:, 0, axis])
        panels.append(
            [
                Panel(y_label=name, lines=lines),
                Panel(y_label="error [mm]", lines=[Line(x=walk.time, y=error, colour=RED)]),
            ]
        )
    lines = [
        Line(x=walk.time, y=walk.velocity[:, 0], colour=ORANGE),
        Line(x=walk.time, y=walk.velocity[:, 1], colour=BLUE, dashed=True),
    ]
    error = 1e3 * (walk.velocity[:, 1] - walk.velocity[:, 0])
    panels.append(
        [
            Panel(y_label="forward velocity [m/s]", lines=lines),
            Panel(y_label="error [mm/s]", lines=[Line(x=walk.time, y=error, colour=RED)]),
        ]
    )
    return draw(
        panels,
        title="The estimated base of a walk beside the true one",
        x_label="time [s]",
        width=450,
        height=150,
    )


WALKS: dict[str, Callable[[], str]] = {"walk_dcm": walk_dcm, "walk_estimate": walk_estimate}
"""By the names of their files. A walk is sensitive to the last bit, so they are not compared."""
