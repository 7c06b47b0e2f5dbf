"""Plot of a replay before and after `fit`, of an arm with hidden parameters."""

import sys
from pathlib import Path

import numpy as np
from plot import Line, Panel, draw

_ROOT = Path(__file__).resolve().parents[1]
_ORANGE, _BLUE, _GREY = "#d9822b", "#2f6fad", "#8794a1"
_JOINTS = ("wrist_2_joint", "wrist_3_joint")
_SEED = 3
_SHOWN_S = (3.0, 6.0)


def fit_plot() -> str:
    """Return an SVG of positions and their errors of a bag that was held out."""
    sys.path.insert(0, str(_ROOT))
    from benchmark.hidden_twin import HiddenTwin
    from mujoco_ros.identification.fit import fit
    from mujoco_ros.identification.replay import replay
    from mujoco_ros.identification.robot_model import IdentifiedRobot

    twin = HiddenTwin(_SEED, _JOINTS)
    robot = IdentifiedRobot(twin.scene, twin.scene.robots[0])
    found = fit(robot, twin.record(10.0))
    other = twin.record(8.0, seed=2)
    runs = (
        ("scene", _ORANGE, replay(robot, other, robot.values, found.scene_delay)),
        ("fitted", _BLUE, replay(robot, other, found.values, found.delay)),
    )
    grid = []
    for joint in _JOINTS:
        column = other.joints.index(joint)
        shown = runs[0][2].times
        inside = np.flatnonzero((shown >= _SHOWN_S[0]) & (shown < _SHOWN_S[1]))[::4]
        times, measured = shown[inside], runs[0][2].measured[inside, column]
        paths = [Line(x=times, y=measured, label="measured", colour=_GREY)]
        errors = []
        for label, colour, run in runs:
            simulated = run.simulated[inside, column]
            dashed = label == "fitted"
            paths.append(Line(x=times, y=simulated, label=label, colour=colour, dashed=dashed))
            errors.append(Line(x=times, y=1e3 * (simulated - measured), colour=colour))
        name = joint.removesuffix("_joint")
        grid.append(
            [
                Panel(title=f"{name}: position", y_label="[rad]", lines=paths),
                Panel(title=f"{name}: error", y_label="[mrad]", lines=errors),
            ]
        )
    return draw(
        grid, title="Replay before and after fit", x_label="time [s]", width=420, height=190
    )
